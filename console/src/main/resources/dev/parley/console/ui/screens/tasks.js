/** S4: tasks of all agents, live. */
import { html, nothing } from 'lit';
import { api } from '../api.js';
import { empty, failure, skeleton } from '../components/bits.js';
import { Part } from '../components/element.js';
import '../components/table.js';
import { count, isTerminal, plural } from '../format.js';
import { watch } from '../live.js';
import { go, link } from '../route.js';
import { FILTERS, SPANS, columns, figures, filterBar } from './tasks-filters.js';
import { viewBar } from './tasks-views.js';

/** @typedef {import('../types.js').TaskRow} TaskRow */

const PAGE = 100;

class Tasks extends Part {
  static properties = {
    route: { attribute: false }, session: { attribute: false }, rows: { state: true }, error: { state: true }, busy: { state: true }, counts: { state: true },
    chosen: { state: true }, newer: { state: true }, now: { state: true },
  };

  constructor() {
    super();
    /** @type {import('../types.js').Route} */
    this.route = /** @type {any} */ ({ query: new URLSearchParams() });
    /** @type {TaskRow[]} */
    this.rows = [];
    /** Rows that came while the reader is further down. @type {TaskRow[]} */
    this.newer = [];
    /** @type {string | undefined} */
    this.next = undefined;
    /** @type {number | undefined} */
    this.total = undefined;
    /** @type {any} */
    this.error = undefined;
    this.busy = true;
    /** @type {import('../types.js').Counts | undefined} */
    this.counts = undefined;
    /** @type {Set<string>} */
    this.chosen = new Set();
    this.now = Date.now();
    this.loaded = '?';
    this.abort = new AbortController();
    this.refreshing = false;
    this.stale = false;
  }

  connectedCallback() {
    super.connectedCallback();
    this.until(watch(changes => this.changed(changes)));
    const clock = setInterval(() => !document.hidden && (this.now = Date.now()), 1_000);
    this.until(() => clearInterval(clock));
    this.loaded = '?';
  }

  willUpdate() {
    const wanted = this.route.query.toString();
    if (wanted !== this.loaded) {
      this.loaded = wanted;
      this.load();
    }
  }

  /** Parameters of the operation, from those of the address. @returns {Record<string, string | undefined>} */
  get filter() {
    const { query } = this.route;
    const filter = Object.fromEntries(FILTERS.map(name => [name, query.get(name) ?? undefined]));
    const span = SPANS[filter.since ?? ''];
    if (span) filter.since = new Date(Date.now() - span[1]).toISOString();
    return filter;
  }

  async load() {
    this.abort.abort();
    const { signal } = (this.abort = new AbortController());
    this.busy = true;
    this.error = undefined;
    this.chosen = new Set();
    this.newer = [];
    try {
      const [page, counts] = await Promise.all([api.tasks({ ...this.filter, pageSize: PAGE }, signal), api.counts({ agent: this.filter.agent }).catch(() => undefined)]);
      if (signal.aborted) return;
      Object.assign(this, { rows: page.tasks, next: page.next, total: page.total, counts });
      while (!this.rows.length && this.next) { // a page of a search ends after a while, with or without tasks
        const further = await api.tasks({ ...this.filter, pageSize: PAGE, after: this.next }, signal);
        if (signal.aborted) return;
        Object.assign(this, { rows: further.tasks, next: further.next });
      }
    } catch (error) {
      if (signal.aborted) return;
      this.error = error;
    }
    this.busy = false;
  }

  async loadMore() {
    if (!this.next || this.busy) return;
    const { signal } = this.abort;
    this.busy = true;
    try {
      const page = await api.tasks({ ...this.filter, pageSize: PAGE * 2, after: this.next }, signal);
      const known = new Set(this.rows.map(row => row.taskId));
      this.rows = [...this.rows, ...page.tasks.filter(row => !known.has(row.taskId))];
      this.next = page.next;
    } catch (error) {
      if (signal.aborted) return;
      this.error = error;
    }
    this.busy = false;
  }

  /** @param {import('../types.js').Change[]} changes */
  changed(changes) {
    const states = new Map();
    let touched = changes.some(change => change.kind === 'gap');
    if (touched) api.counts({ agent: this.filter.agent }).then(counts => (this.counts = counts), () => {});
    for (const change of changes) {
      if (change.kind === 'task') {
        states.set(change.taskId, change);
        this.tally(change);
      }
      touched ||= change.kind === 'task' || change.kind === 'progress';
    }
    if (states.size) {
      this.rows = this.rows.map(row => {
        const change = states.get(row.taskId);
        return change && change.at >= row.updated ? { ...row, state: change.state, updated: change.at } : row;
      });
    }
    if (touched) this.refresh();
  }

