// `/handoff`: what a person can see and do from inside the session. Everything goes through the daemon.
import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { guard, type CommandContext } from "../host.ts";
import { Refused, Unanswered, type Rpc } from "../net/rpc.ts";
import type { Session } from "../session.ts";
import { clean, line } from "../text.ts";
import type {
  CancelResult, HistoryResult, NoticeLevel, ProjectResult, ProjectStatus, Status, SubmitResult, TakeResult, UnlockResult,
} from "../wire.ts";
import { consequence, isWait, logText, statusText, suggestion, type Suggestion } from "./status.ts";
import { HELP, parse } from "./words.ts";

/** As long as the command line waits; a cancel waits for the session. */
const LOOK_MS = 5_000;
const CALL_MS = 15_000;
const ROWS = 60;

export class HandoffCommand {
  private readonly session: Session;
  private readonly ctx: CommandContext;
  private readonly lookMs: number;

  constructor(session: Session, ctx: CommandContext, lookMs = LOOK_MS) {
    this.session = session;
    this.ctx = ctx;
    this.lookMs = lookMs;
  }

  async run(args: string): Promise<void> {
    const parsed = parse(args);
    if ("unknown" in parsed) return this.say("warning", `There is no /handoff ${line(parsed.unknown, 40)}.\n${HELP}`);
    if (parsed.verb === "help") return this.say("info", HELP);
    const rpc = this.session.rpc;
    if (!rpc) return this.say("warning", this.whyOff());
    try {
      if (this.session.panel.state.refusal?.word === "unknown_project") return await this.offer(rpc);
      await this.act(rpc, parsed.verb, parsed.rest);
    } catch (error) {
      this.say("warning", this.told(error, parsed.verb));
    }
  }

  private told(error: unknown, verb: string): string {
    if (!(error instanceof Unanswered)) return inWords(error);
    if (error.why === "timeout") this.session.unanswered();
    const asks = verb === "status" || verb === "log" || verb === "next";
    if (asks) return "handoffd does not answer: it is stopped or stuck. Look at its process and at `handoff logs`.";
    return "handoffd did not answer; whether it was done is not known. /handoff shows it when handoffd answers again.";
  }

  private async act(rpc: Rpc, verb: string, rest: string): Promise<void> {
    switch (verb) {
      case "status":
        return this.status(rpc);
      case "next":
        return this.next(rpc);
      case "log":
        return this.log(rpc);
      case "cancel":
        return this.cancel(rpc, rest);
      case "retry":
        return this.retry(rpc, rest);
      default:
        return this.change(rpc, { verb, args: [] });
    }
  }

  private async status(rpc: Rpc): Promise<void> {
    const status = await rpc.call<Status>("daemon.status", {}, this.lookMs);
    const project = this.projectIn(status);
    if (!project) return this.say("info", `handoffd ${line(status.daemon.version, 40)} runs, but this folder is not one of its projects.`);
    const runs = this.session.observer.book.all.map(({ run }) => run);
    const member = this.session.panel.place === "member" ? this.session.member : undefined;
    const { refusal, hint } = this.session.panel.state;
    const text = statusText(status, project, { sessionId: this.session.sessionId, runs, now: Date.now(), member, hint });
    this.say("info", refusal ? `${text}\nthis session is not attached: ${refusal.text}` : text);
  }

  private async next(rpc: Rpc): Promise<void> {
    const project = await this.project(rpc);
    const why = project.why ? `: ${line(project.why)}` : "";
    if (!project.next || isWait(project.next)) return this.say("info", `There is nothing to do; the project is ${project.state}${why}.`);
    const step = suggestion(project.next);
    if (!step) return this.say("info", `The project is ${project.state}${why}.\nRun this in a terminal: ${line(project.next)}`);
    const does = consequence(step.verb, project.state);
    const sure = await this.ctx.ui.confirm(`Run \`${line(project.next)}\`?`, `The project is ${project.state}${why}.${does}`);
    if (sure) await this.change(rpc, step);
  }

