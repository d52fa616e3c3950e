/** S6: a run of a workflow: its graph, the task of a step, and how the graph filled in. */
import { html, nothing } from 'lit';
import { api, hubNow } from '../api.js';
import '../components/ask.js';
import { badge, empty, failure, skeleton } from '../components/bits.js';
import '../components/conversation.js';
import { dialog } from '../components/dialog.js';
import { Screen } from '../components/element.js';
import { graph, kindOf } from '../components/graph.js';
import '../components/json.js';
import { criticalPath, replay } from '../flow.js';
import { clock, duration, isWaiting, line } from '../format.js';
import { paced, watch } from '../live.js';
import { go, link, setQuery } from '../route.js';
import { taskState } from './workflows.js';

const LONGEST_HISTORY = 5_000; // events

/** @typedef {import('../flow.js').Step} Step */

class Workflow extends Screen {
  static properties = { run: { state: true }, events: { state: true }, task: { state: true }, child: { state: true }, error: { state: true }, actError: { state: true }, now: { state: true } };

  constructor() {
    super();
    this.runId = '';
    this.run = /** @type {import('../types.js').WorkflowRun | undefined} */ (undefined);
    this.events = /** @type {import('../types.js').NumberedEvent[]} */ ([]);
    /** Task of the step that is shown. @type {import('../types.js').Task | undefined} */
    this.task = undefined;
    /** Run within the step that is shown. @type {import('../types.js').WorkflowRun | undefined} */
    this.child = undefined;
    this.error = /** @type {any} */ (undefined);
    this.actError = /** @type {any} */ (undefined);
    this.now = hubNow();
    this.shown = '';
  }

  connectedCallback() {
    super.connectedCallback();
    this.until(watch(changes => changes.some(({ kind, taskId }) => kind === 'gap' || taskId === this.runId || taskId === this.task?.id) && this.read()));
    const clock = setInterval(() => !document.hidden && (this.now = hubNow()), 1_000);
    this.until(() => clearInterval(clock));
    this.runId = '';
    this.requestUpdate();
  }

  willUpdate() {
    if (this.route.params.run !== this.runId) {
      Object.assign(this, { runId: this.route.params.run, run: undefined, events: [], task: undefined, child: undefined, error: undefined, actError: undefined, shown: '' });
      this.read(true);
    }
    const step = this.route.query.get('step') ?? '';
    if (step === this.shown) return;
    this.shown = step;
    Object.assign(this, { task: undefined, child: undefined });
    this.readStep();
  }

  read = paced(() => this.load(), () => this.isConnected, 500);

  /** Reads the run, the new events of its task, and the step that is shown. */
  async load() {
    const { runId: id } = this;
    try {
      const run = await api.run(id);
      /** @type {number | undefined} */
      let after = this.events.at(-1)?.number ?? 0;
      const events = [...this.events];
      while (after !== undefined && events.length < LONGEST_HISTORY) {
        const page = await api.history(id, { after, limit: 500 });
        events.push(...page.events);
        after = page.next;
      }
      if (id === this.runId) Object.assign(this, { run, events, error: undefined, now: hubNow() });
      await this.readStep();
    } catch (error) {
      if (id === this.runId) this.error = error;
    }
  }

