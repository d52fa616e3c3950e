/** S0: figures of the hub as they change, a message to a demo agent, and the ways in which programs connect. */
import { html, nothing } from 'lit';
import { api, hubNow, newId } from '../api.js';
import { badge, empty, failure, skeleton } from '../components/bits.js';
import '../components/conversation.js';
import { Screen } from '../components/element.js';
import { age, count, line } from '../format.js';
import { paced, watch } from '../live.js';
import { link } from '../route.js';
import { may } from '../session.js';
import './connect.js';

const SPAN = 60_000; // ms over which tasks are counted
const NEWEST = 6;
/** Agents of a demo by preference, with what they are asked. @type {[string, string][]} */
const DEMOS = [['counter', '8'], ['echo', 'hello']];

/** @typedef {import('../types.js').Change} Change */

class Home extends Screen {
  static properties = {
    agents: { state: true }, counts: { state: true }, rows: { state: true }, ill: { state: true }, streams: { state: true },
    task: { state: true }, error: { state: true }, demoError: { state: true }, busy: { state: true }, now: { state: true },
  };

  constructor() {
    super();
    this.agents = /** @type {{name: string, description?: string, url: string}[] | undefined} */ (undefined);
    this.counts = /** @type {import('../types.js').Counts | undefined} */ (undefined);
    /** Newest tasks. @type {import('../types.js').TaskRow[] | undefined} */
    this.rows = undefined;
    /** Agents that are down or degraded; undefined on a hub without a registry. @type {number | undefined} */
    this.ill = undefined;
    /** Open streams; undefined for callers that may not read the metrics. @type {number | undefined} */
    this.streams = undefined;
    /** Task of the demo. @type {import('../types.js').Task | undefined} */
    this.task = undefined;
    this.demoAgent = '';
    this.error = /** @type {any} */ (undefined);
    this.demoError = /** @type {any} */ (undefined);
    this.busy = false;
    this.now = hubNow();
    /** Times at which tasks began. @type {number[]} */
    this.begun = [];
    this.since = Date.now();
    this.hasRegistry = true;
  }

  connectedCallback() {
    super.connectedCallback();
    this.until(watch(changes => this.apply(changes)));
    const clock = setInterval(() => !document.hidden && (this.now = hubNow()), 5_000);
    this.until(() => clearInterval(clock));
    this.read();
  }

  /** @param {Change[]} changes */
  apply(changes) {
    const now = Date.now();
    for (const { kind, before } of changes) if (kind === 'task' && !before) this.begun.push(now);
    this.begun = this.begun.filter(at => now - at < SPAN);
    if (changes.some(each => each.taskId && each.taskId === this.task?.id)) this.follow();
    this.read();
  }

  read = paced(() => this.load(), () => this.isConnected);

  /** Reads all that the page shows. */
  async load() {
    try {
      const [{ agents }, counts, page, facets, streams] = await Promise.all([api.agents(), api.counts(), api.tasks({ pageSize: NEWEST }),
        this.hasRegistry ? api.facets({ facet: 'health', limit: 10 }).catch(error => this.lacks(error)) : undefined, may(this.session, 'metrics') ? api.figures(['parley_open_streams']).then(each => each.parley_open_streams) : undefined]);
      const health = facets?.facets.health?.buckets ?? [];
      const ill = health.filter(({ value }) => value === 'down' || value === 'degraded').reduce((sum, each) => sum + each.count, 0);
      Object.assign(this, { agents, counts, rows: page.tasks, ill: facets && ill, streams, error: undefined, now: hubNow() });
    } catch (error) {
      this.error = error;
    }
  }

  /** @param {any} error of a request to the registry */
  lacks(error) {
    if (error.status !== 404) throw error;
    this.hasRegistry = false;
    return undefined;
  }

  /** The agent of the demo, and what it is asked. @returns {[string, string] | undefined} */
  get demo() {
    const names = (this.agents ?? []).map(agent => agent.name);
    return DEMOS.find(([name]) => names.includes(name)) ?? (names[0] ? [names[0], 'hello'] : undefined);
  }

  /** @param {string} agent @param {string} text */
  async send(agent, text) {
    this.busy = true;
    this.demoError = undefined;
    try {
      const message = { messageId: newId(), role: 'ROLE_USER', parts: [{ text }] };
      const { task, message: answer } = await api.send(agent, { message, configuration: { returnImmediately: true } });
      this.demoAgent = agent;
      this.task = task ?? { id: '', status: { state: 'TASK_STATE_COMPLETED', message: answer }, history: [message] };
      await this.follow(); // it may have moved before this page knew its id
    } catch (error) {
      this.demoError = error;
    }
    this.busy = false;
  }