  /** Commands that need nothing but the project, and those that `next` suggests. */
  private async change(rpc: Rpc, { verb, args }: Suggestion): Promise<void> {
    const project = this.projectPath;
    switch (verb) {
      case "pause":
        await rpc.call("project.pause", { project }, CALL_MS);
        return this.say("info", "Paused: no further task is handed over. What runs goes on. /handoff resume lifts it.");
      case "resume": {
        const had = this.session.inbox.hand;
        const { lifted, state, why } = await rpc.call<ProjectResult>("project.resume", { project }, CALL_MS);
        // Pi lets this line take the place of the notice that said so.
        const gone = had && this.session.inbox.isOver(had.id) ? ` ${line(had.taskId, 80)} was given up.` : "";
        const what = lifted && lifted.length > 0 ? `Lifted: ${lifted.join(", ").replaceAll("_", " ")}.` : "There was nothing to lift.";
        return this.say("info", `${what}${gone} The project is ${state}${why ? `: ${line(why)}` : ""}.`);
      }
      case "enable":
        await rpc.call("project.enable", { project }, CALL_MS);
        return this.say("info", "The project takes part again.");
      case "take": {
        const had = this.session.panel.place === "owner";
        const { from } = await rpc.call<TakeResult>("session.take", { project, session_id: this.session.sessionId }, CALL_MS);
        if (had && (from === null || from === this.session.sessionId)) return this.say("info", "This session gets the project's tasks already.");
        return this.say("info", `This session gets the project's tasks now${from ? "; the other one stands by" : ""}.`);
      }
      case "unlock": {
        const { why, moved_to } = await rpc.call<UnlockResult>("project.unlock", { project, confirm: true }, CALL_MS);
        return this.say("info", `${line(why)}${moved_to ? `\nThe lock was moved to ${line(moved_to)}` : ""}`);
      }
      case "cancel":
        return this.cancel(rpc, args[0] ?? "");
      case "retry":
        return this.retry(rpc, args[0] ?? "");
    }
  }

  private async cancel(rpc: Rpc, rest: string): Promise<void> {
    const project = await this.project(rpc);
    const open = project.task?.task_id ?? (await openTask(project.path));
    const taskId = open ?? project.queue.task_id;
    if (!taskId) return this.say("info", "There is no task to cancel.");
    const { status } = project.queue;
    if (!open && (status === "COMPLETE" || status === "ERROR")) {
      return this.say("info", `There is no task to cancel: ${line(taskId, 80)} has ended as ${status}.`);
    }
    const reason = (rest === taskId || rest.startsWith(`${taskId} `) ? rest.slice(taskId.length) : rest).trim();
    const params = { project: this.projectPath, task_id: taskId, ...(reason ? { reason: reason.slice(0, 2000) } : {}) };
    const { was, now, session, live_runs } = await rpc.call<CancelResult>("task.cancel", params, CALL_MS);
    const how = {
      aborted: "Its turn was stopped.",
      told: "No turn of its session was at work.",
      not_reached: "Its session could not be reached.",
      finished_first: was === "RUNNING" ? "Its report had been accepted before." : "It had ended before; nothing was changed.",
    };
    const one = live_runs.length === 1;
    const runs = live_runs.length === 0 ? "" : one
      ? " 1 of its runs is still at work; nothing new is handed over until it ends."
      : ` ${live_runs.length} of its runs are still at work; nothing new is handed over until they end.`;
    // Pi lets a plain line take the place of the plain line before it: what keeps the next task away must stay.
    this.say(runs ? "warning" : "info", `${line(taskId, 80)} was ${was} and is ${now} now.${session ? ` ${how[session] ?? ""}` : ""}${runs}`);
  }

  private async retry(rpc: Rpc, rest: string): Promise<void> {
    const project = await this.project(rpc);
    const taskId = rest || project.queue.task_id;
    if (!taskId) return this.say("info", "There is no ended task here; name one: /handoff retry ID. /handoff log shows them.");
    const result = await rpc.call<SubmitResult>("task.retry", { project: this.projectPath, task_id: taskId }, CALL_MS);
    this.say("info", `${line(taskId, 80)} starts again as ${line(result.task_id, 80)}.`);
  }

