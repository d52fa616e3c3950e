/** Users and groups of the hub: list, create, disable, archive. */
import { html, nothing } from 'lit';
import { api } from '../api.js';
import { empty, time } from '../components/bits.js';
import { line } from '../format.js';
import { ask, field, Tab } from './settings-tab.js';

/** @typedef {{id: string, made: string, archived?: string}} Group */
/** @typedef {{group: string, name: string, made: string, disabled?: string}} User */
/** A user or a group. @typedef {{name: string, group?: string, made: string, ended?: string, path: string[]}} Member */

const ENDING = ['Disable', 'Enable', 'disabled', 'Its keys and tokens are refused, and its open streams end.', 'Its keys and tokens are accepted again.'];
const ARCHIVING = ['Archive', 'Restore', 'archived', 'All its members are refused. Their data stays.', 'Its members may call again.'];

/** @extends {Tab<{users: Member[], groups: Member[]}>} */
class Users extends Tab {
  async load() {
    const [{ groups }, { users }] = await Promise.all([api.admin('GET', ['groups']), api.admin('GET', ['users'])]);
    return {
      users: users.map((/** @type {User} */ { name, group, made, disabled }) => ({ name, group, made, ended: disabled, path: ['users', group, name] })),
      groups: groups.map((/** @type {Group} */ { id, made, archived }) => ({ name: id, made, ended: archived, path: ['groups', id] })),
    };
  }

  /** @param {string} title @param {string} verb @param {unknown} content @param {string[]} path @param {boolean} [isBad] */
  change(title, verb, content, path, isBad) {
    ask(title, verb, content, async values => {
      await api.admin('POST', path, values);
      this.read(true);
    }, isBad);
  }

  /** @param {{users: Member[], groups: Member[]}} data */
  content({ users, groups }) {
    return html`${this.search('Search users and groups', html`<button type="button" class="btn" @click=${() => this.change('New group', 'Create group', field('Id', 'id'), ['groups'])}>New group</button>
        <button type="button" class="btn main" @click=${() => this.change('New user', 'Create user', html`${field('Group', 'group', this.session?.group ?? 'default')}${field('Name', 'name')}`, ['users'])}>New user</button>`)}
      <div class="cols">${this.section('Users', users, ENDING)}${this.section('Groups', groups, ARCHIVING)}</div>`;
  }

  /** @param {string} label @param {Member[]} members @param {string[]} words */
  section(label, members, [end, restore, state, harm, relief]) {
    const rows = members.filter(({ name, group }) => this.matches(name, group ?? ''));
    return html`<section class="card" aria-label=${label}><h2>${label} <span class="dim">${rows.length}</span></h2>${rows.length ? html`<ul class="list">${rows.map(({ name, group, made, ended, path }) => {
      const verb = ended ? restore : end;
      return html`<li><span class="stack-0"><b class="cut" title=${line(name, 200)}>${line(name, 100)}</b><span class="dim cut">${group ? `${line(group, 100)}, ` : nothing}since ${time(made)}</span></span>
        <span class="row">${ended ? html`<span class="state bad">${state}</span>` : nothing}<button type="button" class="link" aria-label="${verb} ${line(name, 100)}"
          @click=${() => this.change(`${verb} ${line(name, 60)}`, verb, html`<p>${ended ? relief : harm}</p>`, [...path, verb.toLowerCase()], !ended)}>${verb}</button></span></li>`;
    })}</ul>` : empty('None', 'A user is made with its first key, a group with its first user, or here.')}</section>`;
  }
}

customElements.define('settings-users', Users);
