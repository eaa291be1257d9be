//! Whatever the conversation and the budget: no protected byte is lost, and what is said to fit does.

use budget::{Conservative, Extractive, Message, Summarize, conversation_tokens, fit, protected_sections};
use proptest::collection::vec;
use proptest::prelude::*;

/// Lines as they occur around sections, near misses among them.
fn line() -> impl Strategy<Value = String> {
    let header = prop_oneof![
        Just("## 約束"),
        Just("## 受眾"),
        Just("## Constraints"),
        Just("## Audience"),
        Just("  ## Constraints\t"),
        Just("## Constraints, old"),
        Just("## 約束（勿刪）"),
        Just("### Constraints"),
        Just("# Heading"),
        Just(" ## Other"),
        Just("##"),
        Just("#"),
        Just("---"),
        Just("```"),
        Just(""),
    ]
    .prop_map(str::to_owned);
    let text = prop_oneof![
        "[ -~]{0,60}",
        "[約束受眾是🦀 ]{0,30}",
        (0_usize..1_500).prop_map(|count| "x".repeat(count)),
        "\\PC{0,20}",
        any::<String>(),
    ];
    prop_oneof![2 => header, 3 => text]
}

fn content() -> impl Strategy<Value = String> {
    let end = prop_oneof![4 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r"), 1 => Just("\u{2028}")];
    (vec((line(), end), 0..12), any::<bool>()).prop_map(|(lines, last_end)| {
        let mut text: String = lines.iter().map(|(line, end)| format!("{line}{end}")).collect();
        if !last_end {
            text.pop();
        }
        text
    })
}

fn conversation() -> impl Strategy<Value = Vec<Message>> {
    let role =
        prop_oneof![Just("user"), Just("assistant"), Just("tool"), Just("tool"), Just("system"), Just("## 約束")];
    vec((role, content()).prop_map(|(role, content)| Message::new(role, content)), 0..14)
}

/// Lines are found in another way here than in the crate.
fn sections(messages: &[Message]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for message in messages {
        let mut open: Option<String> = None;
        let marked = message.content.replace("\r\n", "\u{0}").replace('\r', "\r\u{1}").replace('\n', "\n\u{1}");
        for line in marked.replace('\u{0}', "\r\n\u{1}").split('\u{1}') {
            let words = line.trim();
            let is_header = ["## 約束", "## 受眾", "## Constraints", "## Audience"].contains(&words);
            let mut parts = words.splitn(2, [' ', '\t']);
            let is_heading = matches!(parts.next(), Some("#" | "##"));
            if is_header || is_heading {
                found.extend(open.take().map(|text| (message.role.clone(), text)));
                open = is_header.then(|| line.to_owned());
            } else if let Some(text) = &mut open {
                text.push_str(line);
            }
        }
        found.extend(open.map(|text| (message.role.clone(), text)));
    }
    found
}

/// A summary of whatever kind.
struct Says(Option<String>);

impl Summarize for Says {
    fn summarize(&self, earlier: &[Message], _: usize) -> Option<String> {
        assert!(!earlier.is_empty() && earlier.iter().all(|message| protected_sections(&message.content).is_empty()));
        self.0.clone()
    }
}

fn without_marks(messages: &[Message]) -> bool {
    messages.iter().all(|message| !message.content.contains(['\u{0}', '\u{1}']))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn no_protected_byte_is_lost(
        messages in conversation(),
        share in 0_u64..=110,
        summary in prop::option::of(content()),
        extractive in any::<bool>(),
    ) {
        prop_assume!(without_marks(&messages));
        let budget = conversation_tokens(&messages, &Conservative) * share / 100;
        let says = Says(summary);
        let summarize: &dyn Summarize = if extractive { &Extractive } else { &says };
        match fit(&messages, budget, &Conservative, summarize) {
            Ok(fitted) => {
                prop_assert_eq!(fitted.tokens, conversation_tokens(&fitted.messages, &Conservative));
                prop_assert!(fitted.tokens <= budget);
                prop_assert_eq!(sections(&fitted.messages), sections(&messages));
                let instructions = |messages: &[Message]| -> Vec<Message> {
                    messages.iter().filter(|message| message.role == "system").cloned().collect()
                };
                prop_assert_eq!(instructions(&fitted.messages), instructions(&messages));
            }
            Err(refusal) => {
                prop_assert!(refusal.estimated_tokens > budget);
                let protected = sections(&messages);
                prop_assert_eq!(refusal.protected_section_tokens > 0, !protected.is_empty());
            }
        }
    }

    #[test]
    fn sections_are_found_as_the_rule_says(text in content()) {
        let messages = [Message::new("user", text.as_str())];
        prop_assume!(without_marks(&messages));
        let expected: Vec<String> = sections(&messages).into_iter().map(|(_, text)| text).collect();
        prop_assert_eq!(protected_sections(&text), expected);
    }

    #[test]
    fn a_fitted_conversation_stays(messages in conversation(), share in 0_u64..=100) {
        let budget = conversation_tokens(&messages, &Conservative) * share / 100;
        if let Ok(fitted) = fit(&messages, budget, &Conservative, &Extractive) {
            let again = fit(&fitted.messages, budget, &Conservative, &Extractive).expect("it fits");
            prop_assert_eq!(again.messages, fitted.messages);
        }
    }
}
