// Who attaches, what it says, and what it does when the daemon comes and goes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Daemon, attachedAs, refused } from "./support/daemon.ts";
import { FakePi } from "./support/pi.ts";
import { until } from "./support/until.ts";
import { QUICK, dispatchId, handOver, task, world } from "./support/world.ts";

test("a main session attaches and tells what it is", async (t) => {
  const { pi, daemon } = await world(t);
  const params = await daemon.heard("session.attach");
  assert.deepEqual(params, {
    session_id: pi.sessionId, session_file: "/sessions/s.jsonl", project: "/p", mode: "tui", reason: "startup", idle: true,
    host: { name: "pi", version: "1.6.0" }, known_dispatch: null,
  });
  assert.equal(daemon.got[0]?.method, "hello");
  await until("the footer", () => pi.footer === "handoff: owner, ready");
});

test("no child attaches, has the tool, or says anything", async (t) => {
  const daemon = await new Daemon().start();
  t.after(() => daemon.end());
  for (const [mode, env] of [["print", {}], ["json", {}], ["tui", { PI_SUBAGENT_CHILD: "1" }], ["rpc", { PI_SUBAGENT_CHILD: "1" }]] as const) {
    const pi = new FakePi();
    pi.mode = mode;
    pi.load({ candidates: () => [daemon.path], env }).start();
    pi.prompt();
    pi.settle();
    assert.equal(pi.tools.size, 0, mode);
    assert.match(await pi.command(""), /takes no tasks/);
    await pi.shutdown();
    assert.equal(pi.footer, undefined);
  }
  assert.equal(daemon.connections, 0);
});

test("nothing is started where no session begins", () => {
  const pi = new FakePi().load({ candidates: () => { throw new Error("looked for a socket"); } });
  assert.equal(pi.events.listeners(), 0);
});

test("installed twice, one of the two attaches and has the command", async (t) => {
  const { pi, daemon } = await world(t);
  await daemon.heard("session.attach");
  const twin = new FakePi();
  twin.manager = pi.manager;
  twin.load({ candidates: () => [daemon.path] }).start();
  await handOver({ pi, daemon });
  assert.equal(daemon.connections, 1);
  assert.deepEqual([[...pi.commands.keys()], [...twin.commands.keys()]], [["handoff"], []], "two would be /handoff:1 and /handoff:2");
  await twin.shutdown();
  assert.deepEqual(daemon.told("session.leaving"), [], "the twin's end is not the session's");
});

test("a session that Pi left behind without a word gives its place to the one that came", async (t) => {
  for (const same of [false, true]) {
    const { pi, daemon } = await world(t);
    await daemon.heard("session.attach");
    const next = new FakePi();
    if (same) next.sessionId = pi.sessionId;
    next.load({ candidates: () => [daemon.path], timing: QUICK }).start("resume");
    t.after(() => next.shutdown());
    assert.deepEqual(await daemon.heard("session.leaving"), { reason: same ? "reload" : "new" });
    await until("the next is attached", () => next.footer);
    pi.start("resume"); // Pi may tell of a start twice
    await handOver({ pi: next, daemon });
    assert.deepEqual(daemon.told("session.attach").map(({ session_id }) => session_id), [pi.sessionId, next.sessionId]);
    const child = new FakePi();
    child.mode = "print";
    child.load({ candidates: () => [daemon.path], timing: QUICK }).start();
    assert.equal(daemon.told("session.leaving").length, 1, "a child in the same process takes no place");
  }
});

test("every kind of leaving is said before the connection ends, and the next instance attaches anew", async (t) => {
  for (const reason of ["reload", "new", "resume", "fork", "quit"]) {
    const { pi, daemon } = await world(t);
    await until("attached", () => pi.footer);
    await pi.shutdown(reason);
    assert.deepEqual(await daemon.heard("session.leaving"), { reason });
    assert.equal(daemon.got.at(-1)?.method, "session.leaving", "the last word");
    assert.equal(pi.events.listeners(), 0, "nothing of it stays on the bus");
  }
});

