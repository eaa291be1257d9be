//! What happens to whole conversations.
#![expect(clippy::expect_used, reason = "a conversation that ends otherwise fails the test")]

use budget::{
    BudgetExceeded, Conservative, Estimate as _, Extractive, Fitted, Message, Stage, conversation_tokens, fit,
};

fn fitted(messages: &[Message], budget: u64) -> Fitted {
    fit(messages, budget, &Conservative, &Extractive).expect("it can be made to fit")
}

fn exceeded(messages: &[Message], budget: u64) -> BudgetExceeded {
    fit(messages, budget, &Conservative, &Extractive).expect_err("it cannot be made to fit")
}

fn turns(role: &str, count: usize, chars: usize) -> Vec<Message> {
    (0..count).map(|at| Message::new(role, format!("{at} {}", "x".repeat(chars)))).collect()
}

#[test]
fn tokens_are_estimated_by_script() {
    let tokens = |text: &str| Conservative.tokens(text);
    assert_eq!(tokens(""), 0);
    assert_eq!(tokens("a"), 1);
    assert_eq!(tokens(&"a".repeat(36)), 10);
    assert_eq!(tokens(&"約".repeat(1_000)), 1_306);
    assert_eq!(tokens(&"я".repeat(10)), 5);
    assert_eq!(tokens("🦀"), 3);
    assert_eq!(conversation_tokens(&[Message::new("user", "a"), Message::new("user", "")], &Conservative), 9);
}

#[test]
fn what_fits_stays() {
    let conversation = turns("user", 3, 10);
    let outcome = fitted(&conversation, 1_000);
    assert_eq!(outcome.messages, conversation);
    assert_eq!((outcome.stages, outcome.tokens), (vec![], outcome.original_tokens));
}

#[test]
fn long_turns_are_cut_first_and_the_last_is_not() {
    let mut conversation = vec![Message::new("system", "s".repeat(2_000))];
    conversation.extend(turns("user", 2, 2_000));
    let outcome = fitted(&conversation, 1_500);
    assert_eq!(outcome.stages, [Stage::TurnTrim]);
    assert_eq!(outcome.messages[0], conversation[0]);
    assert!(outcome.messages[1].content.ends_with("x\n[trimmed 1202 chars]\n"), "{:?}", outcome.messages[1]);
    assert_eq!(outcome.messages[2], conversation[2]);
}

#[test]
fn then_old_tool_results_go() {
    let conversation = [turns("tool", 8, 700), turns("user", 1, 10)].concat();
    let outcome = fitted(&conversation, 800);
    assert_eq!(outcome.stages, [Stage::DropOldestToolEchoes]);
    assert!(outcome.messages[4].content.starts_with("[tool result dropped, 702 bytes]"));
    assert_eq!(outcome.messages[5..], conversation[5..]);
}

#[test]
fn then_the_older_half_is_summarized_until_it_fits() {
    let conversation = turns("assistant", 64, 700);
    let outcome = fitted(&conversation, 2_000);
    assert_eq!(outcome.stages, [Stage::BisectAndSummarize]);
    assert!(outcome.messages[0].content.starts_with("[summary of "));
    assert_eq!(outcome.messages.last(), conversation.last());
    assert!(outcome.tokens <= 2_000);
}

#[test]
fn the_last_message_is_cut_only_as_far_as_needed() {
    let conversation = turns("user", 1, 100_000);
    let outcome = fitted(&conversation, 5_000);
    assert!((4_990..=5_000).contains(&outcome.tokens), "{}", outcome.tokens);
}

#[test]
fn instructions_are_never_cut() {
    let conversation = [turns("system", 1, 4_000), turns("user", 1, 10)].concat();
    let refusal = exceeded(&conversation, 500);
    assert_eq!((refusal.stages_tried, refusal.protected_section_tokens), (vec![], 0));
}

#[test]
fn protected_sections_make_a_budget_unreachable() {
    let section = format!("## Constraints\n{}", "- [c] a rule\n".repeat(200));
    let conversation = [vec![Message::new("user", section.as_str())], turns("user", 4, 3_000)].concat();
    let refusal = exceeded(&conversation, 500);
    assert_eq!(refusal.protected_section_tokens, Conservative.tokens(&section));
    assert_eq!((refusal.stages_tried.len(), refusal.budget_tokens), (0, 500));
    assert_eq!(refusal.estimated_tokens, conversation_tokens(&conversation, &Conservative));

    let refusal = exceeded(&conversation, Conservative.tokens(&section) + 20);
    assert_eq!(refusal.stages_tried.len(), 4, "there was hope, so all was tried");
}

#[test]
fn nothing_and_no_budget() {
    assert_eq!(fitted(&[], 0).messages, []);
    assert_eq!(exceeded(&turns("user", 1, 1), 0).budget_tokens, 0);
}
