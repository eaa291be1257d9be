// The extension, as Pi loads it: registers what a session offers, and passes Pi's events on. Nothing is started here: Pi
// also loads extensions where no session begins.
import { VERSION, type ExtensionAPI, type ExtensionContext } from "@earendil-works/pi-coding-agent";
import manifest from "../package.json" with { type: "json" };
import { extension } from "./extension.ts";

export default function handoff(pi: ExtensionAPI): void {
  extension(pi, { pi: VERSION, client: manifest.version });
}

export type { ExtensionContext };
