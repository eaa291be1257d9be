// `daemon.status` and `history.list` in words. Pure.
import { duration, line } from "../text.ts";
import type { Hint, ProjectStatus, Row, Run, Status } from "../wire.ts";

/** What is known here beside the daemon's answer. */
export type Here = { sessionId: string; runs: readonly Run[]; now: number; member?: string | undefined; hint?: Hint | undefined };

export function statusText(status: Status, project: ProjectStatus, here: Here): string {
  const rows: Array<[string, string]> = [["project", `${line(project.name, 60)} (${line(project.path, 200)})`]];
  rows.push(["state", `${project.state}${project.why ? `: ${line(project.why)}` : ""}`]);
  const task = taskText(project, here.now);
  if (task) rows.push(["task", task]);
  for (const run of here.runs) rows.push(["", runText(run)]);
  rows.push(["session", sessionText(project, here)]);
  for (const member of project.members ?? []) {
    const what = member.why ? `: ${line(member.why)}` : "";
    rows.push(["member", `${line(member.agent_id, 64)}${member.role ? `, ${line(member.role, 40)}` : ""}${what}`]);
  }
  for (const warning of [...(project.warnings ?? []), ...(status.daemon.warnings ?? [])]) rows.push(["warning", line(warning)]);
  if (project.next && !isWait(project.next)) rows.push(nextRow(project.next));
  const outdated = status.daemon.outdated ? "; a newer program is installed, restart it" : "";
  rows.push(["daemon", `${line(status.daemon.version, 40)}, process ${status.daemon.pid}${outdated}`]);
  return rows.map(([name, text]) => `${name.padEnd(8)} ${text}`).join("\n");
}

/** What goes on by itself needs nothing. */
export const isWait = (next: string): boolean => next === "handoff wait";

/** A cancel is no remedy for a task that does well, only the way to stop it. */
function nextRow(next: string): [string, string] {
  if (suggestion(next)?.verb === "cancel") return ["to stop", `${line(next)}  (or /handoff cancel)`];
  return ["next", `${line(next)}${isOurs(next) ? "  (or /handoff next)" : "  (in a terminal)"}`];
}

function taskText({ task, queue, state }: ProjectStatus, now: number): string | undefined {
  if (task) {
    const parts = [`${line(task.task_id, 80)} running for ${duration(now - Date.parse(task.started_at))}`];
    if (task.delivery !== "accepted") parts.push(task.delivery === "sent" ? "not yet accepted" : "declined, sent again when idle");
    if (task.report !== "none") parts.push(task.report === "owed" ? "owes a report" : "its report was refused");
    const { running, complete, failed } = task.runs;
    if (running + complete + failed > 0) parts.push(`runs: ${running} at work, ${complete} complete, ${failed} failed`);
    if (task.until) parts.push(`waits until ${clock(task.until)}`);
    return parts.join("; ");
  }
  if (queue.task_id === null || queue.task_id === undefined) return queue.status === null && state !== "unreadable" ? "none" : undefined;
  const problems = queue.problems.map((problem) => line(problem.message)).join("; ");
  const why = queue.status === "ERROR" && !problems ? "; /handoff log says why" : "";
  return `${line(queue.task_id, 80)} ${queue.status ?? "cannot be read"}${problems ? `: ${problems}` : ""}${why}`;
}

function runText(run: Run): string {
  const model = run.model ? `, ${line(run.model, 60)}` : "";
  return `${run.background === false ? "foreground" : "background"} run of ${line(run.agent, 40)}: ${run.state}${model}`;
}

function sessionText({ session, standby, state }: ProjectStatus, here: Here): string {
  if (state === "disabled") return "none gets tasks while the project is disabled";
  const others = standby > 0 ? `; ${standby} standing by` : "";
  const lacks = here.hint === "model" ? "; it has no model yet, so nothing comes: /login or /model" : "";
  if (here.member !== undefined) return `this one gets the packets of team member ${line(here.member, 64)}, and no tasks${lacks}`;
  if (!session) return `none${others}`;
  if (session.session_id === here.sessionId) return `this one gets the tasks${others}${lacks}`;
  return `another one gets the tasks (${line(session.host, 40)}, process ${session.pid})${others}; /handoff take changes that`;
}

/** The suggestions that /handoff next can carry out. */
const DOABLE = new Set(["cancel", "retry", "resume", "pause", "take", "enable", "unlock"]);

export type Suggestion = { verb: string; args: string[] };

/** The daemon's suggestion, split as a shell would. */
export function suggestion(next: string): Suggestion | undefined {
  const words = [...next.matchAll(/'((?:[^']|'\\'')*)'|([^\s']+)/g)].map(([, quoted, plain]) => plain ?? quoted?.replaceAll("'\\''", "'") ?? "");
  const [program, verb, ...args] = words;
  return program === "handoff" && verb !== undefined && DOABLE.has(verb) ? { verb, args } : undefined;
}

/** What a person should know before saying yes. */
export function consequence(verb: string, state: string): string {
  if (verb === "cancel") return "\nThat ends the task as ERROR, and stops its turn if one works on it.";
  if (verb === "resume" && state === "halted") return "\nThat keeps what tasks.json says now; a task that was running is given up.";
  if (verb === "unlock") return "\nThat moves the lock file aside.";
  return "";
}

const isOurs = (next: string): boolean => suggestion(next) !== undefined;

/** The journal's rows that tell a person something, oldest first. */
export function logText(rows: readonly Row[]): string {
  // What was refused has a row for its end, too, which says no more.
  const all = rows as unknown as readonly Loose[];
  const refused = new Set(all.filter((row) => row.kind === "rejected").map((row) => row["error"]));
  const said = all.filter((row) => row.kind !== "ended" || !refused.has(row["error"]));
  const told = said.flatMap((row) => rowText(row) ?? []).reverse();
  return told.length === 0 ? "Nothing has happened in this project yet." : told.join("\n");
}

type Loose = { at: string; kind: string; [member: string]: unknown };

function rowText(loose: Loose): string | undefined {
  const text = (member: string, most = 160): string => (typeof loose[member] === "string" ? line(loose[member], most) : "");
  const id = text("task_id", 80);
  const with_ = (what: string, more: string): string => `${clock(loose.at)}  ${id ? `${id} ` : ""}${what}${more ? `: ${more}` : ""}`;
  switch (loose.kind) {
    case "ended":
      return with_(`ended as ${text("status")}`, text("error") || text("verdict") || text("result"));
    case "rejected":
      return with_("was refused", text("error"));
    case "submitted":
      return with_("was submitted", "");
    case "accepted":
      return with_("was taken by a session", "");
    case "reminded":
      return with_("was reminded of its report", "");
    case "report_refused": {
      const problems = Array.isArray(loose["problems"]) ? (loose["problems"] as Array<{ message?: unknown }>) : [];
      return with_("had a report refused", line(problems.map((problem) => String(problem.message)).join("; "), 200));
    }
    case "cancelling":
      return with_("was cancelled", text("reason"));
    case "abandoned":
      return with_("was given up", "");
    case "log_failed":
      return with_("could not be logged", text("error"));
    case "lost":
      return with_("a write of the planner was kept", text("path", 200));
    default:
      return undefined;
  }
}

/** The local time of day, with the date when it is not today's. */
function clock(at: string): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return line(at, 30);
  const two = (number: number): string => String(number).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  const today = new Date().toDateString() === time.toDateString();
  return `${today ? "" : `${day} `}${two(time.getHours())}:${two(time.getMinutes())}`;
}
