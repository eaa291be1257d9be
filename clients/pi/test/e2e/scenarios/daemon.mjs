// The daemon goes away in the middle of a task, in order or by kill -9.
import assert from "node:assert/strict";
import { WORK, WRITER, complete, finished, foregroundWorker, launch, report, run, say, stop, task, when } from "../tasks.mjs";

const owner = async (world) => {
  const pi = world.rpc();
  await pi.footerIs(/owner, ready/);
  return pi;
};

/** Twice, once in order and once by kill -9, while the child works; then the report is taken as if nothing had been. */
export async function daemon_restarted_in_mid_task(lab) {
  const world = await lab.world();
  const pi = await owner(world);
  const id = await world.submit(task([
    launch(WRITER, [...stop("writer", WORK), say("wrote the line")]), say("launched"),
    ...when(finished(WRITER), [report(complete()), say("reported")]),
  ]));
  await world.heldAt("writer");
  const before = await world.statusIs("the writer's run is seen", (row) => row.task?.runs?.running === 1);
  for (const how of ["SIGTERM", "SIGKILL"]) {
    await world.stopDaemon(how);
    await pi.footerIs(/running .*off/);
    await world.startDaemon();
    const row = await world.statusIs(`the session is back after ${how}`, (row) => row.session !== null && row.task?.runs?.running === 1);
    assert.equal(row.task.dispatch_id, before.task.dispatch_id);
    await pi.footerIs(/running [^·]*1 sub-agent$/);
  }
  world.openGate("writer");
  const ended = await world.ended("COMPLETE");
  assert.equal(ended.task_id, id);
  assert.deepEqual(ended.report.observed.runs.map((run) => [run.agent, run.state]), [[WRITER, "complete"]]);
  assert.equal(world.sentToModel().filter((text) => text.startsWith("# Handoff from the planner")).length, 1);
}

/** The report is sent while no daemon runs: it waits for one, and the same call succeeds. */
export async function report_waits_for_the_daemon(lab) {
  const world = await lab.world();
  const pi = await owner(world);
  await world.submit(task([run(WRITER, [WORK, say("wrote the line")]), ...stop("turn", report(complete({ worker: foregroundWorker() }))), say("reported")]));
  await world.heldAt("turn");
  await world.stopDaemon("SIGKILL");
  await pi.footerIs(/ off$/);
  world.openGate("turn");
  await pi.event("the report's call", (event) => event.type === "tool_execution_start" && event.toolName === "handoff_task_report");
  await world.startDaemon();
  await world.ended("COMPLETE");
  const [answer] = await pi.answers("handoff_task_report", 1);
  assert.equal(answer.isError, false, answer.text);
}

/** No daemon for longer than the report waits: refused with the truth, and the same report succeeds later. */
export async function report_without_a_daemon(lab) {
  const world = await lab.world();
  const pi = await owner(world);
  const sent = report(complete({ worker: foregroundWorker() }));
  await world.submit(task([run(WRITER, [WORK, say("wrote the line")]), ...stop("turn", sent), ...stop("again", sent), say("reported")]));
  await world.heldAt("turn");
  await world.stopDaemon();
  await pi.footerIs(/ off$/);
  world.openGate("turn");
  const [refused] = await pi.answers("handoff_task_report", 1);
  assert.equal(refused.isError, true);
  for (const words of [/not running/, /[Nn]othing was recorded/, /again/]) assert.match(refused.text, words);
  assert.equal(world.task().status, "RUNNING");
  await world.startDaemon();
  await world.statusIs("the session is back", (row) => row.session !== null);
  world.openGate("again");
  await world.ended("COMPLETE");
}
