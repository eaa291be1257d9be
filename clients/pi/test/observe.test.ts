// Runs of sub-agents: what pi-subagents 0.67.0 tells, in the forms that were seen, and what is made of it.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Observer, type ObserverOptions } from "../src/observer.ts";
import { fromComplete, fromSnapshot, fromStarted, fromStatusFile, fromToolResult, stateOf } from "../src/state/subagents.ts";
import type { Run } from "../src/wire.ts";
import { FakeBus } from "./support/pi.ts";
import { until } from "./support/until.ts";
import { dispatchId, handOver, task, world } from "./support/world.ts";

const tool = (input: object, details: object, more: object = {}) =>
  fromToolResult({ toolCallId: "c1", input, details, isError: false, text: "", ...more });

test("the package's words count as the daemon counts them", () => {
  const check = (word: unknown, success: unknown, expected: string): void => assert.equal(stateOf(word, success), expected, String(word));
  for (const word of ["queued", "running", "paused"]) check(word, true, "running");
  for (const word of ["complete", "completed"]) check(word, undefined, "complete");
  for (const word of ["failed", "partial"]) check(word, undefined, "failed");
  check("stopped", undefined, "stopped");
  check("rejected", undefined, "rejected");
  check("something new", undefined, "running");
  check(undefined, true, "complete");
  check(undefined, false, "failed");
});

test("a background launch", () => {
  const expected = { run: { run_id: "r", agent: "builder", background: true, state: "running", pid: 42 }, dir: "/d" };
  assert.deepEqual(fromStarted({ id: "r", agent: "builder", mode: "single", pid: 42, asyncDir: "/d", task: "[prompt redacted]" }), expected);
  assert.deepEqual(tool({ agent: "builder", task: "x" }, { mode: "single", runId: "r", asyncId: "r", asyncDir: "/d", results: [] }),
    [{ run: { run_id: "r", agent: "builder", background: true, state: "running" }, dir: "/d" }]);
  assert.equal(fromStarted({ agent: "builder" }), undefined);
  assert.equal(fromStarted(null), undefined);
});

test("a single run that ended, well and badly", () => {
  const well = { id: "r", agent: "builder", mode: "single", success: true, state: "complete", summary: "builder:\nmade",
    results: [{ agent: "builder", output: "made", success: true, model: "mock/m:low", thinking: "low", acceptance: { status: "rejected" } }] };
  assert.deepEqual(fromComplete(well), [{ run: { run_id: "r", agent: "builder", background: true, state: "complete", model: "mock/m:low", thinking: "low", result: "made" } }]);
  const badly = { id: "r", agent: "builder", success: false, state: "failed", summary: "builder:\n400", results: [{ output: "", error: "400", model: "mock/m" }] };
  assert.deepEqual(fromComplete(badly), [{ run: { run_id: "r", agent: "builder", background: true, state: "failed", model: "mock/m", result: "builder:\n400" } }]);
});

test("a paused run has not ended; an end under an unknown word has", () => {
  const state = (event: object): string | undefined => fromComplete({ id: "r", ...event })[0]?.run.state;
  assert.equal(state({ state: "paused", success: false }), "running");
  assert.equal(state({ state: "finished-somehow", success: true }), "complete");
  assert.equal(state({ state: "finished-somehow", success: false }), "failed");
  assert.equal(state({ state: "partial", success: true }), "failed");
});

test("a workflow's end tells of its children", () => {
  const event = { id: "w", runId: "w", agent: "workflow", mode: "workflow", success: true, state: "complete", summary: "2 child runs",
    results: [{ runId: "a", agent: "builder", success: true, status: "completed", output: "made" }, { runId: "b", agent: "checker", success: true, status: "completed", output: "fine" }],
    workflowChildren: { children: [{ childId: "impl", runId: "a", agent: "builder", state: "completed", model: "m/x:low" }, { childId: "rev", runId: "b", agent: "checker", state: "failed", model: "m/x" }] } };
  assert.deepEqual(fromComplete(event).map(({ run }) => [run.run_id, run.agent, run.state, run.parent_run_id, run.model, run.result]), [
    ["w", "workflow", "complete", undefined, undefined, "2 child runs"],
    ["a", "builder", "complete", "w", "m/x:low", "made"],
    ["b", "checker", "failed", "w", "m/x", "fine"],
  ]);
});

