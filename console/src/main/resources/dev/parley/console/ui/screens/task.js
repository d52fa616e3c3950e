/** S5: one task: timeline, conversation, artifacts, events, webhooks. */
import { html, nothing } from 'lit';
import { hubNow } from '../api.js';
import { quoted } from '../commands.js';
import { badge, copyButton, failure, skeleton, tabs, time } from '../components/bits.js';
import { artifact } from '../components/conversation.js';
import { Screen } from '../components/element.js';
import { summary, stepsOf, timeline } from '../components/timeline.js';
import { count, isTerminal, line, plural, textOf } from '../format.js';
import { watch } from '../live.js';
import { firstMessage } from '../model.js';
import { part } from '../part.js';
import { link, setQuery } from '../route.js';
import './task-events.js';
import { TaskLog } from './task-log.js';

class TaskScreen extends Screen {
  static properties = { now: { state: true } };

  constructor() {
    super();
    this.log = /** @type {TaskLog | undefined} */ (undefined);
    this.now = hubNow();
    this.timesOf = /** @type {import('../types.js').NumberedEvent[] | undefined} */ (undefined);
    this.knownTimes = /** @type {Map<string, string>} */ (new Map());
  }

  connectedCallback() {
    super.connectedCallback();
    this.requestUpdate();
    this.until(watch(changes => {
      if (changes.some(change => change.kind === 'gap' || change.taskId === this.log?.id)) this.log?.follow();
    }));
    const clock = setInterval(() => !document.hidden && this.log?.task && !isTerminal(this.log.task.status.state) && (this.now = hubNow()), 1_000);
    this.until(() => clearInterval(clock));
    this.until(() => (this.log?.stop(), (this.log = undefined)));
  }

  willUpdate() {
    const id = this.route.params.task;
    if (id === this.log?.id || !this.isConnected) return;
    this.log?.stop();
    const log = (this.log = new TaskLog(id, this.route.query.get('group') ?? undefined));
    log.addEventListener('change', () => {
      this.now = hubNow();
      const title = line(log.row?.title || textOf(log.task && firstMessage(log.task)?.parts), 80);
      if (title) document.title = `${title} – Parley`;
      this.requestUpdate();
    });
    log.load();
  }

  get curl() {
    const path = `../agents/${encodeURIComponent(this.log?.row?.agent ?? '')}/tasks/${encodeURIComponent(this.log?.id ?? '')}`;
    return `curl -s ${quoted(new URL(path, document.baseURI).href)} -H 'A2A-Version: 1.0'`;
  }

  render() {
    const { log } = this;
    if (!log) return nothing;
    const { row, task, busy } = log;
    if (log.error) return html`<div class="head"><div class="grow"><div class="dim"><a href=${link('tasks')}>Tasks</a></div><h1>Task</h1></div></div>${failure(log.error, () => log.load())}`;
    if (!row || !task) return html`<div class="card">${skeleton(8)}</div>`;
    const steps = stepsOf(log.events, this.now);
    const title = line(row.title || textOf(firstMessage(task)?.parts), 200) || 'Task';
    return html`<div class="head">
        <div class="grow"><div class="crumbs dim"><a href=${link('tasks')}>Tasks</a> / <a href=${link('tasks', { agent: row.agent })}>${line(row.agent, 60)}</a> / <code>${line(row.taskId, 40)}</code></div>
          <h1>${title} ${badge(task.status.state)}</h1></div>
        ${copyButton(() => this.curl, 'Copy as curl')}
        <a class="btn" href=${link(`traces/${row.taskId}`, { group: this.route.query.get('group') ?? undefined })}>Trace</a>
        <a class="btn" href=${link(`agents/${row.agent}/try`, { replay: row.taskId })}>Send again</a>
        ${isTerminal(task.status.state) ? nothing : html`<button type="button" class="btn bad" ?disabled=${busy} @click=${() => log.cancel()}>Cancel</button>`}
      </div>
      ${failure(log.problem)}
      <div class="cols"><div class="stack">
        <section class="card"><h2>Timeline <span class="dim">${summary(steps)}${log.hasEarlier ? ` since event ${count(log.events[0].number)}` : ''}</span></h2>${timeline(steps)}</section>
        ${this.tabs(task)}
      </div><div class="stack">${this.facts(row, task)}${this.files(task)}</div></div>`;
  }

  /** @param {import('../types.js').Task} task */
  tabs(task) {
    const present = this.route.query.get('tab') ?? 'conversation';
    const items = [['conversation', 'Conversation'], ['artifacts', `Artifacts ${count(task.artifacts?.length ?? 0)}`], ['events', `Events ${count(this.log?.row?.events ?? this.log?.events.length)}`], ['webhooks', 'Webhooks']];
    return html`<section class="card">${tabs('Views of the task', items, present, name => setQuery({ tab: name === 'conversation' ? undefined : name, artifact: undefined }), 'view')}
      <div role="tabpanel" id="view" class="pad" aria-labelledby="view-${present}">${this.panel(present, task)}</div></section>`;
  }

  /** @param {string} tab @param {import('../types.js').Task} task */
  panel(tab, task) {
    const { log } = this;
    const agent = log?.row?.agent ?? '';
    if (tab === 'events') {
      return html`<task-events .events=${log?.events} .route=${this.route} .agent=${agent} .task=${task.id} .earlier=${!!log?.hasEarlier}
        @earlier=${() => log?.earlier()}></task-events>`;
    }
    if (tab === 'webhooks') {
      part(import('./task-webhooks.js')).catch(() => {}); // the shell tells
      return html`<task-webhooks .agent=${agent} .task=${task.id} .session=${this.session}></task-webhooks>`;
    }
    if (tab === 'artifacts') {
      const only = this.route.query.get('artifact');
      const shown = (task.artifacts ?? []).filter(each => !only || each.artifactId === only);
      return shown.length ? html`<div class="stack">${shown.map(each => artifact(each))}</div>` : html`<p class="dim">${isTerminal(task.status.state) ? 'The task has no artifacts.' : 'The task has no artifacts yet.'}</p>`;
    }
    return html`<parley-conversation .task=${task} .agent=${agent} .times=${this.times} @answered=${() => log?.follow()}></parley-conversation>`;
  }

  /** Times of messages by their ids, computed once for the same events. */
  get times() {
    const events = this.log?.events ?? [];
    if (this.timesOf === events) return this.knownTimes;
    /** @type {Map<string, string>} */
    const times = new Map();
    for (const { at, event } of events) {
      const messages = [event.message, event.statusUpdate?.status.message, ...(event.task?.history ?? [])];
      for (const message of messages) if (message && at) times.set(message.messageId, at);
    }
    this.timesOf = events;
    this.knownTimes = times;
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
      <dt>Events</dt><dd>${row.events === undefined ? plural(this.log?.events.length ?? 0, 'event') : count(row.events)}</dd>
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
