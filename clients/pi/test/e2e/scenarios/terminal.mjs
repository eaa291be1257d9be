// What a person sees in the terminal, and what is theirs there: the draft, the open dialog, the command.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../lab/wait.mjs";
import { WORK, WRITER, complete, finished, foregroundWorker, launch, report, run, say, stop, task, when } from "../tasks.mjs";

const easy = (more) => task([run(WRITER, [WORK, say("wrote the line")]), report(complete({ worker: foregroundWorker() })), say("reported it")], more);
const stuck = () => task([...stop("turn", say("went on"))]);
const opened = async (world) => {
  const pi = world.terminal();
  await pi.shows(/handoff: owner, ready/);
  return pi;
};
const lines = (text) => text.split("\n").map((line) => line.trimEnd());

/** The whole way, as it looks: waiting, working, its sub-agent, the end. Quiet and true at each step. */
export async function handover_in_the_terminal(lab) {
  const world = await lab.world();
  const pi = await opened(world);
  await pi.paste(["a person's own question", ...stop("question", say("answered the person"))].join("\n"));
  await world.heldAt("question");
  const id = await world.submit(task([
    launch(WRITER, [...stop("writer", WORK), say("wrote the line")]), say("launched the writer"),
    ...when(finished(WRITER), [report(complete()), say("reported it")]),
  ]));
  await pi.shows(/handoff: a task is waiting/);
  assert.ok(!pi.screen().includes(`Handoff ${id}`));
  world.openGate("question");
  await world.heldAt("writer");
  await pi.shows(new RegExp(`Handoff ${id}`));
  await pi.shows(new RegExp(`handoff: ${id} running .*, 1 sub-agent`));
  world.openGate("writer");
  await world.ended("COMPLETE");
  await pi.shows(/handoff: owner, ready/);
  await pi.showed(/reported it/);
  const all = pi.history();
  assert.equal(all.split(`Handoff ${id}`).length - 1, 1, "the handoff is shown once");
  for (const noise of [/undefined/, /\[object/, /Unhandled/i, /at .*\.ts:\d+/]) assert.doesNotMatch(all, noise);
  assert.equal(world.read(pi.errors), "");
}

/** A draft in the editor survives a task that comes and goes. */
export async function draft_survives_the_handover(lab) {
  const world = await lab.world();
  const pi = await opened(world);
  await pi.draft("my unsent thoughts about lunch");
  await world.submit(easy());
  await world.ended("COMPLETE");
  await pi.showed(/reported it/);
  await pi.shows(/handoff: owner, ready/);
  assert.ok(pi.editor().includes("my unsent thoughts about lunch"), pi.screen());
  assert.ok(!world.sentToModel().some((text) => text.includes("lunch")));
}

/** An open dialog: the task waits for the person, says so, and comes when the dialog is closed. */
export async function open_dialog_makes_the_task_wait(lab) {
  const world = await lab.world();
  world.extension("ask.ts", `export default (pi) => pi.registerCommand("ask", { description: "asks", handler: async (_args, ctx) => {
    const yes = await ctx.ui.confirm("Shall we?", "A dialog of another extension");
    ctx.ui.notify(yes ? "they said yes" : "they said no", "info");
  } });`);
  const pi = await opened(world);
  await pi.enter("/ask");
  await pi.shows("A dialog of another extension");
  await world.submit(easy());
  await world.statusIs("it waits for the person", (row) => row.state === "waiting" && row.reason === "busy");
  await pi.shows(/handoff: a task is waiting: a dialog is open in the session/);
  const said = (await world.handoff(["status", world.project])).stdout;
  assert.match(said, /a dialog is open in the session/, said);
  assert.ok(pi.screen().includes("A dialog of another extension"));
  assert.equal(world.task().status, "PENDING");
  pi.key("Enter");
  await pi.showed("they said yes");
  await world.ended("COMPLETE");
}

/** Pi without a model: nothing is handed over, both sides say why, and the task comes when one is chosen. */
export async function waits_for_a_model(lab) {
  const world = await lab.world();
  const models = join(world.root, "agent/models.json");
  const text = readFileSync(models, "utf8");
  writeFileSync(models, '{"providers":{}}');
  const pi = world.terminal();
  await pi.shows(/handoff: owner, no model · \/login or \/model/);
  const id = await world.submit(easy());
  await pi.shows(/handoff: a task is waiting: no model · \/login or \/model/);
  const row = await world.statusIs("it waits for a model", (row) => row.state === "waiting" && row.reason === "busy" && /model/.test(row.why));
  assert.equal(row.why, "the session has no model to work with");
  await pi.enter("/handoff");
  await pi.showed(/this one gets the tasks; it has no model yet/);
  assert.equal(world.task().status, "PENDING");
  writeFileSync(models, text);
  await pi.enter("/model");
  await pi.shows(/main +\[mock\]/);
  pi.key("Enter");
  const ended = await world.ended("COMPLETE");
  assert.equal(ended.task_id, id);
  await pi.shows(/handoff: owner, ready/);
}

/** The person cancels from inside: the turn stops, the model's work is over, and both sides say so. */
export async function cancelled_from_the_session(lab) {
  const world = await lab.world();
  const pi = await opened(world);
  const id = await world.submit(stuck());
  await world.heldAt("turn");
  await pi.shows(new RegExp(`handoff: ${id} running`));
  await pi.enter("/handoff cancel wrong branch");
  const ended = await world.ended("ERROR");
  assert.match(ended.error, /^Cancelled: wrong branch/);
  await pi.showed(/ended in ERROR: Cancelled: wrong branch/);
  await pi.shows(/handoff: owner, ready/);
  await until("the model's answer was broken off", () => world.modelLogged().some((record) => record.kind === "broken off"));
  await world.submit(easy());
  await world.ended("COMPLETE");
}

/** The person cancels from outside. */
export async function cancelled_from_outside(lab) {
  const world = await lab.world();
  const pi = await opened(world);
  const id = await world.submit(stuck());
  await world.heldAt("turn");
  const { code, stdout } = await world.handoff(["cancel", id, "--reason", "not now"]);
  assert.equal(code, 0, stdout);
  const ended = await world.ended("ERROR");
  assert.match(ended.error, /^Cancelled: not now/);
  await pi.showed(/ended in ERROR: Cancelled: not now/);
  await pi.shows(/handoff: owner, ready/);
}

/** `/handoff` and its verbs, each in words that need no documents. */
export async function command_tells_and_acts(lab) {
  const world = await lab.world();
  const pi = await opened(world);
  const says = async (line, pattern) => {
    await pi.enter(line);
    await pi.showed(pattern);
  };
  await says("/handoff help", /take +let this session/);
  await says("/handoff", /session +this one gets the tasks/);
  await says("/handoff pause", /Paused: no further task is handed over/);
  await pi.shows(/handoff: paused/);
  const id = await world.submit(easy());
  await world.statusIs("paused", (row) => row.state === "paused");
  await says("/handoff next", /handoff resume/);
  pi.key("Enter");
  await world.ended("COMPLETE");
  await says("/handoff log", new RegExp(`${id} ended as COMPLETE`));
  await says("/handoff take", /This session gets the project's tasks already/);
  await says("/handoff cancel", new RegExp(`There is no task to cancel: ${id} has ended as COMPLETE`));
  await says("/handoff retry", new RegExp(`${id} starts again as ${id}-`));
  await until("the second run's end", () => world.task().parent_task_id === id && world.task().status === "COMPLETE");
  await says("/handoff nonsense", /There is no \/handoff nonsense/);
  for (const line of lines(pi.history())) assert.doesNotMatch(line, /undefined|\[object|Unhandled/);
}
