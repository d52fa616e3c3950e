/** Rows of the list of tasks: read page by page, and kept current by the changes of the hub. */
import { api } from '../api.js';
import { includes } from '../place.js';
import { fits } from './tasks-filters.js';

/**
 * @typedef {import('../types.js').TaskRow} TaskRow
 * @typedef {import('../types.js').Change} Change
 */

const PAGE = 100;
const MOST = 2_000; // rows that a live list keeps by itself
const EMPTY_PAGES = 20; // pages without a hit that a search reads by itself
const SINGLE = 4; // tasks that are read one by one; more are read as a list
const FRESH_PAGES = 5; // pages of new tasks; after more the list begins anew
const PAUSE = 1_000; // ms between two reads
const PROGRESS_PAUSE = 3_000; // ms, if no task moved
const BEHIND_ALL = 2_000_000_000; // number of an event: the answer has the row of the task and no event
const COUNTS_PAUSE = 15_000; // ms; counts are kept by the changes in between

/** Dispatches {@code change}. The rows keep the times of the hub: those of changes are of the audit, and later. */
export class TaskList extends EventTarget {
  #abort = new AbortController();
  /** Changes by task that are not read yet. @type {Map<string, Change>} */
  #pending = new Map();
  #isGap = false;
  #reading = false;
  #countsDue = 0;
  /** Time after which cut rows are read again. @type {string | undefined} */
  #tail = undefined;
  /** Tasks that came while the reader is further down. @type {Set<string>} */
  #newer = new Set();

  /** @param {() => Record<string, string | undefined>} filter parameters of the operation @param {() => boolean} isHeld whether rows on top would disturb the reader */
  constructor(filter, isHeld) {
    super();
    this.filter = filter;
    this.isHeld = isHeld;
    this.rows = /** @type {TaskRow[]} */ ([]);
    this.next = /** @type {string | undefined} */ (undefined);
    this.error = /** @type {any} */ (undefined);
    /** Why no more rows came. @type {any} */
    this.moreError = undefined;
    this.busy = true;
    this.counts = /** @type {import('../types.js').Counts | undefined} */ (undefined);
  }

  /** A search found nothing in many pages: it goes on when the reader wants it to. */
  isPaused = false;

  get hasMore() {
    return !!this.next || !!this.#tail;
  }

  get newer() {
    return this.#newer.size;
  }

