/** S1: agents of the hub and of its registry. */
import { html, nothing } from 'lit';
import { api } from '../api.js';
import { empty, failure, skeleton } from '../components/bits.js';
import { Part } from '../components/element.js';
import '../components/table.js';
import { count, duration, line, plural } from '../format.js';
import { watch } from '../live.js';
import { go, link, setQuery } from '../route.js';
import { columns, hosted, probed, unreachable } from './agents-row.js';

/** @typedef {import('../types.js').Found} Found */

const FACETS = /** @type {Record<string, string>} */ ({ health: 'Health', trust: 'Signature', tag: 'Tag', provider: 'Provider', dialect: 'Version', status: 'Status' });
const PAGE = 100;
const PROBED = 12;

class Agents extends Part {
  static properties = {
    route: { attribute: false }, session: { attribute: false }, rows: { state: true }, facets: { state: true }, error: { state: true }, busy: { state: true }, checks: { state: true }, now: { state: true },
  };

  constructor() {
    super();
    /** @type {import('../types.js').Route} */
    this.route = /** @type {any} */ (undefined);
    /** @type {Found[]} */
    this.rows = [];
    /** @type {{total: number, facets: Record<string, {others: number, buckets: {value: string, count: number}[]}>} | undefined} */
    this.facets = undefined;
    /** @type {any} */
    this.error = undefined;
    this.busy = true;
    /** @type {Map<string, unknown>} */
    this.checks = new Map();
    /** @type {string | undefined} */
    this.next = undefined;
    this.now = Date.now();
    this.loaded = '?';
    this.entry = '';
    this.abort = new AbortController();
  }

  connectedCallback() {
    super.connectedCallback();
    this.loaded = '?';
    this.listen(document, 'paste', event => this.pasted(event));
    this.until(watch(changes => changes.some(change => change.kind === 'agent' || change.kind === 'gap') && this.load()));
    const clock = setInterval(() => !document.hidden && (this.now = Date.now()), 10_000);
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
    if (/** @type {HTMLElement} */ (event.target).closest?.('input, textarea, dialog')) return;
    const text = event.clipboardData?.getData('text/plain') ?? '';
    const { addAgent, isAddable } = await import('./agents-add.js');
    if (isAddable(text)) addAgent(text, () => this.load());
  }

  async add() {
    const { addAgent } = await import('./agents-add.js');
    addAgent('', () => this.load());
  }

