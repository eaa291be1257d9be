// A throw-away world: home, XDG folders, socket, one project, the scripted model, the real daemon and command line, and
// Pi's home with our extension. Nothing of the machine's own configuration is seen by what is started here.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { node, packed, place } from "./install.mjs";
import { PiRpc } from "./pi-rpc.mjs";
import { PiTerminal } from "./pi-terminal.mjs";
import { Planner } from "./planner.mjs";
import { Processes, signal } from "./processes.mjs";
import { Relay } from "./relay.mjs";
import { eventually, until } from "./wait.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));

export class World {
  /**
   * @param pi         the version of Pi, a name of tools/ without `pi-`
   * @param subagents  whether pi-subagents is installed in Pi
   * @param extension  whether our extension is
   * @param config     text of the daemon's configuration
   * @param worlds     a list that gets the world, so that it can be closed whatever happens
   * @param daemon     whether the daemon runs, and the project is registered, from the start
   */
  static async open({ pi, subagents = true, extension = true, config = "", daemon = true, settings = {}, worlds = [] }) {
    const world = new World();
    // Short: the path of a socket has little room. Real: the daemon and Pi say real paths.
    world.root = mkdtempSync(join(realpathSync(tmpdir()), "hp-"));
    for (const name of ["home", "run", "state", "config/handoffd", "data", "agent", "tmp", "gates", "app"]) {
      mkdirSync(join(world.root, name), { recursive: true, mode: 0o700 });
    }
    world.cache = process.env.HANDOFF_LAB;
    // Pi keeps compiled TypeScript in its temporary folder: once for all worlds, or every start takes ten seconds.
    mkdirSync(join(world.cache, "compiled"), { recursive: true });
    symlinkSync(join(world.cache, "compiled"), join(world.root, "tmp/jiti"));
    world.pi = pi;
    world.project = join(world.root, "app");
    world.processes = new Processes(world.root);
    world.sessions = [];
    world.relays = [];
    writeFileSync(join(world.root, "config/handoffd/config.toml"), config);
    worlds.push(world);
    await world.#model();
    world.#home({ subagents, extension, settings });
    if (daemon) {
      await world.startDaemon();
      await world.init();
    }
    return world;
  }

  env(extra = {}) {
    const tools = [dirname(node(this.cache)), join(place(this.cache, `pi-${this.pi}`), "node_modules/.bin"), dirname(process.env.HANDOFF_BIN)];
    return {
      PATH: `${tools.join(":")}:/usr/local/bin:/usr/bin:/bin`, LANG: "C.UTF-8", TERM: "xterm-256color", USER: "tester", SHELL: "/bin/sh",
      HOME: join(this.root, "home"), TMPDIR: join(this.root, "tmp"),
      XDG_RUNTIME_DIR: join(this.root, "run"), XDG_STATE_HOME: join(this.root, "state"),
      XDG_CONFIG_HOME: join(this.root, "config"), XDG_DATA_HOME: join(this.root, "data"),
      PI_CODING_AGENT_DIR: join(this.root, "agent"), PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0",
      RUST_BACKTRACE: "1", ...extra,
    };
  }

