/** S1: agents of the hub and of its registry. */
import { html, nothing } from 'lit';
import { api, hubNow } from '../api.js';
import { empty, failure, skeleton } from '../components/bits.js';
import { Part } from '../components/element.js';
import '../components/table.js';
import { typed } from '../components/typed.js';
import { plural } from '../format.js';
import { paced, watch } from '../live.js';
import { part } from '../part.js';
import { go, link, setQuery } from '../route.js';
import { FACETS, chips, facetList } from './agents-facets.js';
import { checkNow, plainList, probesOf } from './agents-read.js';
import { columns } from './agents-row.js';

/** @typedef {import('../types.js').Found} Found */

const PAGE = 50;

export class Agents extends Part {
  static properties = {
    route: { attribute: false }, session: { attribute: false }, rows: { state: true }, facets: { state: true }, error: { state: true }, moreError: { state: true }, busy: { state: true }, checks: { state: true }, now: { state: true },
  };

  constructor() {
    super();
    this.route = /** @type {import('../types.js').Route} */ (/** @type {any} */ (undefined));
    this.session = /** @type {import('../types.js').Session} */ (/** @type {any} */ (undefined));
    this.rows = /** @type {Found[]} */ ([]);
    this.facets = /** @type {{total: number, facets: Record<string, {others: number, buckets: {value: string, count: number}[]}>} | undefined} */ (undefined);
    this.error = /** @type {any} */ (undefined);
    /** Why no further rows came, or no facets. @type {any} */
    this.moreError = undefined;
    this.busy = true;
    this.checks = /** @type {Map<string, unknown>} */ (new Map());
    this.next = /** @type {string | undefined} */ (undefined);
    this.now = hubNow();
    this.loaded = '?';
    this.entry = '';
    this.abort = new AbortController();
  }

  connectedCallback() {
    super.connectedCallback();
    this.loaded = '?';
    this.listen(document, 'paste', event => this.pasted(event));
    this.requestUpdate();
    this.until(() => this.abort.abort());
    this.until(watch(changes => changes.some(change => change.kind === 'agent' || change.kind === 'gap') && this.refresh()));
    const clock = setInterval(() => !document.hidden && (this.now = hubNow()), 10_000);
    this.until(() => clearInterval(clock));
  }

  willUpdate() {
    const query = new URLSearchParams(this.route.query);
    const entry = query.get('entry') ?? '';
    query.delete('entry');
    if (query.toString() !== this.loaded) {
      this.loaded = query.toString();
      this.load();
    }
    if (entry !== this.entry) {
      this.entry = entry;
      if (entry) this.show(entry);
    }
  }

  /** @param {ClipboardEvent} event */
  async pasted(event) {
    if (this.session.isVisitor || /** @type {HTMLElement} */ (event.target).closest?.('input, textarea, dialog')) return;
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if ((await part(import('./agents-add.js'))).isAddable(text)) this.add(text);
  }

  /** @param {string} [text] */
  async add(text) {
    (await part(import('./agents-add.js'))).addAgent(text, () => this.load(), this.route.screen?.open ? 'public' : 'group');
  }

  /** @param {string} id */
  async show(id) {
    const { showEntry } = await part(import('./agents-add.js'));
    await showEntry(id);
    if (this.isConnected && this.entry === id) setQuery({ entry: undefined });
  }

