// Attaching: what the session says of itself, and what the answer means for the task that it may have.
import { guard } from "./host.ts";
import { Refused, Unanswered } from "./net/rpc.ts";
import type { Session, SessionOptions } from "./session.ts";
import type { Attach, AttachReason, AttachResult, Status } from "./wire.ts";

const ATTACH_MS = 10_000;
/** The states in which an answer without a task says nothing about it; nor does it when another process has the place. */
const SAYS_NOTHING = new Set(["blocked", "halted", "missing", "starting", "unreadable"]);
/** Refusals that stay until somebody changes something; the daemon tells when a project appears. */
const FINAL = new Set(["unknown_project", "project_disabled", "not_a_main_session", "not_a_team_member", "not_permitted"]);
const RETRY_MS = 5_000;

export class Attachment {
  private readonly session: Session;
  private readonly options: SessionOptions;
  private readonly mode: Attach["mode"];
  private reason: AttachReason;
  private done = false;
  private retryTimer: NodeJS.Timeout | undefined;

  constructor(session: Session, options: SessionOptions, reason: AttachReason) {
    this.session = session;
    this.options = options;
    this.mode = options.ctx.mode as Attach["mode"];
    this.reason = reason;
  }

  get isDone(): boolean {
    return this.done;
  }

  /** The connection has gone, or the session has. */
  end(): void {
    this.done = false;
    clearTimeout(this.retryTimer);
  }

  again(): void {
    this.done = false;
    this.begin();
  }

  begin(): void {
    void this.attach().catch(() => undefined);
  }

  /** Events were missed: the daemon says how it is now. */
  refresh(): void {
    const { rpc, panel } = this.session;
    void rpc?.call<Status>("daemon.status", {}, ATTACH_MS).then((status) => panel.refreshed(status)).catch(() => undefined);
  }

  private async attach(): Promise<void> {
    const { session, options } = this;
    const { rpc } = session;
    if (!rpc || session.isOver) return;
    const file = guard(() => options.ctx.sessionManager.getSessionFile());
    // Attaching idle would count as a turn without a report, also for one that was aborted: that is told first.
    const idle = session.activity.isReady && !session.hasUntold;
    const params: Attach = {
      session_id: session.sessionId,
      ...(file ? { session_file: file } : {}),
      project: session.project,
      mode: this.mode,
      reason: this.reason,
      idle,
      host: { name: "pi", version: options.version.pi },
      known_dispatch: session.inbox.known,
      ...(session.member ? { member: { agent_id: session.member } } : {}),
    };
    try {
      const result = await rpc.call<AttachResult>("session.attach", params, ATTACH_MS);
      if (rpc !== session.rpc || session.isOver) return;
      const isNew = this.reason !== "reconnect";
      this.reason = "reconnect";
      session.activity.assume(idle);
      guard(() => this.nowAttached(result));
      if (isNew) session.panel.leftBehind();
    } catch (error) {
      if (rpc === session.rpc && !session.isOver) guard(() => this.notAttached(error));
    }
  }

  private nowAttached(result: AttachResult): void {
    const { session } = this;
    this.done = true;
    session.panel.ready(session.activity.isReady);
    session.panel.attached(result);
    this.settleRecords(result);
    session.tellRuns();
    session.tellSettled();
    session.activity.update();
    session.show();
    this.subscribe();
    session.wake();
  }

  /** What the answer says of the dispatch that was known, and of one that was not. */
  private settleRecords({ task, ended, project, ownership }: AttachResult): void {
    const { session } = this;
    const { hand } = session.inbox;
    if (task && task.dispatch_id !== hand?.id) {
      const since = Date.parse(task.started_at) || Date.now();
      const kind = ownership === "member" ? "packet" : "task";
      session.inbox.restore({ id: task.dispatch_id, taskId: task.task_id, kind, phase: "delivered", since }, []);
      session.observer.resume(since, []);
    }
    if (task || !hand) return;
    if (ended) {
      session.ended(hand.id);
      session.panel.taskEnded(hand.taskId, ended.status, ended.error);
    } else if (hand.phase === "delivered" && ownership !== "standby" && !SAYS_NOTHING.has(project.state)) {
      session.ended(hand.id);
      session.panel.taskGone(hand.taskId);
    }
  }

  private notAttached(error: unknown): void {
    const { session } = this;
    if (error instanceof Unanswered) {
      if (error.why === "timeout") session.unanswered();
      return;
    }
    if (!(error instanceof Refused)) return;
    if (error.word === "already_attached") {
      this.done = true;
    } else {
      session.panel.refused(error);
      if (!FINAL.has(error.word)) {
        this.retryTimer = setTimeout(() => this.begin(), RETRY_MS);
        this.retryTimer.unref();
      }
    }
    session.wake();
  }

  private subscribe(): void {
    // For looking on only: without it the footer knows less.
    const { rpc, panel, project } = this.session;
    void rpc?.call("events.subscribe", { project: panel.projectPath ?? project }, ATTACH_MS).catch(() => undefined);
  }
}
