// Which sessions take tasks, and which never do.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { place } from "../../../lab/install.mjs";
import { until } from "../../../lab/wait.mjs";
import { WORK, WRITER, complete, failure, finished, foregroundWorker, launch, report, run, say, stop, task, when } from "../tasks.mjs";

const quick = (more) => task([run(WRITER, [WORK, say("wrote the line")]), report(complete({ worker: foregroundWorker() })), say("reported")], more);

/** One owner, one standby, and a takeover when the first leaves. */
export async function two_sessions_in_one_folder(lab) {
  const world = await lab.world();
  const first = world.rpc();
  await first.footerIs(/owner, ready/);
  const second = world.rpc();
  await second.footerIs(/standby/);
  await world.statusIs("one owner, one standby", (row) => row.session?.pid === first.pid && row.standby === 1);
  await world.submit(quick());
  await world.ended("COMPLETE");
  await first.answers("handoff_task_report", 1);
  assert.equal(second.results("handoff_task_report").length, 0);
  await first.quit();
  await second.footerIs(/owner, ready/);
  assert.ok(second.notices().some((text) => /this session now gets this project's tasks/.test(text)), second.notices().join("\n"));
  await world.statusIs("the second owns it", (row) => row.session?.pid === second.pid && row.standby === 0);
  await world.submit(quick());
  await world.ended("COMPLETE");
  await second.answers("handoff_task_report", 1);
}

/** A place that is taken by hand, and a project that is disabled and enabled: what each session is told is so. */
export async function place_taken_and_disabled(lab) {
  const world = await lab.world();
  const first = world.rpc();
  await first.footerIs(/owner, ready/);
  const second = world.rpc();
  await second.footerIs(/standby/);
  await second.prompt("/handoff take");
  await second.footerIs(/owner, ready/);
  await first.footerIs(/standby/);
  const told = (session, pattern) => until(`the words ${pattern}`, () => session.notices().some((text) => pattern.test(text)));
  await told(second, /this session now gets this project's tasks \(it was chosen by hand\)/);
  await told(first, /this session gets no tasks now, and stands by \(another session was given the place\)/);
  await world.handoff(["disable"]);
  for (const session of [first, second]) await session.footerIs(/^handoff: disabled/);
  await told(second, /gets no tasks now, and stands by \(the project was disabled or removed\)/);
  await second.prompt("/handoff");
  await told(second, /session +none gets tasks while the project is disabled/);
  await world.handoff(["enable"]);
  await second.footerIs(/owner, ready/);
}

/** A cancel while only a sub-agent works: the session is reached, has no turn to stop, and shows what goes on. */
export async function cancelled_while_only_a_child_works(lab) {
  const world = await lab.world();
  const pi = world.terminal();
  await pi.shows(/handoff: owner, ready/);
  const id = await world.submit(task([launch(WRITER, [...stop("writer", WORK), say("wrote the line")]), say("launched")]));
  await world.heldAt("writer");
  await pi.shows(/handoff: .* running .*, 1 sub-agent/);
  await world.statusIs("the session is idle", (row) => row.session?.idle === true);
  const { stdout, stderr } = await world.handoff(["cancel", id]);
  assert.match(stdout, /cancelled: the session was told/, stdout + stderr);
  assert.match(stdout, /still alive: handoff-writer/);
  await world.ended("ERROR");
  const alive = `1 run of ${id} is still at work`;
  await pi.shows(`handoff: owner · ${alive}`);
  assert.equal((await world.status()).why, alive);
  await world.submit(quick());
  await pi.shows(`handoff: a task is waiting: ${alive}`);
  world.openGate("writer");
  await world.ended("COMPLETE");
  await pi.shows(/handoff: owner, ready/);
}

/** A background child and `pi -p` load the extension, and are no sessions of the project. */
export async function children_do_not_attach(lab) {
  const world = await lab.world();
  const pi = world.rpc();
  await pi.footerIs(/owner, ready/);
  await world.submit(task([launch(WRITER, [...stop("writer", WORK), say("wrote the line")]), say("launched"),
    ...when(finished(WRITER), [report(complete()), say("reported")])]));
  await world.heldAt("writer");
  const child = world.requests().find((request) => request.gate === "writer");
  assert.ok(!child.tools.includes("handoff_task_report"), "a child has no report tool");
  const row = await world.status();
  assert.deepEqual([row.session.pid, row.standby], [pi.pid, 0]);
  world.openGate("writer");
  await world.ended("COMPLETE");

  const program = join(place(world.cache, `pi-${world.pi}`), "node_modules/.bin/pi");
  const printed = spawnSync(program, ["-p", "hello\nmock> say printed"], { cwd: world.project, env: world.env(), encoding: "utf8", timeout: 60_000 });
  assert.match(printed.stdout, /printed/, printed.stderr);
  const attached = world.journal().filter((row) => row.kind === "session" && row.change === "attached");
  assert.equal(attached.length, 1, JSON.stringify(attached));
}

/** The daemon comes later: silence but for the footer, then everything works. */
export async function daemon_comes_later(lab) {
  const world = await lab.world({ daemon: false });
  await world.init();
  const pi = world.rpc();
  await pi.footerIs(/^handoff: off$/);
  assert.deepEqual(pi.notices().filter((text) => /handoff/.test(text)), [], "nothing but the footer");
  await pi.run("a person's own\nmock> say fine");
  await world.startDaemon();
  await pi.footerIs(/owner, ready/);
  await world.submit(quick());
  await world.ended("COMPLETE");
}

/** No pi-subagents: what the model claims of runs is taken as a claim, and an honest ERROR as well. */
export async function without_subagents(lab) {
  const world = await lab.world({ subagents: false });
  const pi = world.rpc();
  await pi.footerIs(/owner/);
  await world.submit(task([report(failure("there is no sub-agent here")), say("reported")]));
  const failed = await world.ended("ERROR");
  assert.equal(failed.error, "there is no sub-agent here");
  await world.submit(task([report(complete({ worker: foregroundWorker() })), say("reported")]));
  const { observed } = (await world.ended("COMPLETE")).report;
  assert.deepEqual([observed.all, observed.runs], [false, []]);
  const { stdout } = await world.handoff(["show"]);
  assert.match(stdout, /claimed: worker/);
  assert.doesNotMatch(stdout, /proven|observed/);
  const told = pi.notices().filter((text) => /pi-subagents is not loaded/.test(text));
  assert.equal(told.length, 1, `said once: ${pi.notices().join("\n")}`);
  assert.equal(pi.stderr, "");
}

/** In a folder that is not registered: silence, an explanation, an offer, and then it works. */
export async function unregistered_folder(lab) {
  const world = await lab.world({ daemon: false });
  await world.startDaemon();
  const pi = world.rpc();
  await pi.run("a person's own\nmock> say fine");
  assert.deepEqual([pi.footer(), pi.notices().filter((text) => /handoff/.test(text))], ["", []], "nothing is said");
  const asked = pi.prompt("/handoff");
  const dialog = await pi.event("the offer", (event) => event.type === "extension_ui_request" && event.method === "confirm");
  assert.match(`${dialog.title} ${dialog.message}`, /handoff/i);
  pi.answer(dialog, { confirmed: true });
  await asked;
  await pi.footerIs(/owner, ready/);
  await until("the project's row", async () => (await world.status()).state === "idle");
  await world.init(); // profiles and work log
  await world.submit(quick());
  await world.ended("COMPLETE");
}

/** Installed twice: one client, one command. */
export async function loaded_twice(lab) {
  const world = await lab.world();
  const pi = world.rpc({ args: ["-e", fileURLToPath(new URL("../../../src/handoffd/index.ts", import.meta.url))] });
  await pi.footerIs(/owner, ready/);
  const { commands } = (await pi.send({ type: "get_commands" })).data;
  assert.deepEqual(commands.map((command) => command.name).filter((name) => name.startsWith("handoff")), ["handoff"]);
  await world.submit(quick());
  await world.ended("COMPLETE");
  const row = await world.status();
  assert.deepEqual([row.session.pid, row.standby], [pi.pid, 0]);
}

/** A program changes sessions before the last change is done: what Pi leaves behind on the way takes no tasks. */
export async function changed_too_fast(lab) {
  const world = await lab.world();
  const pi = world.rpc();
  await pi.footerIs(/owner, ready/);
  await pi.run("a person's own\nmock> say fine");
  const { sessionFile } = await pi.state();
  for (let n = 0; n < 4; n++) await Promise.all([pi.send({ type: "new_session" }), pi.send({ type: "switch_session", sessionPath: sessionFile })]);
  const { sessionId } = await pi.state();
  await world.statusIs("only the session that is there", (row) => row.session?.session_id === sessionId && row.standby === 0);
  await world.submit(quick());
  await world.ended("COMPLETE");
  await pi.answers("handoff_task_report", 1);
}
