/** S4: tasks of all agents, live. */
import { html, nothing } from 'lit';
import { hubNow } from '../api.js';
import { empty, failure, skeleton } from '../components/bits.js';
import { Part } from '../components/element.js';
import '../components/table.js';
import { isTerminal, plural } from '../format.js';
import { watch } from '../live.js';
import { part } from '../part.js';
import { go, link } from '../route.js';
import { TaskList } from './task-list.js';
import { FILTERS, OPERATOR_FILTERS, SPANS, columns, figures, filterBar } from './tasks-filters.js';
import { viewBar } from './tasks-views.js';

/** @typedef {import('../types.js').TaskRow} TaskRow */

const TOP = 240; // px; a reader who is further down is not disturbed by rows on top

class Tasks extends Part {
  static properties = { route: { attribute: false }, session: { attribute: false }, chosen: { state: true }, now: { state: true } };

  constructor() {
    super();
    this.route = /** @type {import('../types.js').Route} */ (/** @type {any} */ ({ query: new URLSearchParams() }));
    this.session = /** @type {import('../types.js').Session | undefined} */ (undefined);
    this.chosen = /** @type {Set<string>} */ (new Set());
    this.now = hubNow();
    this.loaded = '?';
    this.tasks = new TaskList(() => this.filter, () => scrollY > TOP || this.chosen.size > 0);
  }

  connectedCallback() {
    super.connectedCallback();
    this.loaded = '?'; // read again when the screen comes back
    this.requestUpdate();
    this.listen(this.tasks, 'change', () => this.requestUpdate());
    this.until(watch(changes => this.tasks.apply(changes)));
    const clock = setInterval(() => !document.hidden && (this.now = hubNow()), 1_000);
    this.until(() => clearInterval(clock));
    this.until(() => this.tasks.stop());
  }

  willUpdate() {
    const wanted = this.route.query.toString();
    if (wanted === this.loaded) return;
    this.loaded = wanted;
    this.chosen = new Set();
    this.tasks.load();
  }

  /** Parameters of the operation, from those of the address. @returns {Record<string, string | undefined>} */
  get filter() {
    const { query } = this.route;
    const filter = Object.fromEntries([...FILTERS, ...OPERATOR_FILTERS].map(name => [name, query.get(name) ?? undefined]));
    const span = SPANS[filter.since ?? ''];
    if (span) filter.since = new Date(hubNow() - span[1]).toISOString();
    return filter;
  }

  showNewer() {
    scrollTo(0, 0);
    this.chosen = new Set();
    this.tasks.load();
  }

  /** @param {'cancel' | 'retry'} kind */
  async act(kind) {
    const { act } = await part(import('./tasks-act.js'));
    const rows = this.tasks.rows.filter(row => this.chosen.has(row.taskId));
    await act(kind, rows);
    this.chosen = new Set(); // the rows change by the feed
  }

  render() {
    const { query } = this.route;
    return html`<div class="head">
        <div class="grow"><h1>Tasks</h1><span class="dim">All agents that you may see, newest first.</span></div>
        <a class="btn main" href=${link('agents')}>New task</a>
      </div>
      ${figures(query, this.tasks.counts)}
      ${viewBar(query)}
      ${filterBar(query, this.tasks.counts, !!this.session?.scopes?.includes('admin'))}
      ${failure(this.tasks.error, () => this.tasks.load())}
      ${this.list(query)}`;
  }

  /** @param {URLSearchParams} query */
  list(query) {
    const { rows, newer } = this.tasks;
    if (!rows.length) return this.none(query);
    const chosen = rows.filter(row => this.chosen.has(row.taskId));
    return html`${chosen.length ? this.bulk(chosen) : nothing}
      ${newer ? html`<button type="button" class="newer" @click=${this.showNewer}>${plural(newer, 'newer task')}</button>` : nothing}
      <div class="card"><parley-rows class="tasks" label="Tasks" .rows=${rows} .columns=${COLUMNS} .rowKey=${KEY} .chosen=${this.chosen} .now=${this.now}
        .more=${this.tasks.hasMore && !this.tasks.moreError && !this.tasks.isPaused} @more=${() => this.tasks.more()}
        @chosen=${(/** @type {CustomEvent} */ event) => (this.chosen = event.detail)}></parley-rows></div>
      ${failure(this.tasks.moreError, () => this.tasks.more(true))}
      ${this.tasks.isPaused && !this.tasks.busy ? html`<p>${this.further()}</p>` : nothing}
      <p class="dim foot-line"><span>${plural(rows.length, 'task')}${this.tasks.hasMore ? ' so far' : ''}</span>
        <span class="wide"><kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> open, <kbd>x</kbd> choose, <kbd>/</kbd> search</span></p>`;
  }

  /** A list without rows. @param {URLSearchParams} query */
  none(query) {
    if (this.tasks.busy) return html`<div class="card">${skeleton(8)}</div>`;
    if (this.tasks.error) return nothing;
    if (this.tasks.hasMore) {
      return html`<div class="card">${empty('No task matches so far', 'The newest tasks were searched.', this.further())}</div>${failure(this.tasks.moreError)}`;
    }
    const isFiltered = [...FILTERS, ...OPERATOR_FILTERS].some(name => query.get(name));
    return html`<div class="card">${isFiltered
      ? empty('No task matches', 'Remove a filter to see more.', html`<button type="button" class="btn" @click=${() => go(link('tasks'))}>Show all tasks</button>`)
      : empty('No task yet', 'Send a message to an agent, and its task appears here while it runs.', html`<a class="btn main" href=${link('agents')}>Choose an agent</a>`)}</div>`;
  }

  further() {
    return html`<button type="button" class="btn" @click=${() => this.tasks.more(true)}>Search older tasks</button>`;
  }

  /** @param {TaskRow[]} chosen */
  bulk(chosen) {
    return html`<div class="bulk" role="toolbar" aria-label="Chosen tasks"><b>${plural(chosen.length, 'task')} chosen</b>
      <button type="button" class="btn bad" ?disabled=${chosen.every(row => isTerminal(row.state))} @click=${() => this.act('cancel')}>Cancel…</button>
      <button type="button" class="btn" @click=${() => this.act('retry')}>Send again…</button>
      <button type="button" class="link" @click=${() => (this.chosen = new Set())}>Choose none</button></div>`;
  }
}

const COLUMNS = columns();
const KEY = (/** @type {TaskRow} */ row) => row.taskId;

customElements.define('screen-tasks', Tasks);
