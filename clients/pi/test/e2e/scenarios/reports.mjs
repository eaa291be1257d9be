// What a report goes through: refused and mended, owed and reminded, without a background run.
import assert from "node:assert/strict";
import {
  REVIEW, REVIEWER, STILL_YOURS, WORK, WRITER, complete, failure, finished, foregroundWorker, launch, report, run, say, task, when,
} from "../tasks.mjs";

const attached = async (world, options) => {
  const pi = world.rpc(options);
  await pi.footerIs(/owner, ready/);
  return pi;
};
const work = run(WRITER, [WORK, say("wrote the line")]);

/** Every fault at once, of form and of content together; the third call is accepted. */
export async function refusal_and_second_try(lab) {
  const world = await lab.world();
  const pi = await attached(world);
  const form = { ...complete({ worker: { ...foregroundWorker(), agent: "nobody" } }), tests_run: "all", notes: "none" };
  const wrong = complete({ worker: { ...foregroundWorker(), agent: "nobody", thinking: "deep" }, files_changed: ["../elsewhere.txt"] });
  await world.submit(task([work, report(form), report(wrong), report(complete({ worker: foregroundWorker() })), say("reported")]));
  const ended = await world.ended("COMPLETE");
  const [first, second, third] = await pi.answers("handoff_task_report", 3);
  assert.equal(first.isError, true);
  for (const part of ["tests_run", "nobody", "`notes` is not known"]) assert.match(first.text, new RegExp(part), first.text);
  assert.equal(second.isError, true);
  for (const part of ["nobody", "thinking", "elsewhere.txt"]) assert.match(second.text, new RegExp(part), second.text);
  assert.match(second.text, /again/);
  assert.deepEqual([third.isError, /COMPLETE/.test(third.text)], [false, true]);
  assert.equal(world.workLog().length, 1);
  const seen = ended.report.observed;
  assert.deepEqual(seen.runs.map(({ agent, background, state }) => ({ agent, background, state })), [{ agent: WRITER, background: false, state: "complete" }]);
  assert.match(seen.runs[0].run_id, /^tool:/);
  assert.equal(world.journal().filter((row) => row.kind === "report_refused").length, 2);
}

/** A launch that is refused never existed: it does not stand in the way of COMPLETE. */
export async function refused_launch_then_foreground(lab) {
  const world = await lab.world();
  const pi = await attached(world);
  await world.submit(task([launch("no-such-agent", [say("never")]), work, report(complete({ worker: foregroundWorker() })), say("reported")]));
  const ended = await world.ended("COMPLETE");
  assert.equal(pi.results("subagent")[0].isError, true);
  const states = ended.report.observed.runs.map(({ background, state }) => ({ background, state }));
  assert.deepEqual(states, [{ background: true, state: "rejected" }, { background: false, state: "complete" }]);
}

/** The turn ends without a report: one reminder, then ERROR. */
export async function settles_without_report(lab) {
  const world = await lab.world();
  await attached(world);
  const id = await world.submit(task([say("I did nothing"), ...when(STILL_YOURS, [say("still nothing")])]));
  const ended = await world.ended("ERROR");
  assert.match(ended.error, /^The turn ended without a valid report\./);
  const reminders = world.sentToModel().filter((text) => text.startsWith("The task ") && text.includes(STILL_YOURS));
  assert.equal(reminders.length, 1);
  assert.match(reminders[0], new RegExp(id));
  assert.equal(world.journal().filter((row) => row.kind === "reminded" && row.task_id === id).length, 1);
  assert.match(world.workLog()[0], new RegExp(`ERROR ${id}`));

  // Reminded, and the report comes.
  await world.statusIs("idle", (row) => row.state === "idle");
  await world.submit(task([say("I forgot"), ...when(STILL_YOURS, [work, report(complete({ worker: foregroundWorker() })), say("reported")])]));
  await world.ended("COMPLETE");
}

/** A failed run cannot be undone: COMPLETE is refused with the way out, and ERROR is taken. */
export async function failed_child_ends_in_error(lab) {
  const world = await lab.world();
  const pi = await attached(world);
  await world.submit(task([
    launch(WRITER, ["mock> error 400 the model broke"]), say("launched"),
    ...when(`Background task failed: ..${WRITER}`, [report(complete()), report(failure("the writer failed")), say("reported")]),
  ]));
  const ended = await world.ended("ERROR");
  assert.equal(ended.error, "the writer failed");
  const [refused, taken] = await pi.answers("handoff_task_report", 2);
  assert.equal(refused.isError, true);
  assert.match(refused.text, /ERROR report|retry/);
  assert.equal(taken.isError, false);
  assert.deepEqual(ended.report.observed.runs.map((run) => run.state), ["failed"]);
}

/** A scripted workflow: its children are runs of their own, and a report may name them. */
export async function workflow_children_are_evidence(lab) {
  const world = await lab.world();
  await attached(world);
  const child = (key, agent, lines) => `await runs.run(${JSON.stringify(key)}, { agent: ${JSON.stringify(agent)}, task: ${JSON.stringify(lines.join("\n"))} });`;
  const script = [
    child("write", WRITER, ["Write.", WORK, say("wrote the line")]),
    child("look", REVIEWER, ["Look.", say("APPROVED by the workflow")]),
    'return "both done";',
  ].join("\n");
  const child1 = { agent: WRITER, run_id: "{{last:write=([0-9a-f-]{36})}}", status: "COMPLETE", result: "wrote it", model: "mock/main", thinking: "off" };
  const child2 = { ...child1, agent: REVIEWER, run_id: "{{last:look=([0-9a-f-]{36})}}", result: "APPROVED by the workflow", gate: "review-after", independent: true };
  await world.submit(task([
    `mock> call subagent ${JSON.stringify({ workflowScript: script })}`, say("launched"),
    ...when(finished("workflow"), [report(complete({ worker: child1, gate_evidence: [child2] })), say("reported")]),
  ], REVIEW));
  const { observed, worker, gate_evidence } = (await world.ended("COMPLETE")).report;
  assert.equal(observed.all, true);
  const [whole, write, look] = observed.runs;
  assert.deepEqual([whole, write, look].map((run) => [run.agent, run.state]), [["workflow", "complete"], [WRITER, "complete"], [REVIEWER, "complete"]]);
  assert.deepEqual([write.parent_run_id, look.parent_run_id], [whole.run_id, whole.run_id]);
  assert.deepEqual([worker.run_id, gate_evidence[0].run_id], [write.run_id, look.run_id]);
}

/** The model's own failure: nobody works on the task any more, and nobody is reminded. */
export async function model_failure_ends_the_task(lab) {
  const world = await lab.world();
  const pi = await attached(world);
  await world.submit(task(["mock> error 400 out of credit"]));
  const ended = await world.ended("ERROR");
  assert.match(ended.error, /^The turn was aborted without a report\. The session says: .*out of credit/);
  assert.ok(!world.sentToModel().some((text) => text.includes(STILL_YOURS) && !text.includes("# Handoff")));
  await pi.footerIs(/owner, ready/);
}
