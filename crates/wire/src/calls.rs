//! Which methods there are, which side calls them, and the types of their parameters and results.
//!
//! The tables below are the index of the protocol; the types themselves live in the module of their side.

use crate::error::ErrorObject;
use crate::rpc::Params;
use crate::{control, daemon_calls, event, hello, session, status};
use schemars::{Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The parameters of a request. The type decides the method and the type of the result.
pub trait Call: Serialize + DeserializeOwned {
    /// The method's name.
    const METHOD: &'static str;
    /// What a good answer holds.
    type Result: Serialize + DeserializeOwned;
}

/// The parameters of a notification.
pub trait Notify: Serialize + DeserializeOwned {
    /// The method's name.
    const METHOD: &'static str;
}

/// One method for the schema: its name, and the schemas of its parameters and, for a request, of its result.
pub(crate) struct MethodSchema {
    pub(crate) method: &'static str,
    pub(crate) params: Schema,
    pub(crate) result: Option<Schema>,
}

macro_rules! methods {
    ($(#[$meta:meta])* $name:ident { $($variant:ident($params:ty) $(-> $result:ty)? = $method:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $name {
            $(#[doc = concat!("`", $method, "`")] $variant($params),)+
        }

        impl $name {
            /// The names of these methods.
            pub const METHODS: &[&str] = &[$($method,)+];

            /// Gives a message its type.
            ///
            /// # Errors
            /// -32601 for a name that is not in the table, -32602 for parameters of another shape.
            pub fn decode(method: &str, params: &Params) -> Result<Self, ErrorObject> {
                match method {
                    $($method => params.decode().map(Self::$variant),)+
                    _ => Err(ErrorObject::unknown_method(method)),
                }
            }

            /// The method's name.
            #[must_use]
            pub const fn method(&self) -> &'static str {
                match self { $(Self::$variant(_) => $method,)+ }
            }

            pub(crate) fn schemas(generator: &mut SchemaGenerator) -> Vec<MethodSchema> {
                vec![$(MethodSchema {
                    method: $method,
                    params: generator.subschema_for::<$params>(),
                    result: methods!(@result generator $($result)?),
                },)+]
            }
        }

        $(methods!(@trait $params, $method $(, $result)?);)+
    };
    (@result $generator:ident) => { None };
    (@result $generator:ident $result:ty) => { Some($generator.subschema_for::<$result>()) };
    (@trait $params:ty, $method:literal) => {
        impl Notify for $params { const METHOD: &'static str = $method; }
    };
    (@trait $params:ty, $method:literal, $result:ty) => {
        impl Call for $params { const METHOD: &'static str = $method; type Result = $result; }
    };
}

methods! {
    /// A request that a client sends.
    ClientRequest {
        Hello(hello::Hello) -> hello::HelloResult = "hello",
        SessionAttach(session::Attach) -> session::AttachResult = "session.attach",
        SessionPing(session::Ping) -> session::PingResult = "session.ping",
        TaskReport(session::TaskReport) -> session::TaskReportResult = "task.report",
        DaemonStatus(control::DaemonStatus) -> status::Status = "daemon.status",
        DaemonReload(control::DaemonReload) -> control::ReloadResult = "daemon.reload",
        DaemonShutdown(control::DaemonShutdown) -> control::ShutdownResult = "daemon.shutdown",
        ProjectAdd(control::ProjectAdd) -> control::ProjectResult = "project.add",
        ProjectRemove(control::ProjectRemove) -> control::ProjectResult = "project.remove",
        ProjectEnable(control::ProjectEnable) -> control::ProjectResult = "project.enable",
        ProjectDisable(control::ProjectDisable) -> control::ProjectResult = "project.disable",
        ProjectPause(control::ProjectPause) -> control::ProjectResult = "project.pause",
        ProjectResume(control::ProjectResume) -> control::ProjectResult = "project.resume",
        ProjectUnlock(control::ProjectUnlock) -> control::UnlockResult = "project.unlock",
        TaskSubmit(control::TaskSubmit) -> control::SubmitResult = "task.submit",
        TaskWait(control::TaskWait) -> control::WaitResult = "task.wait",
        TaskCancel(control::TaskCancel) -> control::CancelResult = "task.cancel",
        TaskRetry(control::TaskRetry) -> control::SubmitResult = "task.retry",
        SessionTake(control::SessionTake) -> control::TakeResult = "session.take",
        EventsSubscribe(control::EventsSubscribe) -> control::SubscribeResult = "events.subscribe",
        HistoryList(control::HistoryList) -> control::HistoryResult = "history.list",
    }
}

methods! {
    /// A notification that a client sends.
    ClientNotification {
        SessionState(session::State) = "session.state",
        RunStarted(session::RunStarted) = "session.run_started",
        RunFinished(session::RunFinished) = "session.run_finished",
        SessionSettled(session::Settled) = "session.settled",
        SessionLeaving(session::Leaving) = "session.leaving",
    }
}

methods! {
    /// A request that the daemon sends to a session.
    DaemonRequest {
        TaskDispatch(daemon_calls::TaskDispatch) -> daemon_calls::DispatchResult = "task.dispatch",
        TaskRemind(daemon_calls::TaskRemind) -> daemon_calls::RemindResult = "task.remind",
        TaskCancel(daemon_calls::DispatchCancel) -> daemon_calls::DispatchCancelResult = "task.cancel",
        PacketDispatch(daemon_calls::PacketDispatch) -> daemon_calls::DispatchResult = "packet.dispatch",
    }
}

methods! {
    /// A notification that the daemon sends.
    #[expect(clippy::large_enum_variant, reason = "one value a line, moved once")]
    DaemonNotification {
        SessionNotice(daemon_calls::Notice) = "session.notice",
        SessionOwnership(daemon_calls::OwnershipChange) = "session.ownership",
        AttachAgain(daemon_calls::AttachAgain) = "session.attach_again",
        Event(event::Event) = "event",
    }
}
