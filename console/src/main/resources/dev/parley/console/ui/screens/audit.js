/** S9: the audit log: who did what to what, with which result, from where. */
import { html, nothing } from 'lit';
import { api } from '../api.js';
import { copyButton, empty, failure, skeleton, time } from '../components/bits.js';
import { Screen } from '../components/element.js';
import '../components/json.js';
import '../components/table.js';
import { typed } from '../components/typed.js';
import { csv, ndjson, save } from '../export.js';
import { count, line, plural } from '../format.js';
import { paced, watch } from '../live.js';
import { includes, isCount, placeBefore, rowsBetween } from '../place.js';
import { go, link, setQuery } from '../route.js';

const PAGE = 500; // rows of an answer
const ENOUGH = 60; // rows that fill a page
const LONGEST_EXPORT = 100_000; // rows, the newest
const FAR = 5_000; // rows; a longer gap begins anew
const MOST = 20_000; // rows that are kept
const FILTERS = [['actor', 'Who'], ['action', 'Action'], ['target', 'On what'], ['group', 'Group']];
const MEMBERS = ['number', 'at', 'group', 'actor', 'action', 'target', 'subject', 'outcome', 'address', 'trace', 'detail', 'hash'];
const BAD = /denied|failed|rejected|refused|error/i;

/** @typedef {{number: number | string, at: string, group: string, actor: string, action: string, target: string, subject?: string, outcome: string, address?: string, trace?: string, detail?: unknown, hash: string}} Row */

/** Address of the log with one filter changed. @param {URLSearchParams} query @param {Record<string, string | undefined>} change */
const filtered = (query, change) => link('audit', { ...Object.fromEntries(query), row: undefined, ...change });

class Audit extends Screen {
  static properties = {
    rows: { state: true }, from: { state: true }, error: { state: true }, busy: { state: true }, isPaused: { state: true }, verified: { state: true }, one: { state: true }, exported: { state: true },
  };

  constructor() {
    super();
    /** Newest first. @type {Row[]} */
    this.rows = [];
    /** Rows after this place were read; undefined before the first read. @type {import('../place.js').Place | undefined} */
    this.from = undefined;
    this.newest = /** @type {import('../place.js').Place} */ (0);
    this.busy = false;
    this.isPaused = false;
    this.error = /** @type {any} */ (undefined);
    /** What the chain of hashes says; {@code 'reads'} while the hub computes it. @type {{good: boolean, rows: number, end: string, broken?: string} | 'reads' | undefined} */
    this.verified = undefined;
    /** Row of the permanent link. @type {Row | 'absent' | undefined} */
    this.one = undefined;
    /** Rows that the export has read so far. @type {number | undefined} */
    this.exported = undefined;
    this.shown = '';
    this.number = '';
    /** Number of the reading: answers of an earlier one are dropped. */
    this.reading = 0;
  }

  connectedCallback() {
    super.connectedCallback();
    // A hub without authentication sends no changes of the audit log: changes of tasks stand for them.
    this.until(watch(changes => changes.some(({ kind }) => kind === 'audit' || kind === 'gap' || (kind === 'task' && !this.session?.methods?.length)) && !this.isPaused && this.follow()));
  }

  willUpdate() {
    const { query } = this.route;
    const number = query.get('row') ?? '';
    if (number !== this.number) {
      this.number = number;
      this.one = this.rows.find(row => String(row.number) === number);
      if (number && !this.one) this.find(number);
    }
    const shown = JSON.stringify(this.filter);
    if (shown === this.shown) return;
    this.shown = shown;
    this.begin();
  }

  get filter() {
    return Object.fromEntries([...FILTERS.map(([name]) => name), 'since'].map(name => [name, this.route.query.get(name) ?? undefined]));
  }

  get columns() {
    const { query } = this.route;
    const by = (/** @type {string} */ name, /** @type {string} */ value) => html`<a class="cut quiet" href=${filtered(query, { [name]: value })} title=${line(value, 200)}>${line(value, 80)}</a>`;
    return /** @type {import('../components/table.js').Column<Row>[]} */ ([
      { name: 'num', label: 'Row', cell: row => html`<a href=${filtered(query, { row: String(row.number) })}>${numbered(row)}</a>` },
      { name: 'at', label: 'Time', cell: row => time(row.at) },
      { name: 'by', label: 'Who', cell: row => by('actor', row.actor) },
      { name: 'what', label: 'Action', cell: row => by('action', row.action) },
      { name: 'target', label: 'On what', cell: row => by('target', row.target) },
      { name: 'st', label: 'Result', cell: row => html`<span class="cut ${BAD.test(row.outcome) ? 'bad-text' : ''}">${line(row.outcome.toLowerCase().replaceAll('_', ' '), 60)}</span>` },
      { name: 'address', label: 'From', cell: row => html`<span class="cut dim">${line(row.address, 60)}</span>` },
    ]);
  }

