//! Which lines are protected.

use budget::{PROTECTED_HEADERS, protected_sections};

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(protected_sections(text), expected, "{text:?}");
}

#[test]
fn the_headers_are_those_of_the_format() {
    assert_eq!(PROTECTED_HEADERS, ["## 約束", "## 受眾", "## Constraints", "## Audience"]);
    assert_eq!(
        [budget::SECTION_HEADER_CONSTRAINTS, budget::SECTION_HEADER_AUDIENCE],
        ["## 約束", "## 受眾"],
        "the constants have the spelling that the packet format gives them"
    );
}

#[test]
fn a_section_ends_at_the_next_heading_of_level_one_or_two() {
    check("x\n## Constraints\n- a\n### b\n#c\n- d\n# e\nf", &["## Constraints\n- a\n### b\n#c\n- d\n"]);
    check("## 受眾\n- a\n  ## b\nc", &["## 受眾\n- a\n"]);
    check("## Audience\n- a\n##\nc", &["## Audience\n- a\n"]);
    check("## Audience\n- a\n##\u{3000}b\nc", &["## Audience\n- a\n##\u{3000}b\nc"]);
    check("## 約束\n- a\n## 受眾\n- b", &["## 約束\n- a\n", "## 受眾\n- b"]);
}

#[test]
fn a_header_is_matched_exactly_after_trimming() {
    check(" \t## Constraints\u{3000}\n- a", &[" \t## Constraints\u{3000}\n- a"]);
    for header in [
        "## 約束（勿刪）",
        "### 約束",
        "# 約束",
        "##約束",
        "##  約束",
        "## constraints",
        "## CONSTRAINTS",
        "## **Constraints**",
        "## Constraints ##",
        "## Constraints:",
        "- ## Constraints",
        "> ## Audience",
        "Constraints\n-----------",
        "\u{feff}## Audience",
        "## Audience\u{200b}",
    ] {
        check(&format!("x\n{header}\n- a"), &[]);
    }
}

#[test]
fn fences_and_underlines_mean_nothing() {
    check("```\n## Constraints\n- a\n```\nb\n===\nc", &["## Constraints\n- a\n```\nb\n===\nc"]);
}

#[test]
fn every_line_end_counts() {
    check("a\r\n## Audience\r\n- b\r\n# c\r\n", &["## Audience\r\n- b\r\n"]);
    check("a\r## Audience\r- b\r# c", &["## Audience\r- b\r"]);
    check("a\u{2028}## Audience\n- b", &[]);
}
