// One session of Pi and its connection to the daemon: attaches, takes what is handed over, tells what happens, reports.
import { realpathSync } from "node:fs";
import { Activity } from "./activity.ts";
import { advice, foregroundId, hostLacks, USE_FOREGROUND } from "./advice.ts";
import { Attachment } from "./attachment.ts";
import { Deliveries } from "./delivery.ts";
import { guard, type Context, type Pi } from "./host.ts";
import { Inbound } from "./inbound.ts";
import { Link, type Fault, type LinkOptions } from "./net/link.ts";
import type { Rpc } from "./net/rpc.ts";
import { Observer } from "./observer.ts";
import { Panel } from "./panel.ts";
import { Inbox } from "./state/inbox.ts";
import { ENTRY, REMINDER_MESSAGE, TASK_MESSAGE, detailsOf, recall, type Details, type Note } from "./state/record.ts";
import type { Change } from "./state/runs.ts";
import type { ToolResult } from "./state/subagents.ts";
import { line } from "./text.ts";
import type { AttachReason, LeaveReason, Run } from "./wire.ts";

/** Characters of what broke a turn, in Pi's words. */
const MOST_ERROR = 300;

export type SessionOptions = {
  pi: Pi;
  ctx: Context;
  version: { pi: string; client: string };
  candidates(): string[];
  env: Record<string, string | undefined>;
  timing?: LinkOptions["timing"];
  patienceMs?: number;
};

export class Session {
  readonly panel: Panel;
  readonly inbox = new Inbox();
  readonly activity: Activity;
  readonly observer: Observer;
  readonly project: string;
  readonly sessionId: string;
  readonly member: string | undefined;
  rpc: Rpc | undefined;
  fault: Fault | undefined;
  /** The dispatch whose report is on its way: its end is told by the answer. */
  reporting: string | undefined;
  private readonly options: SessionOptions;
  private readonly link: Link;
  private readonly deliveries: Deliveries;
  private readonly inbound: Inbound;
  readonly attachment: Attachment;
  private over = false;
  /** A turn that settled while there was no connection. */
  private untold: { dispatchId: string; aborted: boolean; error: string | undefined } | undefined;
  private readonly advised = new Set<string>();
  private waiters: Array<() => void> = [];

  constructor(options: SessionOptions, reason: AttachReason) {
    const { pi, ctx, env } = options;
    this.options = options;
    this.sessionId = ctx.sessionManager.getSessionId();
    this.project = realPath(ctx.cwd);
    this.member = env["HANDOFF_AGENT_ID"] || undefined;
    this.panel = new Panel(ctx, this.member);
    this.deliveries = new Deliveries(pi, ctx, options.patienceMs);
    this.inbound = new Inbound(this, this.deliveries);
    this.attachment = new Attachment(this, options, reason);
    this.activity = new Activity(ctx, (ready, hint) => {
      this.panel.ready(ready, hint);
      const params = { state: ready ? "idle" : "busy", ...(hint ? { hint } : {}) };
      return this.notify("session.state", params);
    });
    const hasTool = (name: string): boolean => guard(() => pi.getAllTools().some((tool) => tool.name === name)) ?? false;
    this.observer = new Observer({
      bus: pi.events,
      isOnly: () => !hasTool("Agent"),
      changed: (change) => this.runChanged(change),
      late: (run, dispatchId) => this.tellRun(run, dispatchId),
      isInstalled: () => hasTool("subagent"),
    });
    this.remember();
    this.link = new Link({
      candidates: options.candidates,
      client: { name: "pi-handoffd", version: options.version.client },
      handlers: {
        request: (method, params) => this.inbound.request(method, params),
        notification: (method, params) => void guard(() => this.inbound.notification(method, params)),
      },
      up: (rpc) => {
        this.rpc = rpc;
        this.fault = undefined;
        this.attachment.begin();
      },
      down: (fault) => void guard(() => this.lost(fault)),
      ...(options.timing ? { timing: options.timing } : {}),
    });
  }

  start(): void {
    this.show();
    this.link.start();
  }

  /** The session is left: the last word, and nothing after it. */
  async leave(reason: LeaveReason): Promise<void> {
    this.over = true;
    this.activity.stop();
    this.observer.stop();
    this.deliveries.stop();
    this.panel.stop();
    const wasAttached = this.attachment.isDone;
    this.attachment.end();
    await this.link.stop(wasAttached ? { method: "session.leaving", params: { reason } } : undefined);
    this.wake();
  }

  get isAttached(): boolean {
    return this.attachment.isDone && this.rpc?.isOpen === true;
  }

  /** A call had no answer: the connection is there, and nobody behind it. */
  unanswered(): void {
    this.link.drop({ kind: "silent" });
  }

  get isOver(): boolean {
    return this.over;
  }

