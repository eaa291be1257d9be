//! One line of a client: the envelope, the opening, and what is done with each kind of message (wire protocol).

use lifecycle::{BusyWith, Event, LeaveReason};
use queue::DispatchId;
use wire::calls::{ClientNotification, ClientRequest};
use wire::daemon_calls::DispatchCancelResult;
use wire::error::{ErrorCode, ErrorObject, Refusal};
use wire::rpc::{self, Incoming, Notification, Request, Response};
use wire::session::{Activity, Hint, LeaveReason as WireReason};

use super::connection::Client;
use super::handlers;
use super::writer::Ending;
use crate::actor::mail::Mail;
use crate::logging::sanitize::one_line;
use crate::peer::{CallKind, Responder};
use crate::{actor, convert, members};

impl Client {
    /// Handles one line; `Some` ends the connection.
    pub(super) async fn line(&mut self, line: &[u8]) -> Option<Ending> {
        match rpc::parse(line) {
            // Boxed, so that a connection that waits for its next line is not as large as the largest handler.
            Ok(Incoming::Request(request)) => Box::pin(self.request(request)).await,
            Ok(Incoming::Notification(notification)) => self.notification(notification).await,
            Ok(Incoming::Response(response)) => self.response(response).await,
            Err(malformed) => {
                match malformed.answer() {
                    Some((id, error)) => self.peer.error(id, &error),
                    None => self.tell_off(&malformed.to_string()),
                }
                return malformed.closes_connection().then_some(Ending::Flush);
            }
        }
        None
    }

    async fn request(&mut self, request: Request) {
        let answer = Responder::new(self.peer.clone(), request.id);
        if !self.greeted && request.method != "hello" {
            let why = "say `hello` with the protocol number first";
            return answer.error(Refusal::new(ErrorCode::HelloRequired, why));
        }
        match ClientRequest::decode(&request.method, &request.params) {
            Ok(request) if self.service.is_stopping() && !is_allowed_at_the_end(&request) => {
                answer.error(Refusal::new(ErrorCode::ShuttingDown, "the daemon is stopping"));
            }
            Ok(request) => handlers::handle(self, request, answer).await,
            Err(error) => answer.error(error),
        }
    }

    async fn notification(&mut self, notification: Notification) {
        let told = match ClientNotification::decode(&notification.method, &notification.params) {
            Ok(told) => told,
            Err(error) => return self.tell_off(&error.message),
        };
        if !self.is_attached() {
            let why = format!("{} from a connection that is not attached to a project", told.method());
            return self.tell_off(&why);
        }
        match event(self.peer.conn(), told) {
            Ok(event) => self.pass_on(event).await,
            Err(why) => self.tell_off(&why),
        }
    }

    /// Gives what a session said to whom it concerns.
    pub(super) async fn pass_on(&self, event: Event) {
        if let Some(project) = self.attached() {
            project.send(Mail::Event(event)).await;
        } else if let (Some(team), Some(letter)) = (self.as_member(), members::letter(event)) {
            team.send(letter).await;
        }
    }

    async fn response(&mut self, response: Response) {
        let call = response.id.as_ref().and_then(|id| self.peer.answered(id));
        let Some(call) = call.filter(|_| self.is_attached()) else {
            return self.tell_off("a response to no request of ours");
        };
        let (conn, dispatch) = (self.peer.conn(), call.dispatch);
        let event = match call.kind {
            CallKind::Dispatch => Event::Answered { conn, dispatch, answer: actor::answer(&response.outcome) },
            CallKind::Remind => Event::RemindAnswered { conn, dispatch },
            CallKind::Cancel => {
                let aborted = response
                    .outcome
                    .is_ok_and(|raw| rpc::decode::<DispatchCancelResult>(raw.get()).is_ok_and(|result| result.aborted));
                Event::CancelAnswered { conn, dispatch, aborted }
            }
        };
        self.pass_on(event).await;
    }

    /// Notes a message that gets no answer although it is wrong: once a connection, so that it fills no log.
    fn tell_off(&mut self, why: &str) {
        if !std::mem::replace(&mut self.told_off, true) {
            tracing::warn!(conn = self.peer.conn().0, why, "a message was ignored");
        }
    }
}

/// What is answered after the daemon was asked to stop: nothing that begins something. Reports are the actor's to refuse.
fn is_allowed_at_the_end(request: &ClientRequest) -> bool {
    use ClientRequest as R;
    matches!(request, R::Hello(_) | R::DaemonStatus(_) | R::DaemonShutdown(_) | R::SessionPing(_) | R::TaskReport(_))
}

/// A word that is not known tells people nothing.
/// Characters of what broke a turn: it becomes a part of the task's error.
const MOST_WHY: usize = 500;

const fn busy_with(hint: Hint) -> Option<BusyWith> {
    match hint {
        Hint::Dialog => Some(BusyWith::Dialog),
        Hint::Shell => Some(BusyWith::Shell),
        Hint::Compaction => Some(BusyWith::Compaction),
        Hint::Model => Some(BusyWith::Model),
        Hint::Other => None,
    }
}

fn event(conn: lifecycle::Conn, told: ClientNotification) -> Result<Event, String> {
    let dispatch = |id: &str| DispatchId::parse(id).ok_or_else(|| "a dispatch id is 32 hexadecimal digits".to_owned());
    let run = |id: &str, run| Ok(Event::Run { conn, dispatch: dispatch(id)?, run: Box::new(convert::run(run)) });
    match told {
        ClientNotification::SessionState(state) => {
            let hint = state.hint.and_then(busy_with);
            Ok(Event::Activity { conn, idle: state.state == Activity::Idle, hint })
        }
        ClientNotification::RunStarted(told) => run(&told.dispatch_id, told.run),
        ClientNotification::RunFinished(told) => run(&told.dispatch_id, told.run),
        ClientNotification::SessionSettled(settled) => {
            let dispatch = settled.dispatch_id.as_deref().map(dispatch).transpose()?;
            let why = one_line(settled.error.as_deref().unwrap_or_default());
            let why = secrets::mask(&why).chars().take(MOST_WHY).collect();
            Ok(Event::TurnSettled { conn, dispatch, aborted: settled.aborted.then_some(why) })
        }
        ClientNotification::SessionLeaving(leaving) => {
            let reason = match leaving.reason {
                WireReason::Reload => LeaveReason::Reload,
                WireReason::New | WireReason::Resume | WireReason::Fork => LeaveReason::Other,
                WireReason::Quit => LeaveReason::Quit,
            };
            Ok(Event::Leaving { conn, reason })
        }
    }
}

/// An internal error, for handlers.
pub(super) fn internal(error: &dyn std::error::Error) -> ErrorObject {
    ErrorObject::internal(&error.to_string())
}
