/** Base of the tabs of the settings, and their dialogs. */
import { html, nothing } from 'lit';
import { codeBlock, empty, failure, skeleton } from '../components/bits.js';
import { dialog } from '../components/dialog.js';
import { Screen } from '../components/element.js';
import { typed } from '../components/typed.js';
import { paced, watch } from '../live.js';

/** A tab that reads its data again when the feed tells of a change. @template T */
export class Tab extends Screen {
  static properties = { data: { state: true }, error: { state: true } };

  constructor() {
    super();
    this.data = /** @type {T | undefined} */ (undefined);
    this.error = /** @type {any} */ (undefined);
  }

  /** Kinds of changes after which the data is read again; a hub without authentication sends no changes of the audit. */
  get kinds() {
    return ['audit', 'gap', ...(this.session?.methods?.length ? [] : ['task'])];
  }

  connectedCallback() {
    super.connectedCallback();
    this.until(watch(changes => changes.some(({ kind }) => this.kinds.includes(kind)) && this.read()));
    this.read(true);
  }

  read = paced(async () => {
    try {
      Object.assign(this, { data: await this.load(), error: undefined });
    } catch (error) {
      this.error = error;
    }
  }, () => this.isConnected);

  /** @returns {Promise<T>} */
  async load() {
    throw new Error('no data');
  }

  /** @param {T} _data @returns {unknown} */
  content(_data) {
    return nothing;
  }

  /** The search box. @param {string} label @param {unknown} more filters and actions after it */
  search(label, more) {
    return html`<div class="filters" role="search"><input type="search" class="grow" placeholder=${label} aria-label=${label} ${typed('q')}>${more}</div>`;
  }

  /** Search words of the address. */
  get words() {
    return (this.route.query.get('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  }

  /** Whether a row has all words. @param {unknown[]} texts */
  matches(...texts) {
    const text = texts.join(' ').toLowerCase();
    return this.words.every(word => text.includes(word));
  }

  render() {
    if (!this.data && this.error?.status === 404) return empty('Not kept here', 'This hub stores its data in memory, or its administration has a port of its own.');
    return html`<div class="pad stack">${failure(this.error, () => this.read(true))}${this.data ? this.content(this.data) : this.error ? nothing : skeleton(5)}</div>`;
  }
}

/**
 * Asks in a dialog, and sends the answer. A key in the answer of the hub is shown until the dialog closes, and kept nowhere.
 *
 * @param {string} title
 * @param {string} verb
 * @param {unknown} content fields, or what will happen
 * @param {(values: Record<string, string>) => Promise<any>} send
 * @param {boolean} [isBad] the action takes something away
 */
export function ask(title, verb, content, send, isBad = false) {
  /** @type {any} */
  let error;
  /** @type {string | undefined} */
  let key;
  let busy = false;
  /** @param {SubmitEvent} event */
  const submit = async event => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    error = undefined;
    const fields = new FormData(/** @type {HTMLFormElement} */ (event.target));
    shown.repaint();
    try {
      key = (await send(Object.fromEntries([...fields].map(([name, value]) => [name, String(value).trim()]))))?.key;
      if (!key) shown.close();
    } catch (failed) {
      error = failed;
    }
    busy = false;
    if (isOpen) shown.repaint();
    else if (key || error) show(); // it was closed before the answer, which would be lost
  };
  /** @param {() => void} close */
  const draw = close => key ? {
    content: html`<p role="status">Copy the key now: it is shown only until this dialog closes.</p>${codeBlock(key, 'Key')}`,
    buttons: html`<button type="button" class="btn main" @click=${close}>Done</button>`,
  } : {
    content: html`<form id="ask" class="stack" @submit=${submit}>${content}</form>${failure(error)}`,
    buttons: html`<button type="button" class="btn" @click=${close}>Cancel</button><button form="ask" class="btn ${isBad ? 'bad' : 'main'}" ?disabled=${busy}>${verb}</button>`,
  };
  let isOpen = false;
  let shown = /** @type {ReturnType<typeof dialog>} */ (/** @type {unknown} */ (undefined));
  const show = () => {
    isOpen = true;
    shown = dialog(title, draw);
    return shown.closed.then(() => void (isOpen = false));
  };
  return show();
}

/** @param {string} label @param {string} name @param {string} [value] @param {string} [hint] */
export const field = (label, name, value = '', hint = '') =>
  html`<label class="field">${label}<input name=${name} .value=${value} placeholder=${hint} autocomplete="off" spellcheck="false" ?required=${!hint}></label>`;

/** @param {string} label @param {string} name @param {string[][]} options value and text of each @param {string} chosen */
export const select = (label, name, options, chosen) =>
  html`<label class="field">${label}<select name=${name}>${options.map(([value, text]) => html`<option value=${value} ?selected=${value === chosen}>${text}</option>`)}</select></label>`;
