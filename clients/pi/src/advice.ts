// What a person should know about the package that delegates: said once, plainly, and only when a task is here.

const NICO = "pi-subagents";
const TINTIN = "@tintinweb/pi-subagents";
const DOCS = "docs/pi.md of handoffd lists the pairs that work";

/** The words for a launch that the package refused because this Pi lacks what it looks for. */
const HOST_LACKS = "Background children require the host";

/** Undefined: nothing is in the way. */
export function advice(tools: readonly string[], pi: string, refusedLaunch?: string): string | undefined {
  if (refusedLaunch?.includes(HOST_LACKS)) {
    return (
      `handoff: ${NICO} cannot start background runs on Pi ${pi} (its 0.67.0 works up to Pi 0.87). ` +
      `Foreground runs work, and the model was told to use them; ${DOCS}.`
    );
  }
  if (refusedLaunch !== undefined || tools.includes("subagent")) return undefined;
  const install = `Install it with: pi install npm:${NICO}`;
  return tools.includes("Agent") && tools.includes("get_subagent_result")
    ? `handoff: this session delegates with ${TINTIN}, which tells neither roles nor models, so what a report says of its runs cannot be checked. With ${NICO} it can. ${install}`
    : `handoff: ${NICO} is not loaded in this session, so the task cannot be delegated to a sub-agent. ${install}`;
}

export const hostLacks = (text: string): boolean => text.includes(HOST_LACKS);

/** What the model is told beside the refusal. */
export const USE_FOREGROUND =
  "handoffd: background runs cannot start on this version of Pi. Launch the same with `async: false`; that works.";
export const foregroundId = (id: string): string => `handoffd: in the report, the run_id of this run is \`${id}\`.`;
