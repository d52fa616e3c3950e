/** Composer of a message: text, files, data, skill with its examples and modes, and the same as JSON, kept in sync. */
import { html, nothing } from 'lit';
import { line, size, visible } from '../format.js';
import { tabs } from './bits.js';
import { Part } from './element.js';
import { sizeOf } from './parts.js';

/** @typedef {import('../types.js').Part} A2APart */

const LARGEST = 8_000_000; // bytes of a file, below the hub's limit of a request
const LONG = 2_000; // characters of base64 that the JSON shows

/** @param {File} file @returns {Promise<A2APart>} */
async function partOf(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = '';
  for (let i = 0; i < bytes.length; i += 0x8000) binary += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return { raw: btoa(binary), filename: file.name, mediaType: file.type || 'application/octet-stream' };
}

class Compose extends Part {
  static properties = {
    card: { attribute: false }, skill: { attribute: false }, tab: { attribute: false }, busy: { type: Boolean }, streams: { type: Boolean }, parts: { state: true },
    accepted: { state: true }, problems: { state: true }, draft: { state: true },
  };

  constructor() {
    super();
    this.card = /** @type {import('../types.js').Card | undefined} */ (undefined);
    /** Id of the skill that is chosen. */
    this.skill = '';
    this.tab = 'message';
    this.busy = false;
    this.streams = true;
    this.parts = /** @type {A2APart[]} */ ([]);
    this.accepted = /** @type {string[]} */ ([]);
    /** Problems by their sources; that of a file forbids nothing, since the file was not added. @type {{file?: string, data?: string, json?: string}} */
    this.problems = {};
    /** JSON as it is being written. @type {string | undefined} */
    this.draft = undefined;
    /** Contents of large files by what stands for them in the JSON. @type {Map<string, string>} */
    this.held = new Map();
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('tab') && !this.problems.json) this.draft = undefined; // written anew from the parts
  }

  /** Problem that forbids to send. */
  get problem() {
    return this.tab === 'json' ? this.problems.json : this.tab === 'form' ? this.problems.data : undefined;
  }

  /** @param {A2APart[]} parts of a message that was refused; text that was written since stays */
  restore(parts) {
    if (!this.parts.length) this.fill(parts);
  }

  /** What is written elsewhere replaces the JSON. */
  #touched() {
    this.draft = undefined;
    this.problems = {};
  }

  get text() {
    return this.parts.find(part => typeof part.text === 'string')?.text ?? '';
  }

  /** @param {A2APart[]} parts */
  fill(parts) {
    this.parts = parts.map(part => ({ ...part }));
    this.#touched();
    this.updateComplete.then(() => this.querySelector('textarea')?.focus());
  }

  /** Replaces the first part of a kind, or adds it in front. @param {'text' | 'data'} kind @param {unknown} value undefined removes it */
  put(kind, value) {
    this.#touched();
    const at = this.parts.findIndex(part => part[kind] !== undefined);
    const rest = this.parts.filter((_, i) => i !== at);
    if (value === undefined || value === '') this.parts = rest;
    else if (at < 0) this.parts = kind === 'text' ? [{ text: String(value) }, ...rest] : [...rest, { data: value }];
    else this.parts = this.parts.map((part, i) => (i === at ? { ...part, [kind]: value } : part));
  }

  /** @param {FileList | File[]} files */
  async add(files) {
    this.#touched();
    for (const file of files) {
      if (file.size > LARGEST) this.problems = { file: `${line(file.name, 80)}: ${size(file.size)} (expected: at most ${size(LARGEST)})` };
      else this.parts = [...this.parts, await partOf(file)];
    }
  }

  /** JSON of the message; large files are shortened, and put back when it is read. */
  get json() {
    if (this.draft !== undefined) return this.draft;
    return JSON.stringify({ parts: this.parts.map((part, i) => this.#short(part, i)) }, null, 2);
  }

  /** @param {A2APart} part @param {number} i */
  #short(part, i) {
    if (!part.raw || part.raw.length <= LONG) return part;
    const stand = `… ${i + 1} ${part.filename ?? 'file'}`;
    this.held.set(stand, part.raw);
    return { ...part, raw: stand };
  }

  /** @param {string} text */
  readJson(text) {
    this.draft = text;
    try {
      const json = JSON.parse(text);
      const parts = Array.isArray(json) ? json : json.parts;
      if (!Array.isArray(parts) || parts.some(part => part === null || typeof part !== 'object')) throw new Error('parts (expected: a list of objects)');
      this.parts = parts.map(part => (this.held.has(part.raw) ? { ...part, raw: this.held.get(part.raw) } : part));
      this.problems = {};
    } catch (error) {
      this.problems = { json: `JSON: ${line(/** @type {Error} */ (error).message, 160)}` };
    }
  }

  submit() {
    if (this.busy || this.problem) return;
    const parts = this.parts.filter(part => part.text !== '');
    if (!parts.length) return;
    this.emit('send', { parts, accepted: this.accepted });
    this.parts = [];
    this.held.clear();
    this.#touched();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.submit();
  }

  /** @param {ClipboardEvent} event */
  paste(event) {
    if (!event.clipboardData?.files.length) return;
    event.preventDefault();
    this.add(event.clipboardData.files);
  }

  render() {
    return html`<div class="compose" @paste=${this.paste}>
      ${tabs('Ways to write the message', [['message', 'Message'], ['form', 'Skill'], ['json', 'JSON']], this.tab, name => this.emit('tab', name))}
      ${this.tab === 'json' ? this.jsonTab() : this.tab === 'form' ? this.form() : nothing}
      ${this.tab === 'json' ? nothing : html`<textarea rows="2" aria-label="Message" placeholder="Message" .value=${this.text} @input=${(/** @type {any} */ event) => this.put('text', event.target.value)} @keydown=${this.key}></textarea>`}
      ${this.files()}
      ${this.problem || this.problems.file ? html`<p class="reason" role="alert">${this.problem ?? this.problems.file}</p>` : nothing}
      <div class="row wrap"><label class="btn file-button">Add files<input type="file" multiple class="only-read" @change=${(/** @type {any} */ event) => (this.add([...event.target.files]), (event.target.value = ''))}></label>
        <span class="dim wide">or drop them here</span><span class="grow"></span>
        <button type="button" class="btn main" ?disabled=${this.busy || !!this.problem || !this.parts.length} @click=${this.submit}>Send</button></div>
    </div>`;
  }

  files() {
    const files = this.parts.filter(part => part.raw !== undefined || part.url !== undefined);
    if (!files.length) return nothing;
    return html`<ul class="chips">${files.map(part => html`<li class="chip">${line(part.filename ?? part.url ?? 'file', 60)} <span class="dim">${size(sizeOf(part))}</span>
      <button type="button" class="icon" aria-label=${`Remove ${line(part.filename ?? 'the file', 60)}`} @click=${() => (this.parts = this.parts.filter(each => each !== part))}>×</button></li>`)}</ul>`;
  }

  form() {
    const skills = this.card?.skills ?? [];
    const skill = skills.find(each => each.id === this.skill) ?? skills[0];
    if (!skill) return html`<p class="dim">The card of the agent names no skill.</p>`;
    const inputs = skill.inputModes?.length ? skill.inputModes : this.card?.defaultInputModes ?? [];
    const outputs = skill.outputModes?.length ? skill.outputModes : this.card?.defaultOutputModes ?? [];
    return html`<div class="skill">
      <label class="field">Skill<select @change=${(/** @type {any} */ event) => this.emit('skill', event.target.value)}>
        ${skills.slice(0, 200).map(each => html`<option value=${each.id} .selected=${each === skill}>${line(each.name, 80)}</option>`)}</select></label>
      ${skill.description ? html`<p class="dim cut-2" title=${line(skill.description, 600)}>${line(skill.description, 600)}</p>` : nothing}
      ${skill.examples?.length ? this.examples(skill.examples) : nothing}
      ${inputs.some(mode => mode.includes('json')) ? this.dataField() : nothing}
      ${outputs.length > 1 ? this.answers(outputs) : nothing}
    </div>`;
  }

  /** @param {string[]} examples */
  examples(examples) {
    return html`<div class="field">Examples<div class="row wrap">${examples.slice(0, 12).map(example => html`<button type="button" class="chip"
      title=${visible(example, 600)} @click=${() => this.put('text', example)}>${line(example, 60)}</button>`)}</div></div>`;
  }

  dataField() {
    const data = this.parts.find(part => part.data !== undefined)?.data;
    return html`<label class="field">Data (JSON)<input class="mono" placeholder="{}" .value=${data === undefined ? '' : JSON.stringify(data)} @change=${this.readData}></label>`;
  }

  /** Media types of answers that the sender accepts. @param {string[]} modes */
  answers(modes) {
    const toggle = (/** @type {string} */ mode) => (this.accepted = this.accepted.includes(mode) ? this.accepted.filter(each => each !== mode) : [...this.accepted, mode]);
    return html`<fieldset class="field"><legend>Accepted answers</legend><div class="row wrap">${modes.slice(0, 12).map(mode => html`<label class="chip">
      <input type="checkbox" .checked=${this.accepted.includes(mode)} @change=${() => toggle(mode)}>${line(mode, 60)}</label>`)}</div></fieldset>`;
  }

  /** @param {Event} event */
  readData(event) {
    const text = /** @type {HTMLInputElement} */ (event.target).value.trim();
    try {
      this.put('data', text === '' ? undefined : JSON.parse(text));
    } catch (error) {
      this.problems = { data: `Data: ${line(/** @type {Error} */ (error).message, 160)}` };
    }
  }

  jsonTab() {
    return html`<textarea class="mono" rows="10" spellcheck="false" aria-label="Message as JSON" .value=${this.json} @input=${(/** @type {any} */ event) => this.readJson(event.target.value)}></textarea>`;
  }
}

customElements.define('parley-compose', Compose);
