//! A conversation as JSON lines.

use budget::Message;
use serde::Deserialize;

use crate::exit::Exit;
use crate::failure::Failure;

/// One message. Members that we do not know would neither be counted nor kept with a message that is summarized.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    role: String,
    content: String,
}

/// Problems that are told; who makes more has made one of them over and over.
const MOST_PROBLEMS: usize = 20;

/// The messages, in order. Blank lines and a byte-order mark at the beginning are nothing.
pub(super) fn parse(text: &str) -> Result<Vec<Message>, Failure> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.split('\n').enumerate().filter(|(_, line)| !line.trim().is_empty());
    let (mut messages, mut problems) = (Vec::new(), Vec::new());
    for (at, line) in lines {
        match message(line) {
            Ok(message) => messages.push(message),
            Err(problem) if problems.len() < MOST_PROBLEMS => problems.push(format!("line {}: {problem}", at + 1)),
            Err(_) => {
                problems.push("and more of them".to_owned());
                break;
            }
        }
    }
    if problems.is_empty() {
        return Ok(messages);
    }
    let failure = Failure::new(Exit::Usage, "the conversation cannot be read").problems(problems);
    Err(failure.hint(r#"each line is one message: {"role": "user", "content": "…"}, both of them texts"#))
}

fn message(line: &str) -> Result<Message, String> {
    // What can be read by names could also be read by position.
    if !line.trim_start().starts_with('{') {
        return Err("this is not a JSON object".to_owned());
    }
    match serde_json::from_str::<Line>(line) {
        Ok(Line { role, .. }) if role.trim().is_empty() => Err("`role` is blank".to_owned()),
        Ok(Line { role, content }) => Ok(Message { role, content }),
        Err(error) => {
            let words = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            Err(format!("{} (column {})", words.trim_end_matches(&place), error.column()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let failure = parse(text).unwrap_err();
        assert_eq!(failure.problems, expected, "{text}");
    }

    #[test]
    fn lines_become_messages() {
        let text = "\u{feff}{\"role\":\"user\",\"content\":\"a\\nb\"}\r\n\n  {\"content\":\"\",\"role\":\"tool\"}";
        assert_eq!(parse(text).unwrap(), [Message::new("user", "a\nb"), Message::new("tool", "")]);
        assert_eq!(parse("").unwrap(), []);
    }

    #[test]
    fn each_bad_line_is_named() {
        check(
            "x\n{\"role\":\"user\",\"content\":\"a\"}\n[\"user\",\"a\"]\n{\"role\":1}",
            &[
                "line 1: this is not a JSON object",
                "line 3: this is not a JSON object",
                "line 4: invalid type: integer `1`, expected a string (column 9)",
            ],
        );
        check("{\"role\":\"user\"}", &["line 1: missing field `content` (column 15)"]);
        check("{\"role\":\" \",\"content\":\"\"}", &["line 1: `role` is blank"]);
        check("{\"role\":\"a\",\"role\":\"b\",\"content\":\"\"}", &["line 1: duplicate field `role` (column 18)"]);
        check(
            "{\"role\":\"a\",\"content\":\"\",\"name\":\"x\"}",
            &["line 1: unknown field `name`, expected `role` or `content` (column 31)"],
        );
        check("{\"role\":\"a\"", &["line 1: EOF while parsing an object (column 11)"]);
        check("{\"role\":\"a\",\"content\":\"\"} {}", &["line 1: trailing characters (column 27)"]);
    }

    #[test]
    fn problems_come_to_an_end() {
        assert_eq!(parse(&"x\n".repeat(1_000)).unwrap_err().problems.len(), MOST_PROBLEMS + 1);
    }
}
