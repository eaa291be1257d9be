// Waiting for a condition, with a deadline: nothing in these tests waits for a length of time.
const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

/** How much slower than an idle machine with two cores the deadlines assume. */
export const PATIENCE = 60_000;

/** A wait that took longer is told of: what is slow is worth a look. */
const LONG = 5_000;

/** Asks `look` again and again until it answers something; fails with what was waited for and what was seen last. */
export async function until(what, look, ms = PATIENCE) {
  const start = performance.now();
  const end = start + ms;
  let seen = "";
  for (;;) {
    try {
      const found = await look();
      if (found) {
        const took = performance.now() - start;
        if (took > LONG) console.error(`waited ${(took / 1000).toFixed(1)} s for: ${what}`);
        return found;
      }
      seen = found === undefined || found === null || found === false ? "" : `; saw ${JSON.stringify(found)}`;
    } catch (error) {
      if (error?.final) throw error;
      seen = `; ${error?.message ?? error}`;
    }
    if (performance.now() > end) throw new Error(`waited ${ms / 1000} s for: ${what}${seen}`);
    await sleep(25);
  }
}

/** `until`, for what `asked` must make true of `ask`'s answer: the failure shows the last answer. */
export async function eventually(what, ask, asked, ms = PATIENCE) {
  let last;
  try {
    return await until(what, async () => { last = await ask(); return asked(last) ? { last } : null; }, ms).then((found) => found.last);
  } catch (error) {
    throw new Error(`${error.message}; last: ${JSON.stringify(last)}`);
  }
}
