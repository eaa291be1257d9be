// `handoff init --pi` with the real Pi: what it writes is what Pi loads.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { WORK, WRITER, complete, foregroundWorker, report, run, say, task } from "../tasks.mjs";

/** A person's own settings, the extension out of the program, a session, a task. */
export async function installed_by_init(lab) {
  const world = await lab.world({ extension: false });
  const settings = join(world.root, "agent/settings.json");
  const before = JSON.parse(readFileSync(settings, "utf8"));
  const first = await world.handoff(["init", "--pi"]);
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stdout, new RegExp(`found Pi ${world.pi.replace("-shim", "")} and pi-subagents 0\\.67\\.0`));
  const folder = join(world.root, "data/handoffd/clients/pi");
  const expected = { ...before, packages: [...before.packages, folder] };
  assert.deepEqual(JSON.parse(readFileSync(settings, "utf8")), expected, "nothing but the entry");

  const pi = world.rpc();
  await pi.footerIs(/owner, ready/);
  await world.submit(task([run(WRITER, [WORK, say("wrote the line")]), report(complete({ worker: foregroundWorker() })), say("reported")]));
  await world.ended("COMPLETE");
  await pi.quit();

  // Pi writes its settings in its own way; that is no reason to install twice.
  writeFileSync(settings, JSON.stringify({ ...expected, packages: [{ source: "../data/handoffd/clients/pi" }] }));
  const again = await world.handoff(["init", "--pi"]);
  assert.equal(again.code, 0, again.stderr);
  assert.match(again.stdout, /kept the Pi extension in /);
  assert.deepEqual(JSON.parse(readFileSync(settings, "utf8")).packages, [{ source: "../data/handoffd/clients/pi" }]);
}
