// The tool `handoff_task_report`. It fails by throwing: a returned flag is lost on older versions of Pi.
import { faultsOf, oversize } from "./check.ts";
import { NO_TASK } from "./outcome.ts";
import { REPORT_SCHEMA } from "./schema.ts";
import { LIMITS } from "../wire.ts";

export const REPORT_TOOL = "handoff_task_report";

/** Who takes the report: the session that has the task. Answers with the text for the model, or throws. */
export type Reporter = { report(report: object, signal: AbortSignal | undefined): Promise<string> };

type Result = { content: Array<{ type: "text"; text: string }>; details: { text: string } };

export function reportTool(reporter: () => Reporter | undefined) {
  return {
    name: REPORT_TOOL,
    label: "Handoff report",
    description:
      "Report the outcome of the handed-over task of this session: once, when all its runs have ended, or when it is given " +
      "up. A refusal names everything that is wrong; correct it and call again. The message of the task says what is wanted.",
    promptSnippet: "Report the outcome of a handed-over task (only when this session was given one)",
    parameters: REPORT_SCHEMA,
    // Two reports at once would be two answers to one question.
    executionMode: "sequential" as const,
    async execute(_id: string, params: unknown, signal: AbortSignal | undefined): Promise<Result> {
      const session = reporter();
      if (!session) throw new Error(NO_TASK);
      const report = checked(params);
      const text = await session.report(report, signal);
      return { content: [{ type: "text", text }], details: { text } };
    },
  };
}

/** The arguments as they are sent, or everything that is wrong with their form. */
export function checked(params: unknown): object {
  const faults = faultsOf(params, REPORT_SCHEMA);
  if (faults.length > 0) {
    const lines = faults.map(({ field, message }) => `- \`${field}\` ${message}`);
    throw new Error(["The report was refused before it was sent; the task is still open:", ...lines].join("\n"));
  }
  const size = oversize(params);
  if (size !== undefined) {
    throw new Error(
      `The report takes ${size} bytes, the limit is ${LIMITS.report}. Nothing was sent; shorten \`result\` texts and lists, ` +
        `then call ${REPORT_TOOL} again.`,
    );
  }
  return params as object;
}