  /** Begins anew, with the newest rows. */
  async begin() {
    const reading = ++this.reading;
    Object.assign(this, { rows: [], from: undefined, error: undefined, verified: undefined, busy: false });
    try {
      const { number } = await api.auditNewest();
      if (reading !== this.reading) return;
      Object.assign(this, { newest: number, from: number });
      await this.older();
    } catch (error) {
      if (reading === this.reading) this.error = error;
    }
  }

  /** Reads backwards, in steps that grow, until a page is filled. */
  async older() {
    if (this.busy || !this.from) return;
    const { reading } = this;
    const goesOn = () => this.isConnected && reading === this.reading;
    this.busy = true;
    try {
      for (let step = PAGE, found = 0; found < ENOUGH && this.from; step *= 4) {
        const from = await this.earlier(this.from, step);
        if (!goesOn()) return;
        const rows = await this.between(from, this.from, goesOn);
        if (!goesOn()) return;
        found += rows.length;
        Object.assign(this, { from, rows: [...this.rows, ...rows.reverse()], error: undefined });
      }
    } catch (error) {
      if (goesOn()) this.error = error;
    } finally {
      if (reading === this.reading) this.busy = false;
    }
  }

  /** A place that is so many rows earlier, of several hubs as many of each. @param {import('../place.js').Place} place @param {number} rows @returns {Promise<import('../place.js').Place>} */
  async earlier(place, rows) {
    return isCount(place) ? Math.max(0, place - rows) : (await api.auditNewest({ before: place, rows })).number;
  }

  /** Rows after a place up to another, the oldest first. @param {import('../place.js').Place} after @param {import('../place.js').Place} to @param {(rows: number) => boolean} goesOn @returns {Promise<Row[]>} */
  async between(after, to, goesOn) {
    const { filter } = this;
    const rows = [];
    for (let next = /** @type {import('../place.js').Place | undefined} */ (after); next !== undefined && !includes(next, to) && goesOn(rows.length);) {
      const page = await api.audit({ ...filter, after: next, limit: PAGE });
      rows.push(...page.rows.filter(row => includes(to, row.number)));
      next = page.next;
    }
    return rows;
  }

  follow = paced(async () => {
    const { reading, newest, from } = this;
    if (from === undefined) return;
    try {
      const { number } = await api.auditNewest();
      if (rowsBetween(newest, number) > FAR) return await this.begin();
      const rows = !includes(newest, number) ? await this.between(newest, number, () => this.isConnected && reading === this.reading) : [];
      if (reading !== this.reading || this.isPaused) return;
      const all = [...rows.reverse(), ...this.rows];
      if (all.length > MOST && !isCount(number)) return await this.begin(); // the place of a row is not known
      const shown = all.slice(0, MOST);
      Object.assign(this, { newest: number, rows: shown, error: undefined, ...(all.length > MOST ? { from: Number(shown[MOST - 1].number) - 1 } : {}) });
    } catch (error) {
      if (reading === this.reading) this.error = error;
    }
  }, () => this.isConnected);

  /** @param {string} number */
  async find(number) {
    const found = /^[1-9][0-9]{0,18}$/.test(number) ? await this.read(number).catch(error => ((this.error = error), undefined)) : undefined;
    if (number === this.number) this.one = found ?? 'absent';
  }

  /** The row of a number. Rows of other hubs may come before it. @param {string} number @returns {Promise<Row | undefined>} */
  async read(number) {
    let limit = 1;
    for (let next = /** @type {import('../place.js').Place | undefined} */ (placeBefore(number)); next !== undefined && !includes(next, number); limit = PAGE) {
      const page = await api.audit({ after: next, limit });
      const row = page.rows.find(each => String(each.number) === number);
      if (row) return row;
      next = page.next;
    }
    return undefined;
  }

  async verify() {
    this.verified = 'reads';
    this.verified = await api.auditVerify().catch(error => ((this.error = error), undefined));
  }

  /** @param {'csv' | 'ndjson'} kind */
  async export(kind) {
    this.exported = 0;
    try {
      const rows = await this.between(await this.earlier(this.newest, LONGEST_EXPORT), this.newest, read => ((this.exported = read), this.isConnected));
      if (this.isConnected) save(`audit.${kind}`, kind === 'csv' ? csv(MEMBERS, rows) : ndjson(rows));
    } catch (error) {
      this.error = error;
    }
    this.exported = undefined;
  }

