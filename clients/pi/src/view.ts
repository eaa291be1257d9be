// The footer's one line. Pure: what is known in, text out.
import type { Fault } from "./net/link.ts";
import type { Hand } from "./state/inbox.ts";
import { duration, line } from "./text.ts";
import type { Hint, Ownership, ProjectState, StateReason } from "./wire.ts";

export type Look = {
  fault: Fault | undefined;
  /** Set while attached. */
  place: Ownership | undefined;
  state: ProjectState | undefined;
  reason: StateReason | null;
  why: string | null;
  /** Why the daemon does not take this session. */
  refusal: { word: string; text: string; nearest: string | undefined } | undefined;
  hand: Hand | undefined;
  /** Runs of sub-agents that are at work. */
  live: number;
  owes: boolean;
  /** A task could be taken now. */
  ready: boolean;
  /** What keeps it from that, beside its turn. */
  hint: Hint | undefined;
};

/** States that a task at hand does not speak for. */
const STOPPED = new Set<ProjectState>(["halted", "blocked", "unreadable", "stuck", "missing", "cancelling"]);

/** Pi's own commands that help. */
export const NO_MODEL = "no model · /login or /model";

/** The session of the task that runs is not there. */
export const isDeserted = (look: Look): boolean => look.state === "running" && look.reason === "no_session";

/** Undefined: nothing is shown. */
export function footer(look: Look, now: number): string | undefined {
  const text = words(look, now);
  return text === undefined ? undefined : `handoff: ${text}`;
}

function words(look: Look, now: number): string | undefined {
  const task = look.hand?.phase === "delivered" ? working(look.hand, look, now) : undefined;
  if (look.fault) return task ? `${task} · ${fault(look.fault)}` : fault(look.fault);
  if (look.refusal) return refusal(look.refusal.word);
  if (look.place === undefined) return task;
  const trouble = look.state && STOPPED.has(look.state) ? ` · ${look.state} · /handoff` : "";
  if (task) return `${task}${look.place === "standby" ? " · standby" : ""}${trouble}`;
  if (look.state === "disabled") return "disabled · /handoff";
  if (look.place === "standby") return isDeserted(look) ? "standby · a task waits for its own session · /handoff" : `standby${trouble}`;
  const lacks = look.hint === "model" ? NO_MODEL : undefined;
  if (look.place === "member") return `member, ${lacks ?? "waiting for packets"}${trouble}`;
  switch (look.state) {
    case "idle":
    case undefined:
      // Runs of an ended task: what comes next will wait for them.
      if (look.why) return `owner · ${line(look.why, 60)}`;
      if (lacks) return `owner, ${lacks}`;
      return look.ready ? "owner, ready" : "owner";
    case "running":
      return "owner, a task is on its way";
    case "waiting":
      if (lacks) return `a task is waiting: ${lacks}`;
      return `a task is waiting${look.why ? `: ${line(look.why, 60)}` : ""}`;
    case "paused":
      return "paused · /handoff resume";
    case "cancelling":
      return "cancelling a task";
    default:
      return `${look.state} · /handoff`;
  }
}

function working(hand: Hand, look: Look, now: number): string {
  const runs = look.live === 0 ? "" : look.live === 1 ? ", 1 sub-agent" : `, ${look.live} sub-agents`;
  const owes = look.owes && look.live === 0 ? ", owes a report" : "";
  const what = hand.kind === "packet" ? `packet ${line(hand.taskId, 40)}` : line(hand.taskId, 40);
  return `${what} running ${sinceWhen(now - hand.since)}${runs}${owes}`;
}

/** Steps of 10 s at first: a footer that changes every second draws the eye for nothing. */
const sinceWhen = (ms: number): string => duration(ms < 60_000 ? Math.floor(ms / 10_000) * 10_000 : ms);

function fault(found: Fault): string {
  switch (found.kind) {
    case "off":
      return "off";
    case "silent":
      return "the daemon does not answer";
    case "unable":
      return "the daemon cannot start";
    case "denied":
      return "the socket belongs to another user";
    case "protocol":
      return "the daemon speaks another protocol";
    case "broken":
      return "cannot connect";
  }
}

function refusal(word: string): string | undefined {
  switch (word) {
    case "unknown_project":
      return undefined;
    case "project_disabled":
      return "disabled · /handoff";
    case "not_a_team_member":
      return "not a team member · /handoff";
    case "shutting_down":
      return "off";
    default:
      return "not attached · /handoff";
  }
}
