/** S2: an agent of the hub, an entry of the registry, or any card: overview, findings, the card itself, versions. */
import { html, nothing } from 'lit';
import { api, hubNow, request } from '../api.js';
import { failure, skeleton, tabs } from '../components/bits.js';
import { Part } from '../components/element.js';
import { count, line, webLink } from '../format.js';
import { watch } from '../live.js';
import { part } from '../part.js';
import { link, setQuery } from '../route.js';
import { cardText, findingList } from './agent-card.js';
import { overview } from './agent-overview.js';
import { hosted } from './agents-row.js';

/** Addresses of a card of the hub in each version. */
const FORMS = /** @type {Record<string, [string, string]>} */ ({ '1.0': ['agent-card.json', '1.0'], '0.3': ['agent-card.json', '0.3'], '0.2 and 0.1': ['agent.json', ''] });

/** A pasted card, until the page is left. @type {{card: unknown} | undefined} */
let pasted;

export class AgentScreen extends Part {
  static properties = { route: { attribute: false }, session: { attribute: false }, seen: { state: true }, entry: { state: true }, error: { state: true }, busy: { state: true }, form: { state: true } };

  constructor() {
    super();
    this.route = /** @type {import('../types.js').Route} */ (/** @type {any} */ (undefined));
    this.seen = /** @type {import('../types.js').Inspection | undefined} */ (undefined);
    this.entry = /** @type {import('../types.js').Entry | undefined} */ (undefined);
    this.error = /** @type {any} */ (undefined);
    this.busy = false;
    /** The card in another version. @type {{name: string, card?: unknown, error?: unknown} | undefined} */
    this.form = undefined;
    this.loaded = '';
    this.scrolled = '';
    /** Screen of the list that the agent is in, and its title. */
    this.place = ['agents', 'Agents'];
    this.session = /** @type {import('../types.js').Session} */ (/** @type {any} */ (undefined));
  }

  connectedCallback() {
    super.connectedCallback();
    this.requestUpdate();
    this.until(watch(changes => this.own && changes.some(({ kind, agent }) => kind === 'gap' || (kind === 'agent' && agent === this.own)) && this.load()));
    this.until(() => (this.loaded = ''));
  }

  /** What the registry inspects: by name, by id, by address, or a pasted card. @returns {Record<string, unknown> | undefined} */
  get subject() {
    const { params, query } = this.route;
    if (params.agent !== 'inspect') return /^urn:|\//.test(params.agent) ? { id: params.agent } : { agent: params.agent };
    const url = query.get('url');
    return url ? { url } : pasted;
  }

  /** Name of the agent if this hub hosts it. */
  get own() {
    const { agent } = this.route.params;
    return this.entry ? hosted(this.entry) : this.subject?.agent ? agent : undefined;
  }

  willUpdate() {
    const key = JSON.stringify(this.subject) ?? '-';
    if (this.isConnected && key !== this.loaded) {
      this.loaded = key;
      Object.assign(this, { seen: undefined, entry: undefined, form: undefined });
      this.load();
    }
    const as = this.route.query.get('as') ?? '';
    if (this.seen && as !== (this.form?.name ?? '')) this.read(as);
  }

  updated() {
    const at = this.querySelector('.line-at');
    const key = at ? `${this.route.query.get('at')} ${this.route.query.get('tab')}` : '';
    if (key && key !== this.scrolled) at?.scrollIntoView({ block: 'center' });
    this.scrolled = key;
  }

  async load() {
    const { subject, loaded } = this;
    this.error = undefined;
    if (!subject) return;
    this.busy = true;
    try {
      const look = await this.look(subject);
      if (loaded !== this.loaded) return;
      Object.assign(this, look);
      document.title = `${line(look.seen.card.name, 60) || 'Agent'} – Parley`;
    } catch (error) {
      if (loaded === this.loaded) this.error = error;
    }
    if (loaded === this.loaded) this.busy = false;
  }

  /** @param {Record<string, unknown>} subject @returns {Promise<{seen: import('../types.js').Inspection, entry?: import('../types.js').Entry}>} */
  async look(subject) {
    const seen = await api.inspect(subject).catch(async error => {
      if (!subject.agent || error.status !== 404) throw error;
      return api.inspect({ card: await api.card(String(subject.agent)) }); // an agent without an entry
    });
    return { seen, entry: seen.entry ? await api.entry(seen.entry).catch(() => undefined) : undefined };
  }

  /** Reads the card of the hub's agent in a version. @param {string} name empty: as it was inspected */
  async read(name) {
    const form = (this.form = name ? { name } : undefined);
    if (!form) return;
    try {
      const [file, version] = FORMS[name] ?? FORMS['1.0'];
      const path = `agents/${encodeURIComponent(String(this.own))}/.well-known/${file}`;
      const card = this.own ? await (await request('GET', path, { headers: version ? { 'A2A-Version': version } : {} })).json() : this.seen?.asV1;
      if (form === this.form) this.form = { name, card };
    } catch (error) {
      if (form === this.form) this.form = { name, error };
    }
  }

