// Pi for tests: one session with its bus, its conversation and its screen. Events come in the order that the real program
// was seen to send them.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { extension, type Overrides } from "../../src/extension.ts";

type Handler = (event: any, ctx: any) => any;
export type Sent = { message: any; options: any };

export class FakeBus {
  private readonly handlers = new Map<string, Set<(data: unknown) => void>>();

  on(channel: string, handler: (data: unknown) => void): () => void {
    const known = this.handlers.get(channel) ?? new Set();
    this.handlers.set(channel, known.add(handler));
    return () => known.delete(handler);
  }

  emit(channel: string, data: unknown): void {
    for (const handler of [...(this.handlers.get(channel) ?? [])]) handler(data);
  }

  listeners(): number {
    return [...this.handlers.values()].reduce((sum, known) => sum + known.size, 0);
  }
}

let serial = 0;

export class FakePi {
  readonly events = new FakeBus();
  readonly handlers = new Map<string, Handler[]>();
  readonly tools = new Map<string, any>();
  readonly commands = new Map<string, any>();
  readonly sent: Sent[] = [];
  readonly branch: any[] = [];
  readonly notices: Array<{ text: string; type: string }> = [];
  readonly questions: string[] = [];
  footer: string | undefined;
  idle = true;
  pending = false;
  aborted = 0;
  /** Whether Pi has credentials for its model. */
  hasAuth = true;
  mode = "tui";
  cwd = "/p";
  toolNames = ["read", "subagent"];
  sessionId = `s-${process.pid}-${++serial}`;
  /** The same object for all that serve one session. */
  manager: object = {
    getSessionId: () => { this.check(); return this.sessionId; },
    getSessionFile: () => { this.check(); return "/sessions/s.jsonl"; },
    getBranch: () => { this.check(); return this.branch; },
  };
  /** What the person answers to a dialog. */
  yes = true;
  /** Set: Pi behaves as after a session change, when the old objects throw. */
  stale = false;
  /** What becomes of a message that is sent while idle: it starts a turn, or it is lost. */
  onSend: "start" | "lose" | "queue" | "throw" = "start";

  load(overrides: Overrides = {}): this {
    extension(this.api, { pi: "1.6.0", client: "0.1.0" }, { env: {}, ...overrides });
    return this;
  }

  get api(): ExtensionAPI {
    const api = {
      on: (name: string, handler: Handler) => {
        this.handlers.set(name, [...(this.handlers.get(name) ?? []), handler]);
        return () => {};
      },
      events: this.events,
      registerTool: (tool: any) => this.tools.set(tool.name, tool),
      registerCommand: (name: string, command: any) => this.commands.set(name, command),
      sendMessage: (message: any, options: any) => this.take({ message, options }),
      appendEntry: (customType: string, data: any) => {
        this.check();
        this.branch.push({ type: "custom", customType, data });
      },
      getAllTools: () => this.toolNames.map((name) => ({ name })),
    };
    return api as unknown as ExtensionAPI;
  }

  get ctx(): any {
    const pi = this;
    return {
      get mode() { pi.check(); return pi.mode; },
      get hasUI() { return pi.mode === "tui" || pi.mode === "rpc"; },
      get cwd() { pi.check(); return pi.cwd; },
      isIdle: () => { pi.check(); return pi.idle; },
      hasPendingMessages: () => { pi.check(); return pi.pending; },
      abort: () => { pi.check(); pi.aborted++; },
      get model() { pi.check(); return { provider: "mock", id: "main" }; },
      modelRegistry: { hasConfiguredAuth: () => { pi.check(); return pi.hasAuth; } },
      sessionManager: pi.manager,
      ui: {
        notify: (text: string, type = "info") => { pi.check(); pi.notices.push({ text, type }); },
        setStatus: (_key: string, text: string | undefined) => { pi.check(); pi.footer = text; },
        confirm: async (title: string, text: string) => { pi.questions.push(`${title}\n${text}`); return pi.yes; },
      },
    };
  }

  /** Delivers one event; answers what the handlers returned. */
  emit(type: string, more: object = {}): any[] {
    return (this.handlers.get(type) ?? []).map((handler) => handler({ type, ...more }, this.ctx));
  }

  start(reason = "startup"): this {
    this.emit("session_start", { reason });
    return this;
  }

  async shutdown(reason = "quit"): Promise<void> {
    await Promise.all(this.emit("session_shutdown", { reason }));
    this.stale = true;
  }

  /** A person types something. */
  prompt(): void {
    this.begin({ role: "user", content: "hello" });
  }

  begin(message: any): void {
    this.idle = false;
    this.emit("agent_start");
    this.message(message);
  }

  message(message: any): void {
    if (message.role === "custom") this.branch.push({ type: "custom_message", timestamp: new Date().toISOString(), ...message });
    this.emit("message_start", { message });
  }

  settle(stopReason = "stop", aborted?: boolean, errorMessage?: string): void {
    this.emit("agent_end", { messages: [{ role: "assistant", stopReason, errorMessage }] });
    this.idle = true;
    this.emit("agent_settled", aborted === undefined ? {} : { aborted });
  }

  async report(params: object, signal?: AbortSignal): Promise<string> {
    const tool = this.tools.get("handoff_task_report");
    const result = await tool.execute("call-1", tool.prepareArguments(params), signal, undefined, this.ctx);
    return result.content[0].text;
  }

  async command(args: string): Promise<string> {
    const before = this.notices.length;
    await this.commands.get("handoff").handler(args, this.ctx);
    return this.notices.slice(before).map(({ text }) => text).join("\n");
  }

  check(): void {
    if (this.stale) throw new Error("This extension ctx is stale after session replacement or reload.");
  }

  private take(sent: Sent): void {
    this.check();
    if (this.onSend === "throw") throw new Error("no");
    this.sent.push(sent);
    if (!sent.options.triggerTurn || this.onSend === "lose") return;
    if (!this.idle || this.onSend === "queue") {
      this.pending = true;
      return;
    }
    this.idle = false;
    // The run starts after the caller has gone on.
    setImmediate(() => this.begin({ role: "custom", ...sent.message }));
  }
}
