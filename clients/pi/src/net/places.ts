// Where the daemon's socket is: the same order as the daemon and the command line use.
import { readFileSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { isAbsolute, join } from "node:path";
import { readDaemonTable } from "./toml.ts";

export type Env = Record<string, string | undefined>;

/** What is asked of the machine; tests give their own. */
export type Machine = {
  env: Env;
  platform: NodeJS.Platform;
  host: string;
  uid: number | undefined;
  /** `HOME`, else what the password database says. */
  home: string | undefined;
  /** The text of a file, or undefined. */
  read(path: string): string | undefined;
};

export function thisMachine(): Machine {
  return {
    env: process.env,
    platform: process.platform,
    host: hostname(),
    uid: process.getuid?.(),
    home: homeOfUser(),
    read(path) {
      try {
        return readFileSync(path, "utf8");
      } catch {
        return undefined;
      }
    },
  };
}

function homeOfUser(): string | undefined {
  try {
    return homedir() || undefined;
  } catch {
    return undefined;
  }
}

/** Every socket to try, best first, none twice. Empty: there is no home to look in. */
export function socketCandidates(machine: Machine): string[] {
  const { env } = machine;
  const named = env["HANDOFFD_SOCKET"];
  if (named) return isAbsolute(named) ? [named] : [];
  const configured = readDaemonTable(machine.read(configFile(machine) ?? "") ?? "");
  const socket = expanded(configured.socket, machine.home);
  if (socket) return [socket];
  const states = expanded(configured.state_dir, machine.home) ?? stateDir(machine);
  const host = hostPart(machine);
  const runtime = absolute(env["XDG_RUNTIME_DIR"]);
  const places = [
    runtime && join(runtime, "handoffd/handoffd.sock"),
    states && lockedSocket(machine.read(join(states, `handoffd-${host}.lock`))),
    states && join(states, `run-${host}/handoffd.sock`),
    // A daemon of the service manager knows XDG_RUNTIME_DIR; a Pi under ssh, sudo or cron may not.
    !runtime && machine.platform === "linux" && machine.uid !== undefined && `/run/user/${machine.uid}/handoffd/handoffd.sock`,
  ];
  return [...new Set(places.filter((place): place is string => typeof place === "string"))];
}

/** The host's name as a part of file names: `sanitised` of the daemon. */
export function hostPart(machine: Pick<Machine, "host" | "platform">): string {
  const name = machine.platform === "darwin" ? (machine.host.split(".")[0] ?? "") : machine.host;
  const part = [...name].map((c) => (/^[A-Za-z0-9\-_.]$/.test(c) ? c.toLowerCase() : "_")).slice(0, 64).join("");
  return /^\.*$/.test(part) ? "localhost" : part;
}

function configFile({ env, home }: Machine): string | undefined {
  const folder = absolute(env["XDG_CONFIG_HOME"]) ?? (home && join(home, ".config"));
  return folder ? join(folder, "handoffd/config.toml") : undefined;
}

function stateDir({ env, platform, home }: Machine): string | undefined {
  const usual = platform === "darwin" ? "Library/Application Support" : ".local/state";
  const folder = absolute(env["XDG_STATE_HOME"]) ?? (home && join(home, usual));
  return folder ? join(folder, "handoffd") : undefined;
}

/** The XDG specification asks to ignore relative paths. */
const absolute = (path: string | undefined): string | undefined => (path && isAbsolute(path) ? path : undefined);

function expanded(path: string | undefined, home: string | undefined): string | undefined {
  const full = path && home && (path === "~" || path.startsWith("~/")) ? join(home, path.slice(1)) : path;
  return absolute(full);
}

/** The socket that the daemon's instance lock names. */
function lockedSocket(text: string | undefined): string | undefined {
  try {
    const holder: unknown = JSON.parse(text ?? "");
    const socket = typeof holder === "object" && holder !== null ? (holder as { socket?: unknown }).socket : undefined;
    return typeof socket === "string" ? absolute(socket) : undefined;
  } catch {
    return undefined;
  }
}