  async #model() {
    this.modelLog = join(this.root, "model.jsonl");
    const portFile = join(this.root, "port");
    const args = ["--port-file", portFile, "--log", this.modelLog, "--gates", join(this.root, "gates")];
    this.processes.start(process.execPath, [join(HERE, "mock-llm.mjs"), ...args], { env: this.env() });
    await until("the scripted model", () => existsSync(portFile));
    const baseUrl = `http://127.0.0.1:${readFileSync(portFile, "utf8")}/v1`;
    const models = [{ id: "main" }, { id: "thinker", reasoning: true }];
    const providers = { mock: { baseUrl, api: "openai-completions", apiKey: "mock", models } };
    writeFileSync(join(this.root, "agent/models.json"), JSON.stringify({ providers }));
  }

  #home({ subagents, extension, settings }) {
    const packages = [];
    if (extension) packages.push(packed(this.cache));
    if (subagents) packages.push(join(place(this.cache, "subagents"), "node_modules/pi-subagents"));
    this.settings = {
      defaultProvider: "mock", defaultModel: "main", defaultThinkingLevel: "off", quietStartup: true,
      enableInstallTelemetry: false, defaultProjectTrust: "always", retry: { baseDelayMs: 100 }, packages, ...settings,
    };
    this.writeSettings();
  }

  /** A relay between Pi and the daemon, for a Pi that is started with `env: relay.env`. */
  async relay() {
    const relay = await Relay.open(join(this.root, "run/relay"), join(this.root, "run/handoffd/handoffd.sock"));
    this.relays.push(relay);
    return relay;
  }

  /** Puts another extension beside ours, as a user might have one. */
  extension(name, text) {
    mkdirSync(join(this.root, "agent/extensions"), { recursive: true });
    writeFileSync(join(this.root, "agent/extensions", name), text);
  }

  writeSettings() { writeFileSync(join(this.root, "agent/settings.json"), JSON.stringify(this.settings, null, 2)); }

  // ---- daemon and command line

  async startDaemon() {
    this.daemon = this.processes.start(process.env.HANDOFFD_BIN, [], { env: this.env(), cwd: this.root });
    await until("the daemon's answer", async () => {
      if (this.daemon.gone()) throw Object.assign(new Error(`the daemon ended: ${this.daemon.said}`), { final: true });
      return (await this.handoff(["status", "--json"])).code !== 3;
    });
  }

  async stopDaemon(how = "SIGTERM") {
    signal(this.daemon.pid, how);
    return this.daemon.ended;
  }

  /** Runs `handoff`; answers exit code and output. */
  handoff(args, { cwd = this.project, input = "" } = {}) {
    const child = spawn(process.env.HANDOFF_BIN, args, { cwd, env: this.env(), stdio: ["pipe", "pipe", "pipe"] });
    const out = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => { out[name] += text; });
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    const limit = setTimeout(() => child.kill("SIGKILL"), 120_000);
    return new Promise((done) => child.on("close", (code, killed) => { clearTimeout(limit); done({ code, killed, ...out }); }));
  }

  async init(folder = this.project) {
    const { code, stdout, stderr } = await this.handoff(["init", folder]);
    if (code !== 0) throw new Error(`handoff init: ${code}\n${stdout}${stderr}`);
  }

  /** Hands a task over with `handoff submit`, and answers its id. */
  async submit(task) {
    const { code, stdout, stderr } = await this.handoff(["submit", "--json", "-"], { input: JSON.stringify(task) });
    if (code !== 0) throw new Error(`handoff submit: ${code}\n${stdout}${stderr}`);
    return JSON.parse(stdout).task_id ?? this.task().task_id;
  }

  /** The project's row of `handoff status --json`. */
  async status() {
    const { stdout, stderr } = await this.handoff(["status", "--json", this.project]);
    const document = stdout ? JSON.parse(stdout) : null;
    return document?.projects?.find((row) => row.path === this.project) ?? { state: null, said: stdout + stderr };
  }

  /** Waits until the project's row of status is as wanted. */
  statusIs(what, asked, ms) { return eventually(`status: ${what}`, () => this.status(), asked, ms); }

  taskBytes() { return readFileSync(join(this.project, "tasks.json"), "utf8"); }
  task() { return JSON.parse(this.taskBytes()); }

  /** Waits until tasks.json says so. */
  taskIs(status, ms) {
    return eventually(`tasks.json says ${status}`, () => this.task(), (task) => task.status === status, ms);
  }

  /** Waits until the task has ended so, in tasks.json and in the work log, which is written a moment later. */
  async ended(status, ms) {
    const task = await this.taskIs(status, ms);
    const dispatch = task.updated_by.split("/")[1];
    await eventually("the work log's line", () => this.workLog(), (lines) => lines.some((line) => line.includes(dispatch)));
    return task;
  }

  workLog() {
    const text = this.read(join(this.project, ".pi/handoff-log.md"));
    return text.split("## Work log").at(-1).split("\n").filter((line) => line.startsWith("- "));
  }

  journal() {
    const folder = join(this.root, "state/handoffd");
    if (!existsSync(folder)) return [];
    return readdirSync(folder).filter((name) => /^journal-.*\.jsonl$/.test(name)).flatMap((name) => lines(join(folder, name)));
  }

  // ---- Pi

  /** Pi in rpc mode. */
  rpc(options) { return this.#session(new PiRpc(this, options)); }

  /** Pi in a terminal. */
  terminal(options) { return this.#session(new PiTerminal(this, options)); }

  #session(session) { this.sessions.push(session); return session; }

  /** Everything the model was asked, in order. */
  requests() { return lines(this.modelLog).filter((record) => record.kind === "request"); }
  modelLogged() { return lines(this.modelLog); }

  /** What the model was sent, as user messages, without repeats. */
  sentToModel() {
    const users = this.requests().flatMap((request) => request.messages.filter((message) => message.role === "user"));
    return [...new Set(users.map((message) => message.text))];
  }

  /** Waits until the model was sent a user message that fits. */
  modelGot(pattern, ms) {
    return until(`the model to be sent ${pattern}`, () => this.sentToModel().find((text) => pattern.test(text)), ms);
  }

  /** Waits until a request of the model is held at the gate. */
  heldAt(gate, ms) {
    return until(`the model to stand at "${gate}"`, () => this.requests().some((request) => request.gate === gate), ms);
  }

  /** Lets the model answer that stands, or will stand, at the gate. */
  openGate(name) { writeFileSync(join(this.root, "gates", name), ""); }

  // ---- planner

  /** The planner's MCP server, started and greeted as Claude Code does it. */
  planner(options) { return Planner.open(this, options); }

  // ---- the end

  read(path) { return existsSync(path) ? readFileSync(path, "utf8") : ""; }
  write(name, text) {
    const path = join(this.project, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  /** Everything that helps to understand a failure. */
  dump() {
    const parts = this.sessions.map((session) => session.dump());
    parts.push(["tasks.json", this.read(join(this.project, "tasks.json"))]);
    parts.push(["work log", this.read(join(this.project, ".pi/handoff-log.md"))]);
    parts.push(["journal", this.journal().map((row) => JSON.stringify(row)).join("\n")]);
    parts.push(["daemon", this.daemon?.said ?? "never started"]);
    const model = this.modelLog ? lines(this.modelLog) : [];
    parts.push(["model", model.map(brief).join("\n")]);
    return parts.map(([title, text]) => `--- ${title}\n${text.slice(-12_000)}`).join("\n");
  }

  async close() {
    for (const part of [...this.sessions, ...this.relays]) part.close();
    await this.processes.end();
    if (process.env.HANDOFF_LAB_KEEP === "1") console.error(`kept: ${this.root}`);
    else rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The whole lines of a file that another process may be writing. */
const lines = (path) => (existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line)) : []);

/** One line of the model's log without the conversation. */
function brief({ messages, tools, ...record }) {
  if (!messages) return JSON.stringify(record);
  const last = messages.at(-1);
  return JSON.stringify({ ...record, messages: messages.length, last: `${last?.role}: ${last?.text.slice(0, 300)}` });
}
