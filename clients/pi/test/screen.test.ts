// What the person sees and types.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { completions, parse, VERBS } from "../src/command/words.ts";
import { logText, statusText, suggestion } from "../src/command/status.ts";
import { headline, summaryOfPacket, summaryOfTask } from "../src/summary.ts";
import { clean, duration, line } from "../src/text.ts";
import { footer, type Look } from "../src/view.ts";
import { Panel } from "../src/panel.ts";
import type { ProjectState } from "../src/wire.ts";
import { attachedAs, refused } from "./support/daemon.ts";
import { FakePi } from "./support/pi.ts";
import { until } from "./support/until.ts";
import { handOver, world } from "./support/world.ts";

test("text of others cannot move the cursor, hide, or turn a line around", () => {
  assert.equal(clean("a\u001b[31mred\u001b[0m\u001b]0;title\u0007b\u009b2J"), "aredb2J");
  assert.equal(clean("one\r\ntwo\rthree\tfour\u0000"), "one\ntwo\nthree four");
  assert.equal(clean("abc\u202edef\u2066\u200b\ufeff\u{e0041}"), "abcdef");
  assert.equal(clean("büro 日本語 😀"), "büro 日本語 😀");
  assert.equal(line("a\n\n  b\u2028c "), "a bc");
  assert.equal(line("😀".repeat(10), 4), "😀😀😀…");
});

test("durations are short", () => {
  const check = (ms: number, expected: string): void => assert.equal(duration(ms), expected);
  check(-5, "0 s");
  check(59_999, "59 s");
  check(60_000, "1 min");
  check(3_600_000 + 300_000, "1 h 05 min");
  check(100 * 3_600_000, "100 h 00 min");
});

const LOOK: Look = { fault: undefined, place: "owner", state: "idle", reason: null, why: null, refusal: undefined, hand: undefined, live: 0, owes: false, ready: true, hint: undefined };
const HAND = { id: "d", taskId: "T-1", kind: "task" as const, phase: "delivered" as const, since: 0 };

test("the footer says how it is, in a few words", () => {
  const check = (more: Partial<Look>, expected: string | undefined, now = 200_000): void => assert.equal(footer({ ...LOOK, ...more }, now), expected);
  check({}, "handoff: owner, ready");
  check({ ready: false }, "handoff: owner");
  check({ ready: false, hint: "model" }, "handoff: owner, no model · /login or /model");
  check({ ready: false, hint: "model", state: "waiting", why: "the session is busy" }, "handoff: a task is waiting: no model · /login or /model");
  check({ ready: false, hint: "dialog" }, "handoff: owner");
  check({ place: undefined }, undefined);
  check({ reason: "runs_alive", why: "1 run of T-1 is still at work" }, "handoff: owner · 1 run of T-1 is still at work");
  check({ place: "standby" }, "handoff: standby");
  check({ place: "standby", state: "running" }, "handoff: standby");
  check({ place: "standby", state: "running", reason: "no_session" }, "handoff: standby · a task waits for its own session · /handoff");
  check({ place: "standby", state: "halted" }, "handoff: standby · halted · /handoff");
  check({ place: "standby", state: "disabled" }, "handoff: disabled · /handoff");
  check({ state: "waiting", why: "the session is busy" }, "handoff: a task is waiting: the session is busy");
  check({ state: "paused" }, "handoff: paused · /handoff resume");
  check({ state: "blocked" }, "handoff: blocked · /handoff");
  check({ hand: HAND, state: "running" }, "handoff: T-1 running 3 min");
  check({ hand: HAND, state: "running" }, "handoff: T-1 running 10 s", 19_999);
  check({ hand: HAND, place: "standby" }, "handoff: T-1 running 3 min · standby");
  check({ hand: HAND, live: 2 }, "handoff: T-1 running 3 min, 2 sub-agents");
  check({ hand: HAND, owes: true }, "handoff: T-1 running 3 min, owes a report");
  check({ hand: HAND, state: "halted" }, "handoff: T-1 running 3 min · halted · /handoff");
  check({ hand: { ...HAND, phase: "injecting" }, state: "running" }, "handoff: owner, a task is on its way");
  check({ fault: { kind: "off" } }, "handoff: off");
  check({ fault: { kind: "off" }, hand: HAND }, "handoff: T-1 running 3 min · off");
  check({ fault: { kind: "silent" } }, "handoff: the daemon does not answer");
  check({ place: undefined, refusal: { word: "unknown_project", text: "", nearest: undefined } }, undefined);
  check({ place: undefined, refusal: { word: "project_disabled", text: "", nearest: undefined } }, "handoff: disabled · /handoff");
});

