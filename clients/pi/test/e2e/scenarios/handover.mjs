// A task from the planner's submit to the planner's answer.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REVIEW, REVIEWER, STATUS, WORK, WRITER, complete, finished, launch, report, runOf, say, stop, task, when } from "../tasks.mjs";

/** Both agents in the background; the writer's child and the reviewer's child each stop at a gate. */
const reviewed = () => task([
  launch(WRITER, [...stop("writer", WORK), say("wrote the line")]),
  say("launched the writer"),
  ...when(finished(WRITER), [launch(REVIEWER, [...stop("reviewer", say("APPROVED, the line is there"))]), say("launched the reviewer")]),
  ...when(finished(REVIEWER), [
    STATUS,
    `mock> call subagent {"action":"status","id":"${runOf(WRITER)}"}`,
    report(complete({ reviewed: "APPROVED, the line is there" })),
    say("reported"),
  ]),
], REVIEW);

export async function handover_with_review(lab) {
  const world = await lab.world();
  const pi = world.rpc();
  await pi.footerIs(/owner, ready/);
  const planner = await world.planner();

  // Busy: the task waits.
  const own = pi.run(["a person's own question", ...stop("question", say("answered"))].join("\n"));
  await world.heldAt("question");
  await world.statusIs("the session is busy", (row) => row.session?.idle === false);
  const submitted = await planner.call("handoff_submit", reviewed());
  assert.equal(submitted.isError, false, submitted.text);
  const id = world.task().task_id;
  assert.match(submitted.text, new RegExp(id));
  const waiting = planner.wait(id);
  await world.statusIs("the task waits for the busy session", (row) => row.state === "waiting" && row.reason === "busy");
  assert.equal(world.task().status, "PENDING");
  assert.ok(!world.sentToModel().some((text) => text.includes("# Handoff from the planner")), "nothing goes into a busy session");
  world.openGate("question");
  await own;

  // Dispatched, delegated to the background: RUNNING goes on while the session is idle.
  await world.heldAt("writer");
  const running = await world.statusIs("the writer's run is seen", (row) => row.task?.runs?.running === 1);
  assert.equal(running.state, "running");
  assert.equal(running.task.delivery, "accepted");
  assert.equal(world.task().status, "RUNNING");
  await pi.footerIs(/running .*1 sub-agent/);
  const message = world.sentToModel().find((text) => text.startsWith("# Handoff from the planner"));
  for (const part of [id, "review-after", "others read the notes", "notes.txt has the line", WRITER, REVIEWER]) assert.ok(message.includes(part), part);
  world.openGate("writer");

  // Reviewed, reported, COMPLETE.
  await world.heldAt("reviewer");
  assert.equal(readFileSync(join(world.project, "notes.txt"), "utf8"), "one line\n");
  await world.statusIs("the reviewer's run is seen", (row) => row.task?.runs?.running === 1 && row.task?.runs?.complete === 1);
  world.openGate("reviewer");
  const ended = await world.ended("COMPLETE");
  proven(ended);
  logged(world, id);
  const answer = await waiting;
  assert.equal(answer.isError, false, answer.text);
  assert.match(answer.text, /COMPLETE/);
  assert.match(answer.text, /APPROVED, the line is there/);
  await pi.footerIs(/owner, ready/);
  await world.statusIs("idle again", (row) => row.state === "idle");
}

/** The evidence says what was seen, and it is what the model claimed. */
function proven({ assigned_agent, assigned_model, thinking, result, files_changed, error, report }) {
  assert.deepEqual({ assigned_agent, assigned_model, thinking, result, files_changed, error }, {
    assigned_agent: WRITER, assigned_model: "mock/main", thinking: "off", result: "notes.txt has the line", files_changed: ["notes.txt"], error: null,
  });
  assert.equal(report.observed.all, true);
  const runs = report.observed.runs.map(({ agent, background, state, model }) => ({ agent, background, state, model }));
  assert.deepEqual(runs, [WRITER, REVIEWER].map((agent) => ({ agent, background: true, state: "complete", model: "mock/main" })));
  assert.deepEqual([report.worker.run_id, report.gate_evidence[0].run_id], report.observed.runs.map((run) => run.run_id));
  assert.deepEqual(report.async_status, { checked: true, pending_run_ids: [], failed_run_ids: [] });
}

/** One line in the work log, and the whole way in the journal. */
function logged(world, id) {
  const lines = world.workLog();
  assert.equal(lines.length, 1, lines.join("\n"));
  assert.match(lines[0], new RegExp(`COMPLETE ${id} \\(IMPLEMENT\\).*${WRITER}`));
  const kinds = world.journal().filter((row) => row.task_id === id).map((row) => row.kind);
  assert.deepEqual(kinds.filter((kind) => ["pending", "running", "sent", "accepted", "ended"].includes(kind)), ["pending", "running", "sent", "accepted", "ended"]);
}
