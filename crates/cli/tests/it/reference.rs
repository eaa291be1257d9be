//! The reference in `docs/cli.md` is what the program really takes.

#[test]
fn the_reference_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
    let written = std::fs::read_to_string(path).unwrap();
    assert!(written == cli::reference(), "run `cargo run -p cli --example reference > docs/cli.md`");
}

#[test]
fn the_definition_is_sound() {
    cli::command().debug_assert();
}

#[test]
fn every_command_has_help_and_every_reading_one_has_json() {
    let command = cli::command();
    for sub in command.get_subcommands() {
        assert!(sub.get_about().is_some(), "{}", sub.get_name());
    }
    for name in ["status", "watch", "wait", "show", "history", "events", "lint", "cancel", "retry", "unlock", "take"] {
        let sub = command.find_subcommand(name).unwrap();
        assert!(sub.get_arguments().any(|arg| arg.get_id() == "json"), "{name}");
    }
}
