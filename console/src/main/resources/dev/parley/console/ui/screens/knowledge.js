/** S8: the knowledge graph, explored from an entity; queries; updates that wait for a review. */
import { html, nothing } from 'lit';
import { api, hubNow } from '../api.js';
import { empty, failure, skeleton, tabs, time } from '../components/bits.js';
import { Screen } from '../components/element.js';
import '../components/json.js';
import { certaintyText, net, pixels, standalone } from '../components/net.js';
import { save } from '../components/parts.js';
import { Feed } from '../feed.js';
import { places } from '../force.js';
import { age, line, plural, visible } from '../format.js';
import { inbox } from '../inbox.js';
import { MOST, applied, edgeOf, graphSource, neighbours, nodeKey, picture, search, short, termText, text, turtle } from '../knowledge.js';
import { go, link, setQuery } from '../route.js';
import './knowledge-query.js';

const BATCH = 200; // ms in which changes gather
const FRESH = 4_000; // ms; a changed edge stands out
const LISTED = 60; // statements beside the picture
const AGES = /** @type {[string, number][]} */ ([['any', Infinity], ['30d', 2_592_000_000], ['7d', 604_800_000], ['1d', 86_400_000], ['1h', 3_600_000], ['10min', 600_000], ['1min', 60_000]]);

class Knowledge extends Screen {
  static properties = { source: { state: true }, found: { state: true }, graph: { state: true }, edge: { state: true }, fresh: { state: true }, error: { state: true }, searchError: { state: true } };

  constructor() {
    super();
    this.source = /** @type {import('../knowledge.js').Source | null | undefined} */ (undefined); // null: no agent has a graph
    this.found = /** @type {{id: string, types: string[]}[] | undefined} */ (undefined);
    this.graph = /** @type {import('../knowledge.js').Graph} */ ({ start: '', reach: new Map(), pinned: new Set() });
    this.past = /** @type {import('../knowledge.js').Graph[]} */ ([]);
    this.view = picture(this.graph, () => true);
    this.at = /** @type {Map<string, import('../force.js').Place>} */ (new Map());
    this.edge = /** @type {string | undefined} */ (undefined); // key of the chosen one
    this.fresh = /** @type {Set<string>} */ (new Set()); // keys of edges that changed just now
    this.error = /** @type {any} */ (undefined);
    this.searchError = /** @type {any} */ (undefined);
    this.changes = /** @type {any[]} */ ([]); // that are not drawn yet
    this.undone = /** @type {string | undefined} */ (undefined); // start to which the address has to go back
    this.feed = /** @type {Feed | undefined} */ (undefined);
    this.q = this.drawn = this.begun = '';
  }

  connectedCallback() {
    super.connectedCallback();
    const old = new URLSearchParams(location.hash.slice(1)); // parameters of the page that was at /ui/graph
    if (old.size) go(link('kg', { entity: old.get('entity') || old.get('subject') || undefined, agent: old.get('agent') ?? undefined, certainty: old.get('certainty') ?? undefined }), true);
    this.listen(inbox, 'change', () => this.requestUpdate());
    this.until(() => this.feed?.stop());
    inbox.read();
    this.begin();
  }

  async begin() {
    this.error = undefined;
    const source = await graphSource(new URLSearchParams(location.search).get('agent') ?? '').catch(error => void (this.error = error));
    if (!this.error) this.source = source ?? null;
    if (!source || !this.isConnected) return;
    this.feed = new Feed({ path: `agents/${encodeURIComponent(source.agent)}/kg:subscribe`, body: { subscriptionQuery: 'subscription { knowledgeChanged { changeId } }' }, receive: change => this.take(change) });
    this.feed.addEventListener('change', () => this.requestUpdate());
    this.feed.start();
  }

