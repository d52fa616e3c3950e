/** Webhooks of a task: where events are sent, attempts of those that were given up, and their redelivery. */
import { html, nothing } from 'lit';
import { api } from '../api.js';
import { empty, failure, skeleton, time } from '../components/bits.js';
import { Part } from '../components/element.js';
import { line, plural, visible } from '../format.js';

class Webhooks extends Part {
  static properties = { agent: { attribute: false }, task: { attribute: false }, session: { attribute: false }, hooks: { state: true }, error: { state: true }, sent: { state: true } };

  constructor() {
    super();
    this.agent = '';
    this.task = '';
    this.session = /** @type {import('../types.js').Session | undefined} */ (undefined);
    this.hooks = /** @type {any[] | undefined} */ (undefined);
    this.error = /** @type {any} */ (undefined);
    this.sent = /** @type {Map<string, unknown>} */ (new Map());
    this.loaded = '';
  }

  willUpdate() {
    if (this.loaded === this.task || !this.agent) return;
    this.loaded = this.task;
    this.load();
  }

  async load() {
    this.error = undefined;
    try {
      const [{ configs = [] }, dead] = await Promise.all([api.webhooks(this.agent, this.task), api.deadWebhooks().then(answer => answer.webhooks, () => [])]);
      const given = new Map(dead.filter(hook => hook.taskId === this.task).map(hook => [hook.configId, hook]));
      const known = configs.map(config => ({ id: config.id ?? config.pushNotificationConfig?.id, url: config.url ?? config.pushNotificationConfig?.url, dead: given.get(config.id ?? config.pushNotificationConfig?.id) }));
      const others = [...given.values()].filter(hook => !known.some(each => each.id === hook.configId)).map(hook => ({ id: hook.configId, url: hook.url, dead: hook }));
      this.hooks = [...known, ...others];
    } catch (error) {
      this.error = error;
    }
  }

  /** @param {string} config */
  async redeliver(config) {
    try {
      await api.redeliver(this.task, config);
      this.sent = new Map(this.sent).set(config, html`<span class="state ok">delivers again</span>`);
      await this.load();
    } catch (error) {
      this.sent = new Map(this.sent).set(config, failure(error));
    }
  }

  render() {
    if (this.error) return failure(this.error, () => this.load());
    if (!this.hooks) return skeleton(3);
    if (!this.hooks.length) {
      return empty('No webhook', 'A webhook receives the events of the task as requests.', html`<code>parley task push-config create ${this.task} --url URL</code>`);
    }
    return html`<ul class="hooks">${this.hooks.map(hook => html`<li>
      <div class="row wrap"><span class="mono grow cut" title=${line(hook.url, 300)}>${visible(hook.url, 300)}</span>
        ${hook.dead ? html`<span class="state bad">given up</span>` : html`<span class="state ok">active</span>`}
        ${hook.dead ? html`<button type="button" class="btn" @click=${() => this.redeliver(hook.id)}>Redeliver</button>` : nothing}</div>
      <div class="dim">webhook <code>${line(hook.id, 80)}</code>${hook.dead ? html`, ${plural(hook.dead.attempts, 'attempt')}, given up ${time(hook.dead.deadSince)}` : nothing}</div>
      ${hook.dead?.lastError ? html`<div class="reason">${line(hook.dead.lastError, 400)}</div>` : nothing}
      ${this.sent.get(hook.id) ?? nothing}</li>`)}</ul>
      ${this.session?.signedIn && !this.session.scopes?.includes('admin') ? html`<p class="dim">Attempts are shown to operators (scope admin).</p>` : nothing}`;
  }
}

customElements.define('task-webhooks', Webhooks);
