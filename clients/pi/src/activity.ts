// Whether a task could be taken in this very moment, and what keeps the session from it.
import { guard, type Context } from "./host.ts";
import { Turn } from "./state/turn.ts";
import type { Hint } from "./wire.ts";

const LOOK_MS = 1_000;

export class Activity {
  readonly turn = new Turn();
  private readonly ctx: Pick<Context, "isIdle" | "hasPendingMessages">;
  private readonly tell: (ready: boolean, hint: Hint | undefined) => boolean;
  private dialogs = 0;
  private compacting = false;
  private told: boolean | undefined;
  private timer: NodeJS.Timeout | undefined;
  private over = false;

  /** `tell` answers whether it was told. */
  constructor(ctx: Pick<Context, "isIdle" | "hasPendingMessages">, tell: (ready: boolean, hint: Hint | undefined) => boolean) {
    this.ctx = ctx;
    this.tell = tell;
  }

  /** A message given now would start a turn at once, and disturb nobody. */
  get isReady(): boolean {
    const isFree = this.dialogs === 0 && !this.turn.isRunning;
    return isFree && (guard(() => this.ctx.isIdle() && !this.ctx.hasPendingMessages()) ?? false);
  }

  dialog(change: 1 | -1): void {
    this.dialogs = Math.max(0, this.dialogs + change);
    this.update();
  }

  compaction(isRunning: boolean): void {
    this.compacting = isRunning;
    this.update();
  }

  /** What the daemon was told while attaching. */
  assume(ready: boolean): void {
    this.told = ready;
  }

  /** Tells what has changed. */
  update(): void {
    if (this.over) return;
    const ready = this.isReady;
    this.watch(ready);
    if (ready !== this.told && this.tell(ready, this.hint())) this.told = ready;
  }

  /** A dispatch that was declined is sent again at the next idle: that has to be told even if nothing seems to change. */
  again(): void {
    this.told = undefined;
    setImmediate(() => void guard(() => this.update()));
  }

  stop(): void {
    this.over = true;
    clearInterval(this.timer);
  }

  private hint(): Hint | undefined {
    if (this.compacting) return "compaction";
    return this.dialogs > 0 ? "dialog" : undefined;
  }

  /** Some ends are not told (a compaction's, a queued message's): while busy without a turn, it is looked at. */
  private watch(ready: boolean): void {
    if (ready || this.turn.isRunning) {
      clearInterval(this.timer);
      this.timer = undefined;
    } else if (!this.timer) {
      this.timer = setInterval(() => void guard(() => this.update()), LOOK_MS);
      this.timer.unref();
    }
  }
}