test("a session that begins while another one's task is open says how to get back to that one, once", async (t) => {
  const why = "its conversation was left; go back to it to report: /resume there, or pi --session s.jsonl";
  const project = { path: "/p", state: "running", reason: "no_session", why };
  const { pi, daemon } = await world(t, (method) => (method === "session.attach" ? attachedAs("standby", { project }) : undefined));
  const said = [{ text: `handoff: a task waits for its own session: ${why}`, type: "warning" }];
  await until("the notice", () => pi.notices.length > 0);
  // It comes before the attach is over.
  await daemon.heard("events.subscribe");
  daemon.hangUp();
  await until("attached again", () => daemon.told("session.attach").length === 2 && pi.footer?.startsWith("handoff: standby"));
  await daemon.heard("events.subscribe", () => daemon.told("events.subscribe").length === 2);
  assert.deepEqual(pi.notices, said);
});

test("a task is folded to what a person wants to know", () => {
  const summary = summaryOfTask({ task_id: "T-1", task_type: "IMPLEMENT", gate: "review-after", scope: ["a", "b", "c", "d"], instruction: `one\n${"x\n".repeat(20)}` },
    [{ path: "docs/plan.md", bytes: 1, sha256: "" }]);
  assert.equal(headline("task", summary), "Handoff T-1 · IMPLEMENT · gate review-after · scope a, b, c and 1 more · with docs/plan.md");
  assert.equal(summary.text.split("\n").length, 8);
  assert.ok(summary.text.endsWith(" …"));
  assert.equal(headline("packet", summaryOfPacket({ packet_id: "pk-1", from_role: "planner", to_role: "executor" })), "Packet pk-1 · planner to executor");
  for (const strange of [null, undefined, 7, [], {}]) assert.equal(summaryOfTask(strange, []).title, "task");
});

test("words of /handoff", () => {
  assert.deepEqual(parse(""), { verb: "status", rest: "" });
  assert.deepEqual(parse("  Cancel  wrong branch "), { verb: "cancel", rest: "wrong branch" });
  assert.deepEqual(parse("nonsense x"), { unknown: "nonsense" });
  assert.deepEqual(completions("re")?.map(({ value }) => value), ["resume", "retry"]);
  assert.equal(completions("status"), null, "a whole word: Enter sends the line");
  assert.equal(completions("x"), null);
  assert.equal(completions("")?.length, VERBS.length);
});

test("the daemon's suggestion is split as a shell would, and carried out only where that can be done here", () => {
  assert.deepEqual(suggestion("handoff cancel 'it'\\''s T 1'"), { verb: "cancel", args: ["it's T 1"] });
  assert.deepEqual(suggestion("handoff cancel 'T 1'"), { verb: "cancel", args: ["T 1"] });
  assert.deepEqual(suggestion("handoff resume"), { verb: "resume", args: [] });
  assert.equal(suggestion("handoff logs"), undefined);
  assert.equal(suggestion("rm -rf /"), undefined);
});