  /** @param {string} id */
  async show(id) {
    const { showEntry } = await import('./agents-add.js');
    const known = this.rows.find(found => found.agent.id === id)?.agent;
    await showEntry(known ?? /** @type {any} */ ({ id, name: id }));
    setQuery({ entry: undefined });
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
      this.rows = page.rows;
      this.next = page.next;
      this.readProbes(signal);
    } catch (error) {
      if (signal.aborted) return;
      if (/** @type {any} */ (error).status === 404) await this.plain(q);
      else this.error = error;
    }
    this.busy = false;
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
    const facets = await api.facets({ ...this.filter, ...words, facet: Object.keys(FACETS), limit: 12 }, signal).catch(() => undefined);
    if (!signal.aborted && facets) this.facets = facets;
  }

  /** Times of the last probes of agents that are not up. @param {AbortSignal} signal */
  async readProbes(signal) {
    const ill = this.rows.filter(({ agent }) => agent.health?.status === 'down' || agent.health?.status === 'degraded').slice(0, PROBED);
    const probes = await Promise.all(ill.map(({ agent }) => probed(agent)));
    if (signal.aborted || !ill.length) return;
    const byId = new Map(ill.map(({ agent }, i) => [agent.id, probes[i]]));
    this.rows = this.rows.map(found => (byId.has(found.agent.id) ? { ...found, agent: { ...found.agent, health: byId.get(found.agent.id) } } : found));
  }

  /** A hub without a registry has the plain list. @param {string | undefined} q */
  async plain(q) {
    try {
      const { agents } = await api.agents();
      const words = (q ?? '').toLowerCase();
      this.rows = agents.filter(each => `${each.name} ${each.description}`.toLowerCase().includes(words))
        .map(each => ({ agent: { id: each.name, name: each.name, description: each.description, owner: '*', metadata: { agent: each.name } } }));
    } catch (error) {
      this.error = error;
    }
  }

  async more() {
    if (!this.next || this.busy) return;
    this.busy = true;
    const { signal } = this.abort;
    const page = await this.page(this.route.query.get('q') ?? undefined, this.next, signal).catch(() => undefined);
    if (page && !signal.aborted) {
      const known = new Set(this.rows.map(found => found.agent.id));
      this.rows = [...this.rows, ...page.rows.filter(found => !known.has(found.agent.id))];
      this.next = page.next;
    }
    this.busy = false;
  }

  /** Reads the card now: from this hub, or by the registry from where the entry was registered. @param {Found} found */
  async check(found) {
    const { id, health: before } = found.agent;
    const agent = hosted(found.agent);
    const begun = performance.now();
    this.checks = new Map(this.checks).set(id, html`<i class="spin"></i>`);
    /** @type {unknown} */
    let told;
    /** @type {import('../types.js').Health | undefined} */
    let health;
    try {
      await (agent ? api.card(agent) : api.refetch(id));
      told = `card read in ${duration(performance.now() - begun)}`;
    } catch (error) {
      const fault = /** @type {import('../api.js').ApiError} */ (error);
      if (fault.reason === 'NOT_FETCHED') health = unreachable(fault.message, before);
      else if (fault.reason !== 'INVALID_PARAMS') told = html`<span class="bad-text" title=${`${line(fault.message, 300)} (request ${fault.trace})`}>${line(fault.message, 80)}</span>`; // else a pasted card
    }
    if (!agent) health ??= await probed(found.agent);
    if (health) this.rows = this.rows.map(each => (each.agent.id === id ? { ...each, agent: { ...each.agent, health } } : each));
    this.checks = new Map(this.checks).set(id, told);
  }

  render() {
    const { query } = this.route;
    const total = this.facets?.total ?? this.rows.length;
    return html`<div class="head"><div class="grow"><h1>Agents</h1><span class="dim">Paste the address of an agent or a card anywhere on this page to add it.</span></div>
        <button type="button" class="btn main" @click=${this.add}>Add agent</button></div>
      <div class="filters" role="search"><input type="search" class="grow" placeholder="Name, skill, tag or example" aria-label="Search agents" .value=${query.get('q') ?? ''}
        @input=${(/** @type {any} */ event) => setQuery({ q: event.target.value.trim() })}>${this.chips(query)}</div>
      ${failure(this.error, () => this.load())}
      <div class=${this.facets?.total ? 'with-facets' : ''}>${this.facetList(query)}<div class="stack">
        ${this.list(query)}
        ${this.rows.length ? html`<p class="dim foot-line"><span>${plural(total, 'agent')}</span><span class="wide"><kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> open, <kbd>/</kbd> search</span></p>` : nothing}
      </div></div>`;
  }

  /** Filters that are set, each with a button that removes it. @param {URLSearchParams} query */
  chips(query) {
    return Object.keys(FACETS).flatMap(name => query.getAll(name).map(value => html`<span class="chip on">${FACETS[name]}: ${line(value, 40)}
      <button type="button" class="icon" aria-label=${`Remove ${line(value, 40)}`} @click=${() => this.toggle(name, value)}>×</button></span>`));
  }

  /** @param {string} name @param {string} value */
  toggle(name, value) {
    const query = new URLSearchParams(this.route.query);
    const values = query.getAll(name);
    query.delete(name);
    for (const each of values.includes(value) ? values.filter(one => one !== value) : [...values, value]) query.append(name, each);
    go(`${link('agents')}${query.size ? `?${query}` : ''}`);
  }

  /** @param {URLSearchParams} query */
  facetList(query) {
    const shown = Object.entries(FACETS).map(([name, title]) => ({ name, title, buckets: this.facets?.facets[name]?.buckets ?? [], others: this.facets?.facets[name]?.others ?? 0 })).filter(each => each.buckets.length > 1 || query.has(each.name)); // one value for all filters nothing
    if (!shown.length) return nothing;
    return html`<aside class="facets" aria-label="Filters">${shown.map(({ name, title, buckets, others }) => html`<h2>${title}</h2><ul>${buckets.map(({ value, count: number }) => {
      const on = query.getAll(name).includes(value);
      return html`<li><button type="button" class="facet ${on ? 'on' : ''}" aria-pressed=${on} @click=${() => this.toggle(name, value)}><span class="cut">${line(value, 60)}</span><span class="dim num">${count(number)}</span></button></li>`;
    })}${others ? html`<li class="dim">${count(others)} more</li>` : nothing}</ul>`)}</aside>`;
  }

  /** @param {URLSearchParams} query */
  list(query) {
    if (this.rows.length) {
      return html`<div class="card"><parley-rows class="agents" label="Agents" .rows=${this.rows} .columns=${columns(this.words, this.now, found => this.check(found), this.checks)}
        .rowKey=${(/** @type {Found} */ found) => found.agent.id} .more=${!!this.next} @more=${this.more}></parley-rows></div>`;
    }
    if (this.busy) return html`<div class="card">${skeleton(7)}</div>`;
    if (this.error) return nothing;
    return html`<div class="card">${query.size ? empty('No agent matches', 'The search looks at names, skills, tags and examples.', html`<button type="button" class="btn" @click=${() => go(link('agents'))}>Show all agents</button>`)
      : empty('No agent yet', html`Start one of the demo agents with <code>parley up</code>, or add an agent by its address.`, html`<button type="button" class="btn main" @click=${this.add}>Add agent</button>`)}</div>`;
  }
}

customElements.define('screen-agents', Agents);
