/** S5: one task: timeline, conversation, artifacts, events, webhooks. */
import { html, nothing } from 'lit';
import { api } from '../api.js';
import { badge, copyButton, failure, skeleton, tabs, time } from '../components/bits.js';
import { artifact } from '../components/conversation.js';
import { Part } from '../components/element.js';
import { summary, stepsOf, timeline } from '../components/timeline.js';
import { count, isTerminal, line, plural, textOf } from '../format.js';
import { watch } from '../live.js';
import { apply, firstMessage } from '../model.js';
import { link, setQuery } from '../route.js';
import './task-events.js';

const PAGE = 500;
const AT_FIRST = 2_000; // events that are read without a click

class TaskScreen extends Part {
  static properties = {
    route: { attribute: false }, session: { attribute: false }, row: { state: true }, task: { state: true }, events: { state: true }, error: { state: true },
    problem: { state: true }, busy: { state: true }, now: { state: true },
  };

  constructor() {
    super();
    /** @type {import('../types.js').Route} */
    this.route = /** @type {any} */ (undefined);
    /** @type {import('../types.js').Session | undefined} */
    this.session = undefined;
    /** @type {import('../types.js').TaskRow | undefined} */
    this.row = undefined;
    /** @type {import('../types.js').Task | undefined} */
    this.task = undefined;
    /** @type {import('../types.js').NumberedEvent[]} */
    this.events = [];
    /** @type {number | undefined} */
    this.next = undefined;
    /** @type {any} */
    this.error = undefined;
    /** Failure of an action. @type {any} */
    this.problem = undefined;
    this.busy = false;
    this.now = Date.now();
    this.loaded = '';
    this.stale = false;
    this.reading = false;
  }

  connectedCallback() {
    super.connectedCallback();
    this.loaded = '';
    this.until(watch(changes => {
      if (changes.some(change => change.kind === 'gap' || change.taskId === this.loaded)) this.follow();
    }));
    const clock = setInterval(() => !document.hidden && this.task && !isTerminal(this.task.status.state) && (this.now = Date.now()), 1_000);
    this.until(() => clearInterval(clock));
  }

  willUpdate() {
    const { task } = this.route.params;
    if (task === this.loaded) return;
    this.loaded = task;
    Object.assign(this, { row: undefined, task: undefined, events: [], next: undefined });
    this.load();
  }

  async load() {
    const id = this.loaded;
    this.error = undefined;
    try {
      const history = await api.history(id, { limit: PAGE });
      const task = await api.task(history.task.agent, id);
      if (id !== this.loaded) return;
      Object.assign(this, { row: history.task, events: history.events, next: history.next, task });
      const title = line(history.task.title || textOf(firstMessage(task)?.parts), 80);
      if (title) document.title = `${title} – Parley`;
      while (this.next && this.events.length < AT_FIRST && id === this.loaded && (await this.more()).length);
    } catch (error) {
      if (id === this.loaded) this.error = error;
    }
  }

  /** Reads the events behind the last one, at most twice a second, and only if the feed tells of some. */
  async follow() {
    this.stale = true;
    if (this.reading || !this.row) return;
    this.reading = true;
    while (this.stale && this.isConnected) {
      this.stale = false;
      if (!this.next) await this.advance();
      await new Promise(resolve => setTimeout(resolve, 500));
    }
    this.reading = false;
  }

  /** Reads the next page of events. @returns {Promise<import('../types.js').NumberedEvent[]>} none if that fails */
  async more() {
    const id = this.loaded;
    const answer = await api.history(id, { after: this.events.at(-1)?.number ?? 0, limit: PAGE }).catch(() => undefined);
    if (!answer || id !== this.loaded) return [];
    this.row = answer.task;
    this.events = [...this.events, ...answer.events];
    this.next = answer.events.length ? answer.next : undefined;
    this.now = Date.now();
    return answer.events;
  }

  /** Reads what is new. Pieces of artifacts are not put together here: the task may have some of them already. */
  async advance() {
    const fresh = await this.more();
    if (!this.row || !this.task || !fresh.length) return;
    if (fresh.every(({ event }) => event.statusUpdate && !isTerminal(event.statusUpdate.status.state))) {
      this.task = fresh.reduce((task, { event }) => apply(task, event) ?? task, this.task);
    } else {
      this.task = await api.task(this.row.agent, this.loaded).catch(() => this.task);
    }
  }

  async cancel() {
    if (!this.row) return;
    this.busy = true;
    this.problem = undefined;
    try {
      this.task = await api.cancel(this.row.agent, this.row.taskId);
      await this.more();
    } catch (error) {
      this.problem = error;
    }
    this.busy = false;
  }

  async answered() {
    await this.more();
    if (this.row) this.task = await api.task(this.row.agent, this.loaded).catch(() => this.task);
  }

  get curl() {
    return `curl -s '${new URL(`../agents/${encodeURIComponent(this.row?.agent ?? '')}/tasks/${encodeURIComponent(this.loaded)}`, document.baseURI)}' -H 'A2A-Version: 1.0'`;
  }

