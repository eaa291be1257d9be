// One session of Pi and its connection to the daemon: attaches, takes what is handed over, tells what happens, reports.
import { realpathSync } from "node:fs";
import { Deliveries, keyOf } from "./delivery.ts";
import { guard, type Context, type Pi } from "./host.ts";
import { Link, type Fault, type LinkOptions } from "./net/link.ts";
import { NoSuchMethod, Refused, Unanswered, type Rpc } from "./net/rpc.ts";
import { Observer } from "./observer.ts";
import { Panel } from "./panel.ts";
import { Inbox, type Offer } from "./state/inbox.ts";
import { ENTRY, REMINDER_MESSAGE, TASK_MESSAGE, detailsOf, recall, type Details, type Note } from "./state/record.ts";
import type { Change } from "./state/runs.ts";
import { Turn } from "./state/turn.ts";
import type {
  Attach, AttachReason, AttachResult, DispatchCancel, DispatchResult, Event, Hint, LeaveReason, Notice, OwnershipChange,
  PacketDispatch, TaskDispatch, TaskRemind,
} from "./wire.ts";

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
const LOOK_AT_IDLE_MS = 1_000;
/** The states in which an answer without a task says nothing about it. */
const SAYS_NOTHING = new Set(["blocked", "missing", "starting", "unreadable"]);

export class Session {
  readonly panel: Panel;
  readonly inbox = new Inbox();
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
  private readonly turn = new Turn();
  private reason: AttachReason;
  private attached = false;
  private dialogs = 0;
  private compacting = false;
  private told: boolean | undefined;
  private idleTimer: NodeJS.Timeout | undefined;
  private over = false;
  private waiters: Array<() => void> = [];

