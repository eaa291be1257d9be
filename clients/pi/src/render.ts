// How a handed-over task looks in the transcript: folded to what a person wants to know, whole on request.
import { getMarkdownTheme, keyText, type Theme } from "@earendil-works/pi-coding-agent";
import { Box, Markdown, Spacer, Text, type Component } from "@earendil-works/pi-tui";
import { detailsOf, TASK_MESSAGE } from "./state/record.ts";
import { headline } from "./summary.ts";
import { clean, line } from "./text.ts";

type Message = { customType: string; content: unknown; details?: unknown };

/** Undefined: Pi's own way. */
export function renderTask(message: Message, { expanded }: { expanded: boolean }, theme: Theme): Component | undefined {
  const details = detailsOf(message, TASK_MESSAGE);
  const summary = details?.summary;
  if (!details || !summary) return undefined;
  const text = textOf(message.content);
  const box = new Box(1, 1, (part) => theme.bg("customMessageBg", part));
  box.addChild(new Text(theme.fg("customMessageLabel", theme.bold(headline(details.kind, summary))), 0, 0));
  const body = expanded ? text : summary.text;
  if (body) {
    box.addChild(new Spacer(1));
    const color = (part: string): string => theme.fg("customMessageText", part);
    box.addChild(expanded ? new Markdown(clean(body), 0, 0, getMarkdownTheme(), { color }) : new Text(color(body), 0, 0));
  }
  box.addChild(new Spacer(1));
  const size = `${text.split("\n").length} lines went to the model`;
  box.addChild(new Text(theme.fg("dim", expanded ? size : `${size} (${keyText("app.tools.expand")} shows them)`), 0, 0));
  return box;
}

/** The other messages are short: a title and their text. */
export function renderNote(customType: string, title: string) {
  return (message: Message, _options: { expanded: boolean }, theme: Theme): Component | undefined => {
    const details = detailsOf(message, customType);
    if (!details) return undefined;
    const box = new Box(1, 1, (part) => theme.bg("customMessageBg", part));
    box.addChild(new Text(theme.fg("customMessageLabel", theme.bold(`${title} ${line(details.task_id, 80)}`)), 0, 0));
    box.addChild(new Spacer(1));
    box.addChild(new Text(theme.fg("customMessageText", clean(textOf(message.content))), 0, 0));
    return box;
  };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: unknown }) => (typeof part.text === "string" ? part.text : "")).join("\n");
}
