/** An operation with its parameters and body as a form, the same request for curl, and what the hub answers. */
import { html, nothing } from 'lit';
import { address, newId } from '../api.js';
import { curl } from '../commands.js';
import { codeBlock, failure, tabs } from '../components/bits.js';
import { dialog } from '../components/dialog.js';
import { Part } from '../components/element.js';
import { fields, typeOf, valuesOf } from '../components/fields.js';
import { duration, line, size } from '../format.js';
import { withProof } from '../session.js';

/** @typedef {import('../components/fields.js').Schema} Schema */

const MOST = 200_000; // characters of an answer
const ASKS = /delete|remove|erase|revoke|cut|cancel|drain|disable|reject|restore|import/i;

class Operation extends Part {
  static properties = { operation: { attribute: false }, schemas: { attribute: false }, session: { attribute: false }, view: { state: true }, shown: { state: true }, error: { state: true }, answer: { state: true } };

  constructor() {
    super();
    this.operation = /** @type {import('./learn-api.js').ApiOperation} */ (/** @type {unknown} */ (undefined));
    this.schemas = /** @type {Record<string, Schema>} */ ({});
    this.session = /** @type {import('../types.js').Session | undefined} */ (undefined);
    this.body = /** @type {string | undefined} */ (undefined); // an example, as JSON
    this.view = 'form';
    this.shown = ''; // the request for curl
    this.error = /** @type {any} */ (undefined);
    this.answer = /** @type {{status: number, ms: number, text: string, done: boolean} | undefined} */ (undefined);
    this.sending = new AbortController();
    this.until(() => this.sending.abort());
  }

  /** The body has a form if its members are single values. */
  get hasForm() {
    const members = Object.values(this.operation.body?.properties ?? {});
    return members.length > 0 && members.every(each => !each.$ref && ['string', 'number', 'integer', 'boolean'].includes(typeOf(each)));
  }

  /** An example of a value. @param {Schema} schema @param {string} [name] @param {number} [depth] @returns {any} */
  example(schema, name = '', depth = 0) {
    if (schema.$ref) return schema.$ref.endsWith('/Part') ? { text: 'hello' } : this.example(this.schemas[schema.$ref.split('/').pop() ?? ''] ?? {}, name, depth);
    if (schema.enum) return schema.enum[0];
    const type = typeOf(schema);
    if (type === 'array') return schema.items && depth < 4 ? [this.example(schema.items, name, depth + 1)] : [];
    if (type === 'object') return Object.fromEntries((schema.required ?? []).map(each => [each, this.example(schema.properties?.[each] ?? {}, each, depth + 1)]));
    return type === 'string' ? (name === 'messageId' ? newId() : '') : type === 'boolean' ? false : 0;
  }

  /** The parameters as the schema of a form. @returns {Schema} */
  get parameters() {
    const shown = this.operation.parameters.filter(each => each.in !== 'header');
    return { properties: Object.fromEntries(shown.map(each => [each.name, { description: each.description, ...each.schema }])), required: shown.filter(each => each.required).map(each => each.name) };
  }

  firstUpdated() {
    this.write();
  }

  /** The request of the form. */
  get request() {
    const { method, path, parameters, body, streams } = this.operation;
    const form = new FormData(/** @type {HTMLFormElement} */ (this.querySelector('form')));
    const values = valuesOf(this.parameters, form);
    const at = (/** @type {string} */ place) => parameters.filter(each => each.in === place);
    const headers = Object.fromEntries(at('header').filter(each => each.schema.enum).map(each => [each.name, String(each.schema.enum?.[0])]));
    const filled = at('path').reduce((text, { name }) => text.replace(`{${name}}`, () => encodeURIComponent(values[name] ?? `{${name}}`)), path);
    return {
      method, url: address(filled.slice(1), Object.fromEntries(at('query').map(each => [each.name, values[each.name]]))).href,
      headers: { Accept: streams ? 'application/json, text/event-stream' : '*/*', ...headers, ...(body ? { 'Content-Type': 'application/json' } : {}) },
      body: !body ? undefined : this.hasForm && this.view === 'form' ? JSON.stringify(valuesOf(body, form)) : String(form.get('body')),
    };
  }

