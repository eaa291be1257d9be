#!/usr/bin/env node
// Installs the Claude Code that the plugin is tested with, pinned by the lock file in `tools`.
//
//   node install.mjs FOLDER      prints `claude PATH`
//
// FOLDER/claude-code-<hash> appears by one rename when it is whole, so a second run finds it and needs no network. Exit 3: the
// registry cannot be reached (the last line says how), 1: anything else.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const TOOLS = join(dirname(fileURLToPath(import.meta.url)), "tools");
/** Enough for a registry that stumbles; a machine without a network is told so in seconds. */
const PATIENCE = ["--fetch-timeout=60000", "--fetch-retries=3", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=8000"];
const UNREACHABLE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED)\b/;

class Trouble extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/** The program: a package per system holds it, which npm passes over when it cannot be fetched. */
const program = (folder) => {
  const scope = join(folder, "node_modules/@anthropic-ai");
  const packages = existsSync(scope) ? readdirSync(scope).filter((name) => name.startsWith("claude-code-")) : [];
  return packages.map((name) => join(scope, name, "claude")).find((path) => existsSync(path));
};

const install = (folder) => {
  const hash = createHash("sha256");
  for (const file of ["package.json", "package-lock.json"]) hash.update(readFileSync(join(TOOLS, file)));
  const target = join(resolve(folder), `claude-code-${hash.digest("hex").slice(0, 12)}`);
  if (existsSync(target)) return target;
  mkdirSync(folder, { recursive: true });
  const made = mkdtempSync(join(folder, ".new-"));
  try {
    for (const file of ["package.json", "package-lock.json", ".npmrc"]) cpSync(join(TOOLS, file), join(made, file));
    const args = ["ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", ...PATIENCE];
    const run = spawnSync("npm", args, { cwd: made, encoding: "utf8", timeout: 500_000, stdio: ["ignore", "pipe", "pipe"] });
    const said = `${run.error ?? ""}${run.stdout ?? ""}${run.stderr ?? ""}`.trim();
    const [how] = UNREACHABLE.exec(said) ?? [];
    if (run.status !== 0 && how) throw new Trouble(`npm ci failed\n${said}\nnpm cannot reach its registry (${how})`, 3);
    if (run.status !== 0) throw new Trouble(`npm ci failed\n${said}`, 1);
    if (!program(made)) throw new Trouble(`npm brought no Claude Code for ${process.platform}-${process.arch}`, 3);
    renameSync(made, target);
  } catch (error) {
    if (!existsSync(target)) throw error; // another run was first
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return target;
};

try {
  if (!process.argv[2]) throw new Trouble("usage: install.mjs FOLDER", 1);
  console.log(`claude ${program(install(process.argv[2]))}`);
} catch (error) {
  console.error(error.message);
  process.exitCode = error.code ?? 1;
}
