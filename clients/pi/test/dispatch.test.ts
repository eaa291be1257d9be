// A task comes into the conversation once, or not at all, and the answer is true.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Deliveries } from "../src/delivery.ts";
import { attachedAs } from "./support/daemon.ts";
import { FakePi } from "./support/pi.ts";
import { until } from "./support/until.ts";
import { dispatchId, handOver, task, world } from "./support/world.ts";

const ready = (pi: FakePi) => until("attached", () => pi.footer === "handoff: owner, ready");

test("a task is injected as a visible message, and accepted when it is in the conversation", async (t) => {
  const { pi, daemon } = await world(t);
  await ready(pi);
  const id = await handOver({ pi, daemon });
  assert.equal(pi.sent.length, 1);
  const { message, options } = pi.sent[0]!;
  assert.deepEqual(options, { triggerTurn: true, deliverAs: "followUp" });
  assert.equal(message.display, true);
  assert.equal(message.content, "# Handoff T-1\n\nappend one line");
  assert.equal(message.details.dispatch_id, id);
  const entry = pi.branch.findIndex((one) => one.data?.what === "delivered");
  assert.ok(entry >= 0, "the id is written down");
  assert.match(pi.footer ?? "", /^handoff: T-1 running 0 s$/);
});

test("an attach answer and a dispatch in one packet are taken in order", async (t) => {
  const id = dispatchId();
  const { pi, daemon } = await world(t, (method, _params, daemon_) => {
    if (method !== "session.attach") return undefined;
    const answer = attachedAs("owner") as { result: unknown };
    // Both lines in one write: nothing lies between them.
    const request = daemon_.got.at(-1)!;
    daemon_.write({ id: request.id, ...answer }, { id: "d", method: "task.dispatch", params: task(id) });
    return "silence";
  });
  await until("accepted", () => daemon.got.find((message) => message.id === "d")?.result?.accepted);
  assert.equal(pi.sent.length, 1);
});

test("the same dispatch again is a duplicate, and nothing is injected", async (t) => {
  const { pi, daemon } = await world(t);
  await ready(pi);
  const id = await handOver({ pi, daemon });
  assert.deepEqual((await daemon.ask("task.dispatch", task(id))).result, { accepted: true, duplicate: true });
  assert.equal(pi.sent.length, 1);
});

test("a second copy that comes while the first is on its way waits for it", async (t) => {
  const { pi, daemon } = await world(t, undefined, (one) => { one.onSend = "queue"; });
  await ready(pi);
  const id = dispatchId();
  const both = Promise.all([daemon.ask("task.dispatch", task(id)), daemon.ask("task.dispatch", task(id))]);
  await until("sent", () => pi.sent.length === 1);
  pi.pending = false;
  pi.begin({ role: "custom", ...pi.sent[0]!.message });
  const [first, second] = await both;
  assert.deepEqual([first.result, second.result], [{ accepted: true }, { accepted: true, duplicate: true }]);
  assert.equal(pi.sent.length, 1);
});

test("what cannot be taken is declined with the reason, and nothing is injected", async (t) => {
  const { pi, daemon } = await world(t);
  await ready(pi);
  const declined = async (more: object = {}) => (await daemon.ask("task.dispatch", task(dispatchId(), more))).result;
  assert.deepEqual(await declined({ expires_at: "2020-01-01T00:00:00.000Z" }), { accepted: false, reason: "expired" });
  pi.pending = true;
  assert.deepEqual(await declined(), { accepted: false, reason: "busy" });
  pi.pending = false;
  pi.emit("ui_prompt_start", {});
  assert.deepEqual(await declined(), { accepted: false, reason: "busy" });
  pi.emit("ui_prompt_end", {});
  pi.prompt();
  assert.deepEqual(await declined(), { accepted: false, reason: "busy" });
  pi.settle();
  daemon.notify("session.ownership", { ownership: "standby", reason: "taken" });
  await until("standby", () => pi.footer === "handoff: standby");
  assert.deepEqual(await declined(), { accepted: false, reason: "not_owner" });
  assert.equal(pi.sent.length, 0);
});

test("after a decline the next idle is told, also if the session seemed idle all the time", async (t) => {
  const { pi, daemon } = await world(t);
  await ready(pi);
  pi.pending = true;
  await daemon.ask("task.dispatch", task(dispatchId()));
  pi.pending = false;
  await daemon.heard("session.state", (params) => params.state === "idle");
});