  constructor(options: SessionOptions, reason: AttachReason) {
    const { pi, ctx, env } = options;
    this.options = options;
    this.reason = reason;
    this.sessionId = ctx.sessionManager.getSessionId();
    this.project = realPath(ctx.cwd);
    this.member = env["HANDOFF_AGENT_ID"] || undefined;
    this.panel = new Panel(ctx, this.member);
    this.deliveries = new Deliveries(pi, ctx, options.patienceMs);
    this.observer = new Observer({
      bus: pi.events,
      changed: (change) => this.runChanged(change),
      isInstalled: () => guard(() => pi.getAllTools().some((tool) => tool.name === "subagent")) ?? false,
    });
    this.remember();
    this.link = new Link({
      candidates: options.candidates,
      client: { name: "pi-handoffd", version: options.version.client },
      handlers: {
        request: (method, params) => this.asked(method, params),
        notification: (method, params) => void guard(() => this.heard(method, params)),
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
    this.link.start();
  }

  /** The session is left: the last word, and nothing after it. */
  async leave(reason: LeaveReason): Promise<void> {
    this.over = true;
    clearInterval(this.idleTimer);
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
    this.turn.begin();
    this.tellState();
  }

  messageStarted(message: { role?: string }): void {
    const task = this.ours(message, TASK_MESSAGE);
    const reminder = this.ours(message, REMINDER_MESSAGE);
    this.turn.message(String(message.role), task !== undefined || reminder !== undefined);
    if (reminder) this.deliveries.seen(REMINDER_MESSAGE, reminder.dispatch_id);
    if (task) this.taskArrived(task);
  }

  attemptEnded(stopReason: string | undefined): void {
    this.turn.attempt(stopReason);
  }

  settled(aborted: boolean | undefined): void {
    const { author, aborted: broken } = this.turn.settle(aborted);
    const hand = this.inbox.hand;
    if (hand?.phase === "delivered") {
      // What a person's own turn came to says nothing about the task.
      const isBroken = broken && author === "dispatch";
      this.notify("session.settled", { dispatch_id: hand.id, ...(isBroken ? { aborted: true } : {}) });
      if (hand.kind === "packet") this.ended(hand.id);
    }
    this.tellState();
  }

  dialog(change: 1 | -1): void {
    this.dialogs = Math.max(0, this.dialogs + change);
    this.tellState();
  }

  compaction(isRunning: boolean): void {
    this.compacting = isRunning;
    this.tellState();
  }

  get isReady(): boolean {
    const { ctx } = this.options;
    return this.dialogs === 0 && (guard(() => ctx.isIdle() && !ctx.hasPendingMessages()) ?? false);
  }

  /** The dispatch has ended, whoever ended it. */
  ended(id: string): void {
    if (this.inbox.hand?.id === id) this.observer.end();
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

  private async attach(): Promise<void> {
    const { rpc, options } = this;
    if (!rpc || this.over) return;
    const file = guard(() => options.ctx.sessionManager.getSessionFile());
    const idle = this.isReady;
    const params: Attach = {
      session_id: this.sessionId,
      ...(file ? { session_file: file } : {}),
      project: this.project,
      mode: options.ctx.mode as Attach["mode"],
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
      this.told = idle;
      guard(() => this.nowAttached(result));
    } catch (error) {
      if (rpc === this.rpc && !this.over) guard(() => this.notAttached(error));
    }
  }

  private nowAttached(result: AttachResult): void {
    this.attached = true;
    this.panel.attached(result);
    this.settleRecords(result);
    const hand = this.inbox.hand;
    if (hand) for (const record of this.observer.book.all) this.tellRun({ tell: "started", record }, hand.id);
    this.tellState();
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
    if (error instanceof Refused) this.panel.refused(error);
    else if (error instanceof Unanswered && error.why === "closed") return;
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

  // ---- what the daemon asks and says

  private asked(method: string, params: unknown): unknown {
    switch (method) {
      case "task.dispatch": {
        const { dispatch_id, task_id, message, expires_at } = params as TaskDispatch;
        return this.dispatch({ id: dispatch_id, taskId: task_id, kind: "task", expiresAt: expires_at }, message);
      }
      case "packet.dispatch": {
        const { dispatch_id, packet, message, expires_at } = params as PacketDispatch;
        const name = String((packet as { packet_id?: unknown } | null)?.packet_id ?? "packet");
        return this.dispatch({ id: dispatch_id, taskId: name, kind: "packet", expiresAt: expires_at ?? "" }, message);
      }
      case "task.remind":
        return this.remind(params as TaskRemind);
      case "task.cancel":
        return this.cancel(params as DispatchCancel);
      default:
        throw new NoSuchMethod(method);
    }
  }

  private async dispatch(offer: Offer, message: string): Promise<DispatchResult> {
    const place = this.isAttached ? this.panel.place : undefined;
    const verdict = this.inbox.offer(offer, { time: Date.now(), place, idle: this.isReady && !this.turn.isRunning });
    if (verdict.do === "answer") return verdict.result;
    const { id, taskId, kind } = offer;
    const details: Details = { dispatch_id: id, task_id: taskId, kind, session_id: this.sessionId };
    const isNew = verdict.do === "inject";
    const there = isNew
      ? await this.deliveries.inject(TASK_MESSAGE, message, details)
      : await this.deliveries.wait(keyOf(TASK_MESSAGE, id));
    if (there) return { accepted: true, ...(isNew ? {} : { duplicate: true }) };
    this.inbox.notDelivered(id);
    // It is sent again at the next idle, so that moment has to be told even if nothing seems to change.
    this.told = undefined;
    setImmediate(() => void guard(() => this.tellState()));
    return { accepted: false, reason: this.inbox.isOver(id) ? "expired" : "busy" };
  }

  private taskArrived(details: Details): void {
    const { dispatch_id: id, task_id, kind } = details;
    const at = Date.now();
    if (!this.inbox.delivered(id, at)) {
      // It was cancelled while it was on its way.
      guard(() => this.options.ctx.abort());
      return;
    }
    this.observer.begin(at);
    this.append({ v: 1, session_id: this.sessionId, dispatch_id: id, what: "delivered", task_id, kind, at });
    this.deliveries.seen(TASK_MESSAGE, id);
    this.show();
  }

  private async remind({ dispatch_id, text }: TaskRemind): Promise<{ accepted: boolean }> {
    const hand = this.inbox.hand;
    if (hand?.id !== dispatch_id || hand.phase !== "delivered") return { accepted: false };
    const details: Details = { dispatch_id, task_id: hand.taskId, kind: hand.kind, session_id: this.sessionId };
    this.panel.owes();
    return { accepted: await this.deliveries.inject(REMINDER_MESSAGE, text, details) };
  }

  private cancel({ dispatch_id, reason }: DispatchCancel): { aborted: boolean } {
    const hand = this.inbox.hand;
    const wasAtHand = this.inbox.cancel(dispatch_id);
    this.deliveries.cancel(TASK_MESSAGE, dispatch_id);
    if (!wasAtHand) return { aborted: false };
    const works = hand?.phase === "delivered" && this.turn.isOfDispatch;
    this.observer.end();
    this.append({ v: 1, session_id: this.sessionId, dispatch_id, what: "ended" });
    if (works) guard(() => this.options.ctx.abort());
    this.panel.cancelled(hand?.taskId ?? "the task", reason);
    this.show();
    return { aborted: works };
  }

  private heard(method: string, params: unknown): void {
    switch (method) {
      case "session.notice":
        return this.panel.notice(params as Notice);
      case "session.ownership":
        this.panel.moved(params as OwnershipChange);
        return this.show();
      case "session.attach_again":
        this.attached = false;
        return void this.attach();
      case "event":
        return this.event(params as Event);
    }
  }

  private event(event: Event): void {
    const hand = this.inbox.hand;
    const isOurs = event.kind === "task_ended" && event.dispatch_id === hand?.id && hand.phase === "delivered";
    if (isOurs && this.reporting !== hand.id) {
      this.ended(hand.id);
      this.panel.taskEnded(hand.taskId, event.status, event.error);
    }
    this.panel.event(event);
    this.show();
  }

  // ---- what the daemon is told

  notify(method: string, params: object): void {
    if (this.isAttached) this.rpc?.notify(method, params);
  }

  private tellState(): void {
    if (this.over) return;
    const ready = this.isReady && !this.turn.isRunning;
    this.watchForIdle(ready);
    if (ready === this.told || !this.isAttached) return;
    this.told = ready;
    const hint = this.hint();
    this.notify("session.state", { state: ready ? "idle" : "busy", ...(!ready && hint ? { hint } : {}) });
  }

  private hint(): Hint | undefined {
    if (this.compacting) return "compaction";
    return this.dialogs > 0 ? "dialog" : undefined;
  }

  /** Some ends are not told (a compaction's, a queued message's): while busy without a turn, it is looked at. */
  private watchForIdle(ready: boolean): void {
    if (ready || this.turn.isRunning) {
      clearInterval(this.idleTimer);
      this.idleTimer = undefined;
    } else if (!this.idleTimer) {
      this.idleTimer = setInterval(() => void guard(() => this.tellState()), LOOK_AT_IDLE_MS);
      this.idleTimer.unref();
    }
  }

  private runChanged(change: Change): void {
    const hand = this.inbox.hand;
    if (!hand) return;
    const { run, dir } = change.record;
    const note: Note = { v: 1, session_id: this.sessionId, dispatch_id: hand.id, what: "run", run, ...(dir === undefined ? {} : { dir }) };
    this.append(note);
    this.tellRun(change, hand.id);
    this.show();
  }

  private tellRun({ record: { run } }: Change, dispatchId: string): void {
    const method = run.state === "running" ? "session.run_started" : "session.run_finished";
    this.notify(method, { dispatch_id: dispatchId, ...run });
  }

  // ---- small things

  private ours(message: unknown, customType: string): Details | undefined {
    const details = detailsOf(message, customType);
    return details?.session_id === this.sessionId ? details : undefined;
  }

  private append(note: Note): void {
    guard(() => this.options.pi.appendEntry(ENTRY, note));
  }

  private show(): void {
    const hand = this.inbox.hand;
    this.panel.show(hand, this.observer.book.live.length);
  }

  private wake(): void {
    for (const waiter of [...this.waiters]) waiter();
  }
}

function realPath(path: string): string {
  return guard(() => realpathSync(path)) ?? path;
}
