// A guest in the person's program: nothing escapes, nothing blocks, nothing stays behind.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { generate } from "../scripts/wire-types.mjs";
import { Daemon } from "./support/daemon.ts";
import { FakePi } from "./support/pi.ts";
import { until } from "./support/until.ts";
import { dispatchId, handOver, task, world } from "./support/world.ts";

const HERE = new URL("..", import.meta.url).pathname;

test("objects of a session that was replaced throw, and nothing of it gets out", async (t) => {
  const thrown: unknown[] = [];
  const note = (error: unknown): void => void thrown.push(error);
  process.on("uncaughtException", note).on("unhandledRejection", note);
  t.after(() => process.off("uncaughtException", note).off("unhandledRejection", note));
  const made = await world(t);
  const { pi, daemon } = made;
  const id = await handOver(made);
  pi.stale = true;
  const events = ["agent_start", "agent_end", "agent_settled", "ui_prompt_start", "ui_prompt_end", "session_before_compact", "session_compact", "session_compact_failed"];
  for (const type of events) pi.emit(type, { messages: [] });
  pi.emit("message_start", { message: { role: "user" } });
  pi.emit("tool_result", { toolName: "subagent", toolCallId: "c", input: {}, details: {}, isError: true, content: [] });
  pi.events.emit("subagent:async-started", { id: "r", agent: "x" });
  daemon.notify("session.notice", { level: "info", text: "x" });
  daemon.notify("session.ownership", { ownership: "standby", reason: "x" });
  assert.equal((await daemon.ask("task.cancel", { dispatch_id: id, reason: "x" })).error, undefined);
  await daemon.ask("task.dispatch", task(dispatchId()));
  daemon.hangUp();
  await until("again", () => daemon.connections === 2);
  await assert.doesNotReject(pi.commands.get("handoff").handler("status", pi.ctx));
  assert.deepEqual(thrown, []);
});

test("whatever the daemon sends is survived", async (t) => {
  const made = await world(t);
  const { pi, daemon } = made;
  await daemon.heard("session.attach");
  const peer = daemon.peers.at(-1)!;
  for (const junk of ["", "x", "null", "[]", "7", "{}", '{"jsonrpc":"2.0","method":7}', '{"id":1}', '{"jsonrpc":"2.0","id":1,"error":null}', '{"method":"event"}',
    '{"method":"event","params":null}', '{"method":"session.notice","params":7}', '{"method":"session.ownership"}', '{"method":"new.thing","params":{}}',
    '{"id":"a","method":"task.dispatch"}', '{"id":"b","method":"task.dispatch","params":{}}', '{"id":"c","method":"task.cancel","params":null}', '{"id":"d","method":"what"}']) {
    peer.write(`${junk}\n`);
  }
  assert.deepEqual((await daemon.ask("task.dispatch", task(dispatchId()))).result, { accepted: true });
  assert.equal(daemon.connections, 1);
  assert.equal(pi.sent.length, 1);
});

test("what is no text never gets into the conversation: Pi ends when it cannot draw a message", async (t) => {
  const made = await world(t);
  const { pi, daemon } = made;
  await daemon.heard("session.attach");
  const wrong = async (method: string, params: object): Promise<void> => {
    assert.match((await daemon.ask(method, params)).error?.message ?? "", /must be text/, `${method} ${JSON.stringify(params)}`);
  };
  for (const more of [{ message: 7 }, { message: null }, { dispatch_id: {} }, { task_id: [] }]) await wrong("task.dispatch", task(dispatchId(), more));
  await wrong("packet.dispatch", { dispatch_id: dispatchId(), packet: {}, message: {} });
  const id = await handOver(made);
  await wrong("task.remind", { dispatch_id: id, text: {} });
  await wrong("task.cancel", { dispatch_id: id });
  await wrong("task.cancel", { dispatch_id: id, reason: { a: 1 } });
  assert.deepEqual(pi.sent.map(({ message }) => typeof message.content), ["string"]);
});

