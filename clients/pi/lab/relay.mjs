// Stands between a session and the daemon, and can hold back what the daemon says: for races that time alone would decide.
// The daemon takes this process for the session's.
import { createServer, connect } from "node:net";
import { until } from "./wait.mjs";

export class Relay {
  static async open(path, daemon) {
    const relay = new Relay();
    relay.env = { HANDOFFD_SOCKET: path };
    relay.held = [];
    relay.method = null;
    relay.fatal = null;
    relay.sockets = new Set();
    relay.server = createServer((session) => relay.#pair(session, connect(daemon)));
    await new Promise((ready) => relay.server.listen(path, ready));
    return relay;
  }

  #pair(session, daemon) {
    for (const [one, other] of [[session, daemon], [daemon, session]]) {
      this.sockets.add(one);
      one.on("error", () => {});
      one.on("close", () => { other.destroy(); this.sockets.delete(one); });
    }
    this.#forward(session, daemon);
    this.#forward(daemon, session);
  }

  /** Line by line. */
  #forward(from, to) {
    let rest = "";
    from.setEncoding("utf8").on("data", (text) => {
      const whole = (rest + text).split("\n");
      rest = whole.pop();
      for (const line of whole) {
        if (this.fatal !== null && line.includes(this.fatal)) {
          this.fatal = null;
          from.destroy(); // the line is lost with the connection
          return;
        }
        const pass = () => to.write(`${line}\n`);
        if (this.method !== null && JSON.parse(line).method === this.method) this.held.push(pass);
        else pass();
      }
    });
  }

  /** Loses the next line that contains this, and the connection with it. */
  breakAt(text) { this.fatal = text; }

  /** Waits until it has happened. */
  broke() { return until("the connection to break", () => this.fatal === null); }

  /** Holds back every message with this method. */
  hold(method) { this.method = method; }

  /** Waits until one is held back. */
  holds() { return until(`the daemon to send ${this.method}`, () => this.held.length > 0); }

  /** Lets it through, and everything after it. */
  release() {
    this.method = null;
    for (const pass of this.held.splice(0)) pass();
  }

  close() {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}
