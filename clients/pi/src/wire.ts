// The messages of the socket protocol that this client uses.
// Made by scripts/wire-types.mjs from crates/wire/schemas/wire.json; `npm run wire` makes it again.

export const PROTOCOL = 1;
export const LIMITS = {"client_line":1048576,"daemon_line":4194304,"report":524288} as const;

/** The task is in the conversation. */
export type Accepted = {
  task_id: string;
  dispatch_id: string;
  session_id: string | null;
};

export type Activity = "idle" | "busy";

/** `session.attach`: this session wants the tasks (or, as a member, the packets) of a project. */
export type Attach = {
  session_id: string;
  session_file?: string | null;
  project: string;
  mode: Mode;
  reason: AttachReason;
  idle: boolean;
  host: Host;
  known_dispatch?: Delivery | null;
  member?: Member | null;
};

/** `session.attach_again` (notification): a session that was refused with `unknown_project` may try again (D72). */
export type AttachAgain = {
  project: string;
};

export type AttachReason = "startup" | "reload" | "new" | "resume" | "fork" | "reconnect";

/** The answer to `session.attach`; it is written before any request to that session. */
export type AttachResult = {
  project: AttachedProject;
  ownership: Ownership;
  task: AttachedTask | null;
  ended: EndedDispatch | null;
};

/** A project in one line. */
export type AttachedProject = {
  path: string;
  state: ProjectState;
  reason?: StateReason | null;
  why: string | null;
};

/** The task that goes on in this session. */
export type AttachedTask = {
  dispatch_id: string;
  task_id: string;
  started_at: string;
};

export type CancelOutcome = "aborted" | "told" | "not_reached" | "finished_first";

/** The answer to `task.cancel`. */
export type CancelResult = {
  was: TaskStatus;
  now: TaskStatus;
  session: CancelOutcome | null;
  live_runs: Array<Run>;
};

/** A person asked to end the task. */
export type Cancelling = {
  task_id: string;
  dispatch_id: string | null;
  reason: string;
};

/** Who calls, for logs and status. */
export type ClientInfo = {
  name: string;
  version: string;
};

/** The configuration in use. */
export type ConfigStatus = {
  path: string | null;
  loaded_at: string | null;
  error: string | null;
};

/** A file whose contents are in the message. */
export type ContextFile = {
  path: string;
  bytes: number;
  sha256: string;
};

/** The daemon itself. */
export type DaemonDetail = {
  version: string;
  pid: number;
  instance: string;
  started_at: string;
  socket: string;
  outdated: boolean;
  config: ConfigStatus;
  watch: DaemonWatch;
  warnings?: Array<string>;
};

/** Who answers. */
export type DaemonInfo = {
  version: string;
  pid: number;
  instance: string;
  started_at: string;
};

/** `daemon.status`: everything that is to be seen. It keeps its shape in all protocol versions. */
export type DaemonStatus = Record<string, unknown>;

/** How changes are noticed, over all projects. */
export type DaemonWatch = {
  mode: WatchMode;
  reason: string | null;
  overflows: number;
};

/** A client's record of one dispatch. */
export type Delivery = {
  dispatch_id: string;
  delivered: boolean;
};

export type DeliveryState = "sent" | "accepted" | "refused";

/** `task.cancel` to a session: stop working on this. */
export type DispatchCancel = {
  dispatch_id: string;
  reason: string;
};

/** The answer of a session to `task.cancel`. */
export type DispatchCancelResult = {
  aborted: boolean;
};

export type DispatchRefusal = "busy" | "expired" | "not_owner";

/** The answer to `task.dispatch` and `packet.dispatch` as it looks on the wire (D69). */
export type DispatchResult = {
  accepted: boolean;
  duplicate?: boolean;
  reason?: DispatchRefusal | null;
};

export type EndStatus = "COMPLETE" | "ERROR";

/** The end of a task. `show`, `wait` and `retry` need nothing but this row (D65). */
export type Ended = {
  task_id: string;
  dispatch_id: string | null;
  status: EndStatus;
  error: string | null;
  started_at: string | null;
  completed_at: string | null;
  fingerprint: string | null;
  created_at: string | null;
  planner: unknown;
  result: string | null;
  report: unknown;
  verdict: string | null;
  log_line: string | null;
};

/** A dispatch that has ended. */
export type EndedDispatch = {
  dispatch_id: string;
  status: EndStatus;
  error: string | null;
};

/** The `error` member of a response. */
export type ErrorObject = {
  code: number;
  message: string;
  data?: unknown;
};

