/** Table with virtual rows: as many elements as fit the window, whatever the number of rows. Keys: j, k, Enter, x. */
import { html, nothing } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { shortcuts } from '../part.js';
import { Part, place } from './element.js';

const OVER = 8; // rows above and below the window
const NEAR = 2; // rows that are left of these when further ones are shown

/**
 * @template T
 * @typedef {{name: string, label: string, cell: (row: T, now: number) => unknown, hideLabel?: boolean}} Column {@code name}: class of the cells
 */

class Rows extends Part {
  static properties = {
    rows: { attribute: false }, columns: { attribute: false }, rowKey: { attribute: false }, rowClass: { attribute: false }, label: { type: String }, more: { type: Boolean },
    chosen: { attribute: false }, total: { type: Number }, range: { state: true }, atKey: { state: true }, now: { attribute: false },
  };

  constructor() {
    super();
    this.rows = /** @type {any[]} */ ([]);
    this.columns = /** @type {Column<any>[]} */ ([]);
    this.rowKey = /** @type {(row: any) => string} */ (row => row.id);
    this.rowClass = /** @type {(row: any) => string} */ (() => '');
    this.label = '';
    this.more = false;
    /** Keys of the chosen rows; undefined if rows cannot be chosen. @type {Set<string> | undefined} */
    this.chosen = undefined;
    this.total = -1;
    this.height = 45;
    this.range = { from: 0, to: Math.ceil(innerHeight / this.height) + NEAR };
    /** Key of the row that the keyboard is at: rows come and go above it. @type {string | undefined} */
    this.atKey = undefined;
    this.now = 0;
  }

  connectedCallback() {
    super.connectedCallback();
    this.listen(window, 'scroll', () => this.measure(true));
    this.listen(window, 'resize', () => this.measure(true));
    this.listen(document, 'keydown', event => this.key(event));
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    this.measure(changed.has('rows') || changed.has('more'));
  }

  get at() {
    return this.atKey === undefined ? -1 : this.rows.findIndex(row => this.rowKey(row) === this.atKey);
  }

  /** Finds the rows of the window. @param {boolean} asks whether more rows may be asked for: a repaint after a failure does not ask again */
  measure(asks) {
    const body = this.querySelector('.body');
    if (!body) return;
    const row = body.querySelector('[role=row]');
    if (row) this.height = row.getBoundingClientRect().height || this.height;
    const above = -body.getBoundingClientRect().top;
    const first = Math.floor(above / this.height);
    const end = Math.ceil((above + innerHeight) / this.height);
    const from = Math.max(0, Math.min(first, this.rows.length) - OVER);
    const to = Math.min(this.rows.length, end + OVER);
    const { range } = this;
    if (range.from > Math.max(0, first - NEAR) || range.to < Math.min(this.rows.length, end + NEAR) || range.to - range.from > end - first + 4 * OVER) this.range = { from, to: Math.max(from, to) };
    if (asks && this.more && to + 20 > this.rows.length) this.emit('more');
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (!shortcuts.on || event.ctrlKey || event.metaKey || event.altKey || !this.rows.length || target.closest('input:not([type=checkbox]), textarea, select, dialog')) return;
    if (event.key === 'j' || event.key === 'k') {
      event.preventDefault();
      this.move(Math.max(0, Math.min(this.rows.length - 1, this.at + (event.key === 'j' ? 1 : -1))));
    } else if (event.key === 'x' && this.at >= 0 && this.chosen) {
      this.choose(this.rows[this.at]);
    } else if (event.key === 'Enter' && this.at >= 0 && !target.closest('a, button')) {
      /** @type {HTMLElement | null} */ (this.querySelector('.row-at a'))?.click();
    }
  }

  /** @param {number} at */
  async move(at) {
    this.atKey = this.rowKey(this.rows[at]);
    const body = /** @type {HTMLElement} */ (this.querySelector('.body'));
    const top = body.getBoundingClientRect().top + at * this.height;
    if (top < 120) scrollBy(0, top - 120);
    else if (top + this.height > innerHeight - 20) scrollBy(0, top + this.height - innerHeight + 20);
    this.measure(true);
    await this.updateComplete;
    /** @type {HTMLElement | null} */ (this.querySelector('.row-at a'))?.focus({ preventScroll: true });
  }

  /** @param {any} row */
  choose(row) {
    const key = this.rowKey(row);
    const chosen = new Set(this.chosen);
    if (!chosen.delete(key)) chosen.add(key);
    this.emit('chosen', chosen);
  }

  chooseAll() {
    const all = this.rows.length === this.chosen?.size;
    this.emit('chosen', new Set(all ? [] : this.rows.map(this.rowKey)));
  }

  render() {
    const { from } = this.range;
    const to = Math.min(this.range.to, this.rows.length);
    const around = { '--before': `${from * this.height}px`, '--after': `${Math.max(0, this.rows.length - to) * this.height}px` };
    return html`<div class="rows ${this.chosen ? 'choosable' : ''}" role="table" aria-label=${this.label} aria-rowcount=${this.total < 0 ? this.rows.length + 1 : this.total + 1}>
      <div role="rowgroup"><div role="row" class="tr th" aria-rowindex="1">
        ${this.chosen ? html`<span role="columnheader" class="pick"><input type="checkbox" aria-label="Choose all" .checked=${this.chosen.size > 0 && this.chosen.size === this.rows.length}
          .indeterminate=${this.chosen.size > 0 && this.chosen.size < this.rows.length} @change=${this.chooseAll}></span>` : nothing}
        ${this.columns.map(column => html`<span role="columnheader" class=${column.name}>${column.hideLabel ? html`<span class="only-read">${column.label}</span>` : column.label}</span>`)}
      </div></div>
      <div role="rowgroup" class="body" ${place(around)}>
        ${repeat(this.rows.slice(from, to), this.rowKey, (row, i) => this.row(row, from + i))}
      </div>
    </div>`;
  }

  /** @param {any} row @param {number} at */
  row(row, at) {
    return html`<div role="row" class="tr ${this.rowKey(row) === this.atKey ? 'row-at' : ''} ${this.rowClass(row)}" aria-rowindex=${at + 2}>
      ${this.chosen ? html`<span role="cell" class="pick"><input type="checkbox" aria-label="Choose this row" .checked=${this.chosen.has(this.rowKey(row))} @change=${() => this.choose(row)}></span>` : nothing}
      ${this.columns.map(column => html`<span role="cell" class=${column.name}>${column.cell(row, this.now)}</span>`)}
    </div>`;
  }
}

customElements.define('parley-rows', Rows);
