/** Users and groups of the hub: list, create, disable, archive. */
import { html } from 'lit';
import { api } from '../api.js';
import { empty, time } from '../components/bits.js';
import { line, plural } from '../format.js';
import { setQuery } from '../route.js';
import { ask, field, Tab } from './settings-tab.js';

/** @typedef {{id: string, made: string, archived?: string}} Group */
/** @typedef {{group: string, name: string, made: string, disabled?: string}} User */

/** @extends {Tab<{groups: Group[], users: User[]}>} */
class Users extends Tab {
  async load() {
    const [{ groups }, { users }] = await Promise.all([api.admin('GET', ['groups']), api.admin('GET', ['users'])]);
    return { groups, users };
  }

  /** @param {string} title @param {string} verb @param {unknown} content @param {(values: Record<string, string>) => string[]} path @param {boolean} [isBad] */
  change(title, verb, content, path, isBad) {
    ask(title, verb, content, async values => {
      await api.admin('POST', path(values), values);
      this.read(true);
    }, isBad);
  }

  createUser() {
    this.change('New user', 'Create user', html`${field('Group', 'group', this.session?.group ?? 'default')}${field('Name', 'name')}`, () => ['users']);
  }

  createGroup() {
    this.change('New group', 'Create group', field('Id', 'id'), () => ['groups']);
  }

  /** @param {User} user */
  toggleUser({ group, name, disabled }) {
    if (disabled) return this.change('Enable user', 'Enable', html`<p>Keys and tokens of ${line(name, 80)} are accepted again.</p>`, () => ['users', group, name, 'enable']);
    this.change('Disable user', 'Disable', html`<p>All keys and tokens of ${line(name, 80)} are refused, and open streams end.</p>`, () => ['users', group, name, 'disable'], true);
  }

  /** @param {Group} group */
  toggleGroup({ id, archived }) {
    if (archived) return this.change('Restore group', 'Restore', html`<p>Members of ${line(id, 80)} may call again.</p>`, () => ['groups', id, 'restore']);
    this.change('Archive group', 'Archive', html`<p>All members of ${line(id, 80)} are refused. Their data stays.</p>`, () => ['groups', id, 'archive'], true);
  }

  /** @param {{groups: Group[], users: User[]}} data */
  content(data) {
    const users = data.users.filter(user => this.matches(user.name, user.group));
    const groups = data.groups.filter(group => this.matches(group.id));
    return html`<div class="filters" role="search"><input type="search" class="grow" placeholder="Search users and groups" aria-label="Search users and groups" .value=${this.route.query.get('q') ?? ''} @input=${(/** @type {any} */ event) => setQuery({ q: event.target.value })}>
        <button type="button" class="btn" @click=${this.createGroup}>New group</button><button type="button" class="btn main" @click=${this.createUser}>New user</button></div>
      <div class="cols"><section class="card" aria-label="Users"><h2>Users <span class="dim">${plural(users.length, 'user')}</span></h2>${users.length ? html`<ul class="list">${users.map(user => html`<li><span class="stack-0"><b class="cut">${line(user.name, 100)}</b><span class="dim cut">${line(user.group, 100)}, since ${time(user.made)}</span></span>
          <span class="row">${user.disabled ? html`<span class="state bad">disabled</span>` : ''}<button type="button" class="link" @click=${() => this.toggleUser(user)}>${user.disabled ? 'Enable' : 'Disable'}</button></span></li>`)}</ul>` : empty('No user', 'A user is made with its first key, or here.')}</section>
        <section class="card" aria-label="Groups"><h2>Groups <span class="dim">${plural(groups.length, 'group')}</span></h2>${groups.length ? html`<ul class="list">${groups.map(group => html`<li><span class="stack-0"><b class="cut">${line(group.id, 100)}</b><span class="dim cut">since ${time(group.made)}</span></span>
          <span class="row">${group.archived ? html`<span class="state bad">archived</span>` : ''}<button type="button" class="link" @click=${() => this.toggleGroup(group)}>${group.archived ? 'Restore' : 'Archive'}</button></span></li>`)}</ul>` : empty('No group', 'A group is made with its first user, or here.')}</section></div>`;
  }
}

customElements.define('settings-users', Users);