const PROJECT = {
  path: "/p", name: "app", state: "running", reason: null, since: "2026-11-30T08:00:00.000Z", why: "the session is at work", next: "handoff cancel T-1",
  queue: { status: "RUNNING", task_id: "T-1", problems: [] },
  task: { dispatch_id: "d", task_id: "T-1", started_at: "2026-11-30T08:00:00.000Z", delivery: "accepted", report: "owed", runs: { running: 1, complete: 2, failed: 0 }, until: null },
  lock: null, session: { session_id: "other", pid: 7, host: "pi 1.6.0", idle: false, last_seen: "x" }, standby: 1, watch: { mode: "events", reason: null },
};
const STATUS = { daemon: { version: "0.1.0", pid: 4711, outdated: false }, projects: [PROJECT] };

test("the status names project, state, task, session and the next step", () => {
  const text = statusText(STATUS as never, PROJECT as never, { sessionId: "me", runs: [{ run_id: "r", agent: "builder", state: "running" }], now: Date.parse("2026-11-30T08:03:00.000Z") });
  assert.equal(text, [
    "project  app (/p)",
    "state    running: the session is at work",
    "task     T-1 running for 3 min; owes a report; runs: 1 at work, 2 complete, 0 failed",
    "         background run of builder: running",
    "session  another one gets the tasks (pi 1.6.0, process 7); 1 standing by; /handoff take changes that",
    "to stop  handoff cancel T-1  (or /handoff cancel)",
    "daemon   0.1.0, process 4711",
  ].join("\n"));
});

test("until when a task waits is told as a person reads it", () => {
  const task = { ...PROJECT.task, until: "2020-01-02T12:04:32.533Z" };
  const text = statusText(STATUS as never, { ...PROJECT, task } as never, { sessionId: "me", runs: [], now: 0 });
  assert.match(text, /; waits until 2020-01-0\d \d\d:\d\d\n/);
});

test("the status says what is not known, where an error is told, and that a disabled project has no session", () => {
  const text = (more: object): string => statusText(STATUS as never, { ...PROJECT, task: null, next: null, why: null, ...more } as never, { sessionId: "other", runs: [], now: 0 });
  assert.match(text({ state: "idle", queue: { status: "ERROR", task_id: "T-1", problems: [] } }), /^task {5}T-1 ERROR; \/handoff log says why$/m);
  assert.match(text({ state: "idle", queue: { status: null, task_id: null, problems: [] } }), /^task {5}none$/m);
  assert.doesNotMatch(text({ state: "unreadable", queue: { status: null, task_id: null, problems: [] } }), /^task/m);
  const asMember = statusText(STATUS as never, { ...PROJECT, session: null } as never, { sessionId: "me", runs: [], now: 0, member: "eph-7" });
  assert.match(asMember, /^session {2}this one gets the packets of team member eph-7, and no tasks$/m);
  assert.match(text({ state: "disabled" }), /^session {2}none gets tasks while the project is disabled$/m);
});

test("the log tells what happened, oldest first", () => {
  const rows = [
    { at: "2020-01-02T08:02:00.000Z", kind: "ended", task_id: "T-1", status: "COMPLETE", error: null, verdict: "approved", result: "done" },
    { at: "2020-01-02T08:01:00.000Z", kind: "session", change: "attached" },
    { at: "2020-01-02T08:00:00.000Z", kind: "ended", task_id: null, status: "ERROR", error: "bad\u001b[2J" },
    { at: "2020-01-02T08:00:00.000Z", kind: "rejected", task_id: null, error: "bad\u001b[2J" },
  ];
  const [first, second, ...none] = logText(rows as never).split("\n");
  assert.match(first ?? "", /^2020-01-0\d \d\d:\d\d {2}was refused: bad$/);
  assert.match(second ?? "", /T-1 ended as COMPLETE: approved$/);
  assert.deepEqual(none, []);
  assert.equal(logText([]), "Nothing has happened in this project yet.");
});

type Calls = Record<string, object>;

async function commanding(t: Parameters<typeof world>[0], calls: Calls = {}, status: object = STATUS) {
  const made = await world(t, (method) => (method === "daemon.status" ? { result: status } : calls[method] ? { result: calls[method] } : undefined));
  await until("attached", () => made.pi.footer === "handoff: owner, ready");
  return made;
}

