// The language in which a test tells the scripted model what to do. The newest user message is the script; lines that do
// not begin with one of these words are ordinary text. A message without a script is answered `ok`.
//
//   mock> say TEXT               one turn: answer TEXT
//   mock> call TOOL JSON         one turn: call the tool
//   mock> until GATE             one turn: answer when the test opens the gate (with mock+> lines: what then)
//   mock> wait MS                one turn: answer later
//   mock> error STATUS TEXT      one turn: an HTTP error
//   mock+> ...                   one action more in the turn before
//   mock-on /RE/> ...            a turn kept for a later user message that matches RE: a notice, a reminder
//   {{last:RE}}                  in a text or JSON: the first group of the newest match in the conversation
//
// A child's script goes into the `task` of the `subagent` call; its line breaks are `\n` there, so they stay the child's.

/** The text of a message's content. */
export function textOf(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (part?.type === "text" ? part.text : "")).join("\n");
}

function step(line) {
  const [, verb, rest] = /^(\S+)\s*(.*)$/.exec(line);
  if (verb !== "call") return { verb, text: rest };
  const [, name, args] = /^(\S+)\s*(.*)$/.exec(rest);
  return { verb, name, args: args || "{}" };
}

/** The turns of one message: those played at once, and those kept for later. */
export function parse(text) {
  const own = [];
  const later = [];
  let turn = null;
  for (const raw of text.split("\n")) {
    const [, mark, pattern, line] = /^mock(-on \/(.+?)\/|\+)?> (.*)$/.exec(raw.trim()) ?? [];
    if (line === undefined) continue;
    if (mark === "+") {
      turn?.push(step(line));
      continue;
    }
    turn = [step(line)];
    if (pattern) later.push({ re: new RegExp(pattern), turn });
    else own.push(turn);
  }
  return { own, later };
}

/** The turn that comes now in this conversation: a list of `{role, text}`. */
export function plan(messages) {
  const newest = messages.findLastIndex((message) => message.role === "user");
  const text = newest < 0 ? "" : messages[newest].text;
  const at = messages.slice(newest + 1).filter((message) => message.role === "assistant").length;
  const { own } = parse(text);
  if (own.length) return { turn: own[at], source: "own" };
  const kept = messages.slice(0, Math.max(newest, 0)).filter((message) => message.role === "user").reverse();
  // The newest script that knows this message: an earlier task's script does not answer for a later one.
  const hits = kept.map((message) => parse(message.text).later.filter((rule) => rule.re.test(text))).find((rules) => rules.length) ?? [];
  return { turn: hits[at]?.turn, source: hits.length ? "kept" : "none" };
}

/** Puts what the conversation said into a template: a script can repeat ids that it could not know. */
export function fill(template, texts) {
  return template.replace(/\{\{last:(.+?)\}\}/g, (_all, pattern) => {
    for (const text of [...texts].reverse()) {
      const found = new RegExp(pattern).exec(text);
      if (found) return JSON.stringify(found[1] ?? found[0]).slice(1, -1);
    }
    return "unknown";
  });
}