  willUpdate() {
    const { query } = this.route;
    const [q, start, floor] = [query.get('q') ?? '', query.get('entity') ?? '', Number(query.get('certainty') ?? 0)];
    if (this.source && q !== this.q) this.look((this.q = q));
    if (start === this.undone) this.undone = undefined;
    if (this.source && start !== this.graph.start && this.undone === undefined) {
      if (this.graph.start) this.past.push(this.graph);
      this.graph = { ...this.graph, start };
      if (start && !this.graph.reach.has(start)) this.expand(start, true);
    }
    const [, oldest] = AGES.find(([name]) => name === query.get('age')) ?? AGES[0];
    this.view = picture(this.graph, each => (!floor || (each.certainty ?? -1) >= floor) && (oldest === Infinity || hubNow() - Date.parse(each.at ?? '') <= oldest));
    const { nodes, edges } = this.view;
    const drawn = JSON.stringify([...nodes.keys(), edges.size]);
    const ties = [...edges.values(), ...[...nodes.values()].map(({ near = '', key }) => ({ from: near, to: key })).filter(({ to }) => to.startsWith('m'))];
    if (drawn !== this.drawn) this.at = new Map([...this.at, ...places(nodes.values(), ties, this.at)]); // a node that comes back has its place
    this.drawn = drawn;
  }

  updated() {
    const [box, { start, reach }] = [this.querySelector('.net'), this.graph];
    if (box && this.begun !== start && reach.has(start)) this.begun = start, box.scrollTo((box.scrollWidth - box.clientWidth) / 2, (box.scrollHeight - box.clientHeight) / 2);
  }

  /** Searches entities. @param {string} words */
  async look(words) {
    this.found = this.searchError = undefined;
    if (!words || !this.source) return;
    const found = await search(this.source, words).catch(error => void (words === this.q && (this.searchError = error)));
    if (words === this.q) this.found = found ?? undefined;
  }

  /** Makes a change that can be undone. @param {Partial<import('../knowledge.js').Graph>} graph */
  change(graph) {
    this.past = [...this.past.slice(-49), this.graph];
    this.graph = { ...this.graph, ...graph };
  }

  undo() {
    this.graph = this.past.pop() ?? this.graph;
    if (this.graph.start !== (this.route.query.get('entity') ?? '')) this.undone = this.graph.start; // until the address has it
    setQuery({ entity: this.graph.start || undefined, select: undefined });
  }

  /** Reads the next neighbours of an entity. @param {string} id @param {boolean} [isFirst] belongs to the change before */
  async expand(id, isFirst = false) {
    if (!this.source) return;
    this.error = undefined;
    const around = await neighbours(this.source, id, this.graph.reach.get(id)).catch(error => void (this.error = error));
    const reach = around && new Map(this.graph.reach).set(id, around);
    if (reach && isFirst) this.graph = { ...this.graph, reach };
    else if (reach) this.change({ reach });
  }

  /** Expands an entity, or collapses it; reads more of it. @param {{id?: string, of?: string}} node */
  open({ id, of }) {
    if (of !== undefined) this.expand(of);
    else if (id !== undefined && this.graph.reach.has(id)) this.change({ reach: new Map([...this.graph.reach].filter(([each]) => each !== id)) });
    else if (id !== undefined) this.expand(id);
  }

  /** @param {string} id */
  pin(id) {
    const { pinned } = this.graph;
    this.change({ pinned: new Set(pinned.has(id) ? [...pinned].filter(each => each !== id) : [...pinned, id]) });
  }

  /** @param {any} change of the subscription */
  take(change) {
    this.changes.push(change);
    if (this.changes.length === 1) setTimeout(() => this.apply(), BATCH);
  }

  /** Applies the changes of the last moment at once: each new picture is laid out. */
  apply() {
    const changes = this.changes.splice(0);
    const seen = changes.filter(change => applied(this.graph, change) !== this.graph);
    if (!seen.length) return;
    const all = (/** @type {import('../knowledge.js').Graph} */ graph) => changes.reduce((now, change) => applied(now, change), graph);
    this.graph = all(this.graph);
    this.past = this.past.map(all);
    const keys = seen.map(change => edgeOf(change.statement).key);
    this.fresh = new Set([...this.fresh, ...keys]);
    setTimeout(() => (this.fresh = new Set([...this.fresh].filter(each => !keys.includes(each)))), FRESH);
  }