  async follow() {
    const id = this.task?.id;
    if (!id) return;
    const task = await api.task(this.demoAgent, id).catch(() => undefined);
    if (task && this.task?.id === id) this.task = task;
  }

  /** @param {string[]} states */
  sum(...states) {
    const known = this.counts?.states;
    return known && states.reduce((sum, state) => sum + (known[`TASK_STATE_${state}`] ?? 0), 0);
  }

  /** Tasks that began in a second, over the last minute or since the page was opened. */
  get rate() {
    const seconds = Math.min(SPAN, Math.max(1_000, Date.now() - this.since)) / 1_000;
    return (this.begun.length / seconds).toFixed(1);
  }

  render() {
    return html`<div class="head"><div class="grow"><h1>Home</h1><span class="dim">${line(this.session?.hub?.url ?? location.origin, 200)}</span></div></div>
      ${failure(this.error, () => this.read())}
      <div class="strip home-strip" aria-label="Figures">
        ${figure('Tasks a second', this.rate, this.begun.length ? 'run' : 'none', link('tasks', { since: '1h' }))}
        ${figure('Under way', this.sum('SUBMITTED', 'WORKING'), 'run', link('tasks', { state: 'TASK_STATE_SUBMITTED,TASK_STATE_WORKING' }))}
        ${figure('Waiting for a person', this.sum('INPUT_REQUIRED', 'AUTH_REQUIRED'), 'wait', link('tasks', { state: 'TASK_STATE_INPUT_REQUIRED,TASK_STATE_AUTH_REQUIRED' }))}
        ${this.streams === undefined ? nothing : figure('Open streams', this.streams, 'run', link('tasks', { state: 'working' }))}
        ${this.ill === undefined ? nothing : figure('Failing agents', this.ill, 'bad', `${link('agents')}?health=down&health=degraded`)}
      </div>
      <div class="cols home"><div class="stack">${this.tryIt()}${this.newest()}</div>
        ${this.agents?.length ? html`<parley-connect .agents=${this.agents} .session=${this.session} .route=${this.route}></parley-connect>` : nothing}</div>`;
  }

  /** A demo of one click. */
  tryIt() {
    if (!this.agents) return this.error ? nothing : html`<div class="card">${skeleton(3)}</div>`;
    const demo = this.demo;
    if (!demo) return html`<div class="card">${empty('No agent yet', html`Start the demo agents with <code>parley up</code>, or add an agent by its address.`, html`<a class="btn main" href=${link('agents')}>Add an agent</a>`)}</div>`;
    const [name, text] = demo;
    const button = html`<button type="button" class="btn ${this.task ? '' : 'main'}" ?disabled=${this.busy} @click=${() => this.send(name, text)}>${this.task ? 'Send again' : `Send “${text}” to ${line(name, 60)}`}</button>`;
    return html`<section class="card demo" aria-label="Demo"><h2>Try it <span class="dim wide">one message to a demo agent, and its task as it works</span></h2><div class="pad stack">
      ${this.task ? html`<parley-conversation .task=${this.task} .agent=${this.demoAgent}></parley-conversation>` : nothing}
      ${failure(this.demoError)}
      <div class="row wrap">${button}${this.task?.id ? html`<a class="btn" href=${link(`tasks/${this.task.id}`)}>Open the task</a>` : nothing}<a class="btn" href=${link(`agents/${name}/try`)}>Talk to ${line(name, 60)}</a></div>
    </div></section>`;
  }

  newest() {
    if (!this.rows?.length) return nothing;
    return html`<section class="card" aria-label="Newest tasks"><h2>Newest tasks <a class="dim" href=${link('tasks')}>${count(this.sum(...Object.keys(this.counts?.states ?? {}).map(state => state.replace('TASK_STATE_', ''))))} in all</a></h2>
      <ul class="list">${this.rows.map(row => html`<li><a class="cut" href=${link(`tasks/${row.taskId}`)}>${line(row.title || row.taskId, 120)}</a>
        <span class="row"><span class="dim cut wide">${line(row.agent, 40)}</span>${badge(row.state)}<span class="dim num">${age(row.updated, this.now)}</span></span></li>`)}</ul></section>`;
  }
}

/** @param {string} title @param {number | string | undefined} value @param {string} kind class of a value that is not 0 @param {string} href */
const figure = (title, value, kind, href) => html`<a class="card fig" href=${href}><span class="dim">${title}</span>
  <b class="v ${Number(value) ? kind : 'none'}">${typeof value === 'string' ? value : count(value)}</b></a>`;

customElements.define('screen-home', Home);
