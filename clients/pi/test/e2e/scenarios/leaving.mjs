// A session that is left in the middle of a task: by /new, /fork, /reload, Escape, kill -9, or by closing Pi.
import assert from "node:assert/strict";
import { signal } from "../../../lab/processes.mjs";
import { eventually, until } from "../../../lab/wait.mjs";
import {
  ALL_ENDED, STILL_YOURS, WORK, WRITER, complete, finished, foregroundWorker, launch, report, run, say, stop, task, when,
} from "../tasks.mjs";

const easy = () => task([run(WRITER, [WORK, say("wrote the line")]), report(complete({ worker: foregroundWorker() })), say("reported")]);
/** The model itself stands at the gate: nothing runs in the background. */
const stuck = () => task([...stop("turn", say("went on"))]);
/** A background writer stands at the gate; who is told of its end, or is reminded, reports. */
const background = () => task([
  launch(WRITER, [...stop("writer", WORK), say("wrote the line")]), say("launched"),
  ...when(`(${finished(WRITER)}|${ALL_ENDED})`, [report(complete()), say("reported")]),
]);
/** How often the handoff of this task is in a conversation that the model was sent. */
const deliveries = (world, id) => {
  const handoff = (message) => message.role === "user" && message.text.startsWith("# Handoff from the planner") && message.text.includes(id);
  return Math.max(0, ...world.requests().map((request) => request.messages.filter(handoff).length));
};
const owner = async (world, options) => {
  const pi = world.rpc(options);
  await pi.footerIs(/owner, ready/);
  return pi;
};
const seen = (world) => world.statusIs("the writer's run is seen", (row) => row.task?.runs?.running === 1 && row.task.delivery === "accepted");

/** /new while the model works: the task is over at once, the new session takes the next one. */
export async function new_in_mid_task(lab) {
  const world = await lab.world();
  const pi = world.terminal();
  await pi.shows(/handoff: owner, ready/);
  const id = await world.submit(stuck());
  await world.heldAt("turn");
  await pi.shows(/handoff: .*running/);
  await pi.enter("/new");
  const ended = await world.ended("ERROR");
  assert.match(ended.error, /aborted|session/i);
  await pi.shows(/handoff: owner, ready/);
  await pi.showed(new RegExp(`${id} ended in ERROR: `), 20_000);
  await world.submit(easy());
  await world.ended("COMPLETE");
  assert.equal(deliveries(world, id), 1);
}

/** /new while only a child works: the task stays open, and the new session says how to get back to it. */
export async function new_while_a_child_works(lab) {
  const world = await lab.world();
  const pi = world.terminal();
  await pi.shows(/handoff: owner, ready/);
  const id = await world.submit(background());
  await world.heldAt("writer");
  const { session } = await seen(world);
  await pi.shows(/running .*1 sub-agent/);
  await pi.enter("/new");
  await pi.shows(/handoff: standby · a task waits for its own session/);
  await pi.shows(/a task waits for its own session: its conversation was left; go back to it to report: \/resume there/);
  await pi.enter("/resume");
  await pi.shows("Resume Session");
  pi.key("Enter");
  await world.statusIs("the session is back", (row) => row.session?.session_id === session.session_id);
  await pi.shows(new RegExp(`handoff: ${id} running`));
  world.openGate("writer");
  await world.ended("COMPLETE", 90_000);
  assert.equal(deliveries(world, id), 1);
}

/** /reload between launch and end of a child: the same session, the same task, and its report. */
export async function reload_in_mid_task(lab) {
  const world = await lab.world();
  const pi = world.terminal();
  await pi.shows(/handoff: owner, ready/);
  const id = await world.submit(background());
  await world.heldAt("writer");
  const before = await seen(world);
  await pi.shows(/running .*1 sub-agent/);
  await pi.enter("/reload");
  await eventually("the session is left and comes back", () => changes(world), (list) => list.join(" ") === "attached left attached");
  await pi.shows(/running .*1 sub-agent/);
  const after = await world.status();
  assert.equal(after.session.session_id, before.session.session_id);
  assert.equal(after.task.dispatch_id, before.task.dispatch_id);
  world.openGate("writer");
  const ended = await world.ended("COMPLETE");
  assert.deepEqual(ended.report.observed.runs.map((run) => [run.agent, run.state]), [[WRITER, "complete"]]);
  assert.equal(ended.report.observed.all, false, "what happened during the reload was not seen");
  assert.equal(deliveries(world, id), 1, "never delivered twice");
}

