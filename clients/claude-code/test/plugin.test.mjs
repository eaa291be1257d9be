// The plugin with the real Claude Code, whose model is scripted (mock-api.mjs): no account is needed.
//
//   CLAUDE_BIN=… HANDOFF_BIN=… HANDOFFD_BIN=… node --test clients/claude-code/test/plugin.test.mjs
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { PLUGIN, World } from "./world.mjs";

const inWorld = (name, body) =>
  test(name, async () => {
    const world = await World.start();
    try {
      await body(world);
    } finally {
      await world.end();
    }
  });

const TASK = { task_id: "T-1", instruction: "Add a flag", scope: ["src"], acceptance_criteria: ["it works"] };
const run = (agent, run_id, result) => ({ agent, run_id, status: "COMPLETE", result, model: "p/m", thinking: "off" });
const reviewed = {
  status: "COMPLETE",
  worker: run("handoff-writer", "r-1", "did it"),
  gate_evidence: [{ gate: "review-after", independent: true, ...run("handoff-reviewer", "r-2", "NOT APPROVED: there is no test") }],
  async_status: { checked: true, pending_run_ids: [], failed_run_ids: [] },
  files_changed: ["src/a.rs"],
  tests_run: [],
  result: "The flag is there",
  error: null,
};
const call = (tool, args = {}) => `do> ${tool} ${JSON.stringify(args)}`;

inWorld("the strict validation accepts plugin and catalog", async (world) => {
  for (const path of [PLUGIN, `${PLUGIN}/.claude-plugin/plugin.json`]) {
    const ended = await world.claude(["plugin", "validate", "--strict", "--json", path]);
    assert.equal(ended.status, 0, ended.said);
    assert.equal(JSON.parse(ended.stdout).success, true, ended.said);
  }
  const { provides } = JSON.parse((await world.claude(["plugin", "validate", "--json", `${PLUGIN}/.claude-plugin/plugin.json`])).stdout);
  assert.deepEqual(provides.commands, ["handoff:status", "handoff:submit", "handoff:wait"]);
  assert.deepEqual(provides.skills, ["handoff:hand-over"]);
  assert.deepEqual(provides.hooks.map((hook) => hook.event), ["SessionStart"]);
});

inWorld("it is installed from its catalog, and its server answers", async (world) => {
  for (const args of [["plugin", "marketplace", "add", PLUGIN], ["plugin", "install", "handoff@handoffd"]]) {
    const ended = await world.claude(args);
    assert.equal(ended.status, 0, ended.said);
  }
  const listed = await world.claude(["mcp", "list"]);
  assert.match(listed.stdout, /plugin:handoff:planner: handoff mcp planner - .* Connected/);
});

// What Claude Code calls the two ways in which it opens a server: 2025-11-25 with a handshake, and 2026-07-28.
for (const era of ["legacy", "auto"]) inWorld(`a task goes from submit to its verdict, and COMPLETE is no approval (${era})`, async (world) => {
  await world.serve();
  await world.work(reviewed);
  const gate = { gate: "review-after", gate_reason: "it is risky" };
  const script = [call("handoff_submit", { ...TASK, ...gate }), call("handoff_wait", { task_id: "T-1" }), call("handoff_status"), "say> I have read it"];
  const session = await world.session(script.join("\n"), { env: { MCP_PROTOCOL_NEGOTIATION: era } });
  assert.equal(session.status, 0, session.said);
  assert.deepEqual(session.servers.map(({ name, status }) => [name, status]), [["plugin:handoff:planner", "connected"]]);
  const [submitted, ended, status] = session.results;
  assert.match(submitted, /Submitted T-1/);
  for (const part of [/T-1 ended COMPLETE/, /Its verdict: NOT APPROVED: there is no test/, /not that it approved/, /claimed: worker handoff-writer r-1/]) {
    assert.match(ended, part);
  }
  assert.match(status, /The last task, T-1, ended COMPLETE/);
  assert.equal(session.result, "I have read it");
});

inWorld("a wait that comes back too early is called again, and ends", async (world) => {
  await world.serve();
  const wait = call("handoff_wait", { timeout_secs: 1 });
  const first = await world.session([call("handoff_submit", TASK), wait, "say> not yet"].join("\n"));
  assert.match(first.results[1], /T-1 has not ended after 1 s of waiting.*This is no failure/s);
  await world.work({ ...reviewed, gate_evidence: [] });
  const second = await world.session([call("handoff_wait"), "say> now"].join("\n"));
  assert.match(second.results[0], /T-1 ended COMPLETE/);
});

inWorld("a refusal reaches the model with every fault", async (world) => {
  await world.serve();
  const wrong = { instruction: "", scope: ["/etc"], acceptance_criteria: [], gate: "review-after" };
  const session = await world.session([call("handoff_submit", wrong), "say> I see"].join("\n"));
  for (const part of [/`instruction`/, /`scope\[0\]`/, /`acceptance_criteria`/, /`gate_reason`/, /nothing was written/]) {
    assert.match(session.results[0], part);
  }
});

inWorld("a new session is told what is open, and nothing where nothing is", async (world) => {
  await world.serve();
  const quiet = await world.session("say> hello");
  assert.deepEqual(quiet.hooks.map((hook) => [hook.exit_code, hook.stdout, hook.stderr]), [[0, "", ""]]);
  world.handoff("submit", "--instruction", "x", "--scope", "src", "--accept", "y", "--id", "T-1");
  await world.work({ ...reviewed, gate_evidence: [] });
  world.handoff("wait", "--task", "T-1");
  const told = await world.session("say> hello");
  assert.match(told.hooks[0].stdout, /"systemMessage":"handoff: the last task, T-1, ended COMPLETE/);
  assert.match(world.sent(), /handoffd says: the last task, T-1, ended COMPLETE/, "the model was told");
  const elsewhere = await world.session("say> hello", { cwd: "elsewhere" });
  assert.equal(elsewhere.hooks[0].stdout, "");
});

inWorld("without the program a session works as before", async (world) => {
  rmSync(world.path("bin/handoff"));
  const session = await world.session("say> hello");
  assert.equal(session.result, "hello", session.said);
  assert.deepEqual(session.hooks.map((hook) => [hook.exit_code, hook.outcome, hook.stderr]), [[0, "success", ""]]);
});

inWorld("the commands and the skill are what the model is given", async (world) => {
  await world.serve();
  const session = await world.session("/handoff:wait T-7");
  const names = session.records.find((record) => record.subtype === "init").slash_commands;
  for (const name of ["handoff:status", "handoff:submit", "handoff:wait", "handoff:hand-over"]) assert.ok(names.includes(name), name);
  assert.match(world.sent(), /pass it as `task_id`: T-7/);
});

inWorld("a team member is Claude Code with the line that `handoff team add` prints", async (world) => {
  await world.serve();
  const added = world.handoff("team", "add", "planner", "--goal", "T-1", "--round", "1");
  const config = /claude --mcp-config '([^']+)'/.exec(added.stderr)[1];
  const packet = { packet_id: "pk-1", objective: "look at it", output_format: "diff" };
  const script = [call("team_handoff", { packet }), "say> filed"].join("\n");
  const session = await world.session(script, { args: ["--mcp-config", config] });
  assert.deepEqual(session.servers.map(({ name, status }) => [name, status]), [["handoff-team", "connected"]], session.said);
  assert.equal(JSON.parse(session.results[0]).ok, true, session.results[0]);
  assert.match(world.handoff("packet", "list", "T-1").stdout, /pk-1/);
});