  #changed() {
    this.dispatchEvent(new Event('change'));
  }

  stop() {
    this.#abort.abort();
    clearTimeout(this.#countsDue);
    this.#countsDue = 0;
    this.#pending.clear();
  }

  /** Begins with the newest tasks. */
  async load() {
    this.stop();
    const { signal } = (this.#abort = new AbortController());
    Object.assign(this, { busy: true, error: undefined, moreError: undefined });
    this.#changed();
    this.#tail = undefined;
    this.readCounts();
    try {
      const page = await this.#pages(undefined, signal);
      if (signal.aborted) return;
      this.#newer.clear();
      this.rows = page.tasks;
      this.next = page.next;
    } catch (error) {
      if (signal.aborted) return;
      this.error = error;
    }
    this.busy = false;
    this.#changed();
  }

  /** Reads older tasks. After a failure only on demand. @param {boolean} [again] */
  async more(again = false) {
    if (this.busy || !this.hasMore || ((this.moreError || this.isPaused) && !again)) return;
    const { signal } = this.#abort;
    Object.assign(this, { busy: true, moreError: undefined });
    this.#changed();
    try {
      const page = await this.#pages(this.next, signal);
      if (signal.aborted) return;
      const ids = new Set(this.rows.map(row => row.taskId));
      this.rows = [...this.rows, ...page.tasks.filter(row => !ids.has(row.taskId))];
      this.next = page.next;
      this.#tail = undefined;
    } catch (error) {
      if (signal.aborted) return;
      this.moreError = error;
    }
    this.busy = false;
    this.#changed();
  }

  /** A page; of a search as many as it takes to find something. @param {string | undefined} after @param {AbortSignal} signal */
  async #pages(after, signal) {
    const until = !after && this.rows.length ? this.#tail : undefined;
    const query = { ...this.filter(), ...(until ? { until } : {}), pageSize: after ? 2 * PAGE : PAGE };
    let page = await api.tasks({ ...query, after }, signal);
    for (let i = 1; i < EMPTY_PAGES && !page.tasks.length && page.next && !signal.aborted; i++) page = await api.tasks({ ...query, after: page.next }, signal);
    if (!signal.aborted) this.isPaused = !page.tasks.length && !!page.next;
    return page;
  }

  /** Reads the counts, at once or some time after a change. */
  async readCounts() {
    clearTimeout(this.#countsDue);
    this.#countsDue = 0;
    const { signal } = this.#abort;
    const { agent, group, owner } = this.filter();
    const counts = await api.counts({ agent, group, owner }, signal).catch(() => undefined);
    if (signal.aborted || !counts) return;
    this.counts = counts;
    this.#changed();
  }

  /** @param {Change[]} changes */
  apply(changes) {
    const filter = this.filter();
    const { agent, contextId, caller } = filter;
    const rows = new Map(this.rows.map(row => [row.taskId, row]));
    for (const change of changes) {
      if (change.kind === 'gap') this.#isGap = true;
      if (change.kind === 'task') this.#tally(change);
      if ((change.kind !== 'task' && change.kind !== 'progress') || !change.taskId) continue;
      const row = rows.get(change.taskId);
      if (row && change.kind === 'progress') rows.set(row.taskId, { ...row, status: change.text ?? row.status });
      else if (row && change.state && !(Date.parse(change.at ?? '') < Date.parse(row.updated))) rows.set(row.taskId, { ...row, state: change.state });
      if (row ? change.kind === 'task' && !fits({ agent, contextId, caller, state: change.state }, filter) : change.kind === 'progress' || !fits(change, filter)) continue;
      const before = this.#pending.get(change.taskId);
      this.#pending.set(change.taskId, before?.kind === 'task' ? { ...before, ...change, kind: 'task' } : change);
    }
    if (this.#isGap) this.readCounts();
    if (!this.#isGap && !this.#pending.size) return;
    this.rows = [...rows.values()].filter(row => fits({ agent, contextId, caller, state: row.state }, filter));
    this.#changed();
    this.#read();
  }

  /** Keeps the counts by a change. @param {Change} change */
  #tally(change) {
    const { agent } = this.filter();
    this.#countsDue ||= setTimeout(() => this.readCounts(), COUNTS_PAUSE); // removed tasks are no changes
    if (!this.counts || (change.number !== undefined && includes(this.counts.number ?? 0, change.number)) || (agent && agent !== change.agent) || change.state === change.before) return;
    const states = { ...this.counts.states };
    if (change.before) states[change.before] = Math.max(0, (states[change.before] ?? 0) - 1);
    if (change.state) states[change.state] = (states[change.state] ?? 0) + 1;
    this.counts = { ...this.counts, states };
  }

  /** Reads the tasks that changed, one read after the other; the slower the hub, the less often. */
  async #read() {
    if (this.#reading) return;
    this.#reading = true;
    while (this.#pending.size || this.#isGap) {
      const { signal } = this.#abort;
      const changes = [...this.#pending.values()];
      const isGap = this.#isGap;
      this.#pending.clear();
      this.#isGap = false;
      const begun = performance.now();
      try {
        if (isGap || changes.length > SINGLE || this.filter().q) await this.#readList(signal);
        else this.#merge(await this.#readEach(changes, signal), signal);
      } catch {
        // the next change reads again
      }
      const pause = changes.some(change => change.kind === 'task') ? PAUSE : PROGRESS_PAUSE;
      const least = changes.length <= SINGLE ? PAUSE : pause;
      await new Promise(resolve => setTimeout(resolve, Math.max(least, 10 * (performance.now() - begun))));
      if (signal.aborted && signal === this.#abort.signal) break; // the screen has gone
    }
    this.#reading = false;
  }

  /** @param {Change[]} changes @param {AbortSignal} signal @returns {Promise<TaskRow[]>} */
  async #readEach(changes, signal) {
    const filter = this.filter();
    const { group, owner, until } = filter;
    const answers = await Promise.all(changes.map(({ taskId = '' }) => api.history(taskId, { after: BEHIND_ALL, limit: 1, group, owner }, signal).catch(() => undefined)));
    return answers.flatMap(answer => (answer && fits(answer.task, filter) && !(until && Date.parse(answer.task.updated) > Date.parse(until)) ? [answer.task] : []));
  }

  /** Reads what is newer than the list, or the list anew if that is much. @param {AbortSignal} signal */
  async #readList(signal) {
    const newest = this.rows.reduce((latest, row) => (row.updated > latest ? row.updated : latest), '');
    const since = newest ? new Date(Date.parse(newest) - 1_000).toISOString() : undefined;
    const filter = this.filter();
    const query = { ...filter, since: [filter.since, since].filter(Boolean).sort().at(-1), pageSize: 2 * PAGE };
    /** @type {TaskRow[]} */
    const fresh = [];
    let after;
    for (let i = 0; i < FRESH_PAGES; i++) {
      const page = await api.tasks({ ...query, after }, signal);
      fresh.push(...page.tasks);
      after = page.next;
      if (!after) return this.#merge(fresh, signal);
    }
    if (this.isHeld()) this.#merge(fresh, signal);
    else if (!signal.aborted) await this.load();
  }

  /** @param {TaskRow[]} fresh @param {AbortSignal} signal */
  #merge(fresh, signal) {
    if (signal.aborted) return;
    const byId = new Map(fresh.map(row => [row.taskId, row]));
    const rows = this.rows.map(row => byId.get(row.taskId) ?? row);
    for (const row of this.rows) byId.delete(row.taskId);
    if (this.isHeld()) {
      this.rows = rows;
      for (const id of byId.keys()) if (this.#newer.size < MOST) this.#newer.add(id);
    } else {
      this.rows = [...byId.values(), ...rows].sort((a, b) => (a.updated < b.updated ? 1 : a.updated > b.updated ? -1 : 0));
      this.#cut();
    }
    this.#changed();
  }

  /** A list that only grows at its top forgets its end, which is read again on demand. */
  #cut() {
    if (this.rows.length <= MOST) return;
    this.rows = this.rows.slice(0, MOST / 2);
    this.next = undefined;
    this.#tail = new Date(Date.parse(this.rows[this.rows.length - 1].updated) + 1).toISOString();
  }
}