/** `event` (notification): one thing that happened. */
export type Event = {
  seq: number;
  at: string;
  project: string | null;
} & ({
  kind: "project_state";
  state: ProjectState;
  reason: StateReason | null;
  why: string | null;
  next: string | null;
} | {
  kind: "task_pending";
  task_id: string;
} | {
  kind: "task_rejected";
  task_id: string | null;
  problems: Array<Problem>;
} | {
  kind: "dispatch_sent";
  task_id: string;
  dispatch_id: string;
  attempt: number;
} | {
  kind: "dispatch_accepted";
  task_id: string;
  dispatch_id: string;
} | {
  kind: "report_refused";
  task_id: string;
  dispatch_id: string;
  problems: Array<Problem>;
} | {
  kind: "task_ended";
  task_id: string;
  dispatch_id: string | null;
  status: EndStatus;
  error: string | null;
  verdict?: string | null;
} | {
  kind: "run";
  dispatch_id: string;
  run: Run;
} | {
  kind: "session";
  session_id: string;
  change: SessionChange;
  ownership: Ownership | null;
} | {
  kind: "packet";
  task_id: string;
  agent_id: string;
  dispatch_id: string;
  packet_id: string;
  packet_path: string;
  change: PacketChange;
  reason: string | null;
} | {
  kind: "log_failed";
  task_id: string;
  dispatch_id: string;
  error: string;
} | {
  kind: "lock";
  change: LockChange;
  holder: string | null;
} | {
  kind: "notice";
  level: NoticeLevel;
  text: string;
} | {
  kind: "gap";
  from: number;
  to: number;
});

/** `events.subscribe`: from now on `event` notifications, of one project or of all. */
export type EventsSubscribe = {
  project?: string | null;
};

/** `hello`: the first request of every client. */
export type Hello = {
  protocol: number;
  client: ClientInfo;
};

/** The answer to `hello`. */
export type HelloResult = {
  protocol: number;
  daemon: DaemonInfo;
};

export type Hint = "dialog" | "shell" | "compaction" | "model";

/** `history.list`: the journal, newest first. */
export type HistoryList = {
  project?: string | null;
  task_id?: string | null;
  limit?: number | null;
};

/** The answer to `history.list`. */
export type HistoryResult = {
  rows: Array<Row>;
  more?: boolean;
};

/** The program that runs the session. */
export type Host = {
  name: string;
  version: string;
};

export type LeaveReason = "reload" | "new" | "resume" | "fork" | "quit";

/** `session.leaving` (notification): the last word of a session on this connection (D21). */
export type Leaving = {
  reason: LeaveReason;
};

export type Lifted = "paused" | "halted" | "held" | "runs_alive";

export type LockChange = "taken" | "recovered" | "released" | "lost" | "blocked" | "removed";

export type LockOwner = "us" | "other";

/** The lock changed hands. */
export type LockSeen = {
  change: LockChange;
  holder: string | null;
};

/** Who has the project's lock. */
export type LockStatus = {
  owner: LockOwner;
  rule: number | null;
  pid: number | null;
  command: string | null;
  user: string | null;
  host: string | null;
  since: string | null;
};

/** The work log could not be written. */
export type LogFailed = {
  task_id: string;
  dispatch_id: string;
  error: string;
};

/** A planner's write was kept aside. */
export type Lost = {
  path: string;
};

/** A member of a team. */
export type Member = {
  agent_id: string;
};

/** The packet that a member is at work on. */
export type MemberPacket = {
  dispatch_id: string;
  packet_id: string;
  packet_path: string;
  since: string;
  delivery: DeliveryState;
};

/** A team member: a session that gets packets, and no tasks. */
export type MemberStatus = {
  agent_id: string;
  role: string | null;
  goal: string | null;
  round: number | null;
  session: SessionStatus | null;
  standby: number;
  packet: MemberPacket | null;
  waiting: number;
  why: string | null;
};

export type Mode = "tui" | "rpc" | "exec";

/** The session did not take it. */
export type NotAccepted = {
  task_id: string;
  dispatch_id: string;
  reason: string;
};

/** `session.notice` (notification): something the person should read. */
export type Notice = {
  level: NoticeLevel;
  text: string;
};

export type NoticeLevel = "info" | "warning" | "error";

export type Observed = Array<Run> | {
  all: boolean;
  runs: Array<Run>;
};

/** A step of a dispatch that needs no more words. */
export type OfDispatch = {
  task_id: string;
  dispatch_id: string;
};

export type Ownership = "owner" | "standby" | "member";

/** `session.ownership` (notification): the session's place has changed (D20). */
export type OwnershipChange = {
  ownership: Ownership;
  reason: string;
};

