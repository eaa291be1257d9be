//! The only place that knows rmcp's service: a toolbox as its server handler. What rmcp negotiates stays here.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, ErrorCode,
    ErrorData, Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool as Listed, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::call::{Call, Cancellation, Progress};
use crate::scope::Denied;
use crate::toolbox::{Definition, Effect, Outcome, Toolbox};
use crate::transport::limits::{ECHO, REQUESTS};

/// A toolbox as rmcp serves it.
pub(crate) struct Adapter {
    toolbox: Toolbox,
    /// Calls that run, those included that the client took back and that finish all the same.
    running: Arc<Semaphore>,
    ending: CancellationToken,
}

/// Methods that rmcp knows: when one of them arrives as unknown, its parameters were wrong.
const KNOWN: [&str; 4] = ["initialize", "server/discover", "tools/list", "tools/call"];
/// The code of a missing scope.
const INSUFFICIENT_SCOPE: ErrorCode = ErrorCode(-32_003);

impl Adapter {
    /// `ending` tells calls that take long to stop.
    pub(crate) fn new(toolbox: Toolbox, ending: CancellationToken) -> Self {
        Self { toolbox, running: Arc::new(Semaphore::new(REQUESTS)), ending }
    }
}

impl ServerHandler for Adapter {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(self.toolbox.name, self.toolbox.version))
            .with_instructions(self.toolbox.instructions)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.toolbox.definitions().map(listed).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.toolbox.tool(&request.name) else {
            return Err(ErrorData::invalid_params(format!("there is no tool `{}`", shortened(&request.name)), None));
        };
        let place = tokio::select! {
            place = Arc::clone(&self.running).acquire_owned() => place,
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("the call was taken back", None)),
        };
        let call = Call {
            arguments: request.arguments.unwrap_or_default(),
            progress: Progress {
                listener: context.meta.get_progress_token().map(|token| (context.peer.clone(), token)),
            },
            cancellation: Cancellation { reasons: vec![context.ct.clone(), self.ending.clone()] },
        };
        // On a task of its own, so that a panic is an answer too.
        let answer = tokio::spawn(async move {
            let outcome = tool.call(call).await;
            drop(place);
            outcome
        });
        match answer.await {
            Ok(outcome) => answered(outcome),
            Err(_) => {
                Err(ErrorData::internal_error(format!("`{}` failed; see the log", shortened(&request.name)), None))
            }
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = shortened(&request.method);
        Err(if KNOWN.contains(&request.method.as_str()) {
            ErrorData::invalid_params(format!("the parameters of `{method}` cannot be read"), None)
        } else {
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{method}`"), None)
        })
    }
}

/// The answer of a tool as a client of either era reads it: text for models, structured content for programs.
fn answered(outcome: Outcome) -> Result<CallToolResponse, ErrorData> {
    let result = match outcome {
        Outcome::Done(result) => CallToolResult::structured(Value::Object(result)),
        Outcome::Told { text, result } => {
            let mut told = CallToolResult::success(vec![ContentBlock::text(text)]);
            told.structured_content = Some(Value::Object(result));
            told
        }
        Outcome::Objected { text, result } => {
            let mut told = CallToolResult::error(vec![ContentBlock::text(text)]);
            told.structured_content = Some(Value::Object(result));
            told
        }
        Outcome::Refused { code, message } => {
            let mut result = CallToolResult::error(vec![ContentBlock::text(format!("{code}: {message}"))]);
            result.structured_content = Some(json!({"ok": false, "code": code, "message": message}));
            result
        }
        Outcome::Denied(Denied { scope, message }) => {
            let data = json!({"code": Denied::CODE, "scope": scope.as_str()});
            return Err(ErrorData::new(INSUFFICIENT_SCOPE, message, Some(data)));
        }
    };
    Ok(result.into())
}

fn listed(definition: Definition) -> Listed {
    let Definition { name, title, description, input, output, effect } = definition;
    let annotations = ToolAnnotations::new().read_only(effect == Effect::Reads).destructive(effect == Effect::Changes);
    Listed::new(name, description, input)
        .with_title(title)
        .with_raw_output_schema(Arc::<Map<String, Value>>::new(output))
        .with_annotations(annotations.idempotent(matches!(effect, Effect::Reads | Effect::AddsOnce)).open_world(false))
}

/// A name that a client chose, for an error.
fn shortened(name: &str) -> String {
    name.chars().take(ECHO).collect()
}
