//! The handoff message of a dispatch: planner fields, context files, agents, what is known of an earlier run (D65, D68).

use std::path::Path;
use std::sync::Arc;

use queue::{DispatchId, Document};
use store::ProjectDir;
use wire::daemon_calls::ContextFile as WireFile;

use super::{Context, Files};
use crate::context::{self, Content, ContextFile};
use crate::history;
use crate::message::{self, EarlierRun, Handoff};

/// A dispatch that is ready to be sent.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// Which.
    pub dispatch: DispatchId,
    /// The planner's id.
    pub task_id: String,
    /// The Markdown.
    pub message: String,
    /// The planner fields as JSON.
    pub planner: wire::Raw,
    /// What the message carries.
    pub context: Vec<WireFile>,
}

/// Why a dispatch cannot be made.
#[derive(Debug)]
pub(super) enum Unready {
    /// A context file forbids it (D68).
    ContextFile(String),
    /// The planner fields are not what was read before.
    Changed,
}

/// What making a message again needs (a daemon that was restarted before the session had it).
pub struct Renderer {
    dir: Arc<ProjectDir>,
    path: Arc<Path>,
    context: Context,
}

impl Renderer {
    /// The message for the task that is RUNNING in the file; `None` when it is not there any more or a context file
    /// forbids it (then the dispatch ends by its own limits of time).
    #[must_use]
    pub fn render(&self, dispatch: DispatchId) -> Option<Prepared> {
        let file = self.dir.read_queue().ok()?;
        let document = Document::parse(&file.bytes).ok().filter(|document| document.dispatch_id() == Some(dispatch))?;
        match prepare(&self.dir, &self.path, &document, dispatch, None, &self.context) {
            Ok(prepared) => Some(prepared),
            Err(Unready::ContextFile(why)) => {
                tracing::warn!(project = %self.path.display(), why, "the message of a task could not be made again");
                None
            }
            Err(Unready::Changed) => None,
        }
    }
}

impl Files {
    /// For a dispatch whose message is gone.
    #[must_use]
    pub fn renderer(&self, context: Context) -> Option<Renderer> {
        Some(Renderer { dir: self.dir.clone()?, path: self.path.clone(), context })
    }

    /// The message for the task in `document`.
    pub(super) fn prepare(
        &mut self,
        document: &Document,
        dispatch: DispatchId,
        context: &Context,
    ) -> Result<Prepared, Unready> {
        let dir = self.dir.clone().ok_or(Unready::Changed)?;
        let meta = super::read::meta(document);
        // The journal is searched only when the task is known to have run: that is rare, a search is not cheap.
        let ran = !self.past(context).dispatches.before(&meta.task_id, &meta.created_at).is_empty();
        let before = ran
            .then(|| history::ran_before(&context.hub.journal, &self.path, &meta.task_id, &meta.created_at))
            .flatten();
        prepare(&dir, &self.path, document, dispatch, before.as_ref(), context)
    }
}

fn prepare(
    dir: &ProjectDir,
    root: &Arc<Path>,
    document: &Document,
    dispatch: DispatchId,
    before: Option<&wire::journal::Ended>,
    context: &Context,
) -> Result<Prepared, Unready> {
    let planner = queue::planner(document, dir).map_err(|_| Unready::Changed)?;
    let files = context::collect(dir, &context.settings.context, planner.plan_ref.as_deref())
        .map_err(|blocked| Unready::ContextFile(blocked.to_string()))?;
    let planner_json = wire::Raw::parse(document.planner_json()).map_err(|_| Unready::Changed)?;
    let handoff = Handoff {
        dispatch_id: dispatch,
        planner: &planner,
        agents: &context.hub.agents.load(root, &context.hub.env),
        context: &files,
        earlier: before.map(earlier),
        report_room: queue::Room::of(document).map_or(0, queue::Room::left_for_report),
    };
    let message = message::render(&handoff).map_err(|error| Unready::ContextFile(error.to_string()))?;
    let context = files.iter().filter_map(wire_file).collect();
    Ok(Prepared { dispatch, task_id: planner.task_id, message, planner: planner_json, context })
}

fn wire_file(file: &ContextFile) -> Option<WireFile> {
    match &file.content {
        Content::Text { text, sha256 } => {
            Some(WireFile { path: file.path.clone(), bytes: text.len() as u64, sha256: sha256.clone() })
        }
        Content::Missing => None,
    }
}

fn earlier(ended: &wire::journal::Ended) -> EarlierRun<'_> {
    EarlierRun {
        ended_at: ended.completed_at.as_deref().unwrap_or("an unknown time"),
        status: match ended.status {
            wire::session::EndStatus::Complete => "COMPLETE",
            wire::session::EndStatus::Error => "ERROR",
        },
        error: ended.error.as_deref(),
    }
}