export type PacketChange = "sent" | "accepted" | "refused" | "released" | "ended";

/** `packet.dispatch`: a packet for a team member. It ends when the session settles; then the next one follows. */
export type PacketDispatch = {
  dispatch_id: string;
  packet_path: string;
  message: string;
  packet: unknown;
  expires_at?: string | null;
};

/** A packet went to a team member, or what became of it there. */
export type PacketSeen = {
  task_id: string;
  agent_id: string;
  dispatch_id: string;
  packet_id: string;
  packet_path: string;
  change: PacketChange;
  reason: string | null;
};

/** A valid PENDING was seen. */
export type Pending = {
  task_id: string;
  fingerprint: string;
  created_at: string | null;
};

/** One fault: of a field, or of the thing as a whole. */
export type Problem = {
  field: string | null;
  code: string;
  message: string;
};

/** `project.add`: manage this folder. */
export type ProjectAdd = {
  path: string;
};

/** `project.enable` */
export type ProjectEnable = {
  project: string;
};

/** `project.pause`: no new dispatch; what is RUNNING goes on. */
export type ProjectPause = {
  project: string;
};

/** The answer of the project calls: how it is now. */
export type ProjectResult = {
  path: string;
  name: string;
  state: ProjectState;
  reason: StateReason | null;
  why: string | null;
  next: string | null;
  lifted?: Array<Lifted> | null;
};

/** `project.resume`: lifts paused, halted, held, and the wait for runs of an ended task (D66). */
export type ProjectResume = {
  project: string;
};

export type ProjectState = "idle" | "waiting" | "running" | "cancelling" | "blocked" | "unreadable" | "halted" | "held" | "paused" | "disabled" | "leaving" | "missing" | "starting" | "stuck";

/** One project. */
export type ProjectStatus = {
  path: string;
  name: string;
  state: ProjectState;
  reason: StateReason | null;
  since: string;
  why: string | null;
  next: string | null;
  queue: QueueStatus;
  task: RunningTask | null;
  lock: LockStatus | null;
  session: SessionStatus | null;
  standby: number;
  members?: Array<MemberStatus>;
  watch: ProjectWatch;
  warnings?: Array<string>;
};

/** `project.unlock`: which rule of D16 fits the lock; with `confirm`, move it aside. */
export type ProjectUnlock = {
  project: string;
  confirm?: boolean;
};

/** How a project's changes are noticed. */
export type ProjectWatch = {
  mode: WatchMode;
  reason: string | null;
};

/** What is in the project's file. */
export type QueueStatus = {
  status: TaskStatus | null;
  task_id: string | null;
  problems: Array<Problem>;
};

/** A PENDING was rewritten to ERROR. */
export type Rejected = {
  task_id: string | null;
  error: string;
  problems: Array<Problem>;
};

/** The answer to `task.remind`. A refused reminder counts as given (D25). */
export type RemindResult = {
  accepted: boolean;
};

/** A report failed its checks. */
export type ReportRefused = {
  task_id: string;
  dispatch_id: string;
  problems: Array<Problem>;
};

export type ReportState = "none" | "owed" | "refused";

/** `resume` lifted something. */
export type Resumed = {
  lifted: Array<Lifted>;
};

/** One row. */
export type Row = {
  at: string;
  project: string | null;
} & (Pending | Submitted | Rejected | Running | Sent | NotAccepted | Accepted | OfDispatch | RunSeen | ReportRefused | Cancelling | Ended | LogFailed | Resumed | Lost | StateChanged | SessionSeen | LockSeen | PacketSeen);

/** A run that a session's client observed for a task. */
export type Run = {
  run_id: string;
  agent: string;
  background?: boolean;
  state: RunState;
  model?: string | null;
  thinking?: string | null;
  result?: string | null;
  parent_run_id?: string | null;
  pid?: number | null;
};

/** Observed runs by what became of them. */
export type RunCounts = {
  running: number;
  complete: number;
  failed: number;
};

/** `session.run_finished` (notification): the same with its final `state` and its `result`. */
export type RunFinished = {
  dispatch_id: string;
  run_id: string;
  agent: string;
  background?: boolean;
  state: RunState;
  model?: string | null;
  thinking?: string | null;
  result?: string | null;
  parent_run_id?: string | null;
  pid?: number | null;
};

/** A run was observed. */
export type RunSeen = {
  task_id: string;
  dispatch_id: string;
  run: Run;
};

/** `session.run_started` (notification): the members of a run beside `dispatch_id`. */
export type RunStarted = {
  dispatch_id: string;
  run_id: string;
  agent: string;
  background?: boolean;
  state: RunState;
  model?: string | null;
  thinking?: string | null;
  result?: string | null;
  parent_run_id?: string | null;
  pid?: number | null;
};