test("a lost connection is taken up again with what is known", async (t) => {
  const { pi, daemon } = await world(t, (method, params) =>
    method === "session.attach" && params.known_dispatch
      ? attachedAs("owner", { task: { dispatch_id: params.known_dispatch.dispatch_id, task_id: "T-1", started_at: "2026-11-30T08:00:00.000Z" } })
      : undefined);
  const id = await handOver({ pi, daemon });
  pi.events.emit("subagent:async-started", { id: "r-1", agent: "builder", pid: 7, asyncDir: "/nowhere" });
  await daemon.heard("session.run_started");
  daemon.hangUp();
  const again = await daemon.heard("session.attach", (params) => params.reason === "reconnect");
  assert.deepEqual(again.known_dispatch, { dispatch_id: id, delivered: true });
  assert.equal(again.idle, false);
  await until("the run is told again", () => daemon.told("session.run_started").length === 2);
});

test("a daemon that is restarted is found, also at another place", async (t) => {
  const { pi, daemon } = await world(t, () => undefined, () => {}, {});
  await daemon.heard("session.attach");
  await daemon.stop();
  await until("off", () => pi.footer === "handoff: off");
  await daemon.start();
  await daemon.heard("session.attach", (params) => params.reason === "reconnect");
  await until("ready", () => pi.footer === "handoff: owner, ready");
});

test("a daemon that is silent is another fault than one that does not run", async (t) => {
  const { pi } = await world(t, (method) => (method === "hello" ? "silence" : undefined), () => {}, { timing: { ...QUICK, hello: 50 } });
  await until("the fault", () => pi.footer === "handoff: the daemon does not answer");
  assert.match(await pi.command(""), /there but does not answer/);
});

test("a daemon that cannot start says why, and is found once it can", async (t) => {
  let faults = 2;
  const { pi, daemon } = await world(t, (method) => (method === "hello" && faults-- > 0 ? refused("cannot_start") : undefined));
  await until("the fault", () => pi.footer === "handoff: the daemon cannot start");
  assert.match(await pi.command(""), /refused: cannot_start\. Once that is repaired/);
  await daemon.heard("session.attach");
});

test("another protocol is said once, and tried again in case the daemon is replaced", async (t) => {
  const { pi, daemon } = await world(t, (method) => (method === "hello" ? refused("unsupported_protocol", { supported: [2] }) : undefined));
  await until("three attempts", () => daemon.told("hello").length >= 3);
  assert.equal(pi.notices.length, 1);
});

test("the first attach says how the session began, however late the daemon comes", async (t) => {
  const daemon = new Daemon();
  const pi = new FakePi().load({ candidates: () => [daemon.path], timing: QUICK });
  t.after(async () => {
    await pi.shutdown();
    await daemon.end();
  });
  pi.start("resume");
  await until("off", () => pi.footer === "handoff: off");
  assert.deepEqual(pi.notices, [], "silent but for the footer");
  await daemon.start();
  assert.equal((await daemon.heard("session.attach")).reason, "resume");
});

test("in a folder that is no project it says nothing, and attaches when it becomes one", async (t) => {
  let isProject = false;
  const { pi, daemon } = await world(t, (method) => (method === "session.attach" && !isProject ? refused("unknown_project") : undefined));
  await daemon.heard("session.attach");
  await until("the footer is empty", () => pi.footer === undefined);
  assert.deepEqual(pi.notices, []);
  isProject = true;
  daemon.notify("session.attach_again", { project: "/p" });
  await until("ready", () => pi.footer === "handoff: owner, ready");
  assert.equal(daemon.connections, 1, "on the same connection");
});

test("a fault while attaching is tried again", async (t) => {
  let faults = 1;
  const { pi, daemon } = await world(t, (method) => (method === "session.attach" && faults-- > 0 ? "hang up" : undefined));
  await until("attached", () => pi.footer === "handoff: owner, ready");
  assert.equal(daemon.told("session.attach").length, 2);
});

test("idle and busy are told as they change", async (t) => {
  const { pi, daemon } = await world(t);
  await until("attached", () => pi.footer);
  pi.prompt();
  await daemon.heard("session.state", (params) => params.state === "busy");
  pi.settle();
  await daemon.heard("session.state", (params) => params.state === "idle");
  pi.emit("ui_prompt_start", { kind: "confirm" });
  await daemon.heard("session.state", (params) => params.hint === "dialog");
  pi.emit("ui_prompt_end", { kind: "confirm" });
  pi.idle = false;
  pi.emit("session_before_compact", { reason: "manual" });
  await daemon.heard("session.state", (params) => params.hint === "compaction");
  // No event tells that a compaction's end left the session idle.
  pi.emit("session_compact", {});
  pi.idle = true;
  const told = (): string => daemon.told("session.state").map(({ state, hint }) => hint ?? state).join(" ");
  await until("each change, and what keeps it busy", () => told() === "busy idle dialog idle compaction busy idle");
});

