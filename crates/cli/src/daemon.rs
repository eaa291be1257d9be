//! The connection to the daemon: which socket, how long, and what each error means for the person and the exit code.
//! A daemon is never started here; the message says which command does it.

use std::ffi::OsStr;
use std::path::Path;

use handoffd::instance::Holder;
use handoffd::places::Places;
use handoffd::places::socket::{SocketPlace, not_reachable};
use handoffd::registry::{Candidate, Selector, select};
use serde::{Deserialize, Serialize};
use store::{ProcessId, Processes as _, SystemProcesses};
use wire::client::{Client, ClientError, Inbox};
use wire::error::{ErrorCode, UNKNOWN_METHOD};
use wire::hello::{ClientInfo, DaemonInfo};
use wire::status::{ProjectStatus, Status};
use wire::{Call, Notify, Raw};

use crate::commands::service;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// What to do where a service is installed.
const SERVICE_STATUS: &str = "`handoff service status` says how the service is, and what to do";

/// What to do about a daemon that is older than this program.
const AFTER_AN_UPDATE: &str =
    "the daemon is older: after an update, run `handoff service restart`, or start it again by hand";

/// What to do where neither says that it is the older one.
const ONE_VERSION: &str = "install `handoff` and `handoffd` from one version, then start the daemon again";

/// A daemon that has answered.
#[derive(Debug, Clone)]
pub(crate) struct Daemon {
    /// The connection; `handoff attach` answers requests on it.
    pub(crate) client: Client,
    info: DaemonInfo,
}

/// `daemon.status` with its answer as it was told, so that words of a newer daemon are printed and not lost.
#[derive(Debug, Serialize, Deserialize)]
struct StatusAsTold {}

impl Call for StatusAsTold {
    const METHOD: &'static str = "daemon.status";
    type Result = Raw;
}

/// Connects to the first place where a daemon answers, within 5 s.
pub(crate) async fn connect(ctx: &Context) -> Result<(Daemon, Inbox), Failure> {
    let tried = ctx.places()?.socket_candidates();
    let mut causes = Vec::new();
    let mut cannot_start = None;
    for place in &tried {
        let client = ClientInfo { name: "handoff".to_owned(), version: crate::VERSION.to_owned() };
        match Client::connect(&place.path, client).await {
            Ok((client, inbox, info)) => return Ok((Daemon { client, info }, inbox)),
            Err(ClientError::NotReachable { cause, .. }) => {
                // A socket that is not there is no news: the message names the place.
                if place.path.symlink_metadata().is_ok() {
                    causes.push(format!("{}: {cause}", place.path.display()));
                }
            }
            // It may be because one runs already, and listens at another place.
            Err(error) if error.code() == Some(ErrorCode::CannotStart) => cannot_start = Some(error),
            // The service manager may listen while no daemon can be started.
            Err(error @ ClientError::NoAnswer { .. }) if service::is_there(&ctx.env) => {
                let failure = Failure { hints: Vec::new(), ..failure(error, None, Some(&place.path)) };
                return Err(failure.hint(SERVICE_STATUS));
            }
            Err(error) => return Err(failure(error, None, Some(&place.path))),
        }
    }
    Err(match cannot_start {
        Some(error) => refused(&error),
        None => nobody(ctx, &tried, causes),
    })
}

fn nobody(ctx: &Context, tried: &[SocketPlace], causes: Vec<String>) -> Failure {
    let failure = Failure::new(Exit::Unreachable, not_reachable(tried)).problems(causes);
    if let Some(holder) = ctx.places().ok().as_ref().and_then(holder) {
        return failure.hint(lives_all_the_same(&holder));
    }
    failure.hint(match service::is_there(&ctx.env) {
        true => SERVICE_STATUS,
        false => "`handoff service install` makes it a service, once; or run `handoffd` in another terminal",
    })
}

/// Whom the instance lock names, if that process lives and is a daemon: the number may have got another one since.
pub(crate) fn holder(places: &Places) -> Option<Holder> {
    let holder = handoffd::instance::read_holder(&places.instance_lock())?;
    let pid = i32::try_from(holder.pid).ok()?;
    let is_alive = SystemProcesses.is_alive(ProcessId { pid, started: None });
    (is_alive && SystemProcesses.describe(pid).command.is_some_and(|command| command.contains("handoffd")))
        .then_some(holder)
}

/// Another one could not start (F104).
fn lives_all_the_same(holder: &Holder) -> String {
    let pid = holder.pid;
    match holder.socket.as_ref().filter(|socket| socket.symlink_metadata().is_err()) {
        Some(socket) => format!(
            "the daemon (pid {pid}) runs, but its socket {} is not there: a cleaner may have removed it, or it is not made \
             yet; the daemon makes it within ten seconds, so try again; `handoff doctor` says more",
            socket.display()
        ),
        None => {
            format!("a daemon (pid {pid}) runs all the same: `handoff doctor` says where, and why it does not answer")
        }
    }
}

impl Daemon {
    /// Calls a method; an error is made for people.
    pub(crate) async fn call<C: Call>(&self, params: &C) -> Result<C::Result, Failure> {
        self.client.call(params).await.map_err(|error| self.failure(error))
    }

