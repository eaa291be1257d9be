// Waiting for a condition, with a deadline: nothing in these tests waits for a length of time.
const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

/** Long enough for a loaded machine with two cores; a test that needs all of it has failed. */
const PATIENCE = 60_000;

/** A wait that took longer is told of: what is slow is worth a look. */
const LONG = 5_000;

/** The most that one look may count: a machine that was asleep, or a clock that jumped, is no reason to give up. */
const STEP = 1_000;

/** Asks `look` again and again until it answers something; fails with what was waited for and what was seen last. */
export async function until(what, look, ms = PATIENCE) {
  let waited = 0;
  let seen = "";
  for (let last = performance.now(); ;) {
    try {
      const found = await look();
      if (found) {
        if (waited > LONG) console.error(`waited ${(waited / 1000).toFixed(1)} s for: ${what}`);
        return found;
      }
      seen = "";
    } catch (error) {
      if (error?.final) throw error;
      seen = `; ${error?.message ?? error}`;
    }
    const now = performance.now();
    waited += Math.min(now - last, STEP);
    last = now;
    if (waited > ms) throw new Error(`waited ${ms / 1000} s for: ${what}${seen}`);
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
