// What pi-subagents tells, turned into runs: its bus events, tool results, status replies and status files. Pure: foreign
// payloads are looked at member by member, and what is not as expected is left out.
import type { Run, RunState } from "../wire.ts";
import { UNNAMED } from "./runs.ts";

/** A run and the folder with its `status.json`, if that is known. */
export type Sighting = { run: Run; dir?: string };

type Bag = Record<string, unknown>;

const bag = (value: unknown): Bag => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Bag) : {});
const bags = (value: unknown): Bag[] => (Array.isArray(value) ? value.map(bag) : []);
const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const pidOf = (value: unknown): number | undefined => (Number.isInteger(value) && (value as number) > 0 ? (value as number) : undefined);

/** The package's word as the daemon counts it (D49); anything else is still running. */
export function stateOf(word: unknown, success?: unknown): RunState {
  switch (word) {
    case "complete":
    case "completed":
      return "complete";
    case "failed":
    case "partial":
    case "error":
      return "failed";
    case "stopped":
      return "stopped";
    case "rejected":
      return "rejected";
    case "queued":
    case "running":
    case "paused":
      return "running";
    default:
      return success === true ? "complete" : success === false ? "failed" : "running";
  }
}

function sighting(run: Run, dir?: unknown): Sighting {
  const clean = Object.fromEntries(Object.entries(run).filter(([, value]) => value !== undefined)) as Run;
  const place = text(dir);
  return place === undefined ? { run: clean } : { run: clean, dir: place };
}

/** `subagent:async-started` */
export function fromStarted(payload: unknown): Sighting | undefined {
  const { id, agent, mode, pid, asyncDir, parentWorkflowRunId } = bag(payload);
  const runId = text(id);
  if (!runId) return undefined;
  const run: Run = { run_id: runId, agent: text(agent) ?? nameOfMode(mode), background: true, state: "running" };
  const parent = text(parentWorkflowRunId);
  const process = pidOf(pid);
  if (parent) run.parent_run_id = parent;
  if (process) run.pid = process;
  return sighting(run, asyncDir);
}

const nameOfMode = (mode: unknown): string => (mode === "workflow" ? "workflow" : UNNAMED);

/** What an entry of a result list says of its run beside id, agent and state. */
function findings(result: Bag): Pick<Run, "model" | "thinking" | "result"> {
  const found: Pick<Run, "model" | "thinking" | "result"> = {};
  const model = text(result["model"]);
  const thinking = text(result["thinking"]);
  const output = text(result["output"]) ?? text(result["finalOutput"]) ?? text(result["summary"]) ?? text(result["error"]);
  if (model) found.model = model;
  if (thinking) found.thinking = thinking;
  if (output) found.result = output;
  return found;
}

/** `subagent:async-complete`: the run, and for a workflow its children, which tell no end of their own. */
export function fromComplete(payload: unknown): Sighting[] {
  const event = bag(payload);
  const runId = text(event["id"]) ?? text(event["runId"]);
  if (!runId) return [];
  const results = bags(event["results"]);
  const children = bags(bag(event["workflowChildren"])["children"]);
  const isWorkflow = event["mode"] === "workflow" || children.length > 0;
  const only = results.length === 1 && !isWorkflow ? (results[0] ?? {}) : {};
  const own: Run = {
    run_id: runId,
    agent: text(event["agent"]) ?? text(only["agent"]) ?? nameOfMode(event["mode"]),
    background: true,
    state: stateOf(event["state"], event["success"]),
    ...findings({ summary: event["summary"], ...only }),
  };
  // An end that is told is an end, whatever word is used for it; but a pause is none.
  if (own.state === "running" && event["state"] !== "paused") own.state = event["success"] === false ? "failed" : "complete";
  const below = children.flatMap((child): Sighting[] => {
    const id = text(child["runId"]) ?? text(child["childId"]);
    if (!id) return [];
    const result = results.find((candidate) => candidate["runId"] === id) ?? {};
    const state = stateOf(child["state"] ?? result["state"], result["success"] ?? child["success"]);
    const run: Run = {
      run_id: id,
      agent: text(child["agent"]) ?? text(result["agent"]) ?? UNNAMED,
      background: true,
      state,
      parent_run_id: runId,
      ...findings({ model: child["model"], thinking: child["thinking"], ...result }),
    };
    return [sighting(run, child["asyncDir"])];
  });
  return [sighting(own, event["asyncDir"]), ...below];
}

