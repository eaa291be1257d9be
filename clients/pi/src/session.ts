// One session of Pi and its connection to the daemon: attaches, takes what is handed over, tells what happens, reports.
import { realpathSync } from "node:fs";
import { Activity } from "./activity.ts";
import { advice, foregroundId, hostLacks, USE_FOREGROUND } from "./advice.ts";
import { Deliveries } from "./delivery.ts";
import { guard, type Context, type Pi } from "./host.ts";
import { Inbound } from "./inbound.ts";
import { Link, type Fault, type LinkOptions } from "./net/link.ts";
import { Refused, Unanswered, type Rpc } from "./net/rpc.ts";
import { Observer } from "./observer.ts";
import { Panel } from "./panel.ts";
import { Inbox } from "./state/inbox.ts";
import { ENTRY, REMINDER_MESSAGE, TASK_MESSAGE, detailsOf, recall, type Details, type Note } from "./state/record.ts";
import type { Change } from "./state/runs.ts";
import type { ToolResult } from "./state/subagents.ts";
import type { Attach, AttachReason, AttachResult, LeaveReason, Run, Status } from "./wire.ts";

export type SessionOptions = {
  pi: Pi;
  ctx: Context;
  version: { pi: string; client: string };
  candidates(): string[];
  env: Record<string, string | undefined>;
  timing?: LinkOptions["timing"];
  patienceMs?: number;
};

const ATTACH_MS = 10_000;
/** The states in which an answer without a task says nothing about it. */
const SAYS_NOTHING = new Set(["blocked", "missing", "starting", "unreadable"]);

