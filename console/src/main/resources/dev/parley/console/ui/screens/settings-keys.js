/** API keys of the hub: list, new, rotate, revoke. */
import { html, nothing } from 'lit';
import { api, hubNow } from '../api.js';
import { empty, time } from '../components/bits.js';
import '../components/table.js';
import { age, line, plural } from '../format.js';
import { ask, field, select, Tab } from './settings-tab.js';

const DAY = 86_400_000;
const LIVES = [['7', '7 days'], ['30', '30 days'], ['90', '90 days'], ['365', 'a year'], ['', 'no expiry']];
const OVERLAPS = [['0', 'none: the old key ends now'], ['3600', 'an hour'], ['86400', '24 hours'], ['604800', '7 days']];
const MOST = 12; // agents that are offered as scopes

/** @typedef {{id: string, prefix: string, group: string, principal: string, scopes: string[], made: string, expires?: string, revoked?: string, lastUse?: string, successor?: string}} Key */

const past = (/** @type {string | undefined} */ at) => !!at && Date.parse(at) <= hubNow();
const isGood = (/** @type {Key} */ key) => !key.revoked && !past(key.expires);

/** @param {Key} key */
function stateOfKey(key) {
  if (key.revoked) return html`<span class="state bad">revoked</span>`;
  if (past(key.expires)) return html`<span class="state off">ended</span>`;
  return key.successor ? html`<span class="state wait">rotated</span>` : html`<span class="state ok">valid</span>`;
}

/** @extends {Tab<Key[]>} */
class Keys extends Tab {
  async load() {
    return (await api.admin('GET', ['keys'])).keys.reverse();
  }

  async create() {
    const agents = (await api.agents().catch(() => ({ agents: [] }))).agents.slice(0, MOST).map(({ name }) => `agent:${name}`);
    if (!this.isConnected || document.querySelector('dialog[open]')) return; // another tab, or a second click
    const add = (/** @type {string} */ scope) => () => {
      const input = /** @type {HTMLInputElement} */ (document.querySelector('#ask input[name=scopes]'));
      const scopes = input.value.split(/[\s,]+/).filter(Boolean);
      input.value = (scopes.includes(scope) ? scopes.filter(each => each !== scope) : [...scopes, scope]).join(' ');
    };
    ask('New key', 'Create key', html`${field('Principal', 'principal')}${field('Group', 'group', this.session?.group ?? 'default')}
      ${field('Scopes', 'scopes', '', 'agent:NAME limits the key to an agent')}
      <div class="chips">${['admin', 'metrics', ...agents].map(scope => html`<button type="button" class="chip" @click=${add(scope)}>${line(scope, 60)}</button>`)}</div>
      ${select('Expires in', 'days', LIVES, '30')}`, async ({ principal, group, scopes, days }) => {
      const made = await api.admin('POST', ['keys'], { principal, group, scopes: scopes.split(/[\s,]+/).filter(Boolean), expires: days ? new Date(hubNow() + Number(days) * DAY).toISOString() : undefined });
      this.read(true);
      return made;
    });
  }

  /** @param {Key} key */
  rotate(key) {
    ask('Rotate key', 'Create successor', html`<p>The successor of <code>${line(key.prefix, 60)}</code> has its principal, group and scopes. Both keys are valid during the overlap.</p>${select('Overlap', 'overlap', OVERLAPS, '86400')}`, async ({ overlap }) => {
      const made = await api.admin('POST', ['keys', key.id, 'rotate'], { overlapSeconds: Number(overlap) });
      this.read(true);
      return made;
    });
  }

  /** @param {Key} key */
  revoke(key) {
    ask('Revoke key', 'Revoke', html`<p>Calls with <code>${line(key.prefix, 60)}</code> of ${line(key.principal, 80)} are refused from now on. This cannot be undone.</p>`, async () => {
      await api.admin('POST', ['keys', key.id, 'revoke']);
      this.read(true);
    }, true);
  }

  get columns() {
    return /** @type {import('../components/table.js').Column<Key>[]} */ ([
      { name: 'who', label: 'Principal', cell: key => html`<b class="cut" title=${line(key.principal, 200)}>${line(key.principal, 80)}</b><span class="dim mono cut">${line(key.prefix, 60)}</span>` },
      { name: 'group', label: 'Group', cell: key => html`<span class="cut">${line(key.group, 80)}</span>` },
      { name: 'scopes', label: 'Scopes', cell: key => html`<span class="cut" title=${line(key.scopes.join(' '), 400)}>${key.scopes.length ? line(key.scopes.join(' '), 200) : html`<span class="dim">none</span>`}</span>` },
      { name: 'st', label: 'State', cell: stateOfKey },
      { name: 'end', label: 'Ends', cell: key => (key.revoked ? time(key.revoked) : key.expires ? time(key.expires) : html`<span class="dim">never</span>`) },
      { name: 'use', label: 'Last use', cell: key => (key.lastUse ? html`<span title=${key.lastUse}>${age(key.lastUse, hubNow())}</span>` : html`<span class="dim">never</span>`) },
      { name: 'act', label: 'Actions', hideLabel: true, cell: key => (isGood(key) ? html`${key.successor ? nothing : html`<button type="button" class="link" @click=${() => this.rotate(key)}>Rotate</button>`}<button type="button" class="link" @click=${() => this.revoke(key)}>Revoke</button>` : nothing) },
    ]);
  }

  /** @param {Key[]} keys */
  content(keys) {
    const rows = keys.filter(key => this.matches(key.principal, key.group, key.prefix, ...key.scopes));
    return html`${this.search('Search keys', html`<button type="button" class="btn main" @click=${() => this.create()}>New key</button>`)}
      ${rows.length ? html`<parley-rows class="hub-keys" label="Keys" .rows=${rows} .columns=${this.columns}></parley-rows>` : keys.length ? empty('No key matches', 'Remove a word to see more.') : empty('No key yet', 'Keys of the configuration of the hub are not listed here.')}
      <p class="dim">${plural(rows.length, 'key')}. The last use is kept across restarts to the hour. Keys of the configuration (<code>--callers</code>) are not listed.</p>`;
  }
}

customElements.define('settings-keys', Keys);