test("a message that Pi lost is declined when that is proven, and may come again", async (t) => {
  const { pi, daemon } = await world(t, undefined, (one) => { one.onSend = "lose"; });
  await ready(pi);
  const id = dispatchId();
  assert.deepEqual((await daemon.ask("task.dispatch", task(id))).result, { accepted: false, reason: "busy" });
  pi.onSend = "throw";
  assert.deepEqual((await daemon.ask("task.dispatch", task(id))).result, { accepted: false, reason: "busy" });
  pi.onSend = "start";
  assert.deepEqual((await daemon.ask("task.dispatch", task(id))).result, { accepted: true });
});

test("a message that waits in Pi's queue is not declined: it may still come", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const pi = new FakePi();
  pi.onSend = "queue";
  const deliveries = new Deliveries(pi.api, pi.ctx);
  const answers: boolean[] = [];
  const details = { dispatch_id: "d", task_id: "T", kind: "task" as const, session_id: pi.sessionId };
  const answer = deliveries.inject("handoff-task", "x", details).then((there) => answers.push(there));
  pi.idle = false;
  for (let second = 0; second < 3600; second++) t.mock.timers.tick(1_000);
  assert.deepEqual(answers, []);
  deliveries.seen("handoff-task", "d");
  await answer;
  assert.deepEqual(answers, [true]);
});

test("the lost race: a person was quicker, the task comes as a further turn of that run", async (t) => {
  const { pi, daemon } = await world(t, undefined, (one) => { one.onSend = "queue"; });
  await ready(pi);
  const answer = daemon.ask("task.dispatch", task(dispatchId()));
  await until("sent", () => pi.sent.length === 1);
  pi.prompt();
  pi.pending = false;
  pi.message({ role: "custom", ...pi.sent[0]!.message });
  assert.deepEqual((await answer).result, { accepted: true });
  pi.settle("aborted");
  assert.equal((await daemon.heard("session.settled")).aborted, true, "the turn is the task's now");
});

test("a cancelled task's turn is stopped, and the model is told", async (t) => {
  const { pi, daemon } = await world(t);
  await ready(pi);
  const id = await handOver({ pi, daemon });
  const answer = await daemon.ask("task.cancel", { dispatch_id: id, reason: "it is no longer yours" });
  assert.deepEqual(answer.result, { aborted: true });
  assert.equal(pi.aborted, 1);
  const { message, options } = pi.sent.at(-1)!;
  assert.equal(message.content, "it is no longer yours");
  assert.equal(options.triggerTurn, false);
  await assert.rejects(pi.report({ status: "ERROR", error: "x" }), /no handed-over task/);
});

test("a person's own turn is not stopped by a cancel", async (t) => {
  const { pi, daemon } = await world(t);
  await ready(pi);
  const id = await handOver({ pi, daemon });
  pi.settle();
  pi.prompt();
  assert.deepEqual((await daemon.ask("task.cancel", { dispatch_id: id, reason: "x" })).result, { aborted: false });
  assert.equal(pi.aborted, 0);
});

test("what is cancelled on its way is stopped when it comes, and refused when it is sent", async (t) => {
  const { pi, daemon } = await world(t, undefined, (one) => { one.onSend = "queue"; });
  await ready(pi);
  const id = dispatchId();
  const answer = daemon.ask("task.dispatch", task(id));
  await until("sent", () => pi.sent.length === 1);
  assert.deepEqual((await daemon.ask("task.cancel", { dispatch_id: id, reason: "x" })).result, { aborted: false });
  assert.equal((await answer).result.accepted, false);
  pi.pending = false;
  pi.begin({ role: "custom", ...pi.sent[0]!.message });
  assert.equal(pi.aborted, 1);
  pi.settle("aborted");
  assert.deepEqual((await daemon.ask("task.dispatch", task(id))).result, { accepted: false, reason: "expired" });
  const unknown = dispatchId();
  assert.deepEqual((await daemon.ask("task.cancel", { dispatch_id: unknown, reason: "x" })).result, { aborted: false });
});

test("a reminder is injected for the task at hand only", async (t) => {
  const { pi, daemon } = await world(t);
  await ready(pi);
  const id = await handOver({ pi, daemon });
  pi.settle();
  assert.equal((await daemon.heard("session.settled")).aborted, undefined);
  assert.deepEqual((await daemon.ask("task.remind", { dispatch_id: id, text: "owed" })).result, { accepted: true });
  assert.equal(pi.sent.at(-1)!.message.content, "owed");
  assert.equal(pi.idle, false, "it starts a turn");
  assert.match(pi.footer ?? "", /owes a report/);
  assert.deepEqual((await daemon.ask("task.remind", { dispatch_id: dispatchId(), text: "owed" })).result, { accepted: false });
});

