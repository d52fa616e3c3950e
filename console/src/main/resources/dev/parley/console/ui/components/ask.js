/** A question of a task, answered where it is asked. A credential is typed into a field that hides it. */
import { html, nothing } from 'lit';
import { api, newId } from '../api.js';
import { line, textOf } from '../format.js';
import { failure } from './bits.js';
import { Part } from './element.js';
import './parts.js';

const MOST = 8; // buttons

/** Texts of the options of a part. @param {import('../types.js').Part} part @returns {string[]} */
function optionsOf({ data }) {
  const { options, choices } = /** @type {any} */ (data ?? {});
  const offered = Array.isArray(options) ? options : Array.isArray(choices) ? choices : [];
  return offered.map(option => (typeof option === 'string' ? option : option?.label ?? option?.value)).filter(text => typeof text === 'string');
}

class Ask extends Part {
  static properties = { task: { attribute: false }, agent: { attribute: false }, message: { attribute: false }, error: { state: true }, busy: { state: true } };

  constructor() {
    super();
    this.task = /** @type {import('../types.js').Task} */ (/** @type {any} */ (undefined));
    this.agent = '';
    this.message = /** @type {import('../types.js').Message | undefined} */ (undefined);
    this.error = /** @type {any} */ (undefined);
    this.busy = false;
  }

  /** Answers that the question offers, as data with {@code options} or {@code choices}. @returns {string[]} */
  get options() {
    const texts = (this.message?.parts ?? []).map(optionsOf).find(options => options.length) ?? [];
    return texts.length ? texts.slice(0, MOST) : /\((yes\/no|y\/n)\)/i.test(textOf(this.message?.parts)) ? ['yes', 'no'] : [];
  }

  /** Parts of the question without data that the buttons show. */
  get parts() {
    const parts = this.message?.parts ?? [];
    const offer = parts.find(part => optionsOf(part).length);
    return parts.filter(part => {
      if (part !== offer) return true;
      const options = optionsOf(part);
      const members = part.data !== null && typeof part.data === 'object' ? Object.entries(part.data) : [];
      return options.length > MOST || members.length > 1 || /** @type {any} */ (members[0][1]).length > options.length;
    });
  }

  /** @param {string} text */
  async answer(text) {
    if (!text.trim() || this.busy) return;
    this.busy = true;
    this.error = undefined;
    const message = { messageId: newId(), role: 'ROLE_USER', taskId: this.task.id, contextId: this.task.contextId, parts: [{ text }] };
    // A page with a conversation sends the answer as its own message.
    const others = new CustomEvent('answer', { detail: message, bubbles: true, cancelable: true });
    if (!this.dispatchEvent(others)) {
      this.busy = false;
      return;
    }
    try {
      await api.send(this.agent, { message, configuration: { returnImmediately: true } });
      this.emit('answered', message);
    } catch (error) {
      this.error = error;
    }
    this.busy = false;
  }

  /** @param {SubmitEvent} event */
  submit(event) {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (this.querySelector('input[name=answer]'));
    this.answer(field.value);
  }

  render() {
    const secret = this.task?.status.state === 'TASK_STATE_AUTH_REQUIRED';
    return html`<form class="ask" @submit=${this.submit}>
      ${this.message ? html`<parley-parts .parts=${this.parts}></parley-parts>` : html`<b>${secret ? 'The agent needs a credential.' : 'The agent waits for an answer.'}</b>`}
      ${this.options.length ? html`<div class="row wrap">${this.options.map(option => html`<button type="button" class="btn" ?disabled=${this.busy} @click=${() => this.answer(option)}>${line(option, 60)}</button>`)}</div>` : nothing}
      <div class="row wrap">
        <input name="answer" class="grow" type=${secret ? 'password' : 'text'} autocomplete="off" aria-label=${secret ? 'Credential' : 'Answer'}
          placeholder=${secret ? 'Credential for the agent' : 'Answer'} ?disabled=${this.busy}>
        <button class="btn main" ?disabled=${this.busy}>${secret ? 'Send credential' : 'Answer'}</button>
      </div>
      ${secret ? html`<p class="dim">The credential goes to the agent as a message of the task, and stays in its history.</p>` : nothing}
      ${failure(this.error)}
    </form>`;
  }
}

customElements.define('parley-ask', Ask);
