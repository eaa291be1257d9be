// The part of Pi that this extension uses, so that tests can stand in for it; and the rule for every callback.
import type { ExtensionAPI, ExtensionCommandContext, ExtensionContext } from "@earendil-works/pi-coding-agent";

export type Pi = Pick<ExtensionAPI, "sendMessage" | "appendEntry" | "getAllTools" | "events">;
export type Bus = Pick<ExtensionAPI["events"], "on" | "emit">;
export type Context = Pick<
  ExtensionContext,
  "ui" | "mode" | "hasUI" | "cwd" | "sessionManager" | "isIdle" | "hasPendingMessages" | "abort" | "model" | "modelRegistry"
>;
export type CommandContext = Context & Pick<ExtensionCommandContext, "ui">;

/**
 * Runs `act` and lets nothing out: an exception in a callback ends the user's Pi, and the objects of a session that was
 * replaced throw when they are touched.
 */
export function guard<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
