//! The fields of the queue protocol, in the order of its table, with their owners. No values here.

/// Who may write a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// `schema_version` and `status`.
    Both,
    /// The planner (Claude Code): copied byte for byte, part of the fingerprint.
    Planner,
    /// The worker's side, written by us.
    Worker,
}

macro_rules! fields {
    ($($name:ident = $text:literal $owner:ident,)*) => {
        /// A field of `tasks.json` that the protocol names.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Field {
            $(#[doc = concat!("`", $text, "`")] $name,)*
        }

        impl Field {
            /// Every field, in the order of the protocol's table.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The key in the document.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// Who may write it.
            #[must_use]
            pub const fn owner(self) -> Owner {
                match self { $(Self::$name => Owner::$owner,)* }
            }

            /// The field that a decoded key names.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

fields! {
    SchemaVersion = "schema_version" Both,
    Status = "status" Both,
    TaskId = "task_id" Planner,
    TaskType = "task_type" Planner,
    RequiredRole = "required_role" Planner,
    PreferredAgent = "preferred_agent" Planner,
    Gate = "gate" Planner,
    GateReason = "gate_reason" Planner,
    ParentTaskId = "parent_task_id" Planner,
    Instruction = "instruction" Planner,
    WorkingDir = "working_dir" Planner,
    Scope = "scope" Planner,
    AcceptanceCriteria = "acceptance_criteria" Planner,
    PlanRef = "plan_ref" Planner,
    CreatedAt = "created_at" Planner,
    CreatedBy = "created_by" Planner,
    AssignedAgent = "assigned_agent" Worker,
    AssignedModel = "assigned_model" Worker,
    Thinking = "thinking" Worker,
    StartedAt = "started_at" Worker,
    CompletedAt = "completed_at" Worker,
    UpdatedBy = "updated_by" Worker,
    Result = "result" Worker,
    FilesChanged = "files_changed" Worker,
    TestsRun = "tests_run" Worker,
    Error = "error" Worker,
    Report = "report" Worker,
}

impl Field {
    /// The fields of one owner, in the order of the table.
    pub fn of(owner: Owner) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |field| field.owner() == owner)
    }
}