export type RunState = "running" | "complete" | "failed" | "stopped" | "rejected";

/** RUNNING is durable. */
export type Running = {
  task_id: string;
  dispatch_id: string;
  fingerprint: string;
  created_at: string | null;
  started_at: string;
  session_id: string | null;
};

/** The task that is RUNNING. */
export type RunningTask = {
  dispatch_id: string;
  task_id: string;
  started_at: string;
  delivery: DeliveryState;
  report: ReportState;
  runs: RunCounts;
  until: string | null;
};

/** The task left for its session. */
export type Sent = {
  task_id: string;
  dispatch_id: string;
  attempt: number;
};

export type SessionChange = "attached" | "left" | "lost" | "place" | "idle" | "busy";

/** A session came, went, or changed its place. */
export type SessionSeen = {
  session_id: string;
  change: SessionChange;
  ownership: Ownership | null;
};

/** The session that has the owner's place. */
export type SessionStatus = {
  session_id: string;
  pid: number;
  host: string;
  idle: boolean;
  last_seen: string;
};

/** `session.take`: give the owner's place to this session. Not while a task is RUNNING. */
export type SessionTake = {
  project: string;
  session_id: string;
};

/** `session.settled` (notification): a turn with everything after it is over. */
export type Settled = {
  dispatch_id?: string | null;
  aborted?: boolean;
  error?: string | null;
};

/** `session.state` (notification). */
export type State = {
  state: Activity;
  hint?: Hint | null;
};

/** The project's state changed. */
export type StateChanged = {
  state: ProjectState;
  reason: StateReason | null;
  why: string | null;
};

export type StateReason = "lock_live" | "lock_unknown" | "lock_malformed" | "foreign_owner" | "cannot_write" | "moved" | "lock_lost" | "queue_full" | "work_log" | "context_file" | "not_regular_file" | "too_large" | "not_utf8" | "invalid_json" | "not_an_object" | "duplicate_key" | "unknown_value" | "missing_field" | "wrong_type" | "unsupported_schema_version" | "unreadable" | "replaced" | "lost_write" | "repeating" | "tracked_by_git" | "no_session" | "busy" | "stopped" | "runs_alive" | "not_accepted" | "starting";

/** The whole document. */
export type Status = {
  daemon: DaemonDetail;
  projects: Array<ProjectStatus>;
};

/** The answer to `task.submit` and `task.retry`. */
export type SubmitResult = {
  task_id: string;
  fingerprint: string;
  status: TaskStatus;
  parent_task_id?: string | null;
};

/** A task was written for the planner. */
export type Submitted = {
  task_id: string;
  fingerprint: string;
  parent_task_id?: string | null;
};

/** The answer to `events.subscribe`. */
export type SubscribeResult = {
  seq: number;
};

/** The answer to `session.take`. */
export type TakeResult = {
  session_id: string;
  from: string | null;
};

/** `task.cancel`: end this task, whatever its state (D76). */
export type TaskCancel = {
  project: string;
  task_id: string;
  reason?: string | null;
};

/** `task.dispatch`: put this task into the conversation. RUNNING is already durable on disk. */
export type TaskDispatch = {
  dispatch_id: string;
  task_id: string;
  message: string;
  planner: unknown;
  context: Array<ContextFile>;
  expires_at: string;
};

/** `task.remind`: the turn ended, the report is still owed (D25). */
export type TaskRemind = {
  dispatch_id: string;
  text: string;
};

/** `task.report`: the task is done, or it failed. */
export type TaskReport = {
  dispatch_id: string;
  report: unknown;
  observed?: Observed | null;
};

/** The answer to an accepted `task.report`; it comes after the work log was written. */
export type TaskReportResult = {
  status: EndStatus;
  work_log: WorkLogOutcome;
};

/** `task.retry`: a new PENDING from an ended task, with a new id and time and `parent_task_id` set. */
export type TaskRetry = {
  project: string;
  task_id: string;
};

export type TaskStatus = "IDLE" | "PENDING" | "RUNNING" | "COMPLETE" | "ERROR";

/** `task.submit`: the planner's write, done for it (D64). */
export type TaskSubmit = {
  project: string;
  task: unknown;
};

/** The answer to `project.unlock`. */
export type UnlockResult = {
  path: string;
  state: ProjectState;
  lock: LockStatus | null;
  why: string;
  moved_to: string | null;
};

export type WatchMode = "events" | "poll";

export type WorkLogOutcome = "appended" | "failed";