  async readStep() {
    const step = this.run?.steps.find(each => each.id === this.shown);
    if (!step?.taskId || !step.agent || /:\/\//.test(step.agent)) return;
    const isRun = step.agent === 'one';
    const [task, child] = await Promise.all([isRun ? undefined : api.task(step.agent, step.taskId).catch(() => undefined), isRun ? api.run(step.taskId).catch(() => undefined) : undefined]);
    if (this.shown === step.id) Object.assign(this, { task, child });
  }

  /** Number of the event at which the graph is shown; the last one while it follows the run. */
  get at() {
    const wanted = Number(this.route.query.get('at'));
    return wanted > 0 ? wanted : Infinity;
  }

  /** @param {() => Promise<unknown>} work */
  async act(work) {
    this.actError = undefined;
    await work().catch(error => (this.actError = error));
    this.read();
  }

  /** @param {'resume' | 'repeat'} action */
  again(action) {
    this.act(async () => go(link(`workflows/${(await api.againRun(this.runId, action)).workflowId}`)));
  }

  cancel() {
    dialog('Cancel the run', close => ({
      content: html`<p>The run and the tasks of its steps are canceled. A canceled run can be resumed: steps that have completed keep their results.</p>`,
      buttons: html`<button type="button" class="btn" @click=${close}>Keep it</button><button type="button" class="btn bad" @click=${() => (close(), this.act(() => api.cancelRun(this.runId)))}>Cancel the run</button>`,
    }));
  }

  render() {
    const { run } = this;
    if (!run) return this.error?.status === 404 ? html`<div class="card">${empty('No such run', 'It does not exist, or belongs to someone else.', html`<a class="btn" href=${link('workflows')}>Workflows</a>`)}</div>`
      : html`${failure(this.error, () => this.read())}${this.error ? nothing : html`<div class="card">${skeleton(6)}</div>`}`;
    const last = this.events.at(-1)?.number ?? 0;
    const at = Math.min(this.at, last);
    const { steps, times } = replay(run.steps, this.events, at);
    const end = at < last || ['completed', 'failed', 'canceled'].includes(run.state) ? Date.parse(this.events.find(event => event.number === at)?.at ?? '') : this.now;
    const state = at < last ? 'working' : run.state;
    const href = (/** @type {string} */ id) => link(`workflows/${this.runId}`, { step: id, at: this.route.query.get('at') ?? undefined });
    return html`${this.head(run, state)}
      ${failure(this.error, () => this.read())}${failure(this.actError)}
      ${at === last && isWaiting(taskState(run.state)) && run.message ? this.question(run) : nothing}
      ${run.state === 'failed' && run.message ? html`<p class="reason">${line(run.message, 600)}</p>` : nothing}
      <div class=${this.shown ? 'cols' : 'stack'}><section class="card" aria-label="Graph">
        ${graph(at < last ? steps : run.steps, { href, selected: this.shown, critical: criticalPath(steps, times, end), times, now: end })}${this.scrubber(at, last)}</section>
        ${this.shown ? this.step((at < last ? steps : run.steps).find(step => step.id === this.shown), times) : nothing}</div>
      ${Object.keys(run.result ?? {}).length ? html`<section class="card" aria-label="Result"><h2>Result</h2><div class="pad"><parley-json .value=${run.result}></parley-json></div></section>` : nothing}`;
  }

  /** @param {import('../types.js').WorkflowRun} run @param {string} state */
  head({ origin, state: present, steps }, state) {
    const name = origin?.definition ? `${line(origin.definition, 100)} ${origin.version ?? ''}` : `${steps.length} steps`;
    const isOver = ['completed', 'failed', 'canceled'].includes(present);
    return html`<div class="head"><div class="grow"><div class="crumbs dim"><a href=${link('workflows')}>Workflows</a> / <code>${this.runId}</code></div><h1>${name} ${badge(taskState(state))}</h1>
        ${origin?.resumes ? html`<span class="dim">resumes <a href=${link(`workflows/${origin.resumes}`)}>${line(origin.resumes, 36)}</a></span>` : nothing}</div>
      <a class="btn" href=${link(`tasks/${this.runId}`)}>Task</a><a class="btn" href=${link(`traces/${this.runId}`)}>Trace</a><a class="btn" href=${link('workflows/new', { run: this.runId })}>Edit a copy</a>
      ${present === 'failed' || present === 'canceled' ? html`<button type="button" class="btn" @click=${() => this.again('resume')}>Resume</button>` : nothing}
      ${isOver ? html`<button type="button" class="btn" @click=${() => this.again('repeat')}>Repeat</button>` : html`<button type="button" class="btn bad" @click=${this.cancel}>Cancel…</button>`}</div>`;
  }

  /** The question of the first step that asks is that of the run, which passes the answer on. @param {import('../types.js').WorkflowRun} run */
  question(run) {
    const task = { id: this.runId, status: { state: taskState(run.state) } };
    const message = { messageId: '', role: 'ROLE_AGENT', parts: [{ text: run.message }] };
    return html`<div class="pad-below"><parley-ask .task=${task} .agent=${'one'} .message=${message} @answered=${() => this.read()}></parley-ask></div>`;
  }

  /** @param {number} at @param {number} last */
  scrubber(at, last) {
    if (last < 2) return nothing;
    const event = this.events.find(each => each.number === at);
    const set = (/** @type {any} */ input) => setQuery({ at: Number(input.target.value) >= last ? undefined : input.target.value });
    return html`<label class="scrub"><span>Replay</span><input type="range" min="1" max=${last} .value=${String(at)} aria-valuetext="event ${at} of ${last}" @input=${set}>
      <span class="num">event ${at} of ${last}, ${clock(event?.at)}</span></label>`;
  }

  /** @param {Step | undefined} step @param {Map<string, {begun?: number, ended?: number}>} times */
  step(step, times) {
    if (!step) return html`<section class="card pad" aria-label="Step">No step of this name.</section>`;
    const { begun, ended } = times.get(step.id) ?? {};
    const isHere = step.agent && !/:\/\//.test(step.agent);
    const ballots = this.run?.steps.filter(each => each.id.startsWith(`${step.id}/`)) ?? [];
    return html`<section class="card" aria-label="Step"><h2 class="row"><span class="grow cut">${line(step.id, 100)}</span><span class="state ${kindOf(step.state)}">${line(step.state, 30)}</span>
        <button type="button" class="link" @click=${() => setQuery({ step: undefined })}>Close</button></h2>
      <dl class="kv"><dt>Agent</dt><dd>${isHere ? html`<a href=${link(`agents/${step.agent}`)}>${line(step.agent, 100)}</a>` : line(step.agent, 300)}</dd>
        <dt>Skill</dt><dd>${line(step.task, 100)}</dd>
        ${begun === undefined ? nothing : html`<dt>Took</dt><dd>${duration((ended ?? this.now) - begun)}${(step.attempts ?? 0) > 1 ? `, ${step.attempts} attempts` : ''}</dd>`}
        ${step.taskId && isHere ? html`<dt>Task</dt><dd><a href=${link(step.agent === 'one' ? `workflows/${step.taskId}` : `tasks/${step.taskId}`)}><code>${line(step.taskId, 40)}</code></a></dd>` : nothing}
        ${step.choice?.reasons ? html`<dt>Chosen for</dt><dd>${line(JSON.stringify(step.choice.reasons), 300)}</dd>` : nothing}
        ${ballots.length ? html`<dt>Voters</dt><dd>${ballots.map(each => html`<a href=${link(`workflows/${this.runId}`, { step: each.id })}>${line(each.id.slice(step.id.length + 1), 60)}</a> <span class="dim">${line(each.state, 20)} </span>`)}</dd>` : nothing}</dl>
      <div class="pad stack">${step.problem ? html`<p class="reason">${line(step.problem, 600)}</p>` : nothing}
        ${this.child ? html`<details open><summary>${this.child.steps.length} steps of the run within</summary>${graph(this.child.steps, { href: id => link(`workflows/${this.child?.workflowId}`, { step: id }) })}</details>` : nothing}
        ${this.task ? html`<parley-conversation .task=${withoutQuestion(this.task)} .agent=${step.agent}></parley-conversation>` : nothing}</div></section>`;
  }
}

/** A question is answered through the run, which waits for it. @param {import('../types.js').Task} task @returns {import('../types.js').Task} */
const withoutQuestion = task => (isWaiting(task.status.state) ? { ...task, status: { ...task.status, state: 'TASK_STATE_WORKING' } } : task);

customElements.define('screen-workflow', Workflow);
