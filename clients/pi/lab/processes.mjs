// The processes of one world: each in a group of its own, all ended with it, those that left their group as well.
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { until } from "./wait.mjs";

export class Processes {
  constructor(mark) {
    this.mark = mark; // a path that stands in the environment of everything that was started here
    this.started = [];
  }

  /** Starts a program; what it says is kept in `said`. */
  start(program, args, options) {
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], detached: true, ...options });
    const process = { child, name: `${program.split("/").at(-1)} ${args[0] ?? ""}`, said: "", pid: child.pid };
    process.ended = new Promise((ended) => child.on("close", (code, signal) => ended({ code, signal })));
    process.gone = () => child.exitCode !== null || child.signalCode !== null;
    child.on("error", (error) => { process.said += String(error); });
    child.stdin?.on("error", () => {}); // it ended before it read everything
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8");
      stream?.on("data", (text) => { process.said = (process.said + text).slice(-200_000); });
    }
    this.started.push(process);
    return process;
  }

  /** Ends everything, and waits until it is gone. */
  async end() {
    for (const process of this.started) if (!process.gone()) signal(-process.pid, "SIGTERM");
    await until("the programs to end", () => this.started.every((process) => process.gone()), 3000).catch(() => {});
    for (const process of this.started) if (!process.gone()) signal(-process.pid, "SIGKILL");
    for (const pid of this.strays()) signal(pid, "SIGKILL");
    await until("every process of the test to be gone", () => this.strays().length === 0, 10_000);
  }

  /** Runners of sub-agents and tmux servers leave their parent's group. They are found by their environment (Linux). */
  strays() {
    let pids = [];
    try { pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name)); } catch { return []; }
    return pids.map(Number).filter((pid) => {
      if (pid === process.pid) return false;
      try { return readFileSync(`/proc/${pid}/environ`, "latin1").includes(this.mark); } catch { return false; }
    });
  }
}

/** Sends a signal to a process, or (negative) to a group, if it is still there. */
export function signal(pid, name) {
  try { process.kill(pid, name); } catch (error) { if (error.code !== "ESRCH") throw error; }
}
