// Two keys of the daemon's configuration: `daemon.socket` and `daemon.state_dir`. No general TOML reader: it knows enough
// of the form to find these two as the daemon does, and what it cannot read it leaves out.

export type DaemonTable = { socket?: string; state_dir?: string };

const KEY = String.raw`(?:[A-Za-z0-9_-]+|"[^"\\]*"|'[^']*')`;
const HEADER = new RegExp(String.raw`^\s*\[\s*(${KEY}(?:\s*\.\s*${KEY})*)\s*\]\s*(?:#.*)?$`);
const PAIR = new RegExp(String.raw`^\s*(${KEY}(?:\s*\.\s*${KEY})*)\s*=\s*(.*)$`);

/** The two keys of the text; those that are not strings of one line are left out. */
export function readDaemonTable(text: string): DaemonTable {
  const found: DaemonTable = {};
  let table: string[] = [];
  for (const line of linesOutsideTexts(text)) {
    const header = HEADER.exec(line);
    if (header) {
      table = keys(header[1] ?? "");
      continue;
    }
    if (/^\s*\[\[/.test(line)) {
      table = ["?"];
      continue;
    }
    const pair = PAIR.exec(line);
    if (!pair) continue;
    const path = [...table, ...keys(pair[1] ?? "")];
    const rest = pair[2] ?? "";
    if (path.length === 1 && path[0] === "daemon" && rest.startsWith("{")) inline(rest, found);
    else if (path.length === 2 && path[0] === "daemon") take(path[1], rest, found);
  }
  return found;
}

function take(key: string | undefined, rest: string, into: DaemonTable): void {
  const value = stringAt(rest);
  if (value !== undefined && (key === "socket" || key === "state_dir")) into[key] = value;
}

/** `{ socket = "…", … }` */
function inline(rest: string, into: DaemonTable): void {
  for (const match of rest.matchAll(new RegExp(String.raw`(${KEY})\s*=\s*("(?:[^"\\]|\\.)*"|'[^']*')`, "g"))) {
    take(keys(match[1] ?? "")[0], match[2] ?? "", into);
  }
}

const keys = (path: string): string[] =>
  [...path.matchAll(new RegExp(KEY, "g"))].map(([key]) => key.replace(/^["'](.*)["']$/, "$1"));

/** The string that `rest` begins with. */
function stringAt(rest: string): string | undefined {
  const literal = /^'([^']*)'\s*(?:#.*)?$/.exec(rest) ?? /^'([^']*)'$/.exec(rest.trim());
  if (literal) return literal[1];
  const basic = /^"((?:[^"\\]|\\.)*)"/.exec(rest);
  if (!basic || rest.startsWith('"""')) return undefined;
  return unescaped(basic[1] ?? "");
}

const ESCAPES: Record<string, string> = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r", e: "\u001b", '"': '"', "\\": "\\" };

function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/g, (all, short, long, one) => {
    const point = short ?? long;
    if (point === undefined) return ESCAPES[one as string] ?? all;
    const code = Number.parseInt(point, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}

/** The lines that are not inside a text of several lines, where anything may look like a key. */
function* linesOutsideTexts(text: string): Generator<string> {
  let open: string | undefined;
  for (const line of text.replace(/^\uFEFF/, "").split(/\r?\n/)) {
    if (open === undefined) yield line;
    const marks = line.match(/"""|'''/g) ?? [];
    for (const mark of marks) {
      if (open === undefined) open = mark;
      else if (open === mark) open = undefined;
    }
  }
}
