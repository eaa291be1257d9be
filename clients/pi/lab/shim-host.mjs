// Lets pi-subagents 0.67.0 start background children on Pi 1.x, in a private installation only. Its launcher refuses
// when the host lacks export names that older versions of Pi had; its own code never imports them. This adds the names:
// an alias in the manifest of pi-agent-core, and an empty package.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Changes the installation in `folder` (which holds node_modules). */
export function shim(folder) {
  const scope = join(folder, "node_modules", "@earendil-works");
  const manifest = join(scope, "pi-agent-core", "package.json");
  const core = JSON.parse(readFileSync(manifest, "utf8"));
  if (!core.exports["./node"]) {
    core.exports["./node"] = core.exports["."];
    writeFileSync(manifest, `${JSON.stringify(core, null, 2)}\n`);
  }
  const chord = join(scope, "chord");
  if (existsSync(chord)) return;
  mkdirSync(chord, { recursive: true });
  const exports = { ".": "./index.js", "./context": "./index.js" };
  const text = JSON.stringify({ name: "@earendil-works/chord", version: "0.0.0", type: "module", exports });
  writeFileSync(join(chord, "package.json"), text);
  writeFileSync(join(chord, "index.js"), "export {};\n");
}