  /** Writes the request for curl. */
  write() {
    try {
      const { request } = this;
      const key = this.session?.needsSignIn ? { 'X-Api-Key': '$PARLEY_KEY' } : {};
      this.shown = curl(/** @type {any} */ ({ ...request, headers: { ...request.headers, ...key }, streams: this.operation.streams })).replace(`'X-Api-Key: $PARLEY_KEY'`, '"X-Api-Key: $$PARLEY_KEY"');
      this.error = undefined;
    } catch (error) {
      this.error = error; // no JSON
    }
  }

  /** @param {SubmitEvent} event */
  submit(event) {
    event.preventDefault();
    this.write();
    if (this.error) return;
    const { request, operation: { method, id } } = this;
    if (method !== 'DELETE' && (method === 'GET' || !ASKS.test(id))) return void this.send(request);
    dialog('Send this request?', close => ({
      content: html`<p><code>${method} ${line(new URL(request.url).pathname, 400)}</code></p><p>It may remove or end something that cannot be brought back.</p>`,
      buttons: html`<button type="button" class="btn" @click=${close}>Cancel</button><button type="button" class="btn bad" @click=${() => (close(), this.send(request))}>Send</button>`,
    }), 'small');
  }

  /** @param {{method: string, url: string, headers: Record<string, string>, body?: string}} request */
  async send({ url, ...request }) {
    this.sending.abort();
    const { signal } = (this.sending = new AbortController());
    const begun = performance.now();
    this.answer = undefined;
    try {
      const { status, body } = await fetch(url, { ...request, headers: withProof(request.headers), credentials: 'same-origin', signal });
      const shown = (this.answer = { status, ms: performance.now() - begun, text: '', done: false });
      const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
      for (let piece = await reader?.read(); piece && !piece.done && shown.text.length < MOST; piece = await reader?.read()) {
        shown.text += piece.value;
        this.requestUpdate();
      }
      reader?.cancel();
    } catch (error) {
      if (!signal.aborted) this.error = { message: 'The hub does not answer', details: String(error) };
    }
    if (this.answer && signal === this.sending.signal) this.answer = { ...this.answer, done: true };
  }

  render() {
    const { description, body, id, streams } = this.operation;
    const isForm = this.hasForm && this.view === 'form';
    return html`${description ? html`<p class="dim">${line(description, 400)}</p>` : nothing}
      <form class="stack" @submit=${this.submit} @input=${this.write}><div class="learn-fields">${fields(this.parameters)}</div>
        ${body && this.hasForm ? tabs('Body', [['form', 'Form'], ['json', 'JSON']], this.view, name => ((this.view = name), this.updateComplete.then(() => this.write()))) : nothing}
        ${!body ? nothing : isForm ? html`<div class="learn-fields">${fields(body)}</div>`
          : html`<label class="field">Body, as JSON<textarea name="body" rows="8" class="mono" .value=${(this.body ??= JSON.stringify(this.example(body), null, 2))}></textarea></label>`}
        <div class="row wrap"><button class="btn main">Try it</button>${this.answer && !this.answer.done ? html`<button type="button" class="btn" @click=${() => this.sending.abort()}>Stop</button>` : nothing}
          <span class="dim"><code>${line(id, 80)}</code>${streams ? ', a stream' : ''}</span></div></form>
      ${codeBlock(this.shown, 'curl')}${failure(this.error)}${this.answer ? result(this.answer) : nothing}`;
  }
}

/** @param {{status: number, ms: number, text: string}} answer */
function result({ status, ms, text }) {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // no JSON, or the begin of a stream
  }
  return html`<section aria-label="Answer" class="stack"><div class="row"><span class="state ${status < 400 ? 'ok' : 'bad'}">${status}</span><span class="dim">${duration(ms)}, ${size(new Blob([text]).size)}</span></div>
    ${text ? codeBlock(shown, 'Body of the answer') : nothing}</section>`;
}

customElements.define('parley-operation', Operation);
