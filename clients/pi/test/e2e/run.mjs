#!/usr/bin/env node
// Runs one scenario against one version of Pi:
//
//   HANDOFF_LAB=… HANDOFF_BIN=… HANDOFFD_BIN=… node run.mjs NAME PI
//
// `cargo test -p handoffd-tests --test clients` installs the tools, sets the variables and runs them all. What was going
// on (screens, log, tasks.json, what the model was sent) is printed when it fails. HANDOFF_LAB_KEEP=1 keeps the folder.
import { readFileSync } from "node:fs";
import { World } from "../../lab/world.mjs";

const LIMIT = 240_000;
const list = JSON.parse(readFileSync(new URL("scenarios.json", import.meta.url), "utf8"));
const [name, pi] = process.argv.slice(2);
const row = list.find((row) => row.name === name);
if (!row) throw new Error(`no scenario "${name}"; there are: ${list.map((row) => row.name).join(", ")}`);
const scenario = (await import(new URL(`scenarios/${row.file}`, import.meta.url)))[name];

const worlds = [];
const lab = {
  pi,
  async world(options = {}) {
    const world = await World.open({ pi, ...options });
    worlds.push(world);
    return world;
  },
};
let closing;
const close = () => (closing ??= Promise.all(worlds.map((world) => world.close())));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => fail(new Error(`ended by ${signal}`)));
const limit = setTimeout(() => fail(new Error(`the scenario took more than ${LIMIT / 1000} s`)), LIMIT);

async function fail(error) {
  clearTimeout(limit);
  console.error(`FAILED ${name} on Pi ${pi}: ${error?.stack ?? error}`);
  for (const world of worlds) console.error(world.dump());
  await close().catch((error) => console.error(String(error)));
  process.exit(1);
}

const start = performance.now();
try {
  await scenario(lab);
  await close();
  clearTimeout(limit);
  console.log(`ok ${name} on Pi ${pi} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
} catch (error) {
  await fail(error);
}