test("a foreground run has the id of its call", () => {
  const details = { mode: "single", runId: "x", results: [{ agent: "checker", exitCode: 0, model: "m/x", finalOutput: "nothing found" }] };
  assert.deepEqual(tool({ agent: "checker", async: false }, details),
    [{ run: { run_id: "tool:c1", agent: "checker", background: false, state: "complete", model: "m/x", result: "nothing found" } }]);
  const two = { results: [{ agent: "a", exitCode: 0 }, { agent: "b", exitCode: 1 }] };
  assert.deepEqual(tool({}, two).map(({ run }) => [run.run_id, run.agent, run.state]), [["tool:c1", "a", "complete"], ["tool:c1#2", "b", "failed"]]);
});

test("an error result without details: a launch that was refused, or a foreground run that failed", () => {
  const state = (input: object, text: string) => tool(input, {}, { isError: true, text }).map(({ run }) => [run.state, run.background]);
  assert.deepEqual(state({ agent: "b" }, "Run fan-out: 1/64 used\nFailed to start async run 'x': Background children require the host npm package"), [["rejected", true]]);
  assert.deepEqual(state({ agent: "nobody", async: false }, "Unknown agent: nobody"), [["rejected", false]]);
  assert.deepEqual(state({ agent: "b", async: false }, "Run fan-out: 1/64 used\n400: broken\n\nOutput artifact: /x.md\nMission: 1-2 (failed)"), [["failed", false]]);
});

test("management calls tell of no run", () => {
  for (const action of ["status", "list", "stop", "steer", "doctor"]) {
    assert.deepEqual(tool({ action, id: "r" }, { mode: "single", runId: "r", asyncId: "r", results: [] }), [], action);
    assert.deepEqual(tool({ action }, {}, { isError: true }), [], action);
  }
});

const reply = (runs: object[], omitted: object = { runs: 0, children: 0, byteLimitExceeded: false }) =>
  ({ version: 1, success: true, data: { asyncSnapshot: { runs, omitted } } });

test("a status reply: runs, but not their steps, and whether something was left out", () => {
  const snapshot = fromSnapshot(reply([
    { id: "r", kind: "subagent", label: "builder", state: "queued", startedAt: 5, children: [{ id: "step:0", kind: "step", label: "builder", state: "running" }] },
    { id: "w", kind: "workflow", label: "builder, checker", state: "failed", startedAt: 6 },
  ]));
  assert.deepEqual(snapshot?.runs.map(({ run, startedAt }) => [run.run_id, run.agent, run.state, startedAt]), [["r", "builder", "running", 5], ["w", "builder, checker", "failed", 6]]);
  assert.equal(snapshot?.omitted, false);
  assert.equal(fromSnapshot(reply([], { runs: 3 }))?.omitted, true);
  assert.equal(fromSnapshot(reply([], { runs: 0, byteLimitExceeded: true }))?.omitted, true);
  for (const broken of [undefined, null, {}, { success: false }, { success: true, data: {} }]) assert.equal(fromSnapshot(broken), undefined);
});

test("a status file is believed about its own run only", () => {
  const known: Run = { run_id: "r", agent: "builder", state: "running" };
  const file = { runId: "r", state: "complete", pid: 9, steps: [{ agent: "builder", model: "m/x:low", thinking: "low" }] };
  assert.deepEqual(fromStatusFile(file, known), { run_id: "r", agent: "builder", background: true, state: "complete", model: "m/x:low", thinking: "low", pid: 9 });
  assert.equal(fromStatusFile({ ...file, runId: "other" }, known), undefined);
  assert.equal(fromStatusFile("x", known), undefined);
});

