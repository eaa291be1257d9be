// A world of its own for each test: home, runtime folder, project, daemon, worker, and the real Claude Code with a scripted
// model. Nothing of the person's is read or written, no account is needed, and all that was started is ended.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startMock } from "./mock-api.mjs";

export const PLUGIN = dirname(dirname(fileURLToPath(import.meta.url)));
/** A test that waits longer has failed. */
const PATIENCE = 60_000;

const given = (name) => {
  const path = process.env[name];
  if (!path) throw new Error(`${name} is not set: it names a program under test`);
  return path;
};

export class World {
  static async start() {
    const world = new World();
    // Short: a socket's path has a limit.
    world.root = mkdtempSync(join(tmpdir(), "hcc-"));
    for (const folder of ["home", "run", "bin", "project/src", "elsewhere"]) mkdirSync(world.path(folder), { recursive: true });
    symlinkSync(given("HANDOFF_BIN"), world.path("bin/handoff"));
    world.mock = await startMock(world.path("requests.jsonl"));
    world.started = [];
    return world;
  }

  path(name) {
    return join(this.root, name);
  }

  env(more = {}) {
    return {
      PATH: `${this.path("bin")}:/usr/bin:/bin`,
      HOME: this.path("home"),
      XDG_RUNTIME_DIR: this.path("run"),
      CLAUDE_CONFIG_DIR: this.path("claude"),
      ANTHROPIC_BASE_URL: this.mock.url,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      // Tools of servers stand in the request instead of behind a search.
      ENABLE_TOOL_SEARCH: "false",
      ...more,
    };
  }

  /** Runs a program to its end. */
  run(program, args, { cwd = "project", env = {} } = {}) {
    const options = { cwd: this.path(cwd), env: this.env(env), encoding: "utf8", timeout: PATIENCE, stdio: ["ignore", "pipe", "pipe"] };
    const { status, stdout, stderr, error } = spawnSync(program, args, options);
    return { status, stdout, stderr: `${stderr}${error ?? ""}`, said: `${stdout}${stderr}${error ?? ""}` };
  }

  handoff(...args) {
    const ended = this.run(given("HANDOFF_BIN"), args);
    if (ended.status !== 0) throw new Error(`handoff ${args.join(" ")}: ${ended.said}`);
    return ended;
  }

  /** Claude Code, in its mode for scripts; not waited for synchronously, since the mock answers from this process. */
  async claude(args, { cwd = "project", env = {} } = {}) {
    const options = { cwd: this.path(cwd), env: this.env(env), stdio: ["ignore", "pipe", "pipe"] };
    const child = spawn(given("CLAUDE_BIN"), args, options);
    this.started.push(child);
    const said = { stdout: "", stderr: "" };
    child.stdout.on("data", (data) => (said.stdout += data));
    child.stderr.on("data", (data) => (said.stderr += data));
    const late = setTimeout(() => child.kill("SIGKILL"), PATIENCE);
    const status = await new Promise((resolve) => child.on("close", resolve));
    clearTimeout(late);
    return { status, ...said, said: `${said.stdout}${said.stderr}` };
  }

  /** One session with the plugin: its records, and what the model was sent of each tool's answer. */
  async session(script, { args = ["--plugin-dir", PLUGIN], ...more } = {}) {
    const rest = ["--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions", "--", script];
    const ended = await this.claude(["-p", ...args, ...rest], { ...more, env: { IS_SANDBOX: "1", ...more.env } });
    const records = ended.stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line));
    const parts = records.flatMap((record) => (record.type === "user" ? record.message.content : []));
    const results = parts.filter((part) => part.type === "tool_result");
    return {
      ...ended,
      records,
      servers: records.find((record) => record.subtype === "init")?.mcp_servers ?? [],
      hooks: records.filter((record) => record.subtype === "hook_response"),
      results: results.map((part) => (typeof part.content === "string" ? part.content : part.content.map((one) => one.text).join("\n"))),
      result: records.find((record) => record.type === "result")?.result,
    };
  }

  /** All that the model was sent, as text. */
  sent() {
    return readFileSync(this.path("requests.jsonl"), "utf8");
  }

  /** A project with a daemon. */
  async serve() {
    this.handoff("init");
    this.background(given("HANDOFFD_BIN"), []);
    await this.until("the daemon answers", () => this.run(given("HANDOFF_BIN"), ["status"]).status === 0);
  }

  /** A worker whose report is always the same. */
  async work(report) {
    writeFileSync(this.path("work.sh"), `cat > /dev/null; cat <<'END'\n${JSON.stringify(report)}\nEND\n`);
    this.background(given("HANDOFF_BIN"), ["attach", "--exec", `sh ${this.path("work.sh")}`]);
    const attached = () => JSON.parse(this.run(given("HANDOFF_BIN"), ["status", "--json"]).stdout).projects[0].session;
    await this.until("the worker is attached", () => attached() !== null);
  }

  background(program, args) {
    this.started.push(spawn(program, args, { cwd: this.path("project"), env: this.env(), stdio: "ignore" }));
  }

  async until(what, holds) {
    const end = Date.now() + PATIENCE;
    while (!holds()) {
      if (Date.now() > end) throw new Error(`not within ${PATIENCE / 1000} s: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async end() {
    const ended = this.started.map((child) => new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.on("exit", resolve);
      child.kill("SIGTERM");
      setTimeout(() => child.kill("SIGKILL"), 5_000).unref();
    }));
    await Promise.all(ended);
    this.mock.close();
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}
