/** S13: accounts of developers: sign up, log in, recover; cards and keys; projects of agents as archives. All by the API of AgentVault's registry. */
import { html, nothing } from 'lit';
import { request } from '../api.js';
import { codeBlock, empty, failure, skeleton, tabs, time } from '../components/bits.js';
import { Screen } from '../components/element.js';
import { save } from '../export.js';
import { line } from '../format.js';
import { link, setQuery } from '../route.js';

/** @typedef {{id: string, name: string, description: string, is_active?: boolean, card_data?: any}} VaultCard */
/** @typedef {{id: number, description?: string, created_at: string, last_used_at?: string}} VaultKey */
/** @typedef {{cards?: VaultCard[], keys?: VaultKey[], edited?: Partial<VaultCard>, fresh?: string, recovery?: string[], kind?: string}} Data of a tab; {@code recovery} and {@code fresh} are secrets that are shown once */

const WAYS = [['login', 'Log in'], ['signup', 'Sign up'], ['recover', 'Recover']];
const PARTS = [['cards', 'My cards'], ['keys', 'My keys'], ['builder', 'Agent builder']];
const KINDS = { simple_wrapper: 'Python, in front of a language model', adk_agent: "Python, with Google's agent kit", java_agent: 'Java, one file, in front of a language model' };
const BACKENDS = { openai_api: 'OpenAI', anthropic_api: 'Anthropic', local_openai_compatible: 'Local server with the API of OpenAI' };
const KEYS = 'developers/me/apikeys';
const CARDS = 'api/v1/agent-cards';

/** Token of a login, in the memory of the page only. @type {string | undefined} */
let token;
addEventListener('session-changed', () => (token = undefined)); // another user of the hub may be another developer

/** @param {string} method @param {string} path @param {unknown} [body] @param {Record<string, unknown>} [query] @param {string} [bearer] */
async function call(method, path, body, query, bearer = token) {
  try {
    return await request(method, path, { body, query, headers: bearer ? { Authorization: `Bearer ${bearer}` } : {}, credentials: 'omit' });
  } catch (failure) {
    const error = /** @type {any} */ (failure);
    const faults = error.details?.detail;
    if (Array.isArray(faults)) error.message = faults.map(fault => `${fault.loc?.slice(1).join('.')}: ${fault.msg}`).join('; ');
    if (error.status === 401 && bearer === token) token = undefined; // expired, or the password was changed
    throw error;
  }
}

/** @param {Parameters<typeof call>} given @returns {Promise<any>} */
const json = async (...given) => (await call(...given)).json();

/** Values of the fields of a form. @param {SubmitEvent} event @returns {Record<string, string>} */
function fieldsOf(event) {
  event.preventDefault();
  return Object.fromEntries([...new FormData(/** @type {HTMLFormElement} */ (event.target))].map(([name, value]) => [name, String(value)]));
}

/** @param {string} label @param {string} name @param {string} [type] @param {any} [autocomplete] */
const field = (label, name, type = 'text', autocomplete = 'off') =>
  html`<label class="field">${label}<input name=${name} type=${type} autocomplete=${autocomplete} maxlength="254" spellcheck="false" required></label>`;

/** @param {string} label @param {string} name @param {Record<string, string>} values */
const select = (label, name, values) => html`<label class="field">${label}<select name=${name}>${Object.entries(values).map(([value, title]) => html`<option value=${value}>${title}</option>`)}</select></label>`;

/** A card to begin with. @param {string} name of the account */
const draft = name => ({ schemaVersion: '1.0', humanReadableId: `${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}/agent`, agentVersion: '1.0.0', name: 'My agent', description: '',
  url: 'https://agents.example.com/a2a', provider: { name }, capabilities: { a2aVersion: '0.2' }, authSchemes: [{ scheme: 'none' }] });

class Account extends Screen {
  static properties = { me: { state: true }, data: { state: true }, told: { state: true } };

  constructor() {
    super();
    this.me = /** @type {{name: string, email: string, is_verified: boolean} | undefined} */ (undefined);
    this.data = /** @type {Data} */ ({});
    this.told = /** @type {{busy?: boolean, error?: any, done?: string}} */ ({});
    this.shown = '';
  }

  /** @param {() => Promise<string | void>} work returns words for its end */
  async work(work) {
    this.told = { busy: true };
    this.told = await work().then(done => ({ done: done ?? '' }), error => ({ error }));
    if (!token) this.me = undefined;
  }

  willUpdate() {
    const shown = `${!!token} ${this.tab}`;
    if (!this.isConnected || shown === this.shown) return;
    Object.assign(this, { shown, data: this.data.edited && (!token || this.tab === 'cards') ? this.data : {} }); // a card in the making outlives its login
    if (token && !this.data.edited) this.work(() => this.read());
  }