  private async log(rpc: Rpc): Promise<void> {
    const { rows } = await rpc.call<HistoryResult>("history.list", { project: this.projectPath, limit: ROWS }, this.lookMs);
    this.say("info", logText(rows.slice(0, ROWS)));
  }

  /** A folder that is no project: what that means, and the offer to make it one. */
  private async offer(rpc: Rpc): Promise<void> {
    const { nearest } = this.session.panel.state.refusal ?? {};
    const around = nearest
      ? ` The project around it is ${line(nearest, 200)}, but its tasks go only to a session that was started in that very folder.`
      : "";
    const text = `handoffd runs, but ${line(this.session.project, 200)} is not one of its projects.${around}\n` +
      "Registered, it watches tasks.json here and hands each task to this session.";
    if (!(await this.ctx.ui.confirm("Register this folder with handoffd?", text))) {
      return this.say("info", "Nothing was changed. `handoff init` in a terminal registers it, too, and makes the files.");
    }
    const { name, state, why, next } = await rpc.call<ProjectResult>("project.add", { path: this.session.project }, CALL_MS);
    const more = why && state !== "starting" ? ` It is ${state}: ${line(why)}.${next ? ` Next: ${line(next)}` : ""}` : "";
    this.say("info", `Registered as ${line(name, 60)}: tasks that a planner writes into tasks.json here come to this session.${more || " `handoff init` in a terminal makes what is still missing."}`);
  }

  private get projectPath(): string {
    return this.session.panel.projectPath ?? this.session.project;
  }

  private projectIn(status: Status): ProjectStatus | undefined {
    return status.projects.find((project) => project.path === this.projectPath);
  }

  private async project(rpc: Rpc): Promise<ProjectStatus> {
    const project = this.projectIn(await rpc.call<Status>("daemon.status", {}, this.lookMs));
    if (!project) throw new Error("This folder is not one of handoffd's projects.");
    return project;
  }

  private whyOff(): string {
    const { fault } = this.session;
    switch (fault?.kind) {
      case "silent":
        return "handoffd is there but does not answer: it is stopped or stuck. Look at its process and at `handoff logs`.";
      case "denied":
        return "The socket of handoffd belongs to another user, or may not be opened.";
      case "unable":
        return `${line(fault.text)}. Once that is repaired, this session finds it by itself.`;
      case "protocol":
        return `${line(fault.text)}. Update handoffd or pi-handoffd.`;
      case "broken":
        return `handoffd cannot be reached: ${line(fault.text)}. This session tries again by itself.`;
      default:
        return "handoffd is not running, so no tasks are handed over. Start it with `handoffd`, or for good with `handoff service install`; this session finds it by itself.";
    }
  }

  private say(level: NoticeLevel, text: string): void {
    guard(() => this.ctx.ui.notify(text, level));
  }
}

/** The task that waits or runs, as the file says: of one that was written a moment ago the daemon may not know yet. */
async function openTask(project: string): Promise<string | undefined> {
  try {
    const path = join(project, "tasks.json");
    if (!(await lstat(path)).isFile()) return undefined;
    const { status, task_id } = JSON.parse(await readFile(path, "utf8")) as { status?: unknown; task_id?: unknown };
    return (status === "PENDING" || status === "RUNNING") && typeof task_id === "string" ? task_id : undefined;
  } catch {
    return undefined;
  }
}

function inWords(error: unknown): string {
  // Made while its answer was read: no fault of the person's.
  if (error instanceof TypeError) return "handoffd gave an answer that cannot be understood here: are handoffd and pi-handoffd of one version?";
  if (!(error instanceof Refused)) return line(error instanceof Error ? error.message : String(error));
  const problems = Array.isArray(error.data["problems"]) ? (error.data["problems"] as Array<{ message?: unknown }>) : [];
  return clean([error.message, ...problems.map((problem) => `- ${line(String(problem.message))}`)].join("\n"));
}
