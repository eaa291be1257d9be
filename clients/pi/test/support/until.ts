// Waiting for a condition, with a deadline.
const PATIENCE_MS = 60_000;

export async function until<T>(what: string, look: () => T | undefined | false | null, ms = PATIENCE_MS): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    const found = look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
