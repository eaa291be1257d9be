#!/usr/bin/env node
// Installs the real programs of the end-to-end tests: Node 24, three versions of Pi, pi-subagents. Each folder of
// `tools/` is one installation, pinned by its lock file. Runs on any Node 20 or later that npm runs on.
//
//   node install.mjs FOLDER [NAME ...]     names are folders of tools/, pi-1.6.0-shim, or extension; without names: all
//
// `extension` is what the extension's own checks need; node_modules beside its package.json becomes a link to it.
// FOLDER/<name>-<hash> appears by one rename when it is whole, so a second run finds it, needs no network, and two
// runs at once do no harm. Exit 3: the registry cannot be reached (last line says how), 1: anything else.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, renameSync, rmSync, statSync, symlinkSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { shim } from "./shim-host.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const TOOLS = join(HERE, "tools");
const SHIM = "-shim";
/** Enough for a registry that stumbles; a machine without a network is told so in seconds. */
const PATIENCE = ["--fetch-timeout=60000", "--fetch-retries=3", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=8000"];
const UNREACHABLE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED)\b/;

/** What can be installed. */
export const names = () => [...readdirSync(TOOLS).sort(), `pi-1.6.0${SHIM}`, "extension"];

/** Where an installation lies: another lock file is another folder. */
export function place(folder, name) {
  const hash = createHash("sha256");
  for (const file of ["package.json", "package-lock.json"]) hash.update(readFileSync(join(source(name), file)));
  if (name.endsWith(SHIM)) hash.update(readFileSync(join(HERE, "shim-host.mjs")));
  return join(resolve(folder), `${name}-${hash.digest("hex").slice(0, 12)}`);
}

function source(name) {
  if (name === "extension") return dirname(HERE);
  return join(TOOLS, name.endsWith(SHIM) ? name.slice(0, -SHIM.length) : name);
}

/** Installs one, if it is not there; answers its folder. */
export function install(folder, name) {
  const target = place(folder, name);
  if (existsSync(target)) return target;
  mkdirSync(folder, { recursive: true });
  const made = mkdtempSync(join(folder, ".new-"));
  try {
    if (name.endsWith(SHIM)) {
      cpSync(install(folder, name.slice(0, -SHIM.length)), made, { recursive: true, verbatimSymlinks: true });
      shim(made);
    } else {
      for (const file of ["package.json", "package-lock.json", ".npmrc"]) cpSync(join(source(name), file), join(made, file));
      npm(made);
      // npm passes over an optional package that it could not fetch.
      if (name === "node" && process.platform === "linux" && !existsSync(join(made, "node_modules"))) {
        throw Object.assign(new Error("npm could not fetch Node 24"), { unreachable: true });
      }
    }
    rename(made, target);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return target;
}

function npm(folder) {
  const args = ["ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", ...PATIENCE];
  const run = spawnSync("npm", args, { cwd: folder, encoding: "utf8", timeout: 300_000, stdio: ["ignore", "pipe", "pipe"] });
  if (run.status === 0) return;
  const said = `${run.error ?? ""}${run.stdout ?? ""}${run.stderr ?? ""}`.trim().split("\n").slice(-12).join("\n");
  const [how] = UNREACHABLE.exec(said) ?? [];
  const last = how ? `\nnpm cannot reach its registry (${how})` : "";
  throw Object.assign(new Error(`npm ci in ${folder} failed\n${said}${last}`), { unreachable: how !== undefined });
}

/**
 * The extension as its package would be installed: the files that the manifest names, and nothing else of its folder. One
 * folder for each content, since Pi keeps what it compiled by path. HANDOFF_EXTENSION names another copy to be tried.
 */
export function packed(folder) {
  const from = resolve(process.env.HANDOFF_EXTENSION ?? dirname(HERE));
  const { files } = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
  const made = mkdtempSync(join(folder, ".new-"));
  try {
    for (const name of ["package.json", ...files].filter((name) => existsSync(join(from, name)))) {
      cpSync(join(from, name), join(made, name), { recursive: true });
    }
    const hash = createHash("sha256");
    for (const name of readdirSync(made, { recursive: true }).sort()) {
      hash.update(`${name}\0`);
      if (statSync(join(made, name)).isFile()) hash.update(readFileSync(join(made, name)));
    }
    const target = join(resolve(folder), `packed-${hash.digest("hex").slice(0, 12)}`, "pi-handoffd");
    mkdirSync(dirname(target), { recursive: true });
    if (!existsSync(target)) rename(made, target);
    return target;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** Puts a whole folder where it belongs, unless another run was first. */
function rename(made, target) {
  try {
    renameSync(made, target);
  } catch (error) {
    if (!existsSync(target)) throw error;
  }
}

/** Puts the installed modules where the compiler looks for them. Modules that a person installed there stay. */
function link(folder) {
  const place = join(source("extension"), "node_modules");
  const there = lstatSync(place, { throwIfNoEntry: false });
  const modules = join(folder, "node_modules");
  if (there && (!there.isSymbolicLink() || readlinkSync(place) === modules)) return;
  const made = `${place}.${process.pid}.new`;
  symlinkSync(modules, made);
  renameSync(made, place);
}

/** The Node that Pi runs on: the installed one, else (where the registry has none for this system) the running one. */
export function node(folder) {
  const path = join(place(folder, "node"), "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
  if (existsSync(path)) return path;
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) return process.execPath;
  throw new Error(`Pi needs Node 22.19 or later; ${process.execPath} is ${process.version}, and ${path} is not there`);
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [folder, ...wanted] = process.argv.slice(2);
  if (!folder) throw new Error("usage: install.mjs FOLDER [NAME ...]");
  try {
    for (const name of wanted.length ? wanted : names()) {
      const made = install(folder, name);
      if (name === "extension") link(made);
      console.log(`${name} ${made}`);
    }
    console.log(`bin ${node(folder)}`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = error.unreachable ? 3 : 1;
  }
}
