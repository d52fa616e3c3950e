/** Operations of the hub, as its OpenAPI document describes them, to try with the credential of the session; installed extensions. */
import { html, nothing } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import { request } from '../api.js';
import { empty, failure, highlighted, skeleton, tabs } from '../components/bits.js';
import { Part } from '../components/element.js';
import '../components/markdown.js';
import { line, plural } from '../format.js';
import { link, setQuery } from '../route.js';
import './learn-try.js';

/**
 * @typedef {import('../components/fields.js').Schema} Schema
 * @typedef {{name: string, in: string, required?: boolean, description?: string, schema: Schema}} Parameter
 * @typedef {{id: string, method: string, path: string, group: string, summary: string, description?: string, parameters: Parameter[], body?: Schema, streams: boolean, lower: string}} ApiOperation
 * @typedef {{uri: string, description?: string, document?: string, methods: string[], agents: string[]}} Extension
 */

const TABS = [['operations', 'Operations'], ['extensions', 'Extensions']];

class LearnApi extends Part {
  static properties = { route: { attribute: false }, session: { attribute: false }, operations: { state: true }, extensions: { state: true }, documents: { state: true }, error: { state: true } };

  constructor() {
    super();
    /** @type {import('../types.js').Route} */
    this.route = /** @type {any} */ (undefined);
    /** @type {import('../types.js').Session} */
    this.session = /** @type {any} */ (undefined);
    /** @type {ApiOperation[] | undefined} */
    this.operations = undefined;
    /** @type {Record<string, Schema>} */
    this.schemas = {};
    /** @type {Extension[] | undefined} */
    this.extensions = undefined;
    /** Documents of extensions that were opened, by their URIs. @type {Record<string, string>} */
    this.documents = {};
    /** @type {any} */
    this.error = undefined;
  }

  get tab() {
    return this.route.query.get('tab') === 'extensions' ? 'extensions' : 'operations';
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('route') && !this[this.tab]) this.read();
  }

  async read() {
    this.error = undefined;
    try {
      if (this.tab === 'extensions') this.extensions = (await (await request('GET', 'extensions')).json()).extensions;
      else {
        const document = await (await request('GET', 'openapi.json')).json();
        this.schemas = document.components?.schemas ?? {};
        this.operations = operationsOf(document);
      }
    } catch (error) {
      this.error = error;
    }
  }

  /** @param {Extension} extension */
  async open({ uri, document = '' }) {
    const path = document.slice((this.session.hub?.url ?? '').length).replace(/^\//, '');
    const text = await request('GET', path, { headers: { Accept: 'text/markdown' } }).then(answer => answer.text(), error => `The document cannot be read: ${error.message}`);
    this.documents = { ...this.documents, [uri]: text };
  }

  render() {
    const words = this.route.query.get('q') ?? '';
    return html`<div class="head"><div class="grow"><div class="crumbs dim"><a href=${link('learn')}>Learn</a></div><h1>API</h1>
        <span class="dim">${this.session.isVisitor ? 'Operations for visitors. Sign in to see and try those of your agents.' : 'Requests are sent with the credential of your session.'}</span></div></div>
      ${tabs('API', TABS, this.tab, name => setQuery({ tab: name === 'operations' ? undefined : name }), 'api')}
      <div class="stack" role="tabpanel" id="api" aria-labelledby="api-${this.tab}">
        <input type="search" class="learn-search" aria-label="Search the API" placeholder="Name, path or words" autocomplete="off" .value=${words} @input=${(/** @type {any} */ event) => setQuery({ q: event.target.value.trim() })}>
        ${this.error ? failure(this.error, () => this.read()) : this[this.tab] ? this.list(words) : html`<div class="card">${skeleton(8)}</div>`}</div>`;
  }

  /** @param {string} words */
  list(words) {
    const wanted = words.toLowerCase().split(/\s+/);
    const fits = (/** @type {string} */ text) => wanted.every(word => text.includes(word));
    if (this.tab === 'extensions') {
      const found = (this.extensions ?? []).filter(each => fits(`${each.uri} ${each.description} ${each.methods.join(' ')}`.toLowerCase()));
      return found.length ? html`<ul class="card list">${found.map(each => this.extension(each))}</ul>` : html`<div class="card">${empty('No extension', 'No installed extension has these words.')}</div>`;
    }
    const found = (this.operations ?? []).filter(each => fits(each.lower));
    if (!found.length) return html`<div class="card">${empty('No operation', 'No operation has these words.')}</div>`;
    return [...new Set(found.map(each => each.group))].map(group => html`<section class="card" aria-label=${group}><h2>${group}</h2>
      <ul class="list operations">${found.filter(each => each.group === group).map(each => this.operation(each, words))}</ul></section>`);
  }

  /** @param {ApiOperation} operation @param {string} words */
  operation(operation, words) {
    const isOpen = this.route.query.get('op') === operation.id;
    return html`<li><button type="button" class="operation" aria-expanded=${isOpen} @click=${() => setQuery({ op: isOpen ? undefined : operation.id }, true)}>
        <b class="verb ${operation.method}">${operation.method}</b><code>${highlighted(operation.path, words.split(/\s+/))}</code><span class="dim">${line(operation.summary)}</span></button>
      ${isOpen ? keyed(operation.id, html`<parley-operation .operation=${operation} .schemas=${this.schemas} .session=${this.session}></parley-operation>`) : nothing}</li>`;
  }

  /** @param {Extension} extension */
  extension(extension) {
    const { uri, description, document, methods, agents } = extension;
    const text = this.documents[uri];
    return html`<li><div><b>${line(description)}</b> <span class="dim">${plural(methods.length, 'method')}, ${plural(agents.length, 'agent')}</span>
      <p><code>${line(uri)}</code></p><p class="dim">${line(methods.join(', '), 600)}</p>
      ${document ? html`<details @toggle=${(/** @type {any} */ event) => event.target.open && text === undefined && this.open(extension)}><summary>Document</summary>
        ${text === undefined ? skeleton(3) : html`<parley-markdown .text=${text}></parley-markdown>`}</details>` : nothing}</div></li>`;
  }
}

/** @param {any} document of OpenAPI @returns {ApiOperation[]} */
function operationsOf(document) {
  return Object.entries(/** @type {Record<string, Record<string, any>>} */ (document.paths)).flatMap(([path, item]) => Object.entries(item).map(([verb, each]) => {
    const [first, second] = String(each.operationId).split('/');
    const tag = each.tags?.[0] ?? 'other';
    const group = tag === 'extensions' ? (/^\w+$/.test(first) && second ? `extension ${first}` : 'other operations of extensions') : tag === 'administration' && first === 'admin' ? `administration: ${second}` : tag;
    const method = verb.toUpperCase();
    return {
      id: each.operationId, method, path, group, summary: each.summary === each.operationId ? '' : each.summary ?? '', description: each.description, parameters: each.parameters ?? [],
      body: each.requestBody?.content?.['application/json']?.schema, streams: !!each.responses?.['200']?.content?.['text/event-stream'],
      lower: `${method} ${path} ${each.operationId} ${each.summary ?? ''} ${group}`.toLowerCase(),
    };
  })).sort((a, b) => (a.group === 'A2A' ? 0 : 1) - (b.group === 'A2A' ? 0 : 1) || a.group.localeCompare(b.group));
}

customElements.define('screen-learn-api', LearnApi);
