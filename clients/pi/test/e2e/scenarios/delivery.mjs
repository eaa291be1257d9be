// How the handoff gets into the conversation: whole, once, and never into somebody else's turn.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { WORK, WRITER, complete, foregroundWorker, report, run, say, stop, task } from "../tasks.mjs";

const easy = (more) => task([run(WRITER, [WORK, say("wrote the line")]), report(complete({ worker: foregroundWorker() })), say("reported")], more);
const handoffs = (world) => world.sentToModel().filter((text) => text.startsWith("# Handoff from the planner"));

/** A context file of exactly 128 KiB reaches the model whole; one byte more is not sent, and the reason is told. */
export async function context_file_of_128_kib(lab) {
  const world = await lab.world();
  const line = "The plan says: keep the words “whole”, `as they are`, and count 0123456789.\n";
  const bytes = Buffer.from(line.repeat(3000)).subarray(0, 128 * 1024 - 8);
  const whole = bytes.subarray(0, bytes.lastIndexOf("\n") + 1);
  const text = `${whole.toString("utf8")}${"x".repeat(128 * 1024 - whole.length - 1)}\n`;
  assert.equal(Buffer.byteLength(text), 128 * 1024);
  world.write("docs/plan.md", text);
  world.write(".pi/handoff.toml", '[context]\nfiles = ["docs/plan.md"]\n');
  const pi = world.rpc();
  await pi.footerIs(/owner, ready/);
  await world.submit(easy());
  await world.ended("COMPLETE");
  const [message] = handoffs(world);
  assert.ok(message.includes(text), "every byte of it");
  assert.ok(message.includes(createHash("sha256").update(text).digest("hex")), "and its hash");

  world.write("docs/plan.md", `${text}x`);
  await world.submit(easy());
  const row = await world.statusIs("blocked", (row) => row.state === "blocked");
  assert.equal(row.reason, "context_file");
  assert.match(row.why, /docs\/plan\.md/);
  await pi.footerIs(/blocked/);
  world.write("docs/plan.md", text);
  await world.ended("COMPLETE");
}

/** The person is quicker than a dispatch that is on its way: it is declined, and comes again when the session is idle. */
export async function lost_race_with_the_person(lab) {
  const world = await lab.world();
  const relay = await world.relay();
  const pi = world.rpc({ env: relay.env });
  await pi.footerIs(/owner, ready/);
  relay.hold("task.dispatch");
  const id = await world.submit(easy());
  await relay.holds();
  const own = pi.run(["the person was first", ...stop("question", say("answered the person"))].join("\n"));
  await world.heldAt("question");
  relay.release();
  const row = await world.statusIs("it was declined", (row) => row.task?.delivery === "refused");
  assert.equal(row.task.task_id, id);
  assert.deepEqual(handoffs(world), []);
  world.openGate("question");
  await own;
  await world.ended("COMPLETE");
  assert.equal(handoffs(world).length, 1);
  const asked = world.requests().find((request) => request.messages.at(-1).text.startsWith("# Handoff"));
  assert.ok(asked.messages.some((message) => message.text === "answered the person"), "after the person's turn, not inside it");
  const dispatches = world.journal().filter((row) => row.task_id === id && row.kind === "sent").map((row) => row.dispatch_id);
  assert.equal(new Set(dispatches).size, 1, "one dispatch, sent again");
}

/** The answer to a dispatch is lost with the connection: the session says that it has the message, and it goes on. */
export async function lost_acceptance(lab) {
  const world = await lab.world();
  const relay = await world.relay();
  const pi = world.rpc({ env: relay.env });
  await pi.footerIs(/owner, ready/);
  relay.breakAt('"accepted":true');
  const id = await world.submit(task([...stop("turn", run(WRITER, [WORK, say("wrote the line")])), report(complete({ worker: foregroundWorker() })), say("reported")]));
  await relay.broke();
  await world.heldAt("turn");
  await world.statusIs("the session has it", (row) => row.session !== null && row.task?.delivery === "accepted");
  world.openGate("turn");
  const ended = await world.ended("COMPLETE");
  assert.equal(ended.task_id, id);
  assert.equal(handoffs(world).length, 1);
  assert.equal(world.journal().filter((row) => row.kind === "session" && row.change === "attached").length, 2);
}

/** The answer to a report is lost with the connection: the session sends the report again by itself, and says how it ended. */
export async function lost_answer_to_the_report(lab) {
  const world = await lab.world();
  const relay = await world.relay();
  const pi = world.rpc({ env: relay.env });
  await pi.footerIs(/owner, ready/);
  relay.breakAt('"work_log"');
  await world.submit(easy());
  await relay.broke();
  const [answer] = await pi.answers("handoff_task_report", 1);
  assert.deepEqual([answer.isError, /COMPLETE/.test(answer.text)], [false, true], answer.text);
  await world.ended("COMPLETE");
  assert.equal(world.workLog().length, 1);
  await pi.footerIs(/owner, ready/);
}

/** Five tasks, one after the other, in one session: each once, each logged. */
export async function five_tasks_in_a_row(lab) {
  const world = await lab.world();
  const pi = world.rpc();
  await pi.footerIs(/owner, ready/);
  for (let n = 1; n <= 5; n++) {
    await world.submit(easy({ task_id: `T-${n}` }));
    await world.ended("COMPLETE");
  }
  assert.deepEqual(world.workLog().map((line) => / (T-\d) /.exec(line)[1]), ["T-1", "T-2", "T-3", "T-4", "T-5"]);
  assert.equal(world.read(`${world.project}/notes.txt`), "one line\n".repeat(5));
  assert.equal(handoffs(world).length, 5);
}