const changes = (world) => world.journal().filter((row) => row.kind === "session").map((row) => row.change);

/** A fork inherits nothing; the session that has the task comes back by /resume and reports. */
export async function fork_in_mid_task(lab) {
  const world = await lab.world();
  const pi = await owner(world);
  const own = await pi.run("a person's question before\nmock> say fine");
  assert.ok(own.length > 0);
  const id = await world.submit(background());
  await world.heldAt("writer");
  const row = await seen(world);
  const file = (await pi.state()).sessionFile;
  const points = (await pi.send({ type: "get_fork_messages" })).data.messages;
  const forked = await pi.send({ type: "fork", entryId: points.at(-1).entryId });
  assert.equal(forked.success, true, JSON.stringify(forked));
  await eventually("the fork is attached", () => changes(world), (list) => list.filter((change) => change === "attached").length === 2);
  const now = await world.statusIs("the task belongs to the session before", (row) => row.state === "running" && row.task !== null);
  assert.equal(now.task.dispatch_id, row.task.dispatch_id);
  assert.ok(now.why.startsWith("its conversation was left; go back to it") && now.why.endsWith(`pi --session ${file}`), now.why);
  assert.notEqual((await pi.state()).sessionId, row.session.session_id);
  const planner = await world.planner();
  const told = await planner.call("handoff_wait", { timeout_secs: 0 });
  for (const part of ["has not ended", "its conversation was left", "It goes on when that session is open again: tell the person"]) {
    assert.ok(told.text.includes(part), told.text);
  }
  // The fork is asked to report: it has no task.
  await pi.run(report(complete()));
  const [refused] = await pi.answers("handoff_task_report", 1);
  assert.equal(refused.isError, true);
  assert.match(refused.text, /no handed-over task/i);
  world.openGate("writer");
  await eventually("the child has written its line", () => world.read(`${world.project}/notes.txt`), (text) => text === "one line\n");
  await world.statusIs("no run is said to be at work", (row) => row.task?.runs?.running === 0);
  const back = await pi.send({ type: "switch_session", sessionPath: file });
  assert.equal(back.success, true, JSON.stringify(back));
  const ended = await world.ended("COMPLETE", 90_000);
  assert.equal(ended.task_id, id);
  assert.equal(deliveries(world, id), 1);
}

/** The same with the pickers of the terminal: /fork, and /resume back to the conversation that has the task. */
export async function fork_and_resume_in_the_terminal(lab) {
  const world = await lab.world();
  const pi = world.terminal();
  await pi.shows(/handoff: owner, ready/);
  await pi.paste("a question before\nmock> say an answer before");
  await pi.shows(/^ *an answer before/m);
  const id = await world.submit(background());
  await world.heldAt("writer");
  const { session } = await seen(world);
  await pi.enter("/fork");
  await pi.shows("Fork from Message");
  pi.key("Enter");
  await pi.shows(/handoff: standby/);
  await world.statusIs("the task waits for its conversation", (row) => row.state === "running" && /was left/.test(row.why));
  await until("the fork to put the message into the editor", () => pi.editor()?.includes("a question before"));
  pi.key("C-c");
  await until("the editor to be empty", () => pi.editor() === "");
  await pi.enter("/resume");
  await pi.shows("Resume Session");
  await pi.shows(/› a question before/);
  pi.key("Enter");
  await world.statusIs("the session is back", (row) => row.session?.session_id === session.session_id);
  await pi.shows(new RegExp(`handoff: ${id} running`));
  world.openGate("writer");
  await world.ended("COMPLETE", 90_000);
  assert.equal(deliveries(world, id), 1);
}