/** Refusals that stay until somebody changes something; the daemon tells when a project appears. */
const FINAL = new Set(["unknown_project", "project_disabled", "not_a_main_session", "not_a_team_member", "not_permitted"]);
const RETRY_MS = 5_000;

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
  private reason: AttachReason;
  private attached = false;
  private over = false;
  /** A turn that settled while there was no connection. */
  private untold: { dispatchId: string; aborted: boolean } | undefined;
  private retryTimer: NodeJS.Timeout | undefined;
  private readonly mode: Attach["mode"];
  private readonly advised = new Set<string>();
  private waiters: Array<() => void> = [];

  constructor(options: SessionOptions, reason: AttachReason) {
    const { pi, ctx, env } = options;
    this.options = options;
    this.reason = reason;
    this.sessionId = ctx.sessionManager.getSessionId();
    this.project = realPath(ctx.cwd);
    this.mode = ctx.mode as Attach["mode"];
    this.member = env["HANDOFF_AGENT_ID"] || undefined;
    this.panel = new Panel(ctx, this.member);
    this.deliveries = new Deliveries(pi, ctx, options.patienceMs);
    this.inbound = new Inbound(this, this.deliveries);
    this.activity = new Activity(ctx, (ready, hint) => {
      this.panel.ready(ready);
      const params = { state: ready ? "idle" : "busy", ...(!ready && hint ? { hint } : {}) };
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
        void this.attach();
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
    clearTimeout(this.retryTimer);
    this.observer.stop();
    this.deliveries.stop();
    this.panel.stop();
    await this.link.stop(this.attached ? { method: "session.leaving", params: { reason } } : undefined);
    this.wake();
  }

  get isAttached(): boolean {
    return this.attached && this.rpc?.isOpen === true;
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

  attemptEnded(stopReason: string | undefined): void {
    this.activity.turn.attempt(stopReason);
  }

  settled(aborted: boolean | undefined): void {
    const { author, aborted: broken } = this.activity.turn.settle(aborted);
    const hand = this.inbox.hand;
    if (hand?.phase === "delivered") {
      // What a person's own turn came to says nothing about the task.
      this.untold = { dispatchId: hand.id, aborted: broken && author === "dispatch" };
      this.tellSettled();
    }
    this.activity.update();
  }

  private tellSettled(): void {
    const { hand } = this.inbox;
    if (!this.untold || !this.isAttached) return;
    const { dispatchId, aborted } = this.untold;
    this.untold = undefined;
    if (hand?.id !== dispatchId) return;
    this.notify("session.settled", { dispatch_id: dispatchId, ...(aborted ? { aborted } : {}) });
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

  attachAgain(): void {
    this.attached = false;
    void this.attach();
  }

  /** Events were missed: the daemon says how it is now. */
  refresh(): void {
    void this.rpc?.call<Status>("daemon.status", {}, ATTACH_MS).then((status) => guard(() => this.panel.refreshed(status))).catch(() => undefined);
  }

  private async attach(): Promise<void> {
    const { rpc, options } = this;
    if (!rpc || this.over) return;
    const file = guard(() => options.ctx.sessionManager.getSessionFile());
    // Attaching idle would count as a turn without a report, also for one that was aborted: that is told first.
    const idle = this.activity.isReady && this.untold === undefined;
    const params: Attach = {
      session_id: this.sessionId,
      ...(file ? { session_file: file } : {}),
      project: this.project,
      mode: this.mode,
      reason: this.reason,
      idle,
      host: { name: "pi", version: options.version.pi },
      known_dispatch: this.inbox.known,
      ...(this.member ? { member: { agent_id: this.member } } : {}),
    };
    try {
      const result = await rpc.call<AttachResult>("session.attach", params, ATTACH_MS);
      if (rpc !== this.rpc || this.over) return;
      this.reason = "reconnect";
      this.activity.assume(idle);
      guard(() => this.nowAttached(result));
    } catch (error) {
      if (rpc === this.rpc && !this.over) guard(() => this.notAttached(error));
    }
  }

  private nowAttached(result: AttachResult): void {
    this.attached = true;
    this.panel.ready(this.activity.isReady);
    this.panel.attached(result);
    this.settleRecords(result);
    const hand = this.inbox.hand;
    if (hand) for (const { run } of this.observer.book.all) this.tellRun(run, hand.id);
    this.tellSettled();
    this.activity.update();
    this.show();
    this.subscribe();
    this.wake();
  }

  /** What the answer says of the dispatch that was known, and of one that was not. */
  private settleRecords({ task, ended, project, ownership }: AttachResult): void {
    const hand = this.inbox.hand;
    if (task && task.dispatch_id !== hand?.id) {
      const since = Date.parse(task.started_at) || Date.now();
      const kind = ownership === "member" ? "packet" : "task";
      this.inbox.restore({ id: task.dispatch_id, taskId: task.task_id, kind, phase: "delivered", since }, []);
      this.observer.resume(since, []);
    }
    if (task || !hand) return;
    if (ended) {
      this.ended(hand.id);
      this.panel.taskEnded(hand.taskId, ended.status, ended.error);
    } else if (hand.phase === "delivered" && !SAYS_NOTHING.has(project.state)) {
      this.ended(hand.id);
      this.panel.taskGone(hand.taskId);
    }
  }

  private notAttached(error: unknown): void {
    if (error instanceof Unanswered) {
      if (error.why === "timeout") this.link.drop({ kind: "silent" });
      return;
    }
    if (!(error instanceof Refused)) return;
    if (error.word === "already_attached") {
      this.attached = true;
    } else {
      this.panel.refused(error);
      if (!FINAL.has(error.word)) {
        this.retryTimer = setTimeout(() => void this.attach(), RETRY_MS);
        this.retryTimer.unref();
      }
    }
    this.wake();
  }

  private lost(fault: Fault): void {
    this.rpc = undefined;
    this.attached = false;
    this.fault = fault;
    this.panel.lost(fault);
    this.wake();
  }

  private subscribe(): void {
    // For looking on only: without it the footer knows less.
    void this.rpc?.call("events.subscribe", { project: this.panel.projectPath ?? this.project }, ATTACH_MS).catch(() => undefined);
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

  private wake(): void {
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
