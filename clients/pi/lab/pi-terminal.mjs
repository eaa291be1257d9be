// Pi in a terminal: a private tmux server, keys, and what a person would see.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { place } from "./install.mjs";
import { until } from "./wait.mjs";

let servers = 0;

export class PiTerminal {
  constructor(world, { args = [], env = {}, cwd = world.project, width = 140, height = 50 } = {}) {
    this.world = world;
    this.name = `t${++servers}`;
    this.socket = join(world.root, this.name);
    this.errors = join(world.root, `${this.name}.err`);
    this.environment = world.env(env);
    this.cwd = cwd;
    const pi = join(place(world.cache, `pi-${world.pi}`), "node_modules/.bin/pi");
    const line = ["exec", pi, ...args, `2>${this.errors}`].join(" ");
    this.tmux("new-session", "-d", "-s", "pi", "-x", String(width), "-y", String(height), line);
    this.tmux("set-option", "-t", "pi", "remain-on-exit", "on");
    this.pid = Number(this.tmux("display-message", "-p", "-t", "pi", "#{pane_pid}").trim());
  }

  tmux(...args) {
    const options = { encoding: "utf8", env: this.environment, cwd: this.cwd, timeout: 20_000 };
    const run = spawnSync("tmux", ["-S", this.socket, "-f", "/dev/null", ...args], options);
    if (run.status !== 0) throw new Error(`tmux ${args[0]}: ${run.error ?? run.stderr}`);
    return run.stdout;
  }

  screen() { return this.tmux("capture-pane", "-p", "-t", "pi"); }
  /** The screen with everything that scrolled off it. */
  history() { return this.tmux("capture-pane", "-p", "-S", "-5000", "-t", "pi"); }

  shows(pattern, ms) {
    const fits = (text) => (typeof pattern === "string" ? text.includes(pattern) : pattern.test(text));
    return until(`the screen to show ${pattern}`, () => fits(this.screen()), ms);
  }
  showed(pattern, ms) {
    const fits = (text) => (typeof pattern === "string" ? text.includes(pattern) : pattern.test(text));
    return until(`the screen to have shown ${pattern}`, () => fits(this.history()), ms);
  }

  key(...keys) { this.tmux("send-keys", "-t", "pi", ...keys); }

  /** The lines of the editor: what stands between the last two rulers; the upper one may say that Pi is working. */
  editor() {
    const lines = this.screen().split("\n");
    const rulers = lines.map((line, at) => (/^──.*─{20,}$/.test(line.trimEnd()) ? at : -1)).filter((at) => at >= 0).slice(-2);
    return rulers.length < 2 ? null : lines.slice(rulers[0] + 1, rulers[1]).map((line) => line.trimEnd()).join("\n");
  }

  /** Types and does not enter. */
  async draft(text) {
    this.tmux("send-keys", "-t", "pi", "-l", text);
    await until(`the editor to show "${text}"`, () => this.editor()?.includes(text.slice(0, 60)));
  }

  /** Types a line and enters it. While Pi is still starting it keeps the line; then, as a person would, enter again. */
  async enter(text) {
    await this.draft(text);
    await this.submit(text.slice(0, 60));
  }

  async submit(text) {
    let pressed = 0;
    await until(`the editor to take "${text}"`, () => {
      if (!this.editor()?.includes(text)) return true;
      if (performance.now() - pressed > 1000) {
        this.key("Enter");
        pressed = performance.now();
      }
      return false;
    });
  }

  /** Pastes several lines and enters them. */
  async paste(text) {
    const file = join(this.world.root, `${this.name}.paste`);
    const last = text.split("\n").at(-1);
    writeFileSync(file, text);
    this.tmux("load-buffer", file);
    this.tmux("paste-buffer", "-p", "-t", "pi");
    await until("the editor to show what was pasted", () => this.editor()?.includes(last));
    await this.submit(last);
  }

  gone() { return this.tmux("display-message", "-p", "-t", "pi", "#{pane_dead}").trim() === "1"; }
  ended(ms) { return until("Pi to end", () => this.gone(), ms); }

  close() { try { this.tmux("kill-server"); } catch { /* it is gone */ } }
  dump() {
    let screen;
    try { screen = this.history().trimEnd(); } catch (error) { screen = String(error); }
    return [`Pi (terminal ${this.name}, ${this.world.pi})`, `${screen}\nstderr: ${this.world.read(this.errors)}`];
  }
}