/** A `tool_result` of the tool `subagent`. Management calls tell of no run. */
export type ToolResult = { toolCallId: string; input: unknown; details: unknown; isError: boolean; text: string };

/** An error result has no details. Only its text tells a run that failed from one that was never started. */
const HAS_RUN = /^(?:Output artifact: |Mission: \S+ \(failed\))/m;

export function fromToolResult({ toolCallId, input, details, isError, text: said }: ToolResult): Sighting[] {
  const asked = bag(input);
  const told = bag(details);
  const action = text(asked["action"]);
  if (action !== undefined && action !== "resume" && action !== "run") return [];
  const background = text(told["asyncId"]) ?? text(told["runId"]);
  const agent = text(asked["agent"]) ?? text(told["agent"]) ?? nameOfMode(told["mode"]);
  const results = bags(told["results"]);
  if (text(told["asyncId"]) && background) {
    return [sighting({ run_id: background, agent, background: true, state: "running" }, told["asyncDir"])];
  }
  if (results.length > 0) {
    return results.map((result, index) => {
      const failed = result["success"] === false || (typeof result["exitCode"] === "number" && result["exitCode"] !== 0);
      const word = stateOf(result["state"] ?? result["status"], !failed);
      return sighting({
        run_id: index === 0 ? `tool:${toolCallId}` : `tool:${toolCallId}#${index + 1}`,
        agent: text(result["agent"]) ?? agent,
        background: false,
        // A foreground run has ended when its result is there.
        state: word === "running" ? (failed ? "failed" : "complete") : word,
        ...findings(result),
      });
    });
  }
  if (!isError) return [];
  const hasRun = HAS_RUN.test(said);
  // A launch that was refused is a run that never existed.
  return [sighting({
    run_id: `tool:${toolCallId}`,
    agent,
    background: !hasRun && asked["async"] !== false,
    state: hasRun ? "failed" : "rejected",
    ...(hasRun ? { result: said } : {}),
  })];
}

export type Snapshot = { runs: Array<Sighting & { startedAt: number }>; omitted: boolean };

/** The reply of the bus to a status request; undefined if it is none. */
export function fromSnapshot(reply: unknown): Snapshot | undefined {
  const answer = bag(reply);
  const data = bag(answer["data"]);
  const snapshot = bag(data["asyncSnapshot"]);
  if (answer["success"] === false || !Array.isArray(snapshot["runs"])) return undefined;
  const runs: Snapshot["runs"] = [];
  const walk = (entries: Bag[], parent: string | undefined, depth: number): void => {
    for (const entry of entries) {
      const id = text(entry["runId"]) ?? text(entry["id"]);
      // Steps are parts of a run, not runs.
      if (!id || entry["kind"] === "step") continue;
      const run: Run = {
        run_id: id,
        agent: text(entry["label"]) ?? text(entry["agent"]) ?? UNNAMED,
        background: true,
        state: stateOf(entry["state"]),
      };
      if (parent) run.parent_run_id = parent;
      runs.push({ ...sighting(run, entry["asyncDir"]), startedAt: timeOf(entry["startedAt"]) });
      if (depth < 4) walk(bags(entry["children"]), id, depth + 1);
    }
  };
  walk(bags(snapshot["runs"]), undefined, 0);
  return { runs, omitted: hasOmissions(snapshot["omitted"]) };
}

function hasOmissions(omitted: unknown): boolean {
  const counts = typeof omitted === "object" ? Object.values(bag(omitted)) : [omitted];
  return counts.some((count) => count === true || (typeof count === "number" && count > 0));
}

function timeOf(value: unknown): number {
  if (typeof value === "number") return value;
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? 0 : time;
}

/** `status.json` of a run, for a session that was closed while the run worked. */
export function fromStatusFile(json: unknown, known: Run): Run | undefined {
  const status = bag(json);
  if (text(status["runId"]) !== known.run_id) return undefined;
  const steps = bags(status["steps"]);
  const last = steps.at(-1) ?? {};
  const pid = pidOf(status["pid"]);
  return {
    run_id: known.run_id,
    agent: text(last["agent"]) ?? known.agent,
    background: true,
    state: stateOf(status["state"]),
    ...findings({ ...last, output: undefined }),
    ...(pid === undefined ? {} : { pid }),
  };
}
