// Tasks as a planner writes them, and what the scripted model does about them: the instruction carries the script.

export const WRITER = "handoff-writer";
export const REVIEWER = "handoff-reviewer";

/** A writing task; `script` is what the model plays when it gets it. */
export const task = (script, more = {}) => ({
  task_type: "IMPLEMENT",
  required_role: "writer",
  instruction: ["Append one line to notes.txt.", ...script].join("\n"),
  working_dir: ".",
  scope: ["notes.txt"],
  acceptance_criteria: ["notes.txt has the line"],
  ...more,
});

export const REVIEW = { gate: "review-after", gate_reason: "others read the notes" };

const json = JSON.stringify;

/** A turn: start a sub-agent whose own script is `lines`. */
export const launch = (agent, lines, more = {}) =>
  `mock> call subagent ${json({ agent, task: ["Do your part.", ...lines].join("\n"), ...more })}`;

/** The same in the foreground. */
export const run = (agent, lines, more = {}) => launch(agent, lines, { async: false, ...more });

/** The same lines, kept for a message that comes later. */
export const when = (pattern, lines) => lines.map((line) => line.replace(/^mock> /, `mock-on /${pattern}/> `));

/** The notices of pi-subagents. */
export const finished = (agent) => `Background task completed: ..${agent}`;
/** The reminders of the daemon. */
export const STILL_YOURS = "is still yours and has no report";
export const ALL_ENDED = "All runs of the task";

/** The id of the newest background run of this agent, as its launch said it. */
export const runOf = (agent) => `{{last:Async: ${agent} .([0-9a-f-]{36})}}`;

/** What the writer's child does: the work itself. */
export const WORK = 'mock> call bash {"command":"echo one line >> notes.txt"}';

const entry = (agent, run_id, result) => ({ agent, run_id, status: "COMPLETE", result, model: "mock/main", thinking: "off" });

/** The arguments of a report that says COMPLETE. */
export const complete = ({ worker = entry(WRITER, runOf(WRITER), "line appended"), reviewed, ...more } = {}) => ({
  status: "COMPLETE",
  worker,
  gate_evidence: reviewed ? [{ gate: "review-after", independent: true, ...entry(REVIEWER, runOf(REVIEWER), reviewed) }] : [],
  async_status: { checked: true, pending_run_ids: [], failed_run_ids: [] },
  files_changed: ["notes.txt"],
  tests_run: ["cat notes.txt: one line"],
  result: "notes.txt has the line",
  error: null,
  ...more,
});

/** A worker that ran in the foreground: such a run has no id of its own. */
export const foregroundWorker = (result = "line appended") => entry(WRITER, "foreground-1", result);

export const failure = (error) => complete({ status: "ERROR", worker: null, files_changed: [], tests_run: [], result: null, error });

/** A turn: send the report. */
export const report = (args) => `mock> call handoff_task_report ${json(args)}`;
export const say = (text) => `mock> say ${text}`;
/** A turn: answer when the test opens the gate. */
export const stop = (gate, then) => [`mock> until ${gate}`, then.replace(/^mock> /, "mock+> ")];
/** A turn: ask for the live runs. */
export const STATUS = 'mock> call subagent {"action":"status"}';