function observer(more: Partial<ObserverOptions> = {}) {
  const bus = new FakeBus();
  const told: Run[] = [];
  const late: Array<[string, string]> = [];
  const made = new Observer({
    bus, isInstalled: () => true, statusMs: 30, lookMs: 10,
    changed: ({ record }) => told.push(record.run), late: (run, id) => late.push([run.run_id, id]), ...more,
  });
  const answers = (answer: (id: string) => unknown): void => {
    bus.on("subagents:rpc:v1:request", (request: any) => bus.emit(`subagents:rpc:v1:reply:${request.requestId}`, answer(request.requestId)));
  };
  return { bus, told, late, observer: made, answers };
}

test("everything was seen only if nothing can have been missed", async () => {
  const all = async (setUp: (made: ReturnType<typeof observer>) => void, more: Partial<ObserverOptions> = {}): Promise<boolean> => {
    const made = observer(more);
    setUp(made);
    const { all } = await made.observer.observed();
    made.observer.stop();
    return all;
  };
  assert.equal(await all(({ observer, answers }) => { answers(() => reply([])); observer.begin(1); }), true);
  assert.equal(await all(({ observer }) => observer.begin(1)), false, "the bus is silent");
  assert.equal(await all(({ observer, answers }) => { answers(() => ({ success: false })); observer.begin(1); }), false, "the bus refuses");
  assert.equal(await all(({ observer, answers }) => { answers(() => reply([], { runs: 1 })); observer.begin(1); }), false, "something was left out");
  assert.equal(await all(({ observer, answers }) => { answers(() => reply([])); observer.resume(1, []); }), false, "after a reload");
  assert.equal(await all(({ observer, answers }) => { answers(() => reply([])); observer.begin(1); }, { isInstalled: () => false }), false, "without the package");
  assert.equal(await all(({ observer, answers }) => { answers(() => reply([])); observer.begin(1); }, { isOnly: () => false }), false, "another package delegates, too");
});

test("the status reply adds what no event told, and leaves out what is older than the task", async () => {
  const { observer: one, answers, bus } = observer();
  bus.emit("subagent:async-started", { id: "mine", agent: "x" });
  one.begin(100);
  bus.emit("subagent:async-started", { id: "seen", agent: "builder" });
  answers(() => reply([
    { id: "seen", label: "builder", state: "complete", startedAt: 110 }, { id: "missed", label: "checker", state: "failed", startedAt: 120 },
    { id: "old", label: "x", state: "failed", startedAt: 50 }, { id: "mine", label: "x", state: "running", startedAt: 150 },
  ]));
  const { runs } = await one.observed();
  assert.deepEqual(runs.map((run) => [run.run_id, run.state]), [["seen", "complete"], ["missed", "failed"]]);
  one.stop();
});

test("a workflow's child that its end does not name was given up with it", () => {
  const { observer: one, bus, told } = observer();
  one.begin(1);
  bus.emit("subagent:async-started", { id: "w", agent: "workflow", mode: "workflow" });
  bus.emit("subagent:async-started", { id: "a", agent: "x", parentWorkflowRunId: "w" });
  bus.emit("subagent:async-complete", { id: "w", mode: "workflow", success: true, state: "complete", workflowChildren: { children: [] } });
  assert.deepEqual(told.slice(-2).map((run) => [run.run_id, run.state]), [["w", "complete"], ["a", "stopped"]]);
  assert.equal(one.book.live.length, 0);
});

test("runs that outlive their task are told to their end", () => {
  const { observer: one, bus, late, told } = observer();
  one.begin(1);
  bus.emit("subagent:async-started", { id: "r", agent: "x" });
  one.end("dispatch-1");
  bus.emit("subagent:async-complete", { id: "r", agent: "x", success: true, state: "complete" });
  assert.deepEqual(late, [["r", "dispatch-1"]]);
  one.begin(2);
  bus.emit("subagent:async-complete", { id: "r", agent: "x", success: true, state: "complete" });
  assert.equal(told.length, 1, "it is no run of the next task");
});

