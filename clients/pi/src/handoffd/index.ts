// The extension, as Pi loads it: registers what a session offers, and passes Pi's events on. Nothing is started here: Pi
// also loads extensions where no session begins. Pi shows an extension under the name of its folder, hence this one.
import { VERSION, type ExtensionAPI } from "@earendil-works/pi-coding-agent";
import manifest from "../../package.json" with { type: "json" };
import { extension } from "../extension.ts";
import { renderNote, renderTask } from "../render.ts";
import { CANCEL_MESSAGE, REMINDER_MESSAGE, TASK_MESSAGE } from "../state/record.ts";

export default function handoff(pi: ExtensionAPI): void {
  pi.registerMessageRenderer(TASK_MESSAGE, renderTask);
  pi.registerMessageRenderer(REMINDER_MESSAGE, renderNote(REMINDER_MESSAGE, "Reminder for"));
  pi.registerMessageRenderer(CANCEL_MESSAGE, renderNote(CANCEL_MESSAGE, "Cancelled:"));
  extension(pi, { pi: VERSION, client: manifest.version });
}