test("each word of /handoff does what it says", async (t) => {
  const { pi, daemon } = await commanding(t, {
    "project.pause": {}, "project.resume": { state: "idle", why: null, lifted: ["paused", "runs_alive"] },
    "task.cancel": { was: "RUNNING", now: "ERROR", session: "aborted", live_runs: [{}] }, "task.retry": { task_id: "T-1-retry-1" },
    "session.take": { session_id: "me", from: "other" }, "history.list": { rows: [] },
  });
  const check = async (typed: string, words: RegExp, method: string, params?: object): Promise<void> => {
    assert.match(await pi.command(typed), words, typed);
    const sent = daemon.told(method).at(-1);
    if (params) assert.deepEqual(sent, params, typed);
  };
  await check("", /^project {2}app/, "daemon.status");
  await check("pause", /Paused/, "project.pause", { project: "/p" });
  await check("resume", /Lifted: paused, runs alive\. The project is idle\./, "project.resume", { project: "/p" });
  await check("cancel", /T-1 was RUNNING and is ERROR now\. Its turn was stopped\. 1 of its runs is still/, "task.cancel", { project: "/p", task_id: "T-1" });
  await check("cancel wrong branch", /ERROR now/, "task.cancel", { project: "/p", task_id: "T-1", reason: "wrong branch" });
  await check("cancel T-1 wrong branch", /ERROR now/, "task.cancel", { project: "/p", task_id: "T-1", reason: "wrong branch" });
  await check("retry", /starts again as T-1-retry-1/, "task.retry", { project: "/p", task_id: "T-1" });
  await check("retry T-0", /starts again/, "task.retry", { project: "/p", task_id: "T-0" });
  await check("take", /gets the project's tasks now; the other one stands by/, "session.take", { project: "/p", session_id: pi.sessionId });
  await check("log", /Nothing has happened/, "history.list", { project: "/p", limit: 60 });
  assert.match(await pi.command("nonsense"), /There is no \/handoff nonsense/);
});

test("/handoff says only what is so: of a task that has ended, a place that it has, a session that had nothing to stop", async (t) => {
  const idle = { ...PROJECT, state: "idle", task: null, queue: { status: "ERROR", task_id: "T-1", problems: [] } };
  const ended = await commanding(t, {}, { ...STATUS, projects: [idle] });
  assert.equal(await ended.pi.command("cancel"), "There is no task to cancel: T-1 has ended as ERROR.");
  assert.deepEqual(ended.daemon.told("task.cancel"), []);
  const running = await commanding(t, {
    "session.take": { session_id: "me", from: null }, "task.cancel": { was: "RUNNING", now: "ERROR", session: "told", live_runs: [{}, {}] },
  });
  assert.equal(await running.pi.command("take"), "This session gets the project's tasks already.");
  assert.match(await running.pi.command("cancel"), /is ERROR now\. No turn of its session was at work\. 2 of its runs are still/);
  assert.equal(running.pi.notices.at(-1)?.type, "warning", "the notice of the end does not take its place");
});

test("a task that had ended before is not said to have been cancelled", async (t) => {
  for (const [was, words] of [["ERROR", /It had ended before; nothing was changed\./], ["RUNNING", /Its report had been accepted before\./]] as const) {
    const { pi } = await commanding(t, { "task.cancel": { was, now: "ERROR", session: "finished_first", live_runs: [] } });
    assert.match(await pi.command("cancel"), words);
  }
});

test("resume says which task it gave up", async (t) => {
  const made = await world(t, (method, _params, daemon) => {
    if (method !== "project.resume") return method === "daemon.status" ? { result: STATUS } : undefined;
    daemon.notify("event", { seq: 1, at: "x", project: "/p", kind: "task_ended", task_id: "T-1", dispatch_id: id, status: "ERROR", error: "x", verdict: null });
    return { result: { path: "/p", name: "p", state: "idle", reason: null, why: null, next: null, lifted: ["halted"] } };
  });
  const id = await handOver(made);
  assert.equal(await made.pi.command("resume"), "Lifted: halted. T-1 was given up. The project is idle.");
});

test("next asks first, and does nothing on no", async (t) => {
  const { pi, daemon } = await commanding(t, { "task.cancel": { was: "RUNNING", now: "ERROR", session: null, live_runs: [] } });
  pi.yes = false;
  await pi.command("next");
  assert.match(pi.questions[0] ?? "", /Run `handoff cancel T-1`\?.*ends the task as ERROR/s);
  assert.equal(daemon.told("task.cancel").length, 0);
  pi.yes = true;
  await pi.command("next");
  assert.equal(daemon.told("task.cancel").length, 1);
});

test("what goes on by itself needs nothing", async (t) => {
  const { pi } = await commanding(t, {}, { ...STATUS, projects: [{ ...PROJECT, next: "handoff wait" }] });
  assert.equal(await pi.command("next"), "There is nothing to do; the project is running: the session is at work.");
  assert.doesNotMatch(await pi.command(""), /^(next|to stop)/m);
});

test("a suggestion for a terminal is shown, not run", async (t) => {
  const { pi } = await commanding(t, {}, { ...STATUS, projects: [{ ...PROJECT, next: "handoff init" }] });
  assert.match(await pi.command("next"), /Run this in a terminal: handoff init/);
});

test("a refusal is told in the daemon's words", async (t) => {
  const made = await world(t, (method) => (method === "project.pause" ? refused("project_blocked") : undefined));
  await until("attached", () => made.pi.footer);
  assert.equal(await made.pi.command("pause"), "refused: project_blocked");
});

test("a folder that is no project: /handoff explains and offers to register", async (t) => {
  const made = await world(t, (method) =>
    method === "session.attach" ? refused("unknown_project", { nearest: "/p/above" })
    : method === "project.add" ? { result: { path: "/p", name: "p", state: "starting", reason: null, why: "it is being opened", next: "handoff status" } } : undefined);
  const { pi, daemon } = made;
  await daemon.heard("session.attach");
  await until("refused", () => daemon.got.some((message) => message.method === "session.attach"));
  pi.yes = false;
  await until("the offer", () => pi.questions.length > 0 || void pi.command(""));
  assert.match(pi.questions[0] ?? "", /Register this folder.*is not one of its projects.*project around it is \/p\/above/s);
  assert.equal(daemon.told("project.add").length, 0);
  pi.yes = true;
  assert.match(await pi.command(""), /Registered as p: tasks that a planner writes into tasks.json here come to this session\. `handoff init`/);
  assert.deepEqual(daemon.told("project.add"), [{ path: "/p" }]);
});

test("without a daemon /handoff says what to do", async (t) => {
  const { pi, daemon } = await world(t);
  await daemon.stop();
  await until("off", () => pi.footer === "handoff: off");
  assert.match(await pi.command("pause"), /not running.*Start it with `handoffd`/);
});

function panel(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: 1_000_000 });
  const pi = new FakePi();
  const made = new Panel(pi.ctx, undefined);
  made.attached({ project: { path: "/p", state: "idle", why: null }, ownership: "owner", task: null, ended: null });
  const state = (state: ProjectState, why: string | null = null): void =>
    made.event({ seq: 1, at: "x", project: "/p", kind: "project_state", state, reason: null, why, next: null });
  const said = (): string[] => pi.notices.map(({ text }) => text);
  return { panel: made, pi, state, said, pass: (ms: number) => t.mock.timers.tick(ms) };
}

