/** A test call of an agent elsewhere: a run of one step, whose task the hub sends without credentials of the reader. */
import { html, nothing } from 'lit';
import { api } from '../api.js';
import { badge, failure } from '../components/bits.js';
import { Part } from '../components/element.js';
import '../components/parts.js';
import { isTerminal, line } from '../format.js';
import { paced, watch } from '../live.js';
import { link } from '../route.js';
import { taskState } from './workflows.js';

class TestCall extends Part {
  static properties = { url: { type: String }, skill: { attribute: false }, run: { state: true }, parts: { state: true }, error: { state: true }, busy: { state: true } };

  constructor() {
    super();
    /** Address of the agent, or of its card. */
    this.url = '';
    this.skill = /** @type {import('../types.js').Skill | undefined} */ (undefined);
    this.run = /** @type {import('../types.js').WorkflowRun | undefined} */ (undefined);
    /** Parts of the answer. @type {import('../types.js').Part[]} */
    this.parts = [];
    this.error = /** @type {any} */ (undefined);
    this.busy = false;
  }

  connectedCallback() {
    super.connectedCallback();
    this.until(watch(changes => changes.some(({ kind, taskId }) => kind === 'gap' || taskId === this.run?.workflowId) && this.follow()));
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('url')) Object.assign(this, { run: undefined, parts: [], error: undefined, busy: false });
  }

  /** @param {SubmitEvent} event */
  async send(event) {
    event.preventDefault();
    const { url } = this;
    const text = new FormData(/** @type {HTMLFormElement} */ (event.target)).get('text');
    Object.assign(this, { busy: true, run: undefined, parts: [], error: undefined });
    try {
      const run = await api.startRun({ workflow: { steps: [{ id: 'call', agent: url, task: this.skill?.id ?? 'message', parameters: { text } }] } });
      if (url !== this.url) return;
      this.run = run;
      this.follow(true);
    } catch (error) {
      if (url === this.url) this.error = error;
    }
    this.busy = false;
  }

  follow = paced(async () => {
    const { run } = this;
    if (!run) return;
    try {
      const now = await api.run(run.workflowId);
      const task = isTerminal(taskState(now.state)) ? await api.task('one', run.workflowId) : undefined;
      if (this.run?.workflowId === run.workflowId) Object.assign(this, { run: now, parts: (task?.artifacts ?? []).flatMap(each => each.parts), error: undefined });
    } catch (error) {
      if (run === this.run) this.error = error;
    }
  }, () => this.isConnected, 300);

  render() {
    const step = this.run?.steps[0];
    return html`<section class="card" aria-label="Test call"><h2>Test call</h2><form class="pad stack" @submit=${this.send}>
      <label class="field">Message<input name="text" required maxlength="10000" .value=${line(this.skill?.examples?.[0] ?? 'hello', 1_000)}></label>
      <p class="dim">The hub sends it to <code>${line(this.url, 300)}</code>, without your credentials.</p>
      <div class="row"><button class="btn main" ?disabled=${this.busy}>Send</button>${this.run && step ? html`${badge(taskState(step.state))}<a href=${link(`workflows/${this.run.workflowId}`)}>Its run</a>` : nothing}</div>
      ${failure(this.error)}${step?.problem ? html`<p class="bad-text">${line(step.problem, 400)}</p>` : nothing}<parley-parts .parts=${this.parts}></parley-parts></form></section>`;
  }
}

customElements.define('parley-test-call', TestCall);
