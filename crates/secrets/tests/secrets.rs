//! What counts as a credential, what does not, and what masking promises of any text.

use std::borrow::Cow;

use proptest::prelude::*;

use secrets::{Kind, find, mask};

/// Built from two halves, so that no text of this file looks like a credential to another tool.
fn token(prefix: &str, body: &str) -> String {
    format!("{prefix}{body}")
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(mask(text), expected);
}

#[track_caller]
fn check_kind(secret: &str, kind: Kind) {
    let text = format!("use '{secret}' here");
    assert_eq!(mask(&text), format!("use '[masked {kind}]' here"));
    let found = find(&text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].kind, &text[found[0].range.clone()]), (kind, secret));
}

const LONG: &str = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";

#[test]
fn known_prefixes_are_masked_whole() {
    check_kind(&token("sk-", LONG), Kind::ApiKey);
    check_kind(&token("sk-ant-", &format!("api03-{LONG}_{LONG}-AA")), Kind::ApiKey);
    check_kind(&token("sk-proj-", LONG), Kind::ApiKey);
    check_kind(&token("ghp_", LONG), Kind::GithubToken);
    check_kind(&token("github_pat_", LONG), Kind::GithubToken);
    check_kind(&token("glpat-", "a1B2c3D4e5F6g7H8i9J0"), Kind::GitlabToken);
    check_kind(&token("xoxb-", "123456789012-abcdefGHIJ"), Kind::SlackToken);
    check_kind(&token("AKIA", "IOSFODNN7EXAMPLE"), Kind::AwsAccessKey);
    check_kind(&token("AIza", &LONG[..35]), Kind::GoogleKey);
    check_kind(&token("npm_", LONG), Kind::RegistryToken);
    check_kind(&token("eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijklmnopqrstuv"), Kind::Jwt);
}

#[test]
fn ordinary_words_are_left_alone() {
    for text in [
        "a risk-averse-and-quite-long-hyphenated-desk-name",
        "sk-learn",
        "task-20261130-081203-abcdef",
        "sk-some-branch-with-words",
        "ghp_short",
        "AKIA",
        "AKIAIOSFODNN7EXAMPLEANDMORE",
        "npm_config_registry",
        "the bearer authentication-scheme",
        "https://example.org:8080/a@b",
        "ssh://git@example.org/x",
        "-----BEGIN PUBLIC KEY----- abc -----END PUBLIC KEY-----",
        "API_KEY=$FROM_ELSEWHERE",
        "PRIVATE_KEY=/home/u/.ssh/key",
        "NOTOKEN=abcdefghijkl",
        "MAX_TOKEN=1234567890",
        "",
    ] {
        assert!(matches!(mask(text), Cow::Borrowed(same) if same == text), "{text}");
    }
}

#[test]
fn only_the_value_goes() {
    check(&format!("Authorization: Bearer {LONG}"), "Authorization: Bearer [masked bearer token]");
    check(&format!("{}-a", token("AKIA", "IOSFODNN7EXAMPLE")), "[masked AWS access key]-a");
    check("DB_PASSWORD=hunter2hunter2\nX=1", "DB_PASSWORD=[masked secret assignment]\nX=1");
    check("API_KEY=\"abcd1234efgh\"", "API_KEY=\"[masked secret assignment]\"");
    check("https://me:s3cr3t@example.org/x", "https://me:[masked password in an address]@example.org/x");
}

#[test]
fn a_mask_is_no_secret() {
    check("API_TOKEN=://u:A@", "API_TOKEN=://u:[masked password in an address]@");
    check("API_TOKEN=://u:[masked password in an address]@", "API_TOKEN=://u:[masked password in an address]@");
}

#[test]
fn a_private_key_goes_with_all_its_lines() {
    let begin = token("-----BEGIN RSA PRIVATE", " KEY-----");
    let end = token("-----END RSA PRIVATE", " KEY-----");
    check(&format!("a {begin}\nMIIE\nabc\n{end} z"), "a [masked private key] z");
    check(&format!("a {begin}\nMIIE\nabc"), "a [masked private key]");
}

#[test]
fn escapes_begin_a_word() {
    let secret = token("ghp_", LONG);
    check(&format!("\"a\\n{secret}\\n\""), "\"a\\n[masked GitHub token]\\n\"");
    check(&format!("?token%3D{secret}"), "?token%3D[masked GitHub token]");
}

#[test]
fn findings_name_the_line() {
    let text = format!("one\ntwo {}\nthree\n{}", token("ghp_", LONG), token("npm_", LONG));
    let lines: Vec<_> = find(&text).into_iter().map(|found| (found.kind, found.line)).collect();
    assert_eq!(lines, [(Kind::GithubToken, 2), (Kind::RegistryToken, 4)]);
}

/// A square would take many minutes.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

#[test]
fn hostile_text_costs_no_square() {
    let started = std::time::Instant::now();
    for piece in ["sk-a-", "eyJ.", "eyJ-", "-----BEGIN A", "://a:", "TOKEN=", "bearer a", "ghp_"] {
        assert!(!mask(&piece.repeat(1 << 17)).is_empty());
    }
    assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
}

proptest! {
    #[test]
    fn masking_twice_changes_nothing_more(text in pieces()) {
        let once = mask(&text).into_owned();
        prop_assert_eq!(mask(&once), once.as_str());
    }

    #[test]
    fn what_is_found_is_what_is_masked(text in pieces()) {
        let found = find(&text);
        let mut kept = String::new();
        let mut at = 0;
        for finding in &found {
            kept.push_str(&text[at..finding.range.start]);
            kept.push_str(&format!("[masked {}]", finding.kind));
            at = finding.range.end;
        }
        kept.push_str(&text[at..]);
        prop_assert_eq!(mask(&text), kept.as_str());
    }

    #[test]
    fn a_token_among_anything_is_gone(before in "[^A-Za-z0-9_]{0,20}", after in "[^A-Za-z0-9_-]{0,20}") {
        let secret = token("ghp_", LONG);
        let text = format!("{before} {secret}{after}");
        prop_assert!(!mask(&text).contains(LONG));
    }
}

/// Texts in which the beginnings of credentials are frequent.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("sk-".to_owned()),
        Just("ghp_".to_owned()),
        Just("AKIA".to_owned()),
        Just("eyJ".to_owned()),
        Just("Bearer ".to_owned()),
        Just("://u:".to_owned()),
        Just("@".to_owned()),
        Just("API_TOKEN=".to_owned()),
        Just("-----BEGIN X PRIVATE KEY-----".to_owned()),
        Just("-----END X PRIVATE KEY-----".to_owned()),
        "[A-Z0-9]{16}",
        "[a-z0-9]{20,40}",
        "\\PC{0,6}",
        "[ .=\"\n-]",
    ];
    proptest::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}
