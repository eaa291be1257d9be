// The planner: an MCP client of `handoff mcp planner` over stdio, opening as Claude Code 2.1 does it.
import { until } from "./wait.mjs";

const CLIENT = { name: "lab-planner", version: "1" };

export class Planner {
  static async open(world, { cwd = world.project, env = {} } = {}) {
    const planner = new Planner();
    planner.process = world.processes.start(process.env.HANDOFF_BIN, ["mcp", "planner"], { cwd, env: world.env(env) });
    planner.messages = [];
    planner.serial = 0;
    let rest = "";
    planner.process.child.stdout.on("data", (text) => {
      const whole = (rest + text).split("\n");
      rest = whole.pop();
      for (const line of whole) if (line.trim()) planner.messages.push(JSON.parse(line));
    });
    await planner.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: CLIENT });
    planner.#write({ method: "notifications/initialized" });
    return planner;
  }

  #write(message) { this.process.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`); }

  async request(method, params, ms = 120_000) {
    const id = ++this.serial;
    this.#write({ id, method, params });
    const answer = await until(`mcp: the answer to ${method}`, () => {
      const found = this.messages.find((message) => message.id === id && !message.method);
      if (!found && this.process.gone()) throw Object.assign(new Error(`the MCP server ended: ${this.process.said}`), { final: true });
      return found;
    }, ms);
    if (answer.error) throw new Error(`mcp ${method}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  }

  /** Calls a tool; answers `{isError, text, data}`. */
  async call(name, args = {}, ms) {
    const result = await this.request("tools/call", { name, arguments: args }, ms);
    const text = (result.content ?? []).map((part) => part.text ?? "").join("\n");
    return { isError: result.isError === true, text, data: result.structuredContent };
  }

  /** Waits for a task as a planner does: calls again while it is told that the task goes on. */
  async wait(task_id) {
    for (;;) {
      const answer = await this.call("handoff_wait", { task_id });
      if (answer.isError || answer.data?.ended !== false) return answer;
    }
  }

  async close() { this.process.child.stdin.end(); return this.process.ended; }
}
