/** JSON as a tree whose branches are drawn when they are opened. */
import { html, nothing } from 'lit';
import { count, line, visible, webLink } from '../format.js';
import { Part } from './element.js';

const MOST = 200; // members of a branch before "more"

class JsonTree extends Part {
  static properties = { value: { attribute: false }, name: { attribute: false }, depth: { type: Number }, open: { state: true }, shown: { state: true } };

  constructor() {
    super();
    this.value = /** @type {unknown} */ (undefined);
    this.name = /** @type {string | undefined} */ (undefined);
    this.depth = 0;
    this.open = /** @type {boolean | undefined} */ (undefined);
    this.shown = MOST;
  }

  render() {
    const { value } = this;
    const label = this.name === undefined ? nothing : html`<span class="key">${line(this.name, 100)}</span>`;
    if (value === null || typeof value !== 'object') return html`<div class="leaf">${label}${scalar(value)}</div>`;
    const entries = Object.entries(value);
    const list = Array.isArray(value);
    if (!entries.length) return html`<div class="leaf">${label}<span class="dim">${list ? '[ ]' : '{ }'}</span></div>`;
    const open = this.open ?? (this.depth < 2 && entries.length <= 30);
    return html`<details .open=${open} @toggle=${this.toggled}><summary>${label}<span class="dim">${list ? `[${count(entries.length)}]` : `{${count(entries.length)}}`}${open ? nothing : html` ${preview(entries, list)}`}</span></summary>
      ${open ? html`<div class="branch">${entries.slice(0, this.shown).map(([name, member]) => html`<parley-json .name=${name} .value=${member} .depth=${this.depth + 1}></parley-json>`)}
        ${entries.length > this.shown ? html`<button type="button" class="link" @click=${() => (this.shown += 5 * MOST)}>${count(entries.length - this.shown)} more</button>` : nothing}</div>` : nothing}
    </details>`;
  }

  /** @param {Event} event */
  toggled(event) {
    if (event.target === this.querySelector(':scope > details')) this.open = /** @type {HTMLDetailsElement} */ (event.target).open;
  }
}

/** @param {[string, unknown][]} entries @param {boolean} list */
function preview(entries, list) {
  const words = entries.slice(0, 4).map(([name, value]) => (list ? '' : `${line(name, 24)}: `) + (value !== null && typeof value === 'object' ? '…' : line(JSON.stringify(value), 28)));
  return words.join(', ') + (entries.length > 4 ? ', …' : '');
}

/** @param {unknown} value */
function scalar(value) {
  if (typeof value !== 'string') return html`<span class="value ${typeof value}">${String(value)}</span>`;
  const href = /^https?:/.test(value) ? webLink(value) : undefined;
  const text = visible(value, 4_000);
  return href ? html`<a class="value" href=${href} target="_blank" rel="noopener noreferrer">${text}</a>` : html`<span class="value string" dir="auto">${text}</span>`;
}

customElements.define('parley-json', JsonTree);
