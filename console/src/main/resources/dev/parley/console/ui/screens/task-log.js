/** One task with its events, read from the hub and kept current. */
import { api } from '../api.js';
import { isTerminal } from '../format.js';
import { apply } from '../model.js';

const PAGE = 500;
const AT_FIRST = 2_000; // events that are read without a click, the newest
const MOST = 10_000; // events that are kept
const PAUSE = 500; // ms between two reads

/** Dispatches {@code change}. After {@code stop} nothing changes: another task has a log of its own. */
export class TaskLog extends EventTarget {
  #life = new AbortController();
  #isStale = false;
  #reading = false;

  /** @param {string} id @param {string | undefined} group of a task of others, for operators */
  constructor(id, group) {
    super();
    this.id = id;
    this.group = group;
    this.row = /** @type {import('../types.js').TaskRow | undefined} */ (undefined);
    this.task = /** @type {import('../types.js').Task | undefined} */ (undefined);
    /** Events without a gap, up to the newest. @type {import('../types.js').NumberedEvent[]} */
    this.events = [];
    this.error = /** @type {any} */ (undefined);
    /** Why older events, or an action, failed. @type {any} */
    this.problem = undefined;
    this.busy = false;
  }

  #changed() {
    if (!this.#life.signal.aborted) this.dispatchEvent(new Event('change'));
  }

  stop() {
    this.#life.abort();
  }

  get hasEarlier() {
    return (this.events[0]?.number ?? 1) > 1;
  }

  async load() {
    const { signal } = this.#life;
    this.error = undefined;
    this.#reading = true;
    try {
      let page = await this.#page(0);
      const all = page.task.events ?? 0;
      if (page.next && all > AT_FIRST) page = await this.#page(all - AT_FIRST);
      this.events = page.events;
      this.row = page.task;
      await this.#readOn(page.next);
      await this.#readTask();
    } catch (error) {
      if (!signal.aborted) this.error = error;
    }
    this.#reading = false;
    this.#changed();
    if (this.#isStale) this.follow(); // a change that came meanwhile
  }

  /** @param {number} after @param {number} [limit] */
  #page(after, limit = PAGE) {
    return api.history(this.id, { after, limit, group: this.group }, this.#life.signal);
  }

  /** Reads the events after those that are here. @param {number | undefined} next undefined if there are none */
  async #readOn(next) {
    for (let after = next; after !== undefined; ) {
      const page = await this.#page(after);
      this.row = page.task;
      this.events = [...this.events, ...page.events].slice(-MOST);
      after = page.events.length ? page.next : undefined;
    }
  }

  /** Reads what is new, at most twice a second, and only if the feed tells of something. */
  async follow() {
    this.#isStale = true;
    if (this.#reading || !this.row) return;
    this.#reading = true;
    const { signal } = this.#life;
    while (this.#isStale && !signal.aborted) {
      this.#isStale = false;
      const begun = performance.now();
      try {
        await this.#advance();
      } catch {
        // the next change reads again
      }
      await new Promise(resolve => setTimeout(resolve, Math.max(PAUSE, 10 * (performance.now() - begun))));
    }
    this.#reading = false;
  }

  /** Pieces of artifacts are not put together here: the task may have some of them already. */
  async #advance() {
    const last = this.events.at(-1)?.number ?? 0;
    await this.#readOn(last);
    const fresh = this.events.filter(each => each.number > last);
    if (!fresh.length || !this.task) return this.#changed();
    if (fresh.every(({ event }) => event.statusUpdate && !isTerminal(event.statusUpdate.status.state))) {
      this.task = fresh.reduce((task, { event }) => apply(task, event) ?? task, this.task);
    } else {
      await this.#readTask();
    }
    this.#changed();
  }

  /** The task as its agent tells it; of an agent that is gone, or a task of others, as its events tell it. */
  async #readTask() {
    const row = /** @type {import('../types.js').TaskRow} */ (this.row);
    try {
      this.task = await api.task(row.agent, this.id, this.#life.signal);
    } catch (error) {
      if (this.#life.signal.aborted) throw error;
      /** @type {import('../types.js').Task} */
      const begin = { id: this.id, contextId: row.contextId, status: { state: row.state, timestamp: row.updated } };
      this.task = this.events.reduce((/** @type {import('../types.js').Task | undefined} */ task, { event }) => apply(task, event), undefined) ?? begin;
    }
  }

  /** Reads events before those that are here. */
  async earlier() {
    const first = this.events[0]?.number ?? 1;
    const count = Math.min(PAGE, first - 1);
    if (this.busy || count < 1) return;
    await this.#act(async () => {
      /** @type {import('../types.js').NumberedEvent[]} */
      let older = [];
      for (let after = first - 1 - count; after < first - 1; ) { // a page may end before its limit
        const page = await this.#page(after, first - 1 - after);
        if (!page.events.length) break;
        older = [...older, ...page.events];
        after = page.events[page.events.length - 1].number;
      }
      this.events = [...older, ...this.events];
    });
  }

  cancel() {
    return this.#act(async () => {
      const { row } = this;
      if (row) this.task = await api.cancel(row.agent, row.taskId);
      this.follow();
    });
  }

  /** @param {() => Promise<void>} work */
  async #act(work) {
    this.busy = true;
    this.problem = undefined;
    this.#changed();
    try {
      await work();
    } catch (error) {
      this.problem = error;
    }
    this.busy = false;
    this.#changed();
  }
}
