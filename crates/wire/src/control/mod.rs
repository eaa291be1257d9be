//! What people, scripts and dashboards ask of the daemon. `project` is a root's absolute path, or a name that fits one.
//! One file for each thing that is asked about; the status document has its own module, `status`.

mod daemon;
mod project;
mod task;

pub use daemon::*;
pub use project::*;
pub use task::*;