  render() {
    const { source, feed, route: { query } } = this;
    const waiting = (inbox.items ?? []).filter(item => item.kind === 'review');
    const names = [['graph', 'Graph'], ['query', 'Query'], ['reviews', waiting.length ? `Reviews ${waiting.length}` : 'Reviews']];
    const tab = names.find(([name]) => name === query.get('tab'))?.[0] ?? 'graph';
    return html`<div class="head"><div class="grow"><h1>Knowledge</h1><span class="dim">Statements that the agents of your group share.</span></div>
        ${feed ? html`<span class="live ${feed.state === 'live' ? 'ok' : 'wait'}" role="status">${feed.state === 'live' ? 'follows changes' : line(feed.failure?.message ?? feed.state, 60)}</span>` : nothing}</div>
      ${failure(this.error, source ? undefined : () => this.begin())}${source === undefined && !this.error ? skeleton(5) : nothing}
      ${source === null ? html`<div class="card">${empty('No agent shares a graph', 'Agents of this hub share one if they are declared with .uses(SharedKnowledge.VIEW).')}</div>` : nothing}
      ${source ? html`<section class="card" aria-label="Knowledge">${tabs('Views of the graph', names, tab, name => (inbox.read(), setQuery({ tab: name })), 'kg')}<div role="tabpanel" id="kg" aria-labelledby="kg-${tab}">
        ${tab === 'query' ? html`<parley-knowledge-query .route=${this.route} .source=${source}></parley-knowledge-query>` : tab === 'reviews' ? this.reviews(waiting) : this.explore(query)}</div></section>` : nothing}`;
  }

  /** @param {URLSearchParams} query */
  explore(query) {
    const { nodes, edges, hidden, isFull } = this.view;
    const [select, certainty] = [query.get('select') ?? undefined, query.get('certainty') ?? '0'];
    const range = Math.max(0, AGES.findIndex(([name]) => name === query.get('age')));
    const field = (/** @type {Event} */ event) => /** @type {HTMLInputElement} */ (event.target).value;
    const drawing = () => /** @type {SVGSVGElement} */ (this.querySelector('.net svg'));
    const find = (/** @type {Event} */ event) => (event.preventDefault(), setQuery({ q: /** @type {HTMLInputElement} */ (this.querySelector('[type=search]')).value.trim() }, true));
    const key = (/** @type {KeyboardEvent} */ event, /** @type {{id?: string}} */ { id = '' }) => {
      if (event.key === ' ' && id) event.preventDefault(), setQuery({ select: id });
      else if (event.key === 'p' && id) this.pin(id);
      else if (event.key === 'z' && event.ctrlKey) this.undo();
    };
    return html`<form class="pad row kg-bar" role="search" @submit=${find}><input type="search" class="grow" aria-label="Search entities" placeholder="Id or part of it, type, or text" maxlength="500" .value=${this.q}><button class="btn">Search</button></form>
      ${failure(this.searchError, () => this.look(this.q))}${this.q && !this.found && !this.searchError ? skeleton(3) : nothing}
      ${this.found ? html`<ul class="list kg-found">${this.found.map(({ id, types }) => html`<li><a class="cut" href=${link('kg', { entity: id, agent: query.get('agent') ?? undefined })}>${line(id, 120)}</a><span class="dim cut">${types.map(short).join(', ')}</span></li>`)}</ul>${this.found.length ? nothing : html`<p class="pad dim">No entity matches.</p>`}` : nothing}
      ${!nodes.size ? (this.q ? nothing : empty('Begin with an entity', 'Search for one. The statements around it are drawn, and those around each entity that you open.')) : html`<div class="pad row wrap kg-bar">
        <label>Certainty from <input type="range" max="1" step="0.05" aria-label="Least certainty" .value=${certainty} @input=${(/** @type {Event} */ event) => setQuery({ certainty: field(event) })}><output>${certainty === '0' ? 'any' : line(certainty, 5)}</output></label>
        <label>Age up to <input type="range" max=${AGES.length - 1} aria-label="Greatest age" aria-valuetext=${AGES[range][0]} .value=${String(range)} @input=${(/** @type {Event} */ event) => setQuery({ age: AGES[Number(field(event))][0] })}><output>${AGES[range][0]}</output></label>
        <span class="dim grow" role="status">${hidden ? `${plural(hidden, 'statement')} hidden` : ''}${isFull ? ` ${MOST} elements are drawn: collapse some to see others` : ''}</span>
        ${Object.entries({ Undo: () => this.undo(), PNG: async () => save({ raw: await pixels(drawing()), filename: 'graph.png' }), SVG: () => save({ text: standalone(drawing()), filename: 'graph.svg' }), Turtle: () => save({ text: turtle([...edges.values()]), filename: 'graph.ttl' }) }).map(([name, act]) =>
          html`<button type="button" class="btn" ?disabled=${name === 'Undo' && !this.past.length} @click=${act}>${name}</button>`)}</div>
      <div class="cols kg-cols">${net({ nodes, edges, at: this.at, chosen: this.edge ?? (select && nodeKey(select)), start: this.graph.start, fresh: this.fresh, pinned: this.graph.pinned, expanded: this.graph.reach, open: node => this.open(node), key,
        choose: ({ id }) => ((this.edge = undefined), setQuery({ select: id })), chooseEdge: edge => ((this.edge = edge), setQuery({ select: undefined })) })}${this.statements(select)}</div>`}`;
  }

