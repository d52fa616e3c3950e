/** Operations of the hub, as its OpenAPI document describes them, to try with the credential of the session; installed extensions. */
import { html, nothing } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import { request } from '../api.js';
import { empty, failure, highlighted, skeleton, tabs } from '../components/bits.js';
import { Screen } from '../components/element.js';
import '../components/markdown.js';
import { typed } from '../components/typed.js';
import { line, plural } from '../format.js';
import { link, setQuery } from '../route.js';
import './learn-try.js';

/**
 * @typedef {import('../components/fields.js').Schema} Schema
 * @typedef {{name: string, in: string, required?: boolean, description?: string, schema: Schema}} Parameter
 * @typedef {{id: string, method: string, path: string, group: string, summary: string, description?: string, parameters: Parameter[], body?: Schema, streams: boolean, words: string}} ApiOperation
 * @typedef {{uri: string, description?: string, document?: string, methods: string[], agents: string[], words: string}} Extension
 */

class LearnApi extends Screen {
  static properties = { operations: { state: true }, extensions: { state: true }, documents: { state: true }, error: { state: true } };

  constructor() {
    super();
    this.operations = /** @type {ApiOperation[] | undefined} */ (undefined);
    this.schemas = /** @type {Record<string, Schema>} */ ({});
    this.extensions = /** @type {Extension[] | undefined} */ (undefined);
    this.documents = /** @type {Record<string, string>} */ ({}); // of extensions that were opened, by their URIs
    this.error = /** @type {any} */ (undefined);
  }

  get tab() {
    return this.route.query.get('tab') === 'extensions' ? 'extensions' : 'operations';
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('route') && !this[this.tab]) this.read(this.tab);
  }

  /** @param {'operations' | 'extensions'} tab */
  async read(tab) {
    this.error = undefined;
    try {
      const document = await (await request('GET', tab === 'extensions' ? 'extensions' : 'openapi.json')).json();
      this.schemas = document.components?.schemas ?? this.schemas;
      if (tab === 'operations') this.operations = operationsOf(document);
      else this.extensions = document.extensions.map((/** @type {Extension} */ each) => ({ ...each, words: `${each.uri} ${each.description} ${each.methods.join(' ')}`.toLowerCase() }));
    } catch (error) {
      if (tab === this.tab) this.error = error;
    }
  }

  /** @param {string} uri @param {string} path of the document */
  async open(uri, path) {
    const text = await request('GET', path, { headers: { Accept: 'text/markdown' } }).then(answer => answer.text(), error => `The document cannot be read: ${error.message}`);
    this.documents = { ...this.documents, [uri]: text };
  }

  render() {
    const words = this.route.query.get('q') ?? '';
    return html`<div class="head"><div class="grow"><div class="crumbs dim"><a href=${link('learn')}>Learn</a></div><h1>API</h1>
        <span class="dim">${this.session?.isVisitor ? 'Operations for visitors. Sign in to see those of your agents.' : 'Requests are sent with the credential of your session.'}</span></div></div>
      ${tabs('API', [['operations', 'Operations'], ['extensions', 'Extensions']], this.tab, name => setQuery({ tab: name === 'operations' ? undefined : name }), 'api')}
      <div class="stack" role="tabpanel" id="api" aria-labelledby="api-${this.tab}">
        <input type="search" class="learn-search" aria-label="Search the API" placeholder="Name, path or words" autocomplete="off" ${typed('q')}>
        ${this.error ? failure(this.error, () => this.read(this.tab)) : this[this.tab] ? this.list(words.toLowerCase().split(/\s+/)) : html`<div class="card">${skeleton(8)}</div>`}</div>`;
  }

  /** @param {string[]} words */
  list(words) {
    const fits = (/** @type {{words: string}} */ each) => words.every(word => each.words.includes(word));
    const operations = this.tab === 'operations' ? (this.operations ?? []).filter(fits) : [];
    const extensions = this.tab === 'extensions' ? (this.extensions ?? []).filter(fits) : [];
    if (extensions.length) return html`<ul class="card list">${extensions.map(each => this.extension(each))}</ul>`;
    if (!operations.length) return html`<div class="card">${empty('Nothing found', `None of the ${this.tab} has these words.`)}</div>`;
    return [...new Set(operations.map(each => each.group))].map(group => html`<section class="card" aria-label=${group}><h2>${group}</h2>
      <ul class="list operations">${operations.filter(each => each.group === group).map(each => this.operation(each, words))}</ul></section>`);
  }

  /** @param {ApiOperation} operation @param {string[]} words */
  operation(operation, words) {
    const { id, method, path, summary } = operation;
    const isOpen = this.route.query.get('op') === id;
    return html`<li><button type="button" class="operation" aria-expanded=${isOpen} @click=${() => setQuery({ op: isOpen ? undefined : id }, true)}>
        <b class="verb ${method}">${method}</b><code>${highlighted(path, words)}</code><span class="dim">${line(summary)}</span></button>
      ${isOpen ? keyed(id, html`<parley-operation .operation=${operation} .schemas=${this.schemas} .session=${this.session}></parley-operation>`) : nothing}</li>`;
  }

  /** @param {Extension} extension */
  extension({ uri, description, document = '', methods, agents }) {
    const text = this.documents[uri];
    const hub = `${this.session?.hub?.url ?? ''}/`; // others have documents elsewhere
    return html`<li><div><b>${line(description)}</b> <span class="dim">${plural(methods.length, 'method')}, ${plural(agents.length, 'agent')}</span>
      <p><code>${line(uri)}</code></p><p class="dim">${line(methods.join(', '), 600)}</p>
      ${document.startsWith(hub) ? html`<details @toggle=${(/** @type {any} */ event) => event.target.open && text === undefined && this.open(uri, document.slice(hub.length))}><summary>Document</summary>
        ${text === undefined ? nothing : html`<parley-markdown .text=${text}></parley-markdown>`}</details>` : nothing}</div></li>`;
  }
}

/** @param {any} document of OpenAPI @returns {ApiOperation[]} */
function operationsOf(document) {
  const items = Object.entries(/** @type {Record<string, Record<string, any>>} */ (document.paths));
  return items.flatMap(([path, item]) => Object.entries(item).map(([verb, { operationId: id, tags: [tag], summary = id, description, parameters = [], requestBody, responses }]) => {
    const method = verb.toUpperCase();
    const group = tag === 'A2A' ? tag : `${tag}: ${path.split('/').filter(each => each !== 'admin' && each !== '{agent}')[1]}`;
    const body = requestBody?.content?.['application/json']?.schema;
    return { id, method, path, group, summary, description, parameters, body, streams: !!responses?.['200']?.content?.['text/event-stream'], words: `${method} ${path} ${id} ${summary} ${group}`.toLowerCase() };
  })).sort((a, b) => a.group.localeCompare(b.group)); // A2A comes first
}

customElements.define('screen-learn-api', LearnApi);
