/** Sign-in by a key or a token, which is exchanged for a session cookie and kept nowhere else. */
import { html, nothing } from 'lit';
import { api } from '../api.js';
import { failure, tabs } from '../components/bits.js';
import { Part } from '../components/element.js';
import { line } from '../format.js';
import { part } from '../part.js';
import { link } from '../route.js';

const KINDS = /** @type {Record<string, string>} */ ({ key: 'API key', token: 'Token' });

class SignIn extends Part {
  static properties = { session: { attribute: false }, error: { state: true }, busy: { state: true }, kind: { state: true } };

  constructor() {
    super();
    this.session = /** @type {import('../types.js').Session | undefined} */ (undefined);
    this.error = /** @type {any} */ (undefined);
    this.busy = false;
    this.kind = 'key';
  }

  firstUpdated() {
    document.title = 'Sign in – Parley';
    this.querySelector('input')?.focus();
  }

  /** @param {SubmitEvent} event */
  async submit(event) {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (this.querySelector('input'));
    if (!field.value.trim()) return;
    this.busy = true;
    this.error = undefined;
    try {
      await api.signIn({ [this.present ?? 'key']: field.value.trim() });
      field.value = '';
      this.emit('signed-in');
    } catch (error) {
      this.error = error;
      field.select();
    }
    this.busy = false;
  }

  async openId() {
    this.busy = true;
    this.error = undefined;
    await part(import('../openid.js')).then(({ begin }) => begin()).catch(error => (this.error = error));
    this.busy = false;
  }

  /** Kinds of credentials that the hub takes in this form. */
  get kinds() {
    return Object.keys(KINDS).filter(kind => (this.session?.methods ?? ['key']).includes(kind));
  }

  /** The kind that is asked for: the chosen one if the hub takes it. */
  get present() {
    return this.kinds.includes(this.kind) ? this.kind : this.kinds[0];
  }

  render() {
    const { kinds, present } = this;
    return html`<main class="alone">
      <form class="card sign" @submit=${this.submit}>
        <div class="brand"><i></i>Parley</div>
        <h1>Sign in${this.session?.hub?.name ? ` to ${line(this.session.hub.name, 60)}` : ''}</h1>
        ${kinds.length > 1 ? tabs('Kinds of credentials', kinds.map(kind => [kind, KINDS[kind]]), present, kind => (this.kind = kind)) : nothing}
        ${present ? this.field(present) : nothing}
        ${this.session?.methods?.includes('openid') ? html`<button type="button" class="btn ${present ? '' : 'main'}" ?disabled=${this.busy} @click=${this.openId}>Sign in with your organization</button>` : nothing}
        ${failure(this.error)}
        ${present === 'key' ? html`<p class="dim">No key yet? On the machine of the hub: <code>parley key create --group default --principal me</code></p>` : nothing}
        <p class="dim">Developers log in to their <a href=${link('registry/account')}>AgentVault account</a>, and read the <a href=${link('learn')}>documentation</a>, without a key.</p>
      </form>
    </main>`;
  }

  /** @param {string} kind */
  field(kind) {
    return html`<label>${KINDS[kind]}<input type="password" name="credential" autocomplete="off" spellcheck="false" required></label>
      <p class="dim">It is exchanged for a session of 12 hours, and not stored in the browser.</p>
      <button class="btn main" ?disabled=${this.busy}>${this.busy ? 'Signing in' : 'Sign in'}</button>`;
  }
}

customElements.define('screen-signin', SignIn);