    /// Sends a notification.
    pub(crate) async fn notify<N: Notify>(&self, params: &N) -> Result<(), Failure> {
        self.client.notify(params).await.map_err(|error| self.failure(error))
    }

    /// What an error of the connection means.
    pub(crate) fn failure(&self, error: ClientError) -> Failure {
        failure(error, Some(&self.info), None)
    }

    /// The status document as the daemon wrote it.
    pub(crate) async fn status_as_told(&self) -> Result<Raw, Failure> {
        self.call(&StatusAsTold {}).await
    }

    /// The status document.
    pub(crate) async fn status(&self) -> Result<Status, Failure> {
        let told = self.status_as_told().await?;
        self.understood(&told)
    }

    /// Gives a status document its type.
    pub(crate) fn understood(&self, told: &Raw) -> Result<Status, Failure> {
        serde_json::from_str(told.get()).map_err(|error| {
            self.failure(ClientError::BadAnswer { method: StatusAsTold::METHOD, why: error.to_string() })
        })
    }

    /// The one project that is meant (D72).
    pub(crate) async fn project(&self, ctx: &Context, typed: Option<&OsStr>) -> Result<ProjectStatus, Failure> {
        let mut status = self.status().await?;
        let index = choose(ctx, typed, &status.projects)?;
        Ok(status.projects.swap_remove(index))
    }
}

/// The index of the project that is meant among those that the daemon manages.
pub(crate) fn choose(ctx: &Context, typed: Option<&OsStr>, projects: &[ProjectStatus]) -> Result<usize, Failure> {
    fn candidate(project: &ProjectStatus) -> Candidate<'_> {
        Candidate { path: Path::new(&project.path), name: Some(&project.name) }
    }
    let candidates: Vec<Candidate<'_>> = projects.iter().map(candidate).collect();
    select(&candidates, &Selector::new(typed, ctx.working_dir()?))
        .map_err(|error| Failure::new(Exit::Refused, error.to_string()).code(ErrorCode::UnknownProject.as_str()))
}

/// Whether a failure of `connect` means that there is no daemon to speak with.
pub(crate) fn is_absent(failure: &Failure) -> bool {
    failure.exit == Exit::Unreachable
}

fn failure(error: ClientError, daemon: Option<&DaemonInfo>, at: Option<&Path>) -> Failure {
    match error {
        ClientError::NoAnswer { method, limit } => {
            let place = at.map(|path| format!(" at {}", path.display())).unwrap_or_default();
            let asked = format!("no answer to `{method}` within {} s", limit.as_secs_f32());
            Failure::new(Exit::Unreachable, format!("daemon not answering{place}: {asked}"))
                .hint("it is stopped or stuck: `handoff doctor` says which, and what to do")
        }
        ClientError::NotReachable { .. } | ClientError::Closed { .. } => {
            Failure::new(Exit::Unreachable, error.to_string())
        }
        ClientError::Protocol { ours, ref theirs, .. } => {
            let message = format!("{error}; this is handoff {}", crate::VERSION);
            Failure::new(Exit::Refused, message).hint(match theirs.iter().all(|number| *number < ours) {
                true => AFTER_AN_UPDATE,
                false => "this program is older: use the `handoff` that came with the daemon",
            })
        }
        ClientError::BadAnswer { .. } => {
            let failure = Failure::new(Exit::Refused, format!("{error}{}", versions(daemon)));
            match daemon.is_some_and(|daemon| daemon.version == crate::VERSION) {
                true => failure,
                false => failure.hint(ONE_VERSION),
            }
        }
        ClientError::Refused { method, ref error } if error.code == UNKNOWN_METHOD => {
            let message = format!("the daemon does not know `{method}`{}", versions(daemon));
            Failure::new(Exit::Refused, message).hint(AFTER_AN_UPDATE)
        }
        ClientError::Refused { .. } => refused(&error),
        error => Failure::new(Exit::Usage, error.to_string()),
    }
}

fn versions(daemon: Option<&DaemonInfo>) -> String {
    let daemon = daemon.map(|daemon| format!(", the daemon is {}", daemon.version)).unwrap_or_default();
    format!(" (this is handoff {}{daemon})", crate::VERSION)
}

fn refused(error: &ClientError) -> Failure {
    let exit = match error.code() {
        Some(ErrorCode::InvalidTask | ErrorCode::ReportRefused) => Exit::NotGood,
        Some(ErrorCode::CannotStart | ErrorCode::ShuttingDown) => Exit::Unreachable,
        _ => Exit::Refused,
    };
    let mut problems: Vec<String> = error.problems().into_iter().map(|problem| problem.message).collect();
    if matches!(&problems[..], [only] if error.to_string().contains(only.as_str())) {
        problems.clear();
    }
    let mut failure = Failure::new(exit, error.to_string()).problems(problems);
    if error.code() == Some(ErrorCode::CannotStart) {
        failure = failure.hint("once that is repaired, the next command starts it; `handoff service status` says more");
    }
    match error.code() {
        Some(code) => failure.code(code.as_str()),
        None => failure,
    }
}
