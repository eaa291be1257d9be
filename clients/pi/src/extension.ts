// Pi's events on the one side, one session's client on the other. Every callback is guarded.
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { HandoffCommand } from "./command/handoff.ts";
import { completions } from "./command/words.ts";
import { guard } from "./host.ts";
import { ofThisProcess, takePlace, type Main } from "./process.ts";
import { socketCandidates, thisMachine } from "./net/places.ts";
import { Reporting } from "./reporting.ts";
import { reportTool } from "./report/tool.ts";
import { Session, type SessionOptions } from "./session.ts";
import type { AttachReason, LeaveReason } from "./wire.ts";

export type Versions = { pi: string; client: string };
export type Overrides = Partial<Pick<SessionOptions, "env" | "candidates" | "timing" | "patienceMs">> & { waitMs?: number; lookMs?: number };

/** Only a session that a person or a program talks to takes tasks; a child of another session never does. */
export function isMainSession(ctx: Pick<ExtensionContext, "mode">, env: Record<string, string | undefined>): boolean {
  return (ctx.mode === "tui" || ctx.mode === "rpc") && env["PI_SUBAGENT_CHILD"] !== "1";
}

export function extension(pi: ExtensionAPI, versions: Versions, overrides: Overrides = {}): void {
  const env = overrides.env ?? process.env;
  const candidates = overrides.candidates ?? (() => socketCandidates(thisMachine()));
  let session: Session | undefined;
  let reporting: Reporting | undefined;
  let main: Main | undefined;
  let manager: object | undefined;
  const known = ofThisProcess();

  const start = (ctx: ExtensionContext, reason: AttachReason): void => {
    if (manager || known.served.has(ctx.sessionManager)) return;
    known.served.add(manager = ctx.sessionManager);
    // Only now: of a command that two extensions have, Pi makes `/handoff:1` and `/handoff:2`, and none is `/handoff`.
    pi.registerCommand("handoff", command);
    if (!isMainSession(ctx, env)) return;
    pi.registerTool(reportTool(() => reporting) as Parameters<ExtensionAPI["registerTool"]>[0]);
    const { timing, patienceMs } = overrides;
    const made = new Session({
      pi, ctx, env, candidates, version: versions,
      ...(timing ? { timing } : {}), ...(patienceMs === undefined ? {} : { patienceMs }),
    }, reason);
    session = made;
    reporting = new Reporting(made, overrides.waitMs);
    main = { sessionId: made.sessionId, leave };
    const before = takePlace(main);
    if (before) void before.then(() => guard(() => session === made && made.start()));
    else made.start();
  };
  // It is not served again: Pi tells the start of a session twice where a program has changed to it.
  const leave = async (reason: LeaveReason): Promise<void> => {
    const left = session;
    if (main && known.main === main) known.main = undefined;
    session = reporting = main = undefined;
    await left?.leave(reason);
  };
  const stop = (reason: LeaveReason): Promise<void> => {
    if (manager) known.served.delete(manager);
    manager = undefined;
    return leave(reason);
  };

  const command: Parameters<ExtensionAPI["registerCommand"]>[1] = {
    description: "Tasks that a planner hands to this session: status, pause, cancel, …",
    getArgumentCompletions: (prefix) => guard(() => completions(prefix)) ?? null,
    handler: async (args, ctx) => {
      if (session) await new HandoffCommand(session, ctx, overrides.lookMs).run(args).catch(() => undefined);
      else guard(() => ctx.ui.notify("This session takes no tasks: only the main session of a terminal or of a host program does.", "info"));
    },
  };
  pi.on("session_start", (event, ctx) => guard(() => start(ctx, event.reason)));
  pi.on("session_shutdown", (event) => stop(event.reason).catch(() => undefined));
  pi.on("agent_start", () => guard(() => session?.agentStarted()));
  pi.on("message_start", (event) => guard(() => session?.messageStarted(event.message)));
  pi.on("agent_end", (event) => guard(() => session?.attemptEnded(...endOf(event.messages))));
  pi.on("agent_settled", (event) => guard(() => session?.settled((event as { aborted?: boolean }).aborted)));
  pi.on("ui_prompt_start", () => guard(() => session?.activity.dialog(1)));
  pi.on("ui_prompt_end", () => guard(() => session?.activity.dialog(-1)));
  pi.on("session_before_compact", () => guard(() => session?.activity.compaction(true)));
  pi.on("session_compact", () => guard(() => session?.activity.compaction(false)));
  pi.on("session_compact_failed", () => guard(() => session?.activity.compaction(false)));
  pi.on("tool_result", (event) => guard(() => {
    if (event.toolName !== "subagent" || !session) return;
    const { toolCallId, input, details, isError, content } = event;
    const more = session.delegated({ toolCallId, input, details, isError, text: textOf(content) });
    return more.length === 0 ? undefined : { content: [...content, { type: "text" as const, text: more.join("\n") }] };
  }));
}

const textOf = (content: ReadonlyArray<{ type: string; text?: string }>): string =>
  content.map((part) => part.text ?? "").join("\n");

/** How the last answer of the model ended. */
function endOf(messages: readonly unknown[]): [stopReason: string | undefined, error: string | undefined] {
  const answers = messages.filter((message) => (message as { role?: unknown }).role === "assistant");
  const { stopReason, errorMessage } = (answers.at(-1) ?? {}) as { stopReason?: string; errorMessage?: unknown };
  return [stopReason, typeof errorMessage === "string" ? errorMessage : undefined];
}
