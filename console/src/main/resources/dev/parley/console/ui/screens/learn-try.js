/** An operation with its parameters and body as a form, the same request for curl, and what the hub answers. */
import { html, nothing } from 'lit';
import { address, newId } from '../api.js';
import { codeBlock, failure, tabs } from '../components/bits.js';
import { dialog } from '../components/dialog.js';
import { Part } from '../components/element.js';
import { fields, typeOf, valuesOf } from '../components/fields.js';
import { curl } from '../commands.js';
import { duration, line, size } from '../format.js';
import { withProof } from '../session.js';

/** @typedef {import('../components/fields.js').Schema} Schema */

const MOST = 200_000; // characters of an answer
const ASKS = /delete|remove|erase|revoke|cut|cancel|drain|disable|reject|restore|import/i;
const BODY = [['form', 'Form'], ['json', 'JSON']];

class Operation extends Part {
  static properties = { operation: { attribute: false }, schemas: { attribute: false }, session: { attribute: false }, body: { state: true }, view: { state: true }, shown: { state: true }, error: { state: true }, answer: { state: true } };

  constructor() {
    super();
    /** @type {import('./learn-api.js').ApiOperation} */
    this.operation = /** @type {any} */ (undefined);
    /** @type {Record<string, Schema>} */
    this.schemas = {};
    /** @type {import('../types.js').Session} */
    this.session = /** @type {any} */ (undefined);
    /** The body as JSON. @type {string | undefined} */
    this.body = undefined;
    this.view = 'form';
    /** The request for curl. */
    this.shown = '';
    /** @type {any} */
    this.error = undefined;
    /** @type {{status: number, ms: number, text: string, done: boolean} | undefined} */
    this.answer = undefined;
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
    /** @type {Record<string, unknown>} */
    const query = {};
    let filled = path;
    for (const { name, in: place } of parameters) {
      if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(values[name] ?? `{${name}}`));
      else if (place === 'query') query[name] = values[name];
    }
    const headers = Object.fromEntries(parameters.filter(each => each.in === 'header' && each.schema.enum).map(each => [each.name, String(each.schema.enum?.[0])]));
    const json = !body ? undefined : this.hasForm && this.view === 'form' ? JSON.stringify(valuesOf(body, form)) : String(form.get('body'));
    if (json !== undefined) headers['Content-Type'] = 'application/json';
    return { method, url: address(filled.replace(/^\//, ''), query).href, headers: { Accept: streams ? 'application/json, text/event-stream' : '*/*', ...headers }, body: json };
  }

  /** Writes the request for curl. */
  write() {
    try {
      const { request } = this;
      const key = this.session.needsSignIn ? { 'X-Api-Key': '$PARLEY_KEY' } : {};
      this.shown = curl(/** @type {any} */ ({ ...request, headers: { ...request.headers, ...key }, streams: this.operation.streams })).replace(`'X-Api-Key: $PARLEY_KEY'`, '"X-Api-Key: $PARLEY_KEY"');
      this.error = undefined;
    } catch (error) {
      this.error = error;
    }
  }

  /** @param {SubmitEvent} event */
  submit(event) {
    event.preventDefault();
    this.write();
    if (this.error) return;
    const { method, id } = this.operation;
    const { request } = this;
    if (method !== 'DELETE' && !(method !== 'GET' && ASKS.test(id))) return void this.send(request);
    dialog('Send this request?', close => ({
      content: html`<p><code>${method} ${line(new URL(request.url).pathname, 400)}</code></p><p>It may remove something that cannot be brought back.</p>`,
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
      const answer = await fetch(url, { ...request, headers: withProof(request.headers), credentials: 'same-origin', signal });
      const shown = (this.answer = { status: answer.status, ms: performance.now() - begun, text: '', done: false });
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      for (let piece = await reader?.read(); piece && !piece.done && shown.text.length < MOST; piece = await reader?.read()) {
        shown.text += piece.value;
        this.requestUpdate();
      }
      reader?.cancel();
    } catch (error) {
      if (!signal.aborted) this.error = { message: 'The hub does not answer', details: String(error) };
    }
    if (this.answer && !signal.aborted) this.answer = { ...this.answer, done: true };
  }

  stop() {
    this.sending.abort();
    if (this.answer) this.answer = { ...this.answer, done: true };
  }

  render() {
    const { description, body, id, streams } = this.operation;
    return html`${description ? html`<p class="dim">${line(description, 400)}</p>` : nothing}
      <form class="stack" @submit=${this.submit} @input=${this.write}>
        <div class="learn-fields">${fields(this.parameters)}</div>
        ${body && this.hasForm ? tabs('Body', BODY, this.view, name => ((this.view = name), this.updateComplete.then(() => this.write()))) : nothing}
        ${!body ? nothing : this.hasForm && this.view === 'form' ? html`<div class="learn-fields">${fields(body)}</div>`
          : html`<label class="field">Body, as JSON<textarea name="body" rows="8" class="mono" .value=${(this.body ??= JSON.stringify(this.example(body), null, 2))}></textarea></label>`}
        <div class="row wrap"><button class="btn main">Try it</button>${this.answer && !this.answer.done ? html`<button type="button" class="btn" @click=${this.stop}>Stop</button>` : nothing}
          <span class="dim"><code>${line(id, 80)}</code>${streams ? ', a stream' : ''}</span></div>
      </form>
      ${codeBlock(this.shown, 'curl')}
      ${failure(this.error)}${this.result()}`;
  }

  result() {
    if (!this.answer) return nothing;
    const { status, ms, text } = this.answer;
    return html`<section aria-label="Answer" class="stack"><div class="row"><span class="state ${status < 400 ? 'ok' : 'bad'}">${status}</span><span class="dim">${duration(ms)}, ${size(new Blob([text]).size)}</span></div>
      ${text ? codeBlock(pretty(text), 'Body of the answer') : nothing}</section>`;
  }
}

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

customElements.define('parley-operation', Operation);