  /** Keeps the counts by the feed. @param {import('../types.js').Change} change */
  tally(change) {
    const agent = this.filter.agent;
    if (!this.counts || (agent && agent !== change.agent) || change.state === change.before) return;
    const states = { ...this.counts.states };
    if (change.before) states[change.before] = Math.max(0, (states[change.before] ?? 0) - 1);
    if (change.state) states[change.state] = (states[change.state] ?? 0) + 1;
    this.counts = { ...this.counts, states };
  }

  /** Reads the rows that changed, at most once a second, and only if something did. */
  async refresh() {
    this.stale = true;
    if (this.refreshing) return;
    this.refreshing = true;
    while (this.stale && this.isConnected) {
      this.stale = false;
      const { signal } = this.abort;
      const newest = this.rows.reduce((latest, row) => (row.updated > latest ? row.updated : latest), '');
      const since = [this.filter.since, newest].filter(Boolean).sort().at(-1);
      const page = await api.tasks({ ...this.filter, since, pageSize: PAGE }, signal).catch(() => undefined);
      if (page && !signal.aborted) this.merge(page.tasks);
      await new Promise(resolve => setTimeout(resolve, 1_000));
    }
    this.refreshing = false;
  }

  /** @param {TaskRow[]} fresh */
  merge(fresh) {
    const byId = new Map(fresh.map(row => [row.taskId, row]));
    const rows = this.rows.map(row => {
      const replacement = byId.get(row.taskId);
      byId.delete(row.taskId);
      return replacement ?? row;
    });
    const unknown = [...byId.values()];
    if (scrollY > 240 || this.chosen.size) {
      this.rows = rows;
      const known = new Set(unknown.map(row => row.taskId));
      this.newer = [...unknown, ...this.newer.filter(row => !known.has(row.taskId))];
      return;
    }
    this.rows = [...unknown, ...rows].sort((a, b) => (a.updated < b.updated ? 1 : a.updated > b.updated ? -1 : 0));
  }

  showNewer() {
    scrollTo(0, 0);
    this.rows = [...this.newer, ...this.rows];
    this.newer = [];
  }

  /** @param {'cancel' | 'retry'} kind */
  async act(kind) {
    const { act } = await import('./tasks-act.js');
    const rows = this.rows.filter(row => this.chosen.has(row.taskId));
    await act(kind, rows);
    this.chosen = new Set();
    this.refresh();
  }

  render() {
    const { query } = this.route;
    return html`<div class="head">
        <div class="grow"><h1>Tasks</h1><span class="dim">All agents that you may see, newest first.</span></div>
        <a class="btn main" href=${link('agents')}>New task</a>
      </div>
      ${figures(query, this.counts)}
      ${viewBar(query)}
      ${filterBar(query, this.counts)}
      ${this.error ? failure(this.error, () => this.load()) : nothing}
      ${this.list(query)}`;
  }

  /** @param {URLSearchParams} query */
  list(query) {
    if (!this.rows.length) {
      if (this.busy) return html`<div class="card">${skeleton(8)}</div>`;
      if (this.error) return nothing;
      const filtered = FILTERS.some(name => query.get(name));
      return html`<div class="card">${filtered
        ? empty('No task matches', 'Remove a filter to see more.', html`<button type="button" class="btn" @click=${() => go(link('tasks'))}>Show all tasks</button>`)
        : empty('No task yet', 'Send a message to an agent, and its task appears here while it runs.', html`<a class="btn main" href=${link('agents')}>Choose an agent</a>`)}</div>`;
    }
    const chosen = this.rows.filter(row => this.chosen.has(row.taskId));
    return html`${chosen.length ? html`<div class="bulk" role="toolbar" aria-label="Chosen tasks"><b>${plural(chosen.length, 'task')} chosen</b>
        <button type="button" class="btn bad" ?disabled=${chosen.every(row => isTerminal(row.state))} @click=${() => this.act('cancel')}>Cancel…</button>
        <button type="button" class="btn" @click=${() => this.act('retry')}>Send again…</button>
        <button type="button" class="link" @click=${() => (this.chosen = new Set())}>Choose none</button></div>` : nothing}
      ${this.newer.length ? html`<button type="button" class="newer" @click=${this.showNewer}>${plural(this.newer.length, 'newer task')}</button>` : nothing}
      <div class="card"><parley-rows class="tasks" label="Tasks" .rows=${this.rows} .columns=${columns(this.now)} .rowKey=${(/** @type {TaskRow} */ row) => row.taskId} .chosen=${this.chosen} .more=${!!this.next} .now=${this.now}
        .total=${this.total ?? -1} @more=${this.loadMore} @chosen=${(/** @type {CustomEvent} */ event) => (this.chosen = event.detail)}></parley-rows></div>
      <p class="dim foot-line"><span>${this.total === undefined ? plural(this.rows.length, 'task') + (this.next ? ' so far' : '') : `${count(this.rows.length)} of ${plural(this.total, 'task')}`}</span>
        <span class="wide"><kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> open, <kbd>x</kbd> choose, <kbd>/</kbd> search</span></p>`;
  }
}

customElements.define('screen-tasks', Tasks);
