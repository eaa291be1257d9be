//! A server from its first line to its last.

use std::io::{Read, Write};
use std::time::Duration;

use rmcp::service::{QuitReason, ServerInitializeError, serve_server_with_ct};
use tokio_util::sync::CancellationToken;

use crate::adapter::Adapter;
use crate::toolbox::Toolbox;
use crate::transport::{Lines, reader, writer};

/// How long a client may take to read its last answers.
const LAST_WRITES: Duration = Duration::from_secs(2);

/// Serves a client until its output ends, it no longer reads, or `stop` is ready; calls in flight are finished within
/// seconds or given up. Runs on a tokio runtime with time; input and output get threads of their own, which are left
/// behind when they hang.
///
/// # Errors
///
/// When the library's service ended by a fault of its own.
pub async fn serve(
    toolbox: Toolbox,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    stop: impl Future<Output = ()>,
) -> Result<(), Failed> {
    let (ending, stopping) = (CancellationToken::new(), CancellationToken::new());
    let writer = writer::spawn(output, stopping.clone());
    let lines = Lines::new(reader::spawn(input, ending.clone()), writer.output, ending.clone());
    let service = async {
        match serve_server_with_ct(Adapter::new(toolbox, ending.clone()), lines, stopping.clone()).await {
            Ok(running) => match running.waiting().await {
                Ok(QuitReason::Closed | QuitReason::Cancelled) => Ok(()),
                Ok(other) => Err(Failed(format!("{other:?}"))),
                Err(error) => Err(Failed(error.to_string())),
            },
            // The client left before it said anything, or read nothing, or we were stopped before.
            Err(
                ServerInitializeError::ConnectionClosed(_)
                | ServerInitializeError::TransportError { .. }
                | ServerInitializeError::Cancelled,
            ) => Ok(()),
            Err(error) => Err(Failed(error.to_string())),
        }
    };
    let mut service = std::pin::pin!(service);
    let served = tokio::select! {
        served = &mut service => served,
        () = stop => {
            ending.cancel();
            stopping.cancel();
            service.await
        }
    };
    tokio::time::timeout(LAST_WRITES, writer.done).await.ok();
    served
}

/// Why a server ended when nobody wanted it to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed(String);

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the MCP server failed: {}", self.0)
    }
}

impl std::error::Error for Failed {}