test("a daemon that does not answer is told as that, and shown", async (t) => {
  let isStuck = false;
  const { pi } = await world(t, (method) => (isStuck || method === "daemon.status" ? "silence" : undefined), () => {}, { lookMs: 20 });
  await until("attached", () => pi.footer);
  isStuck = true;
  assert.match(await pi.command(""), /does not answer: it is stopped or stuck/);
  await until("the footer", () => pi.footer === "handoff: the daemon does not answer");
});

test("notices are shown, cleaned, to the person", (t) => {
  const { panel: one, pi } = panel(t);
  one.notice({ level: "error", text: "T-1 ended\u001b[31m in ERROR" });
  assert.deepEqual(pi.notices, [{ text: "handoff: T-1 ended in ERROR", type: "error" }]);
});

test("what stops a project is said once, until it has gone and come again", (t) => {
  const { state, said, pass, pi } = panel(t);
  state("halted", "tasks.json was changed");
  pass(300);
  assert.deepEqual(said(), ["handoff: this project is halted: tasks.json was changed. /handoff says more."]);
  assert.equal(pi.footer, "handoff: halted · /handoff");
  state("halted", "tasks.json was changed");
  pass(1_000);
  assert.equal(said().length, 1);
  state("idle");
  state("halted", "tasks.json was changed");
  pass(300);
  assert.equal(said().length, 2);
});