test("after a restart status files tell how runs ended, and a process that is gone ends its run", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pi-handoffd-runs-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const status = (id: string, state: string, pid: number): void => {
    mkdirSync(join(folder, id), { recursive: true });
    writeFileSync(join(folder, id, "status.json"), JSON.stringify({ runId: id, state, pid, steps: [{ agent: "x", model: "m/x" }] }));
  };
  const alive = new Set([1, 2]);
  const { observer: one, told } = observer({ isAlive: (pid) => alive.has(pid) });
  t.after(() => one.stop());
  status("done", "complete", 1);
  status("works", "running", 2);
  status("gone", "running", 3);
  const run = (id: string) => ({ run: { run_id: id, agent: "x", background: true, state: "running" as const }, dir: join(folder, id) });
  one.resume(1, [run("done"), run("works"), run("gone")]);
  await until("two ends", () => told.length === 2);
  assert.deepEqual(told.map((seen) => [seen.run_id, seen.state, seen.model ?? null]), [["done", "complete", "m/x"], ["gone", "failed", null]]);
  status("works", "complete", 2);
  await until("the third", () => told.some((seen) => seen.run_id === "works"));
});

test("events of any form are survived", () => {
  const { observer: one, bus, told } = observer();
  one.begin(1);
  for (const payload of [undefined, null, 7, "x", [], {}, { id: 7 }, { id: "" }, { id: "r", results: "x", workflowChildren: 7 }, { id: "q", results: [null], workflowChildren: { children: [null, { runId: 7 }] } }]) {
    for (const channel of ["subagent:async-started", "subagent:async-complete"]) bus.emit(channel, payload);
  }
  assert.deepEqual([...new Set(told.map((run) => run.run_id))], ["r", "q"]);
});

test("a session tells of each run as it happens, and gives the model what it needs", async (t) => {
  const made = await world(t);
  const { pi, daemon } = made;
  pi.events.emit("subagent:async-started", { id: "before", agent: "x" });
  const id = await handOver(made);
  pi.events.emit("subagent:async-started", { id: "r", agent: "builder", pid: 42, asyncDir: "/d" });
  assert.deepEqual(await daemon.heard("session.run_started"), { dispatch_id: id, run_id: "r", agent: "builder", background: true, state: "running", pid: 42 });
  assert.match(pi.footer ?? "", /1 sub-agent$/);
  pi.events.emit("subagent:async-complete", { id: "r", agent: "builder", success: true, state: "complete", results: [{ output: "made", model: "m/x:low" }] });
  assert.equal((await daemon.heard("session.run_finished")).result, "made");
  const told = (input: object, details: object, isError: boolean, text: string): any =>
    pi.emit("tool_result", { toolName: "subagent", toolCallId: "c9", input, details, isError, content: [{ type: "text", text }] })[0];
  assert.match(told({ agent: "c", async: false }, { results: [{ agent: "c", exitCode: 0 }] }, false, "fine").content[1].text, /`tool:c9`/);
  const refusal = "Failed to start async run 'x': Background children require the host npm package";
  for (let times = 0; times < 2; times++) assert.match(told({ agent: "b" }, {}, true, refusal).content[1].text, /async: false/);
  assert.equal(pi.notices.filter(({ text }) => text.includes("cannot start background runs on Pi 1.6.0")).length, 1, "said once");
  assert.equal(told({ agent: "b" }, {}, true, "Unknown agent: b"), undefined);
  assert.deepEqual(daemon.told("session.run_started").filter((run) => run.run_id === "before"), []);
});

test("a package that is missing, or another one, is named when a task comes", async (t) => {
  const check = async (tools: string[], words: RegExp | undefined): Promise<void> => {
    const { pi, daemon } = await world(t, undefined, (one) => { one.toolNames = tools; });
    await daemon.heard("session.attach");
    await daemon.ask("task.dispatch", task(dispatchId()));
    const said = pi.notices.map(({ text }) => text).join("\n");
    if (words) assert.match(said, words);
    else assert.equal(said, "");
  };
  await check(["subagent"], undefined);
  await check(["read"], /pi-subagents is not loaded.*pi install npm:pi-subagents/);
  await check(["Agent", "get_subagent_result", "steer_subagent"], /@tintinweb\/pi-subagents/);
});
