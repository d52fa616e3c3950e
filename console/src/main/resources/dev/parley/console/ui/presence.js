/** Whether somebody may look at the page. A page that was hidden for a while keeps no stream open: browsers allow six connections to a host over all tabs. */

const PATIENCE = 30_000; // ms; a quick look at another tab closes nothing

/** Dispatches {@code away} and {@code back}. */
class Presence extends EventTarget {
  #timer = 0;
  /** The page has been hidden for {@code PATIENCE}. */
  away = false;
  #stays = false;

  constructor() {
    super();
    document.addEventListener('visibilitychange', () => this.#look());
    addEventListener('pagehide', () => this.#become(true)); // a page that is kept for Back
    addEventListener('pageshow', () => this.#look());
    this.#look();
  }

  /** A hidden page keeps its streams, for notifications. */
  set stays(/** @type {boolean} */ stays) {
    this.#stays = stays;
    this.#look();
  }

  #look() {
    clearTimeout(this.#timer);
    if (document.hidden && !this.#stays) this.#timer = setTimeout(() => this.#become(true), PATIENCE);
    else this.#become(false);
  }

  /** @param {boolean} away */
  #become(away) {
    if (this.away === away) return;
    this.away = away;
    this.dispatchEvent(new Event(away ? 'away' : 'back'));
  }

  /** Ends when the page is not away, or the signal is aborted. @param {AbortSignal} signal */
  async here(signal) {
    if (!this.away || signal.aborted) return;
    await new Promise(resolve => {
      this.addEventListener('back', resolve, { once: true, signal });
      signal.addEventListener('abort', resolve, { once: true });
    });
  }

  /** A signal that is aborted when the page goes away, as long as {@code outer} is not. @param {AbortSignal} outer */
  untilAway(outer) {
    const leaving = new AbortController();
    if (this.away) leaving.abort();
    this.addEventListener('away', () => leaving.abort(), { once: true, signal: outer });
    return leaving.signal;
  }
}

export const presence = new Presence();
