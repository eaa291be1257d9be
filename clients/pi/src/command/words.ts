// The words of `/handoff`: what a person can type, and what each does.

export const VERBS = [
  ["status", "what is going on here"],
  ["next", "do what the status suggests, after asking"],
  ["pause", "hand over no further tasks"],
  ["resume", "go on after a pause, a halt or a hold"],
  ["cancel", "cancel the task; a reason may follow"],
  ["retry", "start an ended task again; its id may follow"],
  ["take", "let this session get this project's tasks"],
  ["log", "what has happened lately"],
  ["help", "this list"],
] as const;

export type Verb = (typeof VERBS)[number][0];

export const HELP = ["/handoff [command]", ...VERBS.map(([verb, what]) => `  ${verb.padEnd(8)} ${what}`)].join("\n");

/** The first word, and what follows it. */
export function parse(args: string): { verb: Verb; rest: string } | { unknown: string } {
  const [first = "", ...words] = args.trim().split(/\s+/);
  const verb = first === "" ? "status" : first.toLowerCase();
  const known = VERBS.find(([name]) => name === verb)?.[0];
  return known ? { verb: known, rest: words.join(" ") } : { unknown: first };
}

/** Null for a word that is whole: with a list open, Enter would choose from it instead of sending the line. */
export function completions(prefix: string): Array<{ value: string; label: string; description: string }> | null {
  const word = prefix.trimStart().toLowerCase();
  const found = VERBS.filter(([verb]) => verb.startsWith(word));
  return found.length === 0 || found.some(([verb]) => verb === word) ? null : found.map(([verb, what]) => ({ value: verb, label: verb, description: what }));
}