  render() {
    if (this.error) return html`<div class="head"><div class="grow"><div class="dim"><a href=${link('tasks')}>Tasks</a></div><h1>Task</h1></div></div>${failure(this.error, () => this.load())}`;
    const { row, task } = this;
    if (!row || !task) return html`<div class="card">${skeleton(8)}</div>`;
    const steps = stepsOf(this.events, this.now);
    const title = line(row.title || textOf(firstMessage(task)?.parts), 200) || 'Task';
    return html`<div class="head">
        <div class="grow"><div class="crumbs dim"><a href=${link('tasks')}>Tasks</a> / <a href=${link('tasks', { agent: row.agent })}>${line(row.agent, 60)}</a> / <code>${line(row.taskId, 40)}</code></div>
          <h1>${title} ${badge(task.status.state)}</h1></div>
        ${copyButton(() => this.curl, 'Copy as curl')}
        <a class="btn" href=${link(`agents/${row.agent}/try`, { replay: row.taskId })}>Send again</a>
        ${isTerminal(task.status.state) ? nothing : html`<button type="button" class="btn bad" ?disabled=${this.busy} @click=${this.cancel}>Cancel</button>`}
      </div>
      ${failure(this.problem)}
      <div class="cols"><div class="stack">
        <section class="card"><h2>Timeline <span class="dim">${summary(steps)}</span></h2>${timeline(steps)}</section>
        ${this.tabs(task)}
      </div><div class="stack">${this.facts(row, task)}${this.files(task)}</div></div>`;
  }

  /** @param {import('../types.js').Task} task */
  tabs(task) {
    const present = this.route.query.get('tab') ?? 'conversation';
    const items = [['conversation', 'Conversation'], ['artifacts', `Artifacts ${count(task.artifacts?.length ?? 0)}`], ['events', `Events ${count(this.row?.events ?? this.events.length)}`], ['webhooks', 'Webhooks']];
    return html`<section class="card">${tabs('Views of the task', items, present, name => setQuery({ tab: name === 'conversation' ? undefined : name, artifact: undefined }), 'view')}
      <div role="tabpanel" id="view" class="pad" aria-labelledby="view-${present}">${this.panel(present, task)}</div></section>`;
  }

  /** @param {string} tab @param {import('../types.js').Task} task */
  panel(tab, task) {
    const agent = this.row?.agent ?? '';
    if (tab === 'events') {
      const own = Math.max(0, (task.history ?? []).filter(message => message.role === 'ROLE_USER').length - 1);
      return html`<task-events .events=${this.events} .route=${this.route} .agent=${agent} .task=${task.id} .more=${!!this.next} .messages=${this.events.some(each => each.event.message) ? 0 : own} @more=${this.more}></task-events>`;
    }
    if (tab === 'webhooks') {
      import('./task-webhooks.js');
      return html`<task-webhooks .agent=${agent} .task=${task.id} .session=${this.session}></task-webhooks>`;
    }
    if (tab === 'artifacts') {
      const only = this.route.query.get('artifact');
      const shown = (task.artifacts ?? []).filter(each => !only || each.artifactId === only);
      return shown.length ? html`<div class="stack">${shown.map(each => artifact(each))}</div>` : html`<p class="dim">${isTerminal(task.status.state) ? 'The task has no artifacts.' : 'The task has no artifacts yet.'}</p>`;
    }
    return html`<parley-conversation .task=${task} .agent=${agent} .times=${this.times} @answered=${this.answered}></parley-conversation>`;
  }

  /** Times of messages by their ids. */
  get times() {
    /** @type {Map<string, string>} */
    const times = new Map();
    for (const { at, event } of this.events) {
      const messages = [event.message, event.statusUpdate?.status.message, ...(event.task?.history ?? [])];
      for (const message of messages) if (message && at) times.set(message.messageId, at);
    }
    return times;
  }

  /** @param {import('../types.js').TaskRow} row @param {import('../types.js').Task} task */
  facts(row, task) {
    return html`<section class="card"><h2>Facts</h2><dl class="kv">
      <dt>Agent</dt><dd><a href=${link(`agents/${row.agent}/try`)}>${line(row.agent, 100)}</a></dd>
      <dt>Caller</dt><dd>${line(row.caller || 'anonymous', 100)}${row.group ? html`<span class="dim"> @ ${line(row.group, 60)}</span>` : nothing}</dd>
      <dt>Context</dt><dd><a class="mono" href=${link('tasks', { contextId: row.contextId })}>${line(row.contextId, 60)}</a></dd>
      <dt>Task</dt><dd class="mono">${line(row.taskId, 60)} ${copyButton(row.taskId)}</dd>
      <dt>Created</dt><dd>${time(row.created)}</dd>
      <dt>Updated</dt><dd>${time(row.updated)}</dd>
      <dt>Events</dt><dd>${row.events === undefined ? plural(this.events.length, 'event') : count(row.events)}</dd>
      ${task.metadata && Object.keys(task.metadata).length ? html`<dt>Metadata</dt><dd><parley-json .value=${task.metadata} .depth=${2}></parley-json></dd>` : nothing}
    </dl></section>`;
  }

  /** @param {import('../types.js').Task} task */
  files(task) {
    const artifacts = task.artifacts ?? [];
    if (!artifacts.length) return nothing;
    return html`<section class="card"><h2>Artifacts</h2><ul class="list">${artifacts.slice(0, 50).map(each => html`<li><a class="cut" href=${link(`tasks/${task.id}`, { tab: 'artifacts', artifact: each.artifactId })}>${line(each.name || each.parts[0]?.filename || each.artifactId, 80)}</a>
      <span class="dim cut">${line(each.parts[0]?.mediaType ?? (each.parts[0]?.data === undefined ? 'text' : 'JSON'), 40)}</span></li>`)}</ul>
      ${artifacts.length > 50 ? html`<p class="dim pad">${count(artifacts.length - 50)} more</p>` : nothing}</section>`;
  }
}

customElements.define('screen-task', TaskScreen);
