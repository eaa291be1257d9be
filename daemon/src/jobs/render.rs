//! The handoff message of a dispatch: planner fields, context files, agents, what is known of an earlier run (D65, D68).

use queue::{AcceptanceRole, AgentLookup, DispatchId, Document, Gate, Planner};
use wire::daemon_calls::ContextFile as WireFile;

use super::{Context, Files};
use crate::config::NamedBy;
use crate::context::{self, Content, ContextFile};
use crate::history;
use crate::message::{self, Candidates, EarlierRun, GateKind, Handoff, Preferred, PreferredFit};

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
pub(super) enum Unready {
    /// A context file forbids it (D68).
    ContextFile(String),
    /// The planner fields are not what was read before.
    Changed,
}

impl Files {
    /// Makes the message for the task in `document`.
    pub(super) fn prepare(&self, document: &Document, dispatch: DispatchId, context: &Context) -> Result<Prepared, Unready> {
        let dir = self.dir.as_deref().ok_or(Unready::Changed)?;
        let planner = queue::planner(document, dir).map_err(|_| Unready::Changed)?;
        let listed = &context.settings.context;
        let from_project = listed.named_by == NamedBy::Project;
        let files = context::collect(dir, &listed.files, from_project, planner.plan_ref.as_deref())
            .map_err(|blocked| Unready::ContextFile(blocked.to_string()))?;
        let agents = load_agents(&self.path, context);
        let before = history::ran_before(&context.hub.journal, &self.path, &planner.task_id, &planner.created_at);
        let room = queue::Room::of(document).ok().map(|room| room.left_for_report() as u64);
        let message = render(&planner, dispatch, &files, &agents, before.as_ref(), room)
            .map_err(|error| Unready::ContextFile(error.to_string()))?;
        let planner_json = wire::Raw::parse(document.planner_json()).map_err(|_| Unready::Changed)?;
        let context_files = files.iter().filter_map(wire_file).collect();
        Ok(Prepared { dispatch, task_id: planner.task_id, message, planner: planner_json, context: context_files })
    }
}

/// The agents that pi-subagents would load for this project now.
pub(super) fn load_agents(root: &std::path::Path, context: &Context) -> Vec<queue::Agent> {
    let env = &context.hub.env;
    let home = env.home.clone().unwrap_or_default();
    let mut places = profiles::Places::new(root, home);
    if let Some(dir) = &env.pi_coding_agent_dir {
        places = places.with_agent_dir(dir.as_os_str());
    }
    if let Some(dirs) = &env.pi_subagent_extra_agent_dirs {
        places = places.with_extra_dirs(dirs);
    }
    profiles::load(&places).agents
}

fn wire_file(file: &ContextFile) -> Option<WireFile> {
    match &file.content {
        Content::Text { text, sha256 } => {
            Some(WireFile { path: file.path.clone(), bytes: text.len() as u64, sha256: sha256.clone() })
        }
        Content::Missing => None,
    }
}

fn render(
    planner: &Planner,
    dispatch: DispatchId,
    files: &[ContextFile],
    agents: &[queue::Agent],
    before: Option<&wire::journal::Ended>,
    report_room: Option<u64>,
) -> Result<String, message::TooLarge> {
    let role = planner.task_type.role();
    let names = |role: AcceptanceRole| -> Vec<String> {
        agents.iter().filter(|agent| agent.role == Some(role)).map(queue::Agent::full_name).collect()
    };
    let (workers, reviewers) = (names(role), names(AcceptanceRole::ReadOnly));
    message::render(&Handoff {
        dispatch_id: dispatch,
        task_id: &planner.task_id,
        task_type: planner.task_type.as_str(),
        required_role: planner.required_role.as_str(),
        worker_role: role,
        preferred_agent: planner.preferred_agent.as_deref().map(|name| preferred(name, role, agents)),
        gate: gate(planner),
        parent_task_id: planner.parent_task_id.as_deref(),
        instruction: &planner.instruction,
        working_dir: &planner.working_dir,
        scope: planner.scope.iter().map(String::as_str).collect(),
        criteria: planner.acceptance_criteria.iter().map(String::as_str).collect(),
        plan_ref: planner.plan_ref.as_deref(),
        created_at: &planner.created_at,
        context: files,
        earlier: before.map(|ended| EarlierRun {
            ended_at: ended.completed_at.as_deref().unwrap_or("an unknown time"),
            status: match ended.status {
                wire::session::EndStatus::Complete => "COMPLETE",
                wire::session::EndStatus::Error => "ERROR",
            },
            error: ended.error.as_deref(),
        }),
        candidates: Candidates {
            workers: workers.iter().map(String::as_str).collect(),
            reviewers: reviewers.iter().map(String::as_str).collect(),
        },
        report_room,
    })
}

fn preferred<'a>(name: &'a str, role: AcceptanceRole, agents: &[queue::Agent]) -> Preferred<'a> {
    let fit = match queue::find_agent(agents, name) {
        AgentLookup::Found(agent) if agent.role == Some(role) => PreferredFit::Fits,
        AgentLookup::Found(_) => PreferredFit::OtherRole,
        _ => PreferredFit::Unknown,
    };
    Preferred { name, fit }
}

fn gate(planner: &Planner) -> Option<message::Gate<'_>> {
    let kind = match planner.gate {
        Gate::None => return None,
        Gate::ConsultBefore => GateKind::ConsultBefore,
        Gate::ReviewAfter => GateKind::ReviewAfter,
    };
    Some(message::Gate { kind, reason: planner.gate_reason.as_deref().unwrap_or_default() })
}

