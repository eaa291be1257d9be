//! What is wrong with a queue document or a report: a field, a stable code, a sentence (D4, D39, D41).

use std::fmt;

/// One fault. `message` begins with the field's name in back-quotes when there is a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The field with index or path (`scope[2]`, `worker.agent`); `None` when it is the document as a whole.
    pub field: Option<String>,
    /// The stable code.
    pub code: Code,
    /// One sentence without a final stop that names the item and the remedy.
    pub message: String,
}

impl Problem {
    /// A fault at `field`; `rest` is the sentence after the field's name.
    #[must_use]
    pub fn at(field: impl Into<String>, code: Code, rest: impl fmt::Display) -> Self {
        let field = field.into();
        Self { message: format!("`{}` {rest}", crate::text::clean(&field)), field: Some(field), code }
    }

    /// A fault of the document as a whole.
    #[must_use]
    pub fn whole(code: Code, message: impl Into<String>) -> Self {
        Self { field: None, code, message: message.into() }
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The closed set of stable codes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// Every code, in the order of the decisions.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The code as it stands on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

codes! {
    /// The name leads to something that is not a regular file, a symbolic link included (D1).
    NotRegularFile = "not_regular_file",
    /// Over 256 KiB (D1).
    TooLarge = "too_large",
    /// Not UTF-8 (D1).
    NotUtf8 = "not_utf8",
    /// Not strict JSON, over 127 levels deep, or a lone surrogate escape (D1, D40).
    InvalidJson = "invalid_json",
    /// JSON, but not an object (D1).
    NotAnObject = "not_an_object",
    /// A repeated key at the top level (D1); `field` is the decoded key.
    DuplicateKey = "duplicate_key",
    /// The task's RUNNING and ERROR do not fit into 256 KiB (D12, D42).
    QueueFull = "queue_full",
    /// A required field is absent.
    MissingField = "missing_field",
    /// A value of another JSON type.
    WrongType = "wrong_type",
    /// Empty after removing Unicode white space.
    BlankField = "blank_field",
    /// Over the field's limit.
    FieldTooLong = "field_too_long",
    /// A list over its limit.
    TooManyItems = "too_many_items",
    /// An empty list where one item is needed.
    TooFewItems = "too_few_items",
    /// A line break in a single-line field.
    NotSingleLine = "not_single_line",
    /// Not one of the fixed words.
    UnknownValue = "unknown_value",
    /// `schema_version` is another integer than 3.
    UnsupportedSchemaVersion = "unsupported_schema_version",
    /// `required_role` does not fit `task_type` (D9).
    RoleMismatch = "role_mismatch",
    /// A gate on a read-only task (D9).
    GateNotAllowed = "gate_not_allowed",
    /// A gate without a reason.
    GateReasonRequired = "gate_reason_required",
    /// `created_at` is no date or time (D8, D48).
    InvalidTimestamp = "invalid_timestamp",
    /// `created_by` is not `claude-code`.
    WrongCreator = "wrong_creator",
    /// A NUL in a path, or an entry of `scope` that no system could take.
    InvalidPath = "invalid_path",
    /// An absolute path where a project-relative one is needed.
    PathAbsolute = "path_absolute",
    /// Outside the project, as written or resolved (D47).
    PathOutsideProject = "path_outside_project",
    /// Looks like a pattern or a foreign spelling and does not exist literally (D7).
    PathPattern = "path_pattern",
    /// `working_dir` does not exist.
    PathNotFound = "path_not_found",
    /// `working_dir` is not a directory.
    PathNotDirectory = "path_not_directory",
    /// COMPLETE without a worker.
    WorkerRequired = "worker_required",
    /// No agent profile of that name.
    UnknownAgent = "unknown_agent",
    /// The profile's role is not the one the task or gate needs.
    AgentRoleMismatch = "agent_role_mismatch",
    /// The worker did not finish COMPLETE.
    WorkerNotComplete = "worker_not_complete",
    /// Not a thinking level.
    InvalidThinking = "invalid_thinking",
    /// Another level than the profile pins.
    ThinkingMismatch = "thinking_mismatch",
    /// Not one line of 1 to 200 characters.
    InvalidModel = "invalid_model",
    /// Another model than the profile pins.
    ModelMismatch = "model_mismatch",
    /// The queue has a gate, the report no evidence for it.
    GateMissing = "gate_missing",
    /// Evidence for a gate that the queue does not have.
    GateUnexpected = "gate_unexpected",
    /// Evidence for another gate.
    GateMismatch = "gate_mismatch",
    /// `independent` is not `true`.
    GateNotIndependent = "gate_not_independent",
    /// Worker and gate are the same agent.
    GateAgentIsWorker = "gate_agent_is_worker",
    /// Worker and gate name the same run.
    GateRunIdReused = "gate_run_id_reused",
    /// The gate did not finish COMPLETE.
    GateNotComplete = "gate_not_complete",
    /// `async_status.checked` is not `true`.
    AsyncNotChecked = "async_not_checked",
    /// A run of the task is still alive.
    RunsPending = "runs_pending",
    /// A run of the task failed.
    RunsFailed = "runs_failed",
    /// The claim differs from what was observed (D50).
    ContradictsObserved = "contradicts_observed",
    /// Changed files on a read-only task.
    FilesOnReadOnlyTask = "files_on_read_only_task",
    /// A changed file outside every scope entry.
    FileOutsideScope = "file_outside_scope",
    /// ERROR without an error text.
    ErrorRequired = "error_required",
    /// COMPLETE with an error text.
    ErrorNotAllowed = "error_not_allowed",
    /// The queue is not RUNNING or holds another task (D59).
    QueueChanged = "queue_changed",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
