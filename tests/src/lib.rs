//! The harness of the end-to-end tests: a throw-away world with the real `handoffd` and `handoff`, and doubles of the
//! two parties that handoffd stands between: the planner (who writes `tasks.json`) and the session (who works).
//!
//! The doubles speak the documented formats only, written out here a second time: nothing of this package may import
//! handoffd's own crates, or a mistake in them would be invisible. Scenarios belong in `tests/e2e/`, not here.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a harness fails like the test that uses it")]
#![expect(clippy::needless_pass_by_value, reason = "callers write `json!` in place")]

pub mod binaries;
pub mod control;
pub mod daemon;
pub mod mcp;
pub mod mount;
pub mod peer;
pub mod planner;
pub mod process;
pub mod project;
pub mod report;
pub mod robot;
pub mod session;
pub mod task;
pub mod team;
pub mod wait;
pub mod world;

pub use control::Control;
pub use daemon::Daemon;
pub use peer::RpcError;
pub use process::SessionProcess;
pub use project::Project;
pub use robot::Robot;
pub use session::{Attach, Known, Manner, Session};
pub use task::Task;
pub use team::Team;
pub use world::World;