  get words() {
    return (this.route.query.get('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  }

  /** @returns {Record<string, unknown>} */
  get filter() {
    return Object.fromEntries(Object.keys(FACETS).map(name => [name, this.route.query.getAll(name)]));
  }

  async load() {
    this.abort.abort();
    const { signal } = (this.abort = new AbortController());
    const q = this.route.query.get('q') ?? undefined;
    this.busy = true;
    this.error = undefined;
    try {
      const [page] = await Promise.all([this.page(q, undefined, signal), this.readFacets(q, signal)]);
      if (signal.aborted) return;
      this.moreError = undefined;
      this.rows = page.rows;
      this.next = page.next;
      this.readProbes(signal);
    } catch (error) {
      if (signal.aborted) return;
      if (/** @type {any} */ (error).status === 404) await this.plain(q, signal);
      else this.error = error;
    }
    this.busy = false;
  }

  refresh = paced(() => this.again(), () => this.isConnected, 2_000);

  /** Reads the first page again after changes. Rows after it stay. */
  async again() {
    const { signal } = this.abort;
    const q = this.route.query.get('q') ?? undefined;
    const [page] = await Promise.all([this.page(q, undefined, signal), this.readFacets(q, signal)])
      .catch(error => (error.status === 404 ? this.plain(q, signal).then(() => []) : []));
    if (!page || signal.aborted || this.busy) return;
    const ids = new Set(page.rows.map(found => found.agent.id));
    const further = this.rows.length > PAGE ? this.rows.slice(PAGE).filter(found => !ids.has(found.agent.id)) : [];
    this.rows = [...page.rows, ...further];
    if (!further.length) this.next = page.next;
    this.readProbes(signal);
  }

  /** @param {string | undefined} q @param {string | undefined} pageToken @param {AbortSignal} signal @returns {Promise<{rows: Found[], next?: string}>} */
  async page(q, pageToken, signal) {
    const query = { ...this.filter, pageSize: PAGE, pageToken };
    if (q && q.length > 1) { // one letter finds no word
      const found = await api.search({ ...query, q, typing: true }, signal);
      return { rows: found.results, next: found.nextPageToken };
    }
    const list = await api.entries(query, signal);
    return { rows: list.agents.map(agent => ({ agent })), next: list.nextPageToken };
  }

  /** @param {string | undefined} q @param {AbortSignal} signal */
  async readFacets(q, signal) {
    const words = q && q.length > 1 ? { q, typing: true } : {};
    const facets = await api.facets({ ...this.filter, ...words, facet: Object.keys(FACETS), limit: 12 }, signal).catch(() => undefined); // the list has the same error
    if (!signal.aborted && facets) this.facets = facets;
  }

  /** Times of the last probes of agents that are not up. @param {AbortSignal} signal */
  async readProbes(signal) {
    const byId = await probesOf(this.rows);
    if (signal.aborted || !byId.size) return;
    this.rows = this.rows.map(found => (byId.has(found.agent.id) ? { ...found, agent: { ...found.agent, health: byId.get(found.agent.id) } } : found));
  }

  /** A hub without a registry has the plain list. @param {string | undefined} q @param {AbortSignal} signal */
  async plain(q, signal) {
    try {
      const rows = await plainList(q);
      if (!signal.aborted) this.rows = rows;
    } catch (error) {
      if (!signal.aborted) this.error = error;
    }
  }

  /** Reads further rows. After a failure only on demand. */
  async more() {
    if (!this.next || this.busy) return;
    this.busy = true;
    this.moreError = undefined;
    const { signal } = this.abort;
    try {
      const page = await this.page(this.route.query.get('q') ?? undefined, this.next, signal);
      if (signal.aborted) return;
      const ids = new Set(this.rows.map(found => found.agent.id));
      this.rows = [...this.rows, ...page.rows.filter(found => !ids.has(found.agent.id))];
      this.next = page.next;
    } catch (error) {
      if (signal.aborted) return;
      this.moreError = error;
    }
    this.busy = false;
  }

  /** @param {Found} found */
  async check({ agent }) {
    this.checks = new Map(this.checks).set(agent.id, html`<i class="spin"></i>`);
    const { told, health } = await checkNow(agent);
    if (health) this.rows = this.rows.map(each => (each.agent.id === agent.id ? { ...each, agent: { ...each.agent, health } } : each));
    this.checks = new Map(this.checks).set(agent.id, told);
  }

  render() {
    const { query } = this.route;
    const total = this.facets?.total ?? this.rows.length;
    const facets = facetList(query, this.facets);
    return html`${this.heading()}
      <div class="filters" role="search"><input type="search" class="grow" placeholder="Name, skill, tag or example" aria-label="Search agents" ${typed('q')}>${chips(query)}</div>
      ${failure(this.error, () => this.load())}
      <div class=${facets === nothing ? '' : 'with-facets'}>${facets}<div class="stack">
        ${this.list(query)}
        ${this.rows.length ? html`<p class="dim foot-line"><span>${plural(total, 'agent')}</span><span class="wide"><kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> open, <kbd>/</kbd> search</span></p>` : nothing}
      </div></div>`;
  }

  heading() {
    return html`<div class="head"><div class="grow"><h1>Agents</h1><span class="dim">Paste the address of an agent or a card anywhere on this page to add it.</span></div><a class="btn" href=${link('agents/inspect')}>Inspect a card</a><button type="button" class="btn main" @click=${() => this.add()}>Add agent</button></div>`;
  }

  get columns() {
    return columns(this.words, this.now, found => this.check(found), this.checks);
  }

  none() {
    return empty('No agent yet', html`Start one of the demo agents with <code>parley up</code>, or add an agent by its address.`, html`<button type="button" class="btn main" @click=${() => this.add()}>Add agent</button>`);
  }

  /** @param {URLSearchParams} query */
  list(query) {
    if (this.rows.length) {
      return html`<div class="card"><parley-rows class="agents" label="Agents" .rows=${this.rows} .columns=${this.columns}
        .rowKey=${(/** @type {Found} */ found) => found.agent.id} .more=${!!this.next && !this.moreError} @more=${this.more}></parley-rows></div>
        ${failure(this.moreError, () => this.more())}`;
    }
    if (this.busy) return html`<div class="card">${skeleton(7)}</div>`;
    if (this.error) return nothing;
    return html`<div class="card">${query.size ? empty('No agent matches', 'The search looks at names, skills, tags and examples.', html`<button type="button" class="btn" @click=${() => go(location.pathname)}>Show all agents</button>`) : this.none()}</div>`;
  }
}

customElements.define('screen-agents', Agents);
