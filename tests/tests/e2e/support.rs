//! Small things that several scenarios need. Whatever more than one package could use belongs in the harness.

use handoffd_tests::{Attach, Control, Daemon, Project, Session, World, world};
use serde_json::Value;

/// One project, a daemon, an idle session that owns it.
pub(crate) struct Stage {
    pub(crate) session: Session,
    pub(crate) control: Control,
    pub(crate) daemon: Daemon,
    pub(crate) project: Project,
    pub(crate) world: World,
}

/// The usual beginning.
pub(crate) fn stage() -> Stage {
    stage_with("")
}

/// The usual beginning with settings (TOML) for the whole configuration.
pub(crate) fn stage_with(settings: &str) -> Stage {
    let world = world!();
    world.settings(settings);
    let project = world.project("app");
    let daemon = world.start();
    let session = daemon.attach(&world.process(), &project, &Attach::idle("s-1"));
    assert_eq!(session.ownership(), "owner");
    let control = daemon.control();
    Stage { session, control, daemon, project, world }
}

/// A parsed document of bytes that must be JSON, a byte-order mark aside.
pub(crate) fn parse(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).unwrap()
}

/// The codes of a refusal's problems, in order.
pub(crate) fn codes(problems: &Value) -> Vec<&str> {
    problems.as_array().unwrap().iter().map(|problem| problem["code"].as_str().unwrap()).collect()
}

/// Whether tests over 30 s were asked for.
pub(crate) fn slow() -> bool {
    std::env::var_os("HANDOFF_SLOW").is_some_and(|value| value == "1")
}
