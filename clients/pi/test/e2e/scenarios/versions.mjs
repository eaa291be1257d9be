// What differs between versions of Pi, and how the extension gets into it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packed, place } from "../../../lab/install.mjs";
import { WORK, WRITER, complete, foregroundWorker, launch, report, run, say, task } from "../tasks.mjs";

/** pi-subagents 0.67.0 cannot start background children on Pi 1.x: said once to the person, and to the model what works. */
export async function background_cannot_start(lab) {
  const world = await lab.world();
  const pi = world.rpc();
  await pi.footerIs(/owner, ready/);
  const script = [launch(WRITER, [say("never")]), launch(WRITER, [say("never")]), run(WRITER, [WORK, say("wrote the line")])];
  await world.submit(task([...script, report(complete({ worker: foregroundWorker() })), say("reported")]));
  const ended = await world.ended("COMPLETE");
  assert.deepEqual(ended.report.observed.runs.map((run) => run.state), ["rejected", "rejected", "complete"]);
  const told = pi.notices().filter((text) => /cannot start background runs on Pi 1\.6\.0/.test(text));
  assert.equal(told.length, 1, pi.notices().join("\n"));
  const [refused] = await pi.answers("subagent", 1);
  assert.equal(refused.isError, true);
  assert.match(refused.text, /async: false/);
}

/** `pi install FOLDER` is all that Pi needs. */
export async function installed_by_pi(lab) {
  const world = await lab.world({ extension: false });
  const pi = join(place(world.cache, `pi-${world.pi}`), "node_modules/.bin/pi");
  const done = spawnSync(pi, ["install", packed(world.cache)], { cwd: world.project, env: world.env(), encoding: "utf8", timeout: 120_000 });
  assert.equal(done.status, 0, done.stdout + done.stderr);
  assert.match(readFileSync(join(world.root, "agent/settings.json"), "utf8"), /pi-handoffd/);
  await works(world);
}

async function works(world) {
  const session = world.rpc();
  await session.footerIs(/owner, ready/);
  await world.submit(task([run(WRITER, [WORK, say("wrote the line")]), report(complete({ worker: foregroundWorker() })), say("reported")]));
  await world.ended("COMPLETE");
  assert.doesNotMatch(session.stderr, /handoff/, "nothing of ours is complained of");
}