test("a line without an end is given up, and the connection begun anew", async (t) => {
  const { daemon } = await world(t);
  await daemon.heard("session.attach");
  const peer = daemon.peers.at(-1)!;
  const piece = "x".repeat(1024 * 1024);
  for (let n = 0; n < 5; n++) peer.write(piece);
  await until("a new connection", () => daemon.connections === 2);
});

test("start-up waits for nothing, and a program with nothing else to do ends", () => {
  const script = `
    import { extension } from ${JSON.stringify(`${HERE}src/extension.ts`)};
    import { FakePi } from ${JSON.stringify(`${HERE}test/support/pi.ts`)};
    const pi = new FakePi();
    pi.load({ candidates: () => ["/nowhere/h.sock"] }).start();
    console.log("started:", pi.footer);`;
  const { stdout, status, stderr } = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", script], { encoding: "utf8", timeout: 60_000 });
  assert.equal(stdout.trim(), "started: undefined", stderr);
  assert.equal(status, 0, "timers and sockets do not keep it");
});

test("a goodbye does not hold up the end of the session", async () => {
  const daemon = await new Daemon((method) => (method === "hello" ? "silence" : undefined)).start();
  const pi = new FakePi().load({ candidates: () => [daemon.path] }).start();
  await until("connected", () => daemon.connections === 1);
  // It returns, though nobody reads the goodbye.
  await pi.shutdown();
  await daemon.end();
});

test("src/wire.ts is what the schema says", () => {
  assert.equal(readFileSync(`${HERE}src/wire.ts`, "utf8"), generate(), "run `npm run wire`");
});

test("the schema of an older or newer daemon would be noticed", () => {
  assert.ok(generate().includes("export type TaskDispatch = {\n  dispatch_id: string;"));
});

test("the sources are typed, strictly", { skip: existsSync(`${HERE}node_modules/typescript`) ? false : "npm ci was not run here" }, () => {
  const { stdout, status } = spawnSync(process.execPath, [`${HERE}node_modules/typescript/bin/tsc`, "--noEmit", "-p", HERE], { encoding: "utf8" });
  assert.equal(status, 0, stdout);
});

test("the package needs nothing but Pi, and its lock file names no registry", () => {
  const manifest = JSON.parse(readFileSync(`${HERE}package.json`, "utf8"));
  assert.equal(manifest.dependencies, undefined);
  assert.ok(readFileSync(`${HERE}../../Cargo.toml`, "utf8").includes(`\nversion = "${manifest.version}"\n`), "the version of the workspace");
  assert.deepEqual(new Set(Object.values(manifest.peerDependencies)), new Set(["*"]));
  assert.deepEqual(manifest.pi.extensions, ["./src/handoffd/index.ts"]);
  assert.ok(manifest.keywords.includes("pi-package"));
  assert.ok(!readFileSync(`${HERE}package-lock.json`, "utf8").includes('"resolved"'));
});

test("only what Pi supplies is imported at run time", () => {
  const files = readdirSync(`${HERE}src`, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  assert.ok(files.length > 20);
  for (const file of files) {
    const text = readFileSync(`${HERE}src/${file}`, "utf8");
    for (const [, typeOnly, from] of text.matchAll(/^import (type )?[^;]*? from "([^"]+)"/gms)) {
      const isHost = from === "@earendil-works/pi-coding-agent" || from === "@earendil-works/pi-tui";
      const fine = from!.startsWith("./") || from!.startsWith("../") || from!.startsWith("node:") || isHost;
      assert.ok(fine, `${file} imports ${from}`);
      if (isHost && !typeOnly) assert.ok(["handoffd/index.ts", "render.ts"].includes(file), `${file} needs Pi at run time`);
    }
    assert.ok(text.split("\n").length <= 400 || file === "wire.ts", `${file} is too long`);
    assert.ok(text.startsWith("// "), `${file} does not say what lives in it`);
  }
});