  /** Statements of the chosen entity, or all that are drawn: certainty, provenance and time in words. @param {string | undefined} select */
  statements(select) {
    const all = [...this.view.edges.values()].filter(each => !select || each.subject === select || each.object.id === select).sort((a, b) => Number(b.key === this.edge) - Number(a.key === this.edge) || ((a.at ?? '') < (b.at ?? '') ? 1 : -1));
    const { reach, pinned, start } = this.graph;
    const row = (/** @type {string} */ name, /** @type {unknown} */ value) => (value ? html`<dt>${name}</dt><dd>${value}</dd>` : nothing);
    const button = (/** @type {string} */ name, /** @type {() => void} */ act) => html`<button type="button" class="btn" @click=${act}>${name}</button>`;
    return html`<div class="kg-side"><h2 class="cut">${select ? line(select, 120) : 'Statements'}</h2>
      ${select ? html`<div class="row wrap">${button(reach.has(select) ? 'Collapse' : 'Expand', () => this.open({ id: select }))}${button(pinned.has(select) ? 'Unpin' : 'Pin', () => this.pin(select))}
        ${select === start ? nothing : button('Begin here', () => setQuery({ entity: select, select: undefined }, true))}${button('All', () => setQuery({ select: undefined }))}</div>` : nothing}
      <ul class="kg-said">${all.slice(0, LISTED).map(each => html`<li class=${this.fresh.has(each.key) ? 'fresh' : ''}><details .open=${each.key === this.edge}><summary><span class="cut">${short(each.subject)} <b>${short(each.predicate)}</b> ${termText(each.object)}</span>
        <span class="dim cut">${certaintyText(each.certainty)} · ${line(each.source ?? 'unknown source', 60)} · ${age(each.at, hubNow())}</span></summary>
        <dl class="kv">${row('Subject', line(each.subject, 400))}${row('Predicate', line(each.predicate, 400))}${row('Object', visible(each.object.id ?? text(each.object.value), 4_000))}${row('Graph', line(each.graph, 400))}
          ${row('Reason', visible(each.because, 1_000))}${row('Time', each.at && time(each.at))}${row('Task', each.task && html`<a href=${link(`tasks/${each.task}`)}>${line(each.task, 60)}</a>`)}</dl></details></li>`)}</ul>
      ${all.length > LISTED ? html`<p class="dim">${plural(all.length - LISTED, 'older one')} in the picture only</p>` : nothing}</div>`;
  }

  /** @param {import('../inbox.js').Item[]} items */
  reviews(items) {
    if (!items.length) return empty('Nothing waits for a review', 'Updates that a rule of the group sets aside wait here for its operator.');
    const decide = (/** @type {string} */ review, /** @type {'approve' | 'reject'} */ decision) => api.review(review, decision, this.session?.group).then(() => inbox.read(), error => (this.error = error));
    return html`<ul class="kg-reviews">${items.map(({ title, agent, at, data }) => html`<li class="pad stack"><div class="row"><b class="cut">${title}</b><span class="dim cut grow">${agent}</span>${time(at)}</div>
      ${(data.update.mutations ?? []).slice(0, LISTED).map((/** @type {any} */ { op, statement: { subject, predicate, object, certainty } }) => html`<div class="cut"><span class="state ${op === 'remove' ? 'bad' : 'run'}">${line(op, 20)}</span> ${short(subject.id)} <b>${short(predicate.id)}</b> ${termText(object)} <span class="dim">certainty ${certaintyText(certainty)}</span></div>`)}
      <details><summary class="dim">The update as JSON</summary><parley-json .value=${data.update}></parley-json></details>
      <div class="row"><button type="button" class="btn main" @click=${() => decide(data.id, 'approve')}>Approve</button><button type="button" class="btn bad" @click=${() => decide(data.id, 'reject')}>Reject</button></div></li>`)}</ul>`;
  }
}

customElements.define('screen-knowledge', Knowledge);
