/** A tool of an MCP server as a form, and the result of a call as other hosts of MCP get it. */
import { html, nothing } from 'lit';
import { ApiError, newId, request } from '../api.js';
import { failure, skeleton } from '../components/bits.js';
import { Part } from '../components/element.js';
import { fields, valuesOf } from '../components/fields.js';
import '../components/json.js';
import '../components/parts.js';
import { link } from '../route.js';

/** @typedef {import('../components/fields.js').Schema} Schema */

const REVISION = '2026-07-28';
const META = { 'io.modelcontextprotocol/protocolVersion': REVISION, 'io.modelcontextprotocol/clientCapabilities': {}, 'io.modelcontextprotocol/clientInfo': { name: 'parley-console', version: '1' } };

/** Calls a method of MCP at an agent. @param {string} agent @param {string} method @param {Record<string, any>} params @returns {Promise<any>} its result */
async function mcp(agent, method, params) {
  const headers = { Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': REVISION, 'Mcp-Method': method, ...(params.name ? { 'Mcp-Name': params.name } : {}) };
  const answer = await request('POST', `agents/${encodeURIComponent(agent)}/mcp`, { headers, body: { jsonrpc: '2.0', id: newId(), method, params: { ...params, _meta: META } } });
  const text = await answer.text();
  const events = text.trimStart().startsWith('{') ? [text] : text.split('\n').filter(each => each.startsWith('data:')).map(each => each.slice(5));
  const message = JSON.parse(events.at(-1) ?? 'null'); // progress comes before the answer
  if (message?.error) throw new ApiError({ message: String(message.error.message), code: message.error.code, trace: '', details: message.error });
  return message?.result;
}

class ToolTry extends Part {
  static properties = { server: { type: String }, tool: { type: String }, definition: { state: true }, result: { state: true }, error: { state: true }, busy: { state: true } };

  constructor() {
    super();
    this.server = '';
    this.tool = '';
    this.definition = /** @type {{name: string, inputSchema: Schema} | undefined} */ (undefined);
    this.result = /** @type {any} */ (undefined);
    this.error = /** @type {any} */ (undefined);
    this.busy = false;
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('tool') || changed.has('server')) this.read();
  }

  async read() {
    const { server, tool } = this;
    Object.assign(this, { definition: undefined, result: undefined, error: undefined, busy: false });
    try {
      let found, titled, cursor; // a long name has a hash: then the title tells, which the server chose
      do {
        const page = await mcp(server, 'tools/list', cursor ? { cursor } : {});
        const all = /** @type {{name: string, title?: string, inputSchema: Schema}[]} */ (page.tools);
        found = all.find(each => each.name === `${server}__${tool}`);
        titled ??= all.find(each => each.title === tool);
        cursor = page.nextCursor;
      } while (!found && cursor);
      if (server !== this.server || tool !== this.tool) return;
      this.definition = found ?? titled;
      if (!this.definition) this.error = new Error('The tool is not on the card of the server: approve it, or call it by its name in a chat.');
    } catch (error) {
      if (server === this.server && tool === this.tool) this.error = error;
    }
  }

  /** @param {SubmitEvent} event */
  async call(event) {
    event.preventDefault();
    const { definition } = this;
    if (!definition) return;
    Object.assign(this, { busy: true, error: undefined, result: undefined });
    try {
      const result = await mcp(this.server, 'tools/call', { name: definition.name, arguments: this.values(new FormData(/** @type {HTMLFormElement} */ (event.target))) });
      if (definition === this.definition) this.result = result;
    } catch (error) {
      if (definition === this.definition) this.error = error;
    }
    if (definition === this.definition) this.busy = false;
  }

  /** Arguments of the form; members that are left empty are left out. @param {FormData} form */
  values(form) {
    const { inputSchema } = /** @type {{inputSchema: Schema}} */ (this.definition);
    return Object.keys(inputSchema.properties ?? {}).length ? valuesOf(inputSchema, form) : JSON.parse(String(form.get('arguments')).trim() || '{}');
  }

  render() {
    return html`${failure(this.error)}${this.definition ? this.form(this.definition.inputSchema) : this.error ? nothing : skeleton(3)}
      ${this.result ? this.answer(this.result) : nothing}`;
  }

  /** @param {Schema} schema */
  form(schema) {
    return html`<form class="stack" @submit=${this.call}>
      ${schema.properties && Object.keys(schema.properties).length ? fields(schema) : html`<label class="field">Arguments, as JSON<textarea name="arguments" rows="3" class="mono">{}</textarea></label>`}
      <div class="row"><button class="btn main" ?disabled=${this.busy}>${this.busy ? 'Calls…' : 'Call'}</button></div></form>`;
  }

  /** @param {any} result of {@code tools/call} */
  answer(result) {
    const parts = (Array.isArray(result.content) ? result.content : []).flatMap((/** @type {any} */ each) => (typeof each.text === 'string' ? [{ text: each.text }] : typeof each.data === 'string' ? [{ raw: each.data, mediaType: each.mimeType }] : []));
    const task = result.structuredContent?.taskId;
    return html`<section class="stack" aria-label="Result"><div class="row"><span class="state ${result.isError ? 'bad' : 'ok'}">${result.isError ? 'failed' : 'done'}</span>${typeof task === 'string' ? html`<a href=${link(`tasks/${task}`)}>Its task</a>` : nothing}</div>
      <parley-parts .parts=${parts}></parley-parts>
      <details><summary>As other hosts get it</summary><parley-json .value=${result}></parley-json></details></section>`;
  }
}

customElements.define('parley-tool-try', ToolTry);
