// What the person sees: the line in the footer, and notices. It decides nothing.
import { guard, type Context } from "./host.ts";
import type { Fault } from "./net/link.ts";
import type { Refused } from "./net/rpc.ts";
import type { Hand } from "./state/inbox.ts";
import { footer, isDeserted, type Look } from "./view.ts";
import { line } from "./text.ts";
import type { AttachResult, Event, Hint, Notice, NoticeLevel, Ownership, OwnershipChange, ProjectState, Status } from "./wire.ts";

const KEY = "handoff";
const TICK_MS = 1_000;
/** The daemon's own words about a state come at about the same time as the state: they win. */
const WORDS_FIRST_MS = 300;
/** States in which a person has to do something. */
const TROUBLE = new Set<ProjectState>(["blocked", "unreadable", "halted", "held", "stuck", "missing"]);

export class Panel {
  projectPath: string | undefined;
  private readonly ctx: Context;
  private readonly member: string | undefined;
  private look: Look = { fault: undefined, place: undefined, state: undefined, reason: null, why: null, refusal: undefined, hand: undefined, live: 0, owes: false, ready: true, hint: undefined };
  private shown: string | undefined;
  private ticking: NodeJS.Timeout | undefined;
  private pending: NodeJS.Timeout | undefined;
  private lastNotice = 0;
  private troubleSaid: string | undefined;

  constructor(ctx: Context, member: string | undefined) {
    this.ctx = ctx;
    this.member = member;
  }

  get place(): Ownership | undefined {
    return this.look.place;
  }

  get state(): Readonly<Look> {
    return this.look;
  }

  attached(result: AttachResult): void {
    this.projectPath = result.project.path;
    const { state, reason = null, why } = result.project;
    this.change({ fault: undefined, refusal: undefined, place: result.ownership, state, reason, why });
    this.trouble();
  }

  /**
   * A session that begins while another one's task is open: most likely the person has just left that one. What they can do
   * is said now, for the footer has no room for it.
   */
  leftBehind(): void {
    const { why } = this.look;
    if (isDeserted(this.look) && why) this.notify("warning", `handoff: a task waits for its own session: ${line(why, 600)}`);
  }

  /** What events would have told. */
  refreshed(status: Status): void {
    const project = status.projects.find((one) => one.path === this.projectPath);
    if (project) this.change({ state: project.state, reason: project.reason, why: project.why });
  }

  refused(error: Refused): void {
    const nearest = error.data["nearest"];
    const refusal = { word: error.word, text: line(error.message), nearest: typeof nearest === "string" ? nearest : undefined };
    this.change({ fault: undefined, refusal, place: undefined, state: undefined, reason: null, why: null });
    const quiet = ["unknown_project", "project_disabled", "shutting_down"].includes(error.word);
    if (!quiet) this.notify("warning", `handoff: this session cannot take tasks: ${refusal.text}`);
  }

  lost(fault: Fault): void {
    const wasTold = this.look.fault?.kind === fault.kind;
    this.change({ fault, place: undefined });
    if (wasTold) return;
    if (fault.kind === "protocol") this.notify("warning", `handoff: ${line(fault.text)}. Update handoffd or pi-handoffd.`);
    if (fault.kind === "denied") this.notify("warning", "handoff: the socket of handoffd belongs to another user.");
  }

  moved({ ownership, reason }: OwnershipChange): void {
    const before = this.look.place;
    this.change({ place: ownership });
    if (before === ownership) return;
    const now = {
      owner: "this session now gets this project's tasks",
      standby: "this session gets no tasks now, and stands by",
      member: `this session now gets the packets of team member ${line(this.member ?? "", 64)}`,
    }[ownership];
    this.notify("info", `handoff: ${now ?? ownership} (${line(reason)})`);
  }

  notice({ level, text }: Notice): void {
    const type = level === "warning" || level === "error" ? level : "info";
    if (type !== "info") {
      this.lastNotice = Date.now();
      clearTimeout(this.pending);
    }
    this.notify(type, `handoff: ${line(text, 600)}`);
  }

  event(event: Event): void {
    if (event.project !== null && event.project !== this.projectPath) return;
    // What happens to tasks the daemon tells by notices.
    if (event.kind === "project_state") {
      this.change({ state: event.state, reason: event.reason, why: event.why });
      this.trouble();
    }
  }

  ready(ready: boolean, hint?: Hint): void {
    this.change({ ready, hint });
  }

  owes(): void {
    this.change({ owes: true });
  }

  taskEnded(taskId: string, status: string, error: string | null): void {
    const why = error === null ? "" : `: ${line(error, 600)}`;
    this.notify(status === "COMPLETE" ? "info" : "warning", `handoff: ${line(taskId, 60)} ended as ${status}${why}`);
  }

  taskGone(taskId: string): void {
    this.notify("info", `handoff: ${line(taskId, 60)} is no longer this session's task; nothing needs to be reported.`);
  }

  show(hand: Hand | undefined, live: number): void {
    const other = hand?.id !== this.look.hand?.id;
    // The daemon's word for the end of this task comes a moment later.
    const over = other && !hand && this.look.state === "running" ? { state: "idle" as const, reason: null, why: null } : {};
    this.change({ hand, live, ...(other ? { owes: false } : {}), ...over });
  }

  notify(level: NoticeLevel, text: string): void {
    guard(() => this.ctx.ui.notify(text, level));
  }

  stop(): void {
    clearInterval(this.ticking);
    clearTimeout(this.pending);
  }

  private change(part: Partial<Look>): void {
    this.look = { ...this.look, ...part };
    this.draw();
    const ticks = this.look.hand !== undefined;
    if (ticks && !this.ticking) {
      this.ticking = setInterval(() => void guard(() => this.draw()), TICK_MS);
      this.ticking.unref();
    } else if (!ticks) {
      clearInterval(this.ticking);
      this.ticking = undefined;
    }
  }

  private draw(): void {
    const text = footer(this.look, Date.now());
    if (text === this.shown) return;
    this.shown = text;
    guard(() => this.ctx.ui.setStatus(KEY, text));
  }

  /** Says once what stops the project, unless the daemon has just said it. */
  private trouble(): void {
    const { state, why } = this.look;
    clearTimeout(this.pending);
    if (!state || !TROUBLE.has(state)) {
      this.troubleSaid = undefined;
      return;
    }
    const text = `handoff: this project is ${state}${why ? `: ${line(why, 600)}` : ""}. /handoff says more.`;
    if (text === this.troubleSaid) return;
    this.troubleSaid = text;
    if (Date.now() - this.lastNotice < WORDS_FIRST_MS) return;
    this.pending = setTimeout(() => this.notify("warning", text), WORDS_FIRST_MS);
    this.pending.unref();
  }
}