  /** Resolves when the connection has changed, or after `ms`. */
  changed(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        this.waiters = this.waiters.filter((waiter) => waiter !== done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener("abort", done, { once: true });
      this.waiters.push(done);
    });
  }

  // ---- the conversation, as Pi tells of it

  agentStarted(): void {
    this.activity.turn.begin();
    this.activity.update();
  }

  messageStarted(message: { role?: string; customType?: string }): void {
    const task = this.ours(message, TASK_MESSAGE);
    const reminder = this.ours(message, REMINDER_MESSAGE);
    this.activity.turn.message(authorOf(message, task !== undefined || reminder !== undefined));
    if (reminder) this.deliveries.seen(REMINDER_MESSAGE, reminder.dispatch_id);
    if (task) this.inbound.arrived(task);
  }

  attemptEnded(stopReason: string | undefined, error?: string): void {
    this.activity.turn.attempt(stopReason, error);
    if (stopReason !== "error" && stopReason !== "aborted") this.activity.answered();
  }

  settled(aborted: boolean | undefined): void {
    const { author, aborted: broken, error } = this.activity.turn.settle(aborted);
    const hand = this.inbox.hand;
    if (hand?.phase === "delivered") {
      // What a person's own turn came to says nothing about the task.
      this.untold = { dispatchId: hand.id, aborted: broken && author === "dispatch", error };
      this.tellSettled();
    }
    this.activity.update();
  }

  get hasUntold(): boolean {
    return this.untold !== undefined;
  }

  tellSettled(): void {
    const { hand } = this.inbox;
    if (!this.untold || !this.isAttached) return;
    const { dispatchId, aborted, error } = this.untold;
    this.untold = undefined;
    if (hand?.id !== dispatchId) return;
    this.notify("session.settled", { dispatch_id: dispatchId, ...(aborted ? { aborted, ...(error ? { error: line(error, MOST_ERROR) } : {}) } : {}) });
    if (hand.kind === "packet") this.ended(dispatchId);
  }

  /** A result of the tool that delegates. Answers what the model should know beside it. */
  delegated(result: ToolResult): string[] {
    const seen = this.observer.toolResult(result);
    if (this.inbox.hand?.phase !== "delivered") return [];
    const refused = seen.some(({ run }) => run.state === "rejected");
    if (refused && hostLacks(result.text)) {
      this.advise(result.text);
      return [USE_FOREGROUND];
    }
    return seen.filter(({ run }) => run.background === false && run.state !== "rejected").map(({ run }) => foregroundId(run.run_id));
  }

  /** The dispatch has ended, whoever ended it. */
  ended(id: string): void {
    if (this.inbox.hand?.id === id) this.observer.end(id);
    this.inbox.end(id);
    this.append({ v: 1, session_id: this.sessionId, dispatch_id: id, what: "ended" });
    this.show();
  }

  /** The daemon will not hear of it any more. A queue that changed may change back (D11). */
  gone(id: string, word: string): void {
    if (word !== "queue_changed") this.ended(id);
  }

  // ---- attaching

  private remember(): void {
    const branch = guard(() => this.options.ctx.sessionManager.getBranch()) ?? [];
    const { hand, runs, ended } = recall(branch, this.sessionId);
    this.inbox.restore(hand, ended);
    if (hand) this.observer.resume(hand.since, runs);
  }

  private lost(fault: Fault): void {
    this.rpc = undefined;
    this.attachment.end();
    this.fault = fault;
    this.panel.lost(fault);
    this.wake();
  }

  // ---- what the daemon is told

  /** False: there is nobody to tell. */
  notify(method: string, params: object): boolean {
    if (!this.isAttached) return false;
    this.rpc?.notify(method, params);
    return true;
  }

  private runChanged(change: Change): void {
    const hand = this.inbox.hand;
    if (!hand) return;
    const { run, dir } = change.record;
    const note: Note = { v: 1, session_id: this.sessionId, dispatch_id: hand.id, what: "run", run, ...(dir === undefined ? {} : { dir }) };
    this.append(note);
    this.tellRun(run, hand.id);
    this.show();
  }

  /** What is known of runs, after a reconnect. */
  tellRuns(): void {
    const { hand } = this.inbox;
    if (hand) for (const { run } of this.observer.book.all) this.tellRun(run, hand.id);
  }

  private tellRun(run: Run, dispatchId: string): void {
    const method = run.state === "running" ? "session.run_started" : "session.run_finished";
    this.notify(method, { dispatch_id: dispatchId, ...run });
  }

  // ---- small things

  private ours(message: unknown, customType: string): Details | undefined {
    const details = detailsOf(message, customType);
    return details?.session_id === this.sessionId ? details : undefined;
  }

  abort(): void {
    guard(() => this.options.ctx.abort());
  }

  /** Once in a session: what keeps tasks from being delegated here. */
  advise(refusedLaunch?: string): void {
    const tools = guard(() => this.options.pi.getAllTools().map((tool) => tool.name)) ?? [];
    const said = advice(tools, this.options.version.pi, refusedLaunch);
    if (!said || this.advised.has(said)) return;
    this.advised.add(said);
    this.panel.notify("warning", said);
  }

  append(note: Note): void {
    guard(() => this.options.pi.appendEntry(ENTRY, note));
  }

  show(): void {
    const hand = this.inbox.hand;
    this.panel.show(hand, this.observer.book.live.length);
  }

  wake(): void {
    for (const waiter of [...this.waiters]) waiter();
  }
}

/** A wake-up of the package that delegates goes on with the task; anything else that starts a turn is not ours. */
function authorOf(message: { role?: string; customType?: string }, ours: boolean): "ours" | "wake" | "other" | undefined {
  if (ours) return "ours";
  if (message.role === "custom") return message.customType?.startsWith("subagent") ? "wake" : "other";
  return message.role === "user" ? "other" : undefined;
}

function realPath(path: string): string {
  return guard(() => realpathSync(path)) ?? path;
}
