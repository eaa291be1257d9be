// What the model is told of its report: recorded, refused with everything that is wrong, or not sent and why.
import { Refused } from "../net/rpc.ts";
import { clean, line } from "../text.ts";
import type { FormFault } from "./check.ts";
import type { EndStatus, Problem, TaskReportResult } from "../wire.ts";

export const NO_TASK =
  "There is no handed-over task in this session, so there is nothing to report. Go on with what the person asked for.";
export const CALL_AGAIN = "call handoff_task_report again with the same report";

export const notRunning = (seconds: number): string =>
  `handoffd is not running (waited ${seconds} s). Nothing was recorded, the task is still open: ask the person to start it, ` +
  `then ${CALL_AGAIN}.`;
export const notAnswering = (seconds: number): string =>
  `handoffd is there but does not answer (waited ${seconds} s): it is stopped or stuck. Nothing was recorded, the task is ` +
  `still open: ask the person to look at it, then ${CALL_AGAIN}.`;
export const notAttached = (why: string): string =>
  `This session is not attached to handoffd (${why}). Nothing was recorded: ask the person to look at it, then ${CALL_AGAIN}.`;
export const unknownOutcome = (why: string): string =>
  `${why}, so it is not known whether the report was recorded. It is safe to send it twice: ${CALL_AGAIN}.`;
export const CONNECTION_ENDED = unknownOutcome("The connection to handoffd ended before it answered");
export const TOO_SLOW = unknownOutcome("handoffd has the report and does not answer");

export function recorded(result: Pick<TaskReportResult, "status" | "work_log">): string {
  if (result.work_log === "failed") {
    return `The report was taken, but its line could not be written to the work log, so the task ended as ${result.status}. ` +
      "It is over: do not report again. Tell the person that the work log needs to be looked at.";
  }
  return `Recorded: the task ended as ${result.status}. It is over: do not report again.`;
}

/** `dispatch_ended`: the answer of an earlier try, or an end without this report. */
export function alreadyEnded(status: EndStatus | string, sentBefore: boolean): string {
  return sentBefore
    ? `Recorded before: the task ended as ${status}. It is over: do not report again.`
    : `The task has already ended as ${status}; this report changed nothing. It is over: do not report again.`;
}

export const toldOfForm = ({ field, message }: FormFault): string => `- \`${field}\` ${message}`;

/** The words for a refusal that the model can act upon, or can pass on. `faults`: what is wrong with the form beside it. */
export function refusal(error: Refused, faults: readonly FormFault[] = []): string {
  const problems = problemsOf(error);
  switch (error.word) {
    case "report_refused": {
      const more = faults.filter(({ field }) => !problems.some((problem) => problem.field === field));
      const lines = [...problems.map((problem) => `- ${told(problem)}`), ...more.map(toldOfForm)];
      return [
        `The report was refused; the task is still open. ${lines.length} ${lines.length === 1 ? "fault" : "faults"}:`,
        ...lines,
        "Correct all of them and call handoff_task_report again.",
      ].join("\n");
    }
    case "report_too_large":
      return `The report was refused: ${line(error.message)}. Shorten \`result\` texts and lists, then call handoff_task_report again.`;
    case "queue_unreadable":
    case "cannot_write":
      return `The report was not recorded: ${line(error.message)}. The task is still open: tell the person, then ${CALL_AGAIN}.`;
    case "cancelled":
      return `The task was cancelled; the report was not recorded (${line(error.message)}). Stop working on it.`;
    case "queue_changed":
    case "no_such_dispatch":
    case "not_owner":
      return `The report was not recorded: ${line(error.message)}. Stop working on it and tell the person.`;
    default:
      return `The report was not recorded: ${line(error.message)}.`;
  }
}

function problemsOf(error: Refused): Problem[] {
  const problems = error.data["problems"];
  return Array.isArray(problems) ? (problems as Problem[]) : [];
}

function told(problem: Problem): string {
  const message = clean(String(problem.message));
  const field = problem.field ?? null;
  return field === null || message.includes(`\`${field}\``) ? message : `\`${field}\`: ${message}`;
}
