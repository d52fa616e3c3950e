/** Effective settings of the hub: value, source, type and description of each. */
import { html, nothing } from 'lit';
import { api } from '../api.js';
import { empty, highlighted } from '../components/bits.js';
import { line, plural, visible } from '../format.js';
import { setQuery } from '../route.js';
import { Tab } from './settings-tab.js';

/** @typedef {{name: string, type: string, description: string, source: string, isSecret: boolean, isSet: boolean, value?: string, origin?: string}} Value */

const SOURCES = /** @type {Record<string, string>} */ ({ flag: 'flag', environment: 'environment variable', file: 'file', code: 'code of the program', default: 'default' });

/** @extends {Tab<Value[]>} */
class Values extends Tab {
  get kinds() {
    return ['gap']; // values change with a restart
  }

  async load() {
    return (await api.admin('GET', ['settings'])).settings;
  }

  /** @param {Value[]} values */
  content(values) {
    const source = this.route.query.get('source') ?? '';
    const rows = values.filter(value => (!source || value.source === source) && this.matches(value.name, value.description, value.isSecret ? '' : value.value, value.origin));
    const used = Object.keys(SOURCES).filter(name => values.some(value => value.source === name));
    return html`${this.search('Search name, value and description', html`<select aria-label="Source" .value=${source} @change=${(/** @type {any} */ event) => setQuery({ source: event.target.value })}><option value="">any source</option>${used.map(name => html`<option value=${name} ?selected=${name === source}>${SOURCES[name]}</option>`)}</select>`)}
      ${rows.length ? html`<ul class="values">${rows.map(value => this.value(value))}</ul>` : empty('No setting matches', 'Remove a word or the source to see more.')}
      <p class="dim">${plural(rows.length, 'setting')}. A change takes effect with a restart of the hub.</p>`;
  }

  /** @param {Value} value */
  value({ name, type, description, source, isSecret, isSet, value, origin }) {
    return html`<li><div class="row wrap"><code class="grow">${highlighted(name, this.words, 80)}</code><span class="state ${source === 'default' ? 'off' : 'run'}">${SOURCES[source] ?? line(source, 40)}</span></div>
      <div class="mono value">${isSecret && isSet ? html`<span class="dim">set (secret)</span>` : isSet ? visible(value, 2_000) : html`<span class="dim">not set</span>`}</div>
      ${origin ? html`<div class="dim mono value">from ${line(origin, 300)}</div>` : nothing}
      <div class="dim">${highlighted(description, this.words, 600)} <span class="nowrap">(${line(type, 200)})</span></div></li>`;
  }
}

customElements.define('settings-values', Values);