  /** @param {SubmitEvent} event */
  inspect(event) {
    event.preventDefault();
    const text = /** @type {HTMLTextAreaElement} */ (this.querySelector('textarea')).value.trim();
    if (!text.startsWith('{')) return setQuery({ url: text }, true);
    try {
      pasted = { card: JSON.parse(text) };
      this.requestUpdate();
    } catch (error) {
      this.error = error;
    }
  }

  render() {
    const { seen, entry, place: [place, title] } = this;
    const agent = this.route.params.agent ?? this.route.params.entry;
    const name = line(seen?.asV1?.name ?? seen?.card.name, 120) || (agent === 'inspect' ? 'Inspect a card' : line(agent, 120));
    return html`<div class="head"><div class="grow"><div class="crumbs dim"><a href=${link(place)}>${title}</a> / <code>${line(seen?.url ?? entry?.id ?? agent, 200)}</code></div>
        <h1>${name} <span class="dim">${line(seen?.asV1?.version, 40)}</span></h1><p class="dim cut-2">${line(seen?.asV1?.description, 600)}</p></div>
        ${seen ? this.actions() : nothing}</div>
      ${failure(this.error, () => this.load())}
      ${seen ? this.views(seen) : this.subject ? (this.error ? nothing : html`<div class="card">${skeleton(8)}</div>`) : this.ask()}`;
  }

  /** @returns {unknown} */
  actions() {
    return html`<button type="button" class="btn" ?disabled=${this.busy} @click=${() => this.load()}>${this.busy ? 'Inspecting' : 'Inspect again'}</button>
      ${this.own ? html`<a class="btn main" href=${link(`agents/${this.own}/try`)}>Try</a>` : nothing}`;
  }

  ask() {
    return html`<form class="card pad stack" @submit=${this.inspect}><label class="field">Address of an agent or of its card, or a card as JSON
      <textarea rows="6" class="mono" spellcheck="false" required></textarea></label>
      <p class="dim">The hub reads the card, checks it, verifies its signatures and calls its addresses. Nothing is registered.</p>
      <div class="row"><button class="btn main">Inspect</button></div></form>`;
  }

  /** @param {import('../types.js').Inspection} seen */
  items(seen) {
    return [['overview', 'Overview'], ['findings', `Findings ${count(seen.findings.length)}`], ['card', 'Card'], ...(this.entry ? [['versions', `Versions ${count(this.entry.revision)}`]] : [])];
  }

  /** @param {import('../types.js').Inspection} seen */
  views(seen) {
    const items = this.items(seen);
    const tab = this.route.query.get('tab') ?? '';
    const present = items.some(([name]) => name === tab) ? tab : 'overview';
    return html`<section class="card">${tabs('Views of the agent', items, present, name => setQuery({ tab: name === 'overview' ? undefined : name, at: undefined }), 'view')}
      <div role="tabpanel" id="view" class="pad" aria-labelledby="view-${present}">${this.panel(present, seen)}</div></section>`;
  }

  /** @param {import('../types.js').Inspection} seen */
  testCall({ url, interfaces, asV1: card }) {
    const address = webLink(url)?.replace(/\/\.well-known\/.*/, '') ?? interfaces.map(each => webLink(each.url)).find(Boolean);
    if (this.own || this.session?.isVisitor || !card || !address) return nothing;
    part(import('./agent-call.js')).catch(() => {}); // the shell tells
    return html`<parley-test-call .url=${address} .skill=${card.skills?.[0]}></parley-test-call>`;
  }

  /** @param {string} tab @param {import('../types.js').Inspection} seen @returns {unknown} */
  panel(tab, seen) {
    const at = this.route.query.get('at') ?? undefined;
    if (tab === 'versions') {
      part(import('./agent-versions.js')).catch(() => {}); // the shell tells
      return html`<agent-versions .entry=${this.entry} .route=${this.route}></agent-versions>`;
    }
    if (tab === 'findings') return html`<div class="cols even">${findingList(seen.findings, at)}${cardText(seen.card, at)}</div>`;
    if (tab === 'overview') return html`<div class="stack">${overview(seen, this.entry, this.own, hubNow(), this.place[0])}${this.testCall(seen)}</div>`;
    const forms = this.own ? Object.keys(FORMS) : seen.asV1 && !seen.dialects.includes('A2A 1.0') ? ['1.0'] : [];
    const { form } = this;
    return html`<div class="row wrap chips" role="group" aria-label="Version of the card">${['', ...forms].map(name => html`<button type="button" class="chip ${(form?.name ?? '') === name ? 'on' : ''}"
        aria-pressed=${(form?.name ?? '') === name} @click=${() => setQuery({ as: name, at: undefined })}>${name ? `as ${name}` : `as read, ${line(seen.dialects.join(' and '), 60)}`}</button>`)}</div>
      ${form?.error ? failure(form.error) : form && !form.card ? skeleton(6) : cardText(form?.card ?? seen.card, at)}`;
  }
}

customElements.define('screen-agent', AgentScreen);
