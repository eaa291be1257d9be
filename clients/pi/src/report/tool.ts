// The tool `handoff_task_report`. It fails by throwing: a returned flag is lost on older versions of Pi.
import { coerced, faultsOf, oversize, type FormFault } from "./check.ts";
import { NO_TASK, toldOfForm } from "./outcome.ts";
import { REPORT_SCHEMA } from "./schema.ts";
import { LIMITS } from "../wire.ts";

export const REPORT_TOOL = "handoff_task_report";

/**
 * Who takes the report: the session that has the task. Answers with the text for the model, or throws. `faults` are those of
 * its form: with some it is sent only to learn what else is wrong.
 */
export type Reporter = { report(report: object, signal: AbortSignal | undefined, faults: readonly FormFault[]): Promise<string> };

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
    prepareArguments: packed,
    // Two reports at once would be two answers to one question.
    executionMode: "sequential" as const,
    async execute(_id: string, params: unknown, signal: AbortSignal | undefined): Promise<Result> {
      const session = reporter();
      if (!session) throw new Error(NO_TASK);
      const { report, faults } = checked(unpacked(params));
      const text = await session.report(report, signal, faults);
      return { content: [{ type: "text", text }], details: { text } };
    },
  };
}

/** The beginning of a text that no model writes. */
const AS_GIVEN = "\u0000as given: ";

/**
 * Arguments of a wrong form Pi refuses in its own words, before anybody has looked at what they say. Packed into a form that is
 * right they come to `execute`, and one refusal names everything.
 */
function packed(given: unknown): unknown {
  const report = coerced(given, REPORT_SCHEMA);
  if (faultsOf(report, REPORT_SCHEMA).length === 0) return report;
  return { status: "ERROR", error: `${AS_GIVEN}${JSON.stringify(report) ?? "null"}` };
}

function unpacked(params: unknown): unknown {
  const { error } = (params ?? {}) as { error?: unknown };
  return typeof error === "string" && error.startsWith(AS_GIVEN) ? (JSON.parse(error.slice(AS_GIVEN.length)) as unknown) : params;
}

/** The report, and what is wrong with its form; throws where the daemon would have nothing to add. */
export function checked(given: unknown): { report: object; faults: FormFault[] } {
  const faults = faultsOf(given, REPORT_SCHEMA);
  const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
  if (!isObject || (faults.length > 0 && !faults.some((fault) => fault.isTyped))) {
    throw new Error(["The report was refused before it was sent; the task is still open:", ...faults.map(toldOfForm)].join("\n"));
  }
  const size = oversize(given);
  if (size !== undefined) {
    throw new Error(
      `The report takes ${size} bytes, the limit is ${LIMITS.report}. Nothing was sent; shorten \`result\` texts and lists, ` +
        `then call ${REPORT_TOOL} again.`,
    );
  }
  return { report: given, faults };
}