  render() {
    const { query } = this.route;
    const q = (query.get('q') ?? '').toLowerCase();
    const rows = q ? this.rows.filter(row => JSON.stringify(row).toLowerCase().includes(q)) : this.rows;
    const isExporting = this.exported !== undefined;
    if (this.error?.status === 404 && !this.rows.length) return html`<div class="head"><h1>Audit</h1></div><div class="card">${empty('No audit log', 'This hub keeps none: it stores its data in memory, or its administration has a port of its own.')}</div>`;
    return html`<div class="head"><div class="grow"><h1>Audit</h1><span class="dim">${isCount(this.newest) ? `${plural(this.newest, 'row')}. ` : ''}Each row is in the transaction of the change that it describes.</span></div>
        <button type="button" class="btn" aria-pressed=${this.isPaused} @click=${() => ((this.isPaused = !this.isPaused), this.isPaused || this.follow(true))}>${this.isPaused ? 'Follow' : 'Pause'}</button>
        <button type="button" class="btn" ?disabled=${this.verified === 'reads'} @click=${this.verify}>Verify</button>
        <button type="button" class="btn" ?disabled=${isExporting} @click=${() => this.export('ndjson')}>NDJSON</button>
        <button type="button" class="btn" ?disabled=${isExporting} @click=${() => this.export('csv')}>CSV</button></div>
      <div class="filters" role="search"><input type="search" class="grow" placeholder="Search the rows that are shown" aria-label="Search" ${typed('q')}>
        ${FILTERS.map(([name, label]) => html`<input class="short" placeholder=${label} aria-label=${label} ${typed(name, 'change')}>`)}</div>
      ${failure(this.error, () => this.begin())}
      ${isExporting ? html`<p class="dim" role="status">Exports: ${plural(this.exported ?? 0, 'row')} so far, of the newest ${count(LONGEST_EXPORT)} of the log</p>` : nothing}
      ${this.chain()}
      <div class=${this.one ? 'cols' : ''}><div class="card">${rows.length ? html`<parley-rows class="audit" label="Rows of the audit log" .rows=${rows} .columns=${this.columns} .rowKey=${KEY} .rowClass=${(/** @type {Row} */ row) => (row.hash === /** @type {any} */ (this.verified)?.end ? 'verified' : '')}
          .more=${!!this.from && !this.busy && !this.error} @more=${this.older}></parley-rows>` : this.from !== 0 && !this.error ? skeleton(8) : empty('No row', 'Remove a filter to see more.', html`<button type="button" class="btn" @click=${() => go(link('audit'))}>Show all rows</button>`)}</div>
        ${this.one === 'absent' ? html`<section class="card" aria-label="Row">${empty('No such row', 'The log has no row of this number.', html`<button type="button" class="btn" @click=${() => setQuery({ row: undefined })}>Close</button>`)}</section>` : this.one ? this.details(this.one) : nothing}</div>
      <p class="dim foot-line"><span>${plural(rows.length, 'row')}${this.from ? ' so far' : ''}</span></p>`;
  }

  chain() {
    if (!this.verified) return nothing;
    if (this.verified === 'reads') return html`<p class="dim" role="status">The hub computes the chain of hashes.</p>`;
    const { good, rows, end, broken } = this.verified;
    return good ? html`<p class="check ok" role="status">Verified to here: ${plural(rows, 'row')}, end <code class="cut">${end}</code> ${copyButton(end)}</p>` : html`<p class="check bad" role="alert">The chain breaks: ${line(broken, 300)}</p>`;
  }

  /** @param {Row} row */
  details(row) {
    const id = /^[0-9a-f-]{36}$/;
    return html`<section class="card" aria-label="Row"><h2 class="row"><span class="grow">Row ${numbered(row)}</span>${copyButton(() => new URL(link('audit', { row: String(row.number) }), location.href).href, 'Copy link')}<button type="button" class="link" @click=${() => setQuery({ row: undefined })}>Close</button></h2>
      <dl class="kv">${MEMBERS.slice(1).filter(member => /** @type {any} */ (row)[member]).map(member => html`<dt>${member}</dt><dd>${member === 'detail' ? html`<parley-json .value=${row.detail}></parley-json>` : member === 'at' ? time(row.at)
        : member === 'target' && row.action.startsWith('task.') && id.test(row.target) ? html`<a href=${link(`tasks/${row.target}`, { group: row.group })}>${row.target}</a>` : member === 'trace' && row.action.startsWith('task.') ? html`<a href=${link(`traces/${row.action === 'task.created' ? row.trace?.slice(3, 35) : row.target}`, { group: row.group })}>${line(row.trace, 60)}</a>` : line(/** @type {any} */ (row)[member], 200)}</dd>`)}</dl></section>`;
  }
}

const KEY = (/** @type {Row} */ row) => String(row.number);

/** The number of a row, which of several hubs is no count. @param {Row} row */
const numbered = row => (isCount(row.number) ? count(row.number) : String(row.number));

customElements.define('screen-audit', Audit);
