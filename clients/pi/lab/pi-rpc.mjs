// `pi --mode rpc`: commands and events as JSON lines (LF only).
import { join } from "node:path";
import { place } from "./install.mjs";
import { until } from "./wait.mjs";

export class PiRpc {
  constructor(world, { args = [], env = {}, cwd = world.project } = {}) {
    this.world = world;
    this.events = [];
    this.serial = 0;
    const pi = join(place(world.cache, `pi-${world.pi}`), "node_modules/.bin/pi");
    this.process = world.processes.start(pi, ["--mode", "rpc", ...args], { cwd, env: world.env(env) });
    let rest = "";
    this.process.child.stdout.on("data", (text) => {
      const whole = (rest + text).split("\n");
      rest = whole.pop();
      for (const line of whole) if (line.trim()) this.events.push(JSON.parse(line));
    });
    this.stderr = "";
    this.process.child.stderr.on("data", (text) => { this.stderr += text; });
  }

  get pid() { return this.process.pid; }

  /** Sends a command, answers its response. */
  async send(command) {
    const id = `c${++this.serial}`;
    this.process.child.stdin.write(`${JSON.stringify({ id, ...command })}\n`);
    return this.event(`the response to ${command.type}`, (event) => event.type === "response" && event.id === id);
  }

  /** Waits for an event that fits, after `from`. */
  event(what, fits, from = 0, ms) {
    return until(`rpc: ${what}`, () => {
      const found = this.events.slice(from).find(fits);
      if (!found && this.process.gone()) throw Object.assign(new Error(`Pi ended while waiting for ${what}: ${this.stderr}`), { final: true });
      return found;
    }, ms);
  }

  get mark() { return this.events.length; }
  settled(from) { return this.event("agent_settled", (event) => event.type === "agent_settled", from); }
  prompt(message, more = {}) { return this.send({ type: "prompt", message, ...more }); }

  /** A prompt, and everything that follows it until the session is idle again. */
  async run(message) {
    const from = this.mark;
    const response = await this.prompt(message);
    if (!response.success) throw new Error(`prompt refused: ${JSON.stringify(response)}`);
    if (response.data?.disposition !== "handled") await this.settled(from);
    return this.events.slice(from);
  }

  async state() { return (await this.send({ type: "get_state" })).data; }

  /** What the extension asked the person's screen for: `notify`, `setStatus`, `confirm`, … */
  shown(method) { return this.events.filter((event) => event.type === "extension_ui_request" && (!method || event.method === method)); }
  notices() { return this.shown("notify").map((event) => event.message); }

  /** The footer now. */
  footer() { return this.shown("setStatus").filter((event) => /handoff/.test(event.statusKey)).at(-1)?.statusText ?? ""; }
  footerIs(pattern, ms) { return until(`the footer to show ${pattern}, not "${this.footer()}"`, () => pattern.test(plain(this.footer())), ms); }

  /** Answers a dialog of an extension. */
  answer(dialog, members) {
    this.process.child.stdin.write(`${JSON.stringify({ type: "extension_ui_response", id: dialog.id, ...members })}\n`);
  }

  /** The first `count` results of a tool, when they are there: `{isError, text}`. */
  async answers(tool, count) {
    const found = await this.event(`${count} results of ${tool}`, () => this.results(tool).length >= count).then(() => this.results(tool));
    return found.map((message) => ({ isError: message.isError, text: message.content.map((part) => part.text).join("\n") }));
  }

  /** The results of a tool, in order. */
  results(tool) {
    const ended = this.events.filter((event) => event.type === "message_end" && event.message.role === "toolResult");
    return ended.map((event) => event.message).filter((message) => message.toolName === tool);
  }

  /** Ends Pi in order. */
  async quit() { this.process.child.stdin.end(); return this.process.ended; }

  close() {}
  dump() { return [`Pi (rpc, ${this.world.pi})`, `${this.events.slice(-60).map((event) => JSON.stringify(event).slice(0, 500)).join("\n")}\nstderr: ${this.stderr}`]; }
}

/** A text without colours. */
export const plain = (text) => String(text ?? "").replace(/\u001b\[[0-9;]*m/g, "");
