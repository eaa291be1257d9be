//! One call of a tool: its arguments, a way to tell how far it is, and whether anybody still waits for it.

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// A call on its way to a tool.
#[derive(Debug)]
pub struct Call {
    /// As they came; empty where there was no object.
    pub arguments: Map<String, Value>,
    /// How far it is.
    pub progress: Progress,
    /// Whether it is still wanted.
    pub cancellation: Cancellation,
}

impl Call {
    /// A call that nobody watches, as tests make it.
    #[must_use]
    pub fn unwatched(arguments: Map<String, Value>) -> Self {
        Self { arguments, progress: Progress { listener: None }, cancellation: Cancellation { reasons: Vec::new() } }
    }
}

/// Tells the client how far a call is, if it asked for that.
#[derive(Debug)]
pub struct Progress {
    pub(crate) listener: Option<(Peer<RoleServer>, ProgressToken)>,
}

impl Progress {
    /// So much is done, out of `total` where that is known; the number must grow. Waits while the client reads slowly, and
    /// does nothing for a client that does not listen.
    pub async fn report(&self, done: f64, total: Option<f64>, message: &str) {
        let Some((peer, token)) = &self.listener else { return };
        let mut params = ProgressNotificationParam::new(token.clone(), done).with_message(message);
        if let Some(total) = total {
            params = params.with_total(total);
        }
        // A client that went away needs no progress.
        peer.notify_progress(params).await.ok();
    }

    /// Whether anybody listens.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.listener.is_some()
    }
}

/// Says that a call is no longer wanted: the client took it back, its output ended, or the server stops.
#[derive(Debug, Clone)]
pub struct Cancellation {
    pub(crate) reasons: Vec<CancellationToken>,
}

impl Cancellation {
    /// Whether it is over.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.reasons.iter().any(CancellationToken::is_cancelled)
    }

    /// Waits until it is.
    pub async fn cancelled(&self) {
        let mut waiting: Vec<_> = self.reasons.iter().map(|reason| Box::pin(reason.cancelled())).collect();
        std::future::poll_fn(|context| {
            let over = waiting.iter_mut().any(|reason| reason.as_mut().poll(context).is_ready());
            if over { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }
}