  /** @param {string} [fresh] a key that was made just now */
  async read(fresh) {
    const { tab } = this;
    this.me = await json('GET', 'developers/me');
    if (tab === 'keys') {
      const keys = await json('GET', KEYS);
      if (tab === this.tab) this.data = { keys, fresh };
    }
    if (tab !== 'cards') return;
    const [all, active] = await Promise.all([false, true].map(only => json('GET', CARDS, undefined, { owned_only: true, limit: 250, active_only: only })));
    const ids = active.items.map((/** @type {VaultCard} */ card) => card.id);
    if (tab === this.tab) this.data = { cards: all.items.map((/** @type {VaultCard} */ card) => ({ ...card, is_active: ids.includes(card.id) })) };
  }

  /** @param {SubmitEvent} event */
  submit(event) {
    const { name, email, password, key } = fieldsOf(event);
    this.work(async () => {
      if (this.tab === 'signup') {
        const { message, recovery_keys: recovery } = await json('POST', 'auth/register', { name, email, password });
        this.data = { recovery };
        return message;
      }
      if (this.tab === 'recover') {
        const { access_token: once } = await json('POST', 'auth/recover-account', { email, recovery_key: key });
        await call('POST', 'auth/set-new-password', { new_password: password }, {}, once);
        setQuery({ tab: undefined });
        return 'The password is set. The recovery key is used up.';
      }
      token = (await json('POST', 'auth/login', new URLSearchParams({ username: email, password }))).access_token;
      setQuery({ tab: undefined, verified: undefined });
    });
  }

  /** @param {boolean} check only */
  save(check) {
    const { id } = this.data.edited ?? {};
    this.work(async () => {
      const card = { card_data: JSON.parse(/** @type {HTMLTextAreaElement} */ (this.querySelector('textarea')).value) };
      this.data = { edited: { id, card_data: card.card_data } };
      const { is_valid: isValid, detail } = await json('POST', 'api/v1/utils/validate-card', card);
      if (!isValid) throw new Error(detail);
      if (check) return 'The card is valid.';
      await (id ? call('PUT', `${CARDS}/${id}`, card) : call('POST', CARDS, card));
      await this.read();
      return id ? 'The card is changed.' : 'The card is registered.';
    });
  }

  get tab() {
    const items = token ? PARTS : WAYS;
    return (items.find(([name]) => name === this.route.query.get('tab')) ?? items[0])[0];
  }

  render() {
    const { me, tab, told, data: { cards, keys, edited } } = this;
    const leave = () => ((token = this.me = undefined), setQuery({ tab: undefined }));
    return html`<div class="head"><div class="grow"><div class="crumbs dim"><a href=${link('registry')}>Registry</a> / account</div><h1>Developer account</h1>
        ${me ? html`<p>${line(me.name, 100)}, ${line(me.email, 254)} <span class="state ${me.is_verified ? 'ok' : 'wait'}">${me.is_verified ? 'verified' : 'not verified'}</span></p>` : nothing}
        <p class="dim">${!me ? 'With accounts of the registry, clients of AgentVault publish cards. They are no accounts of the hub.' : me.is_verified ? nothing : 'The link in the mail verifies the address; until then the account cannot be recovered.'}</p></div>
        ${me ? html`<button type="button" class="btn" @click=${leave}>Log out</button>` : nothing}</div>
      <section class="card ${token ? '' : 'access'}">${tabs('Developer account', token ? PARTS : WAYS, tab, name => !this.told.busy && ((this.told = {}), setQuery({ tab: name, verified: undefined })), 'account')}
        <div role="tabpanel" id="account" class="pad stack" aria-labelledby="account-${tab}">${failure(told.error)}${told.done ? html`<p class="check ok" role="status">${line(told.done, 300)}</p>` : nothing}
          ${!token ? this.access(tab) : tab === 'builder' ? this.builder() : edited ? this.editor(edited) : keys ? this.keyList(keys) : cards ? this.cardList(cards) : skeleton(3)}</div></section>`;
  }

  /** @param {string} tab */
  access(tab) {
    if (this.data.recovery) {
      return html`<h2>Recovery keys</h2><p>Each sets a new password once. They are shown only now: keep them where you keep passwords.</p>${codeBlock(this.data.recovery.join('\n'), 'Recovery keys')}
        <div class="row"><button type="button" class="btn main" @click=${() => setQuery({ tab: undefined })}>I have kept them</button></div>`;
    }
    const verified = this.route.query.get('verified');
    const [password, action] = tab === 'signup' ? ['Password', 'Sign up'] : tab === 'recover' ? ['New password', 'Set the password'] : ['Password', 'Log in'];
    return html`<form class="stack" @submit=${this.submit}>${verified ? html`<p class="check ${verified === 'yes' ? 'ok' : 'bad'}" role="status">${verified === 'yes' ? 'The mail address is verified.' : 'The link is unknown, or older than 24 hours.'}</p>` : nothing}
      ${tab === 'signup' ? field('Name', 'name', 'text', 'nickname') : nothing}${field('Mail address', 'email', 'email', 'username')}${tab === 'recover' ? field('Recovery key', 'key') : nothing}
      ${field(password, 'password', 'password', tab === 'login' ? 'current-password' : 'new-password')}<div class="row"><button class="btn main" ?disabled=${this.told.busy}>${action}</button></div>
      ${tab === 'login' ? html`<p class="dim">A login is good for 30 minutes, and ends when the page is loaded again, or with the session of the hub.</p>` : nothing}</form>`;
  }