/** A fork of a session whose task has no background run: the task is over at once, and the fork takes the next. */
export async function fork_without_runs_ends_the_task(lab) {
  const world = await lab.world();
  const pi = await owner(world);
  await pi.run("a person's question before\nmock> say fine");
  const points = (await pi.send({ type: "get_fork_messages" })).data.messages;
  await world.submit(stuck());
  await world.heldAt("turn");
  const forked = await pi.send({ type: "fork", entryId: points.at(-1).entryId });
  assert.equal(forked.success, true, JSON.stringify(forked));
  const ended = await world.ended("ERROR");
  assert.match(ended.error, /aborted|session/i);
  await pi.footerIs(/owner, ready/);
  await world.submit(easy());
  await world.ended("COMPLETE");
}

/** Escape: the person stops the turn, and nobody is nagged. */
export async function escape_in_mid_task(lab) {
  const world = await lab.world();
  const pi = world.terminal();
  await pi.shows(/handoff: owner, ready/);
  await world.submit(stuck());
  await world.heldAt("turn");
  await pi.shows(/handoff: .*running/);
  pi.key("Escape");
  const ended = await world.ended("ERROR");
  assert.match(ended.error, /^The turn was aborted without a report\./);
  await pi.shows(/handoff: owner, ready/);
  await pi.showed(/ended in ERROR: The turn was aborted without a report/);
  assert.ok(!world.sentToModel().some((text) => text.startsWith("The task ") && text.includes(STILL_YOURS)));
}

/** kill -9 while the model works: the task is over at once, and another Pi takes the next. */
export async function killed_in_mid_task(lab) {
  const world = await lab.world();
  const first = await owner(world);
  const id = await world.submit(stuck());
  await world.heldAt("turn");
  signal(first.pid, "SIGKILL");
  const ended = await world.ended("ERROR", 15_000);
  assert.match(ended.error, /session/i);
  const second = await owner(world);
  await until("the next session to be told", () => second.notices().some((text) => text.includes(`${id} ended in ERROR`)));
  await world.submit(easy());
  await world.ended("COMPLETE");
  await second.answers("handoff_task_report", 1);
  assert.equal(deliveries(world, id), 1);
}

/** Closed while a child works; reopened when it has ended: reminded, reported, COMPLETE. */
const reopened = (close) => async (lab) => {
  const world = await lab.world();
  const first = await owner(world);
  const id = await world.submit(background());
  await world.heldAt("writer");
  await seen(world);
  const file = (await first.state()).sessionFile;
  await close(first);
  const waiting = await world.statusIs("it waits for the session", (row) => row.state === "running" && row.session === null);
  assert.equal(world.task().status, "RUNNING");
  assert.ok(waiting.task.until, "until when it waits");
  const said = await world.handoff(["status", world.project]);
  assert.ok(said.stdout.includes(`pi --session ${file}`), said.stdout);
  const other = world.rpc();
  await other.footerIs(/^handoff: standby · a task waits for its own session · \/handoff$/);
  world.openGate("writer");
  await eventually("the child has written its line", () => world.read(`${world.project}/notes.txt`), (text) => text === "one line\n");
  const second = world.rpc({ args: ["--session", file] });
  await other.footerIs(/^handoff: standby$/);
  await world.modelGot(new RegExp(`^${ALL_ENDED}`), 90_000);
  const ended = await world.ended("COMPLETE");
  assert.equal(ended.task_id, id);
  await second.answers("handoff_task_report", 1);
  assert.deepEqual(ended.report.observed.runs.map((run) => [run.agent, run.state]), [[WRITER, "complete"]]);
  assert.equal(world.sentToModel().filter((text) => text.startsWith(ALL_ENDED)).length, 1, "reminded once");
  assert.equal(world.journal().filter((row) => row.kind === "reminded" && row.task_id === id).length, 1);
  assert.equal(deliveries(world, id), 1);
};
export const closed_while_a_child_works = reopened((pi) => pi.quit());
export const killed_while_a_child_works = reopened((pi) => { signal(pi.pid, "SIGKILL"); return pi.process.ended; });
