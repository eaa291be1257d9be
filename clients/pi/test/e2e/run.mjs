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
const lab = { pi, world: (options = {}) => World.open({ pi, worlds, ...options }) };
let closing;
const close = () => (closing ??= Promise.allSettled(worlds.map((world) => world.close())));
const limit = setTimeout(() => fail(new Error(`the scenario took more than ${LIMIT / 1000} s`)), LIMIT);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => fail(new Error(`ended by ${signal}`)));
// A promise that nobody awaits any more must not end this process before everything is cleaned up.
for (const fault of ["uncaughtException", "unhandledRejection"]) process.on(fault, fail);

let failing = false;
async function fail(error) {
  if (failing) return;
  failing = true;
  clearTimeout(limit);
  console.error(`FAILED ${name} on Pi ${pi}: ${error?.stack ?? error}`);
  for (const world of worlds) {
    try { console.error(world.dump()); } catch (error) { console.error(`no account of it: ${error}`); }
  }
  await close();
  process.exit(1);
}

const start = performance.now();
try {
  await scenario(lab);
  const left = (await close()).filter((outcome) => outcome.status === "rejected");
  if (left.length) throw left[0].reason;
  clearTimeout(limit);
  if (!failing) console.log(`ok ${name} on Pi ${pi} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
} catch (error) {
  await fail(error);
}