test("a session without a model is not ready, says why, and is ready when it has one", async (t) => {
  const { pi, daemon } = await world(t, undefined, (one) => { one.hasAuth = false; });
  assert.equal((await daemon.heard("session.attach")).idle, false);
  await daemon.heard("session.state", (params) => params.hint === "model");
  await until("the footer", () => pi.footer === "handoff: owner, no model · /login or /model");
  const declined = await daemon.ask("task.dispatch", task(dispatchId()));
  assert.deepEqual(declined.result, { accepted: false, reason: "busy" });
  assert.equal(pi.sent.length, 0);
  pi.hasAuth = true;
  await daemon.heard("session.state", (params) => params.state === "idle");
  await until("ready", () => pi.footer === "handoff: owner, ready");
});

test("a model that has answered is one, whatever is said of its credentials", async (t) => {
  const { pi } = await world(t, undefined, (one) => { one.hasAuth = false; });
  await until("not ready", () => pi.footer === "handoff: owner, no model · /login or /model");
  pi.prompt();
  pi.settle("error", undefined, "401");
  assert.equal(pi.footer, "handoff: owner, no model · /login or /model");
  pi.prompt();
  pi.settle();
  assert.equal(pi.footer, "handoff: owner, ready");
});

test("what changed while it attached is told after it", async (t) => {
  const { pi, daemon } = await world(t, (method) => {
    if (method === "session.attach") pi_.prompt();
    return undefined;
  }, (pi) => { pi_ = pi; });
  assert.equal((await daemon.heard("session.attach")).idle, true);
  await daemon.heard("session.state", (params) => params.state === "busy");
  assert.equal(pi.footer, "handoff: owner");
});
let pi_: FakePi;

test("events that were missed are asked for", async (t) => {
  const project = { path: "/p", state: "paused", why: null };
  const { pi, daemon } = await world(t, (method) => (method === "daemon.status" ? { result: { projects: [project] } } : undefined));
  await until("attached", () => pi.footer === "handoff: owner, ready");
  daemon.notify("event", { seq: 9, at: "x", project: null, kind: "gap", from: 1, to: 9 });
  await until("the state", () => pi.footer === "handoff: paused · /handoff resume");
});

test("without any place to look it says so, and goes on looking", async (t) => {
  const daemon = await new Daemon().start();
  let places: string[] = [];
  const pi = new FakePi().load({ candidates: () => places, timing: QUICK }).start();
  t.after(async () => {
    await pi.shutdown();
    await daemon.end();
  });
  await until("the fault", () => pi.footer === "handoff: cannot connect");
  assert.match(await pi.command(""), /HANDOFFD_SOCKET to an absolute path/);
  places = [daemon.path];
  await daemon.heard("session.attach");
});

test("a team member gets packets, and no tasks", async (t) => {
  const { pi, daemon } = await world(t, (method) => (method === "session.attach" ? attachedAs("member") : undefined), () => {}, { env: { HANDOFF_AGENT_ID: "eph-7" } });
  assert.deepEqual((await daemon.heard("session.attach")).member, { agent_id: "eph-7" });
  assert.equal((await daemon.ask("task.dispatch", task(dispatchId()))).result.reason, "not_owner");
  const id = dispatchId();
  const packet = { dispatch_id: id, packet_path: "/x.json", packet: { packet_id: "pk-1" }, message: "# Packet pk-1", expires_at: null };
  assert.deepEqual((await daemon.ask("packet.dispatch", packet)).result, { accepted: true });
  await assert.rejects(pi.report({ status: "ERROR", error: "x" }), /no handed-over task/);
  pi.settle();
  await daemon.heard("session.settled", (params) => params.dispatch_id === id);
  await until("the next one can come", () => pi.footer === "handoff: member, waiting for packets");
  const next = { ...packet, dispatch_id: dispatchId(), packet: { packet_id: "pk-2" } };
  assert.deepEqual((await daemon.ask("packet.dispatch", next)).result, { accepted: true });
});

test("a member that is none is told so once", async (t) => {
  const { pi, daemon } = await world(t, (method) => (method === "session.attach" ? refused("not_a_team_member") : undefined), () => {}, { env: { HANDOFF_AGENT_ID: "eph-0" } });
  await until("the notice", () => pi.notices.length === 1);
  assert.equal(pi.footer, "handoff: not a team member · /handoff");
  assert.equal(daemon.told("session.attach").length, 1);
});
