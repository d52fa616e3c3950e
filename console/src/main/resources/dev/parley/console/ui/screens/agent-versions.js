/** Versions of a card, and the difference of two of them, with a warning where callers are led elsewhere or authenticated otherwise. */
import { html, nothing } from 'lit';
import { api } from '../api.js';
import { failure, skeleton, time } from '../components/bits.js';
import { Part } from '../components/element.js';
import { line, plural } from '../format.js';

const KINDS = /** @type {Record<string, string>} */ ({ breaking: 'bad', trust: 'wait', safe: 'ok' });

/** @param {import('../types.js').CardChange} change */
const isSecurity = ({ kind, path }) => kind === 'trust' || /security/i.test(path);

class Versions extends Part {
  static properties = { entry: { attribute: false }, route: { attribute: false }, versions: { state: true }, difference: { state: true }, error: { state: true } };

  constructor() {
    super();
    this.entry = /** @type {import('../types.js').Entry} */ (/** @type {any} */ (undefined));
    this.route = /** @type {import('../types.js').Route} */ (/** @type {any} */ (undefined));
    this.versions = /** @type {import('../types.js').Version[] | undefined} */ (undefined);
    this.difference = /** @type {import('../types.js').Difference | undefined} */ (undefined);
    this.error = /** @type {any} */ (undefined);
    this.loaded = '';
  }

  willUpdate() {
    const { id, revision } = this.entry;
    const [from, to] = ['from', 'to'].map(name => this.route.query.get(name) ?? undefined);
    const key = `${id} ${revision} ${from} ${to}`;
    if (key === this.loaded) return;
    this.loaded = key;
    this.load(key, from, to);
  }

  /** @param {string} key @param {string} [from] @param {string} [to] */
  async load(key, from, to) {
    this.error = undefined;
    const { id, revision } = this.entry;
    try {
      const [{ versions }, difference] = await Promise.all([api.versions(id), (revision ?? 1) > 1 && to !== '1' ? api.diff(id, { from, to }) : undefined]);
      if (key === this.loaded) Object.assign(this, { versions, difference });
    } catch (error) {
      if (key === this.loaded) this.error = error;
    }
  }

  render() {
    if (this.error) return failure(this.error, () => this.load(this.loaded));
    if (!this.versions) return skeleton(4);
    return html`<div class="cols even"><ol class="list versions">${this.versions.map(({ revision, time: at, principal, changes }) => html`<li class=${revision === this.difference?.to ? 'on' : ''}>
        <span class="two"><b>Version ${revision}</b><span class="dim">${time(at)}, ${line(principal, 60)}${changes.length ? `, ${plural(changes.length, 'change')}` : ''}</span></span>
        <span class="row">${changes.some(isSecurity) ? html`<span class="state bad">security</span>` : nothing}
        ${revision > 1 ? html`<a href="${location.pathname}?tab=versions&from=${revision - 1}&to=${revision}">Compare with ${revision - 1}</a>` : nothing}</span></li>`)}</ol>
      <div class="stack">${this.difference ? this.changes(this.difference) : html`<p class="dim">The first version has no other one to compare with.</p>`}</div></div>`;
  }

  /** @param {import('../types.js').Difference} difference */
  changes({ from, to, changes }) {
    const security = changes.filter(isSecurity);
    return html`<h2>Version ${from} to ${to}: ${changes.length ? plural(changes.length, 'change') : 'no change'}</h2>
      ${security.length ? html`<div class="failure" role="alert"><div><b>Security changed</b><p>${security.map(({ path, text }) => `${line(path, 120)}: ${line(text, 120)}`).join('; ')}. Check with the publisher before you send credentials.</p></div></div>` : nothing}
      <ul class="findings">${changes.map(({ kind, path, text }) => html`<li><span class="state ${KINDS[kind] ?? 'off'}">${line(kind, 20)}</span><code>${line(path, 200)}</code><span>${line(text, 200)}</span></li>`)}</ul>`;
  }
}

customElements.define('agent-versions', Versions);
