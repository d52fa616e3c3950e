/** Conversations of a caller with an agent, from its tasks: read page by page, and kept current by the changes of the hub. */
import { api } from '../api.js';
import { line } from '../format.js';

const PAGE = 100;
const PAUSE = 1_000; // ms between two reads

/** @typedef {import('../types.js').TaskRow} TaskRow */

/** Dispatches {@code change}. After {@code stop} nothing changes: another agent has a history of its own. */
export class History extends EventTarget {
  #life = new AbortController();
  #isStale = false;
  #reading = false;

  /** @param {string} agent */
  constructor(agent) {
    super();
    this.agent = agent;
    /** Newest first; undefined until they are read. @type {TaskRow[] | undefined} */
    this.rows = undefined;
    this.next = /** @type {string | undefined} */ (undefined);
    this.error = /** @type {any} */ (undefined);
  }

  stop() {
    this.#life.abort();
  }

  /** @param {string | undefined} [after] page after which it goes on; undefined for the newest tasks */
  async load(after) {
    const { signal } = this.#life;
    this.error = undefined;
    try {
      const page = await api.tasks({ agent: this.agent, pageSize: PAGE, after }, signal);
      const before = this.rows ?? [];
      const ids = new Set((after ? before : page.tasks).map(row => row.taskId));
      const others = (after ? page.tasks : before).filter(row => !ids.has(row.taskId));
      if (after || !before.length) this.next = page.next;
      this.rows = after ? [...before, ...others] : [...page.tasks, ...others];
    } catch (error) {
      if (signal.aborted) return;
      this.error = error;
      this.rows ??= [];
    }
    this.dispatchEvent(new Event('change'));
  }

  /** Tasks of conversations that are known need no read. @param {import('../types.js').Change[]} changes */
  apply(changes) {
    let isChanged = false;
    for (const { kind, agent, taskId, contextId, state, at } of changes) {
      if (kind === 'gap') this.#isStale = true;
      if (kind !== 'task' || agent !== this.agent || !taskId || !contextId || !state || !this.rows) continue;
      const rows = this.rows;
      const row = rows.find(each => each.taskId === taskId);
      if (row) this.rows = [{ ...row, state, updated: at ?? row.updated }, ...rows.filter(each => each !== row)];
      else if (rows.some(each => each.contextId === contextId)) this.rows = [{ taskId, agent, contextId, state, updated: at ?? '', created: at ?? '' }, ...rows];
      else this.#isStale = true;
      isChanged = true;
    }
    if (isChanged) this.dispatchEvent(new Event('change'));
    if (this.#isStale) this.#refresh();
  }

  async #refresh() {
    if (this.#reading) return;
    this.#reading = true;
    while (this.#isStale && !this.#life.signal.aborted) {
      this.#isStale = false;
      const begun = performance.now();
      await this.load();
      await new Promise(resolve => setTimeout(resolve, Math.max(PAUSE, 10 * (performance.now() - begun))));
    }
    this.#reading = false;
  }
}

/**
 * Contexts, the newest first.
 *
 * @param {TaskRow[]} rows newest first
 */
export function contexts(rows) {
  /** @type {Map<string, {id: string, title: string, state: string, updated: string, tasks: number}>} */
  const found = new Map();
  for (const row of rows) {
    const known = found.get(row.contextId);
    const title = line(row.title, 80);
    if (!known) found.set(row.contextId, { id: row.contextId, title, state: row.state, updated: row.updated, tasks: 1 });
    else Object.assign(known, { title: title || known.title, tasks: known.tasks + 1 }); // the first message of the oldest task names it
  }
  return [...found.values()];
}