test("what passes at once is not said", (t) => {
  const { state, said, pass } = panel(t);
  state("blocked", "x");
  pass(100);
  state("idle");
  pass(1_000);
  assert.deepEqual(said(), []);
});

test("the daemon's own words about a state are not repeated", (t) => {
  const { panel: one, state, said, pass } = panel(t);
  const notice = (): void => one.notice({ level: "warning", text: "dispatch stopped until `handoff resume`" });
  state("halted", "w");
  notice();
  pass(1_000);
  assert.equal(said().length, 1);
  state("idle");
  notice();
  state("halted", "w");
  pass(1_000);
  assert.deepEqual(new Set(said()), new Set(["handoff: dispatch stopped until `handoff resume`"]));
});

test("the time that a task runs goes on by itself, and stops with it", (t) => {
  const { panel: one, pi, pass } = panel(t);
  one.show({ id: "d", taskId: "T-1", kind: "task", phase: "delivered", since: 1_000_000 }, 0);
  pass(60_000);
  assert.equal(pi.footer, "handoff: T-1 running 1 min");
  one.show(undefined, 0);
  pass(60_000);
  assert.equal(pi.footer, "handoff: owner, ready");
});

test("runs of a task that was cancelled are shown until the daemon says that they have ended", async (t) => {
  const made = await commanding(t);
  const { pi, daemon } = made;
  const id = await handOver(made);
  pi.events.emit("subagent:async-started", { id: "r-1", agent: "builder", pid: process.pid });
  await until("the run", () => /1 sub-agent/.test(pi.footer ?? ""));
  await daemon.ask("task.cancel", { dispatch_id: id, reason: "no" });
  const state = (reason: string | null, why: string | null): void =>
    daemon.notify("event", { seq: 1, at: "x", project: "/p", kind: "project_state", state: "idle", reason, why, next: null });
  state("runs_alive", "1 run of T-1 is still at work");
  await until("the footer", () => pi.footer === "handoff: owner · 1 run of T-1 is still at work");
  pi.settle("aborted", true);
  assert.equal(pi.footer, "handoff: owner · 1 run of T-1 is still at work");
  pi.events.emit("subagent:async-complete", { id: "r-1", agent: "builder", success: true, state: "complete" });
  const told = await daemon.heard("session.run_finished");
  assert.deepEqual([told.run_id, told.dispatch_id], ["r-1", id], "the daemon hears of its end");
  state(null, null);
  await until("the footer", () => pi.footer === "handoff: owner, ready");
});

test("an ownership that changes is told with its reason", async (t) => {
  const { pi, daemon } = await commanding(t);
  daemon.notify("session.ownership", { ownership: "standby", reason: "handoff take" });
  await until("told", () => pi.notices.length === 1);
  assert.match(pi.notices[0]?.text ?? "", /gets no tasks now.*\(handoff take\)/);
  daemon.notify("session.ownership", { ownership: "owner", reason: "the session before it has ended" });
  await until("told", () => pi.notices.length === 2);
  assert.equal(pi.footer, "handoff: owner, ready");
});

test("a task that runs shows its time and its end", async (t) => {
  const made = await commanding(t);
  await handOver(made);
  assert.equal(made.pi.footer, "handoff: T-1 running 0 s");
});