test("a turn that settled without a connection is told after it, before anything counts as idle", async (t) => {
  const goesOn = (id: string) => attachedAs("owner", { task: { dispatch_id: id, task_id: "T-1", started_at: "2026-11-30T08:00:00.000Z" } });
  const { pi, daemon } = await world(t, (method, params) => (method === "session.attach" && params.known_dispatch ? goesOn(params.known_dispatch.dispatch_id) : undefined));
  await ready(pi);
  const id = await handOver({ pi, daemon });
  await daemon.stop();
  await until("off", () => /off$/.test(pi.footer ?? ""));
  pi.settle("aborted", true);
  await daemon.start();
  const again = await daemon.heard("session.attach", (params) => params.reason === "reconnect");
  assert.equal(again.idle, false);
  assert.deepEqual(await daemon.heard("session.settled"), { dispatch_id: id, aborted: true });
  await daemon.heard("session.state", (params) => params.state === "idle");
});

test("how a task ended meanwhile is told and forgotten; a project that cannot say keeps the record", async (t) => {
  const id = dispatchId();
  const said = (more: object, state: string) => ({ result: { project: { path: "/p", state, why: null }, ownership: "owner", task: null, ended: null, ...more } });
  const branch = (pi: FakePi) => pi.branch.push({ type: "custom", customType: "handoffd", data: { v: 1, session_id: pi.sessionId, dispatch_id: id, what: "delivered", task_id: "T-9", kind: "task", at: 1 } });
  const check = async (more: object, state: string, forgotten: boolean, notice: RegExp | undefined) => {
    const { pi, daemon } = await world(t, (method) => (method === "session.attach" ? said(more, state) : undefined), branch);
    assert.deepEqual((await daemon.heard("session.attach")).known_dispatch, { dispatch_id: id, delivered: true });
    await daemon.heard("events.subscribe");
    assert.equal(pi.branch.some((entry) => entry.data?.what === "ended"), forgotten, state);
    if (notice) assert.match(pi.notices.map(({ text }) => text).join("\n"), notice);
  };
  await check({ ended: { dispatch_id: id, status: "ERROR", error: "Cancelled: wrong branch" } }, "idle", true, /T-9 ended as ERROR: Cancelled: wrong branch/);
  await check({}, "idle", true, /no longer/);
  for (const state of ["blocked", "missing", "starting", "unreadable"]) await check({}, state, false, undefined);
  // The same session in another process has it.
  await check({ ownership: "standby" }, "running", false, undefined);
});

test("a task that the daemon knows and the session's records do not is taken up", async (t) => {
  const id = dispatchId();
  const { pi, daemon } = await world(t, (method) =>
    method === "session.attach" ? attachedAs("owner", { task: { dispatch_id: id, task_id: "T-3", started_at: new Date().toISOString() } })
    : method === "task.report" ? { result: { status: "ERROR", work_log: "appended" } } : undefined);
  await until("running", () => /T-3 running/.test(pi.footer ?? ""));
  assert.match(await pi.report({ status: "ERROR", error: "gave up" }), /ended as ERROR/);
  assert.equal(daemon.told("task.report")[0].dispatch_id, id);
});

test("a fork says that it has no task", async (t) => {
  const parent = { type: "custom", customType: "handoffd", data: { v: 1, session_id: "parent", dispatch_id: dispatchId(), what: "delivered", task_id: "T", kind: "task", at: 1 } };
  const { daemon } = await world(t, undefined, (pi) => pi.branch.push(parent));
  assert.equal((await daemon.heard("session.attach")).known_dispatch, null);
});

test("an end that came from elsewhere frees the session", async (t) => {
  const { pi, daemon } = await world(t);
  await ready(pi);
  const id = await handOver({ pi, daemon });
  daemon.notify("event", { seq: 1, at: "x", project: "/p", kind: "task_ended", task_id: "T-1", dispatch_id: id, status: "ERROR", error: "too long" });
  await until("free", () => !/running/.test(pi.footer ?? ""));
  await assert.rejects(pi.report({ status: "ERROR", error: "x" }), /no handed-over task/);
});

test("a turn that an error broke off tells why", async (t) => {
  const failed = await world(t);
  const id = await handOver(failed);
  failed.pi.settle("error", undefined, "400\nout of credit");
  const told = await failed.daemon.heard("session.settled");
  assert.deepEqual(told, { dispatch_id: id, aborted: true, error: "400 out of credit" });
});
