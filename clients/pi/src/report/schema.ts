// The parameters of `handoff_task_report`, as the model sees them. Plain JSON Schema: Pi checks calls against it.
// Types, words and names are strict here. What must be there depends on `status` and on the task, so the daemon says
// that, together with all that the project's files and the runs say: one refusal names everything.

const nullable = (schema: Record<string, unknown>): Record<string, unknown> => ({ anyOf: [schema, { type: "null" }] });
const text = (description: string): Record<string, unknown> => ({ type: "string", description });
const list = (description: string): Record<string, unknown> => ({ type: "array", items: { type: "string" }, description });

const STATUS = { type: "string", enum: ["COMPLETE", "ERROR"] };
const MODEL = text("provider/id, as the status of the run tells it");
const THINKING = text("off, minimal, low, medium, high, xhigh or max");

const WORKER = {
  type: "object",
  description: "The sub-agent that did the work; for COMPLETE with all its members",
  additionalProperties: false,
  properties: {
    agent: text("Its name, exactly as launched"),
    run_id: text("Its run id, from the launch; tool:<tool call id> for a foreground run without one"),
    status: { ...STATUS, description: "How the run ended" },
    result: text("What it did, in its own words or shortened"),
    model: MODEL,
    thinking: THINKING,
  },
};

const GATE = {
  type: "object",
  description: "The gate that was done, with all its members",
  additionalProperties: false,
  properties: {
    gate: { type: "string", enum: ["consult-before", "review-after"], description: "The task's gate" },
    agent: text("Another agent than the worker, with a read-only role"),
    run_id: text("Its own run id"),
    status: STATUS,
    result: text("The verdict first, then the reasons"),
    independent: { type: "boolean", description: "true: it is another agent in another run" },
    model: MODEL,
    thinking: THINKING,
  },
};

const ASYNC = {
  type: "object",
  description: 'What the latest subagent({action: "status"}) said of the runs of this task; for COMPLETE with all its members',
  additionalProperties: false,
  properties: {
    checked: { type: "boolean", description: "true: you asked" },
    pending_run_ids: list("Runs that are still at work; must be empty for COMPLETE"),
    failed_run_ids: list("Runs that failed; must be empty for COMPLETE"),
  },
};

export const REPORT_SCHEMA = {
  type: "object",
  additionalProperties: false,
  properties: {
    status: { ...STATUS, description: "COMPLETE: the task is done and all its runs have ended. ERROR: it is given up" },
    worker: nullable(WORKER),
    gate_evidence: { type: "array", items: GATE, description: "One entry when the task has a gate, else empty" },
    async_status: nullable(ASYNC),
    files_changed: list("Changed files, relative to the project's root; all inside the task's scope"),
    tests_run: list("Commands of tests that were run"),
    result: nullable(text("What was done, for the planner; required for COMPLETE")),
    error: nullable(text("Why it failed; required for ERROR, null for COMPLETE")),
  },
  required: ["status"],
} as const;
