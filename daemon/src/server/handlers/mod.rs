//! One request of a client, one file. Here is only the table; what several handlers share is in `shared`.

mod daemon_reload;
mod daemon_shutdown;
mod daemon_status;
mod events_subscribe;
mod hello;
mod history_list;
mod project_add;
mod project_change;
mod project_unlock;
mod session_attach;
mod session_ping;
mod session_take;
mod shared;
mod task_cancel;
mod task_report;
mod task_retry;
mod task_submit;
mod task_wait;

use wire::calls::ClientRequest;

use super::connection::Client;
use crate::actor::mail::Control;
use crate::peer::Responder;

/// Sends a request to its handler. Requests of one connection are handled one after the other, so that a client that
/// asks faster than it is answered slows down only itself; those that wait for an actor do not hold the next one up.
pub(super) async fn handle(client: &mut Client, request: ClientRequest, answer: Responder) {
    let service = client.service.clone();
    match request {
        ClientRequest::Hello(hello) => hello::handle(client, &hello, answer),
        ClientRequest::SessionAttach(attach) => session_attach::handle(client, Box::new(attach), answer).await,
        ClientRequest::SessionPing(_) => session_ping::handle(client, answer).await,
        ClientRequest::TaskReport(report) => task_report::handle(client, report, answer).await,
        ClientRequest::DaemonStatus(_) => daemon_status::handle(&service, answer).await,
        ClientRequest::DaemonReload(_) => daemon_reload::handle(&service, answer).await,
        ClientRequest::DaemonShutdown(_) => daemon_shutdown::handle(&service, answer),
        ClientRequest::ProjectAdd(add) => project_add::handle(&service, add, answer).await,
        ClientRequest::ProjectRemove(ask) => {
            project_change::handle(&service, &ask.project, Control::Remove { now: ask.now }, answer).await;
        }
        ClientRequest::ProjectDisable(ask) => {
            project_change::handle(&service, &ask.project, Control::Disable { now: ask.now }, answer).await;
        }
        ClientRequest::ProjectEnable(ask) => {
            project_change::handle(&service, &ask.project, Control::Enable, answer).await;
        }
        ClientRequest::ProjectPause(ask) => {
            project_change::handle(&service, &ask.project, Control::Pause, answer).await;
        }
        ClientRequest::ProjectResume(ask) => {
            project_change::handle(&service, &ask.project, Control::Resume, answer).await;
        }
        ClientRequest::ProjectUnlock(ask) => project_unlock::handle(&service, &ask, answer).await,
        ClientRequest::TaskSubmit(ask) => task_submit::handle(&service, ask, answer).await,
        ClientRequest::TaskWait(ask) => task_wait::handle(&service, ask, answer).await,
        ClientRequest::TaskCancel(ask) => task_cancel::handle(&service, ask, answer).await,
        ClientRequest::TaskRetry(ask) => task_retry::handle(&service, ask, answer).await,
        ClientRequest::SessionTake(ask) => session_take::handle(&service, ask, answer).await,
        ClientRequest::EventsSubscribe(ask) => events_subscribe::handle(client, ask, answer).await,
        ClientRequest::HistoryList(ask) => history_list::handle(&service, ask, answer).await,
    }
}