  /** @param {VaultCard[]} cards */
  cardList(cards) {
    const edit = (/** @type {string} */ id) => this.work(async () => void (this.data = { edited: await json('GET', `${CARDS}/${id}`) }));
    const add = html`<button type="button" class="btn main" @click=${() => (this.data = { edited: { card_data: draft(this.me?.name ?? '') } })}>New card</button>`;
    if (!cards.length) return empty('No card yet', 'A card that you register is a public entry of the registry.', add);
    return html`<div class="row">${add}</div><ul class="list">${cards.map(({ id, name, description, is_active: isActive }) => html`<li>
      <span class="two"><b class="cut">${line(name, 120)} <span class="state ${isActive ? 'ok' : 'off'}">${isActive ? 'active' : 'not active'}</span></b><span class="dim cut">${line(description, 200)}</span></span><span class="row"><button type="button" class="btn" @click=${() => edit(id)}>Edit</button>
        <button type="button" class="btn" ?disabled=${this.told.busy} @click=${() => this.work(async () => (await call('PUT', `${CARDS}/${id}`, { is_active: !isActive }), this.read()))}>${isActive ? 'Deactivate' : 'Activate'}</button></span></li>`)}</ul>`;
  }

  /** @param {Partial<VaultCard>} card */
  editor({ id, card_data: card }) {
    return html`<label class="field">Card of AgentVault as JSON<textarea class="mono" rows="18" spellcheck="false" .value=${JSON.stringify(card, null, 2)}></textarea></label>
      <div class="row wrap"><button type="button" class="btn main" ?disabled=${this.told.busy} @click=${() => this.save(false)}>${id ? 'Save the version' : 'Register'}</button><button type="button" class="btn" @click=${() => this.save(true)}>Validate</button>
        <button type="button" class="btn" @click=${() => this.work(() => this.read())}>Close</button>${id ? html`<a href="${link('registry')}/${encodeURIComponent(card.humanReadableId)}">Entry of the registry</a>` : nothing}</div>`;
  }

  /** @param {VaultKey[]} keys */
  keyList(keys) {
    const revoke = (/** @type {number} */ id) => this.work(async () => (await call('DELETE', `${KEYS}/${id}`), await this.read(), 'The key is revoked.'));
    const make = (/** @type {SubmitEvent} */ event) => {
      const key = fieldsOf(event);
      this.work(async () => this.read((await json('POST', KEYS, key)).plain_api_key));
    };
    return html`<form class="row wrap" @submit=${make}><input name="description" class="grow" maxlength="500" placeholder="What the key is for" aria-label="Description of the key"><button class="btn main" ?disabled=${this.told.busy}>Make a key</button></form>
      ${this.data.fresh ? html`<p>Programs send the key as <code>X-Api-Key</code>. It is shown only now.</p>${codeBlock(this.data.fresh, 'New key')}` : nothing}
      ${keys.length ? nothing : empty('No key yet', 'Keys let programs list, register and change your cards.')}<ul class="list">${keys.map(({ id, description, created_at: created, last_used_at: used }) => html`<li>
        <span class="two"><b class="cut">${line(description, 200) || `Key ${id}`}</b><span class="dim">made ${time(created)}, ${used ? html`used ${time(used)}` : 'not used yet'}</span></span><button type="button" class="btn bad" ?disabled=${this.told.busy} @click=${() => revoke(id)}>Revoke</button></li>`)}</ul>`;
  }

  builder() {
    const isKit = this.data.kind === 'adk_agent';
    const build = (/** @type {SubmitEvent} */ event) => {
      const config = fieldsOf(event);
      this.work(async () => {
        const answer = await call('POST', 'agent-builder/generate', config);
        save(answer.headers.get('Content-Disposition')?.split('"')[1] ?? 'agent.zip', await answer.blob());
        return 'The project is downloaded; INSTRUCTIONS.md says how it starts.';
      });
    };
    return html`<form class="stack" @submit=${build} @change=${(/** @type {any} */ { target }) => target.name === 'agent_builder_type' && (this.data = { kind: target.value })}>
      ${select('Kind', 'agent_builder_type', KINDS)}${field('Name', 'agent_name')}${field('Description', 'agent_description')}${isKit ? nothing : select('Model server', 'wrapper_llm_backend_type', BACKENDS)}
      ${field('Model', isKit ? 'adk_model_name' : 'wrapper_model_name')}<label class="field">Instruction<textarea name=${isKit ? 'adk_instruction' : 'wrapper_system_prompt'} rows="3" maxlength="20000" ?required=${isKit}></textarea></label>
      <div class="row"><button class="btn main" ?disabled=${this.told.busy}>Download the project</button></div></form>`;
  }
}

customElements.define('screen-registry-account', Account);
