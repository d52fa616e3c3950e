/** S16: all that waits for a person, answered in place. */
import { html, nothing } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { api, hubNow } from '../api.js';
import '../components/ask.js';
import { empty, failure, skeleton } from '../components/bits.js';
import { Screen } from '../components/element.js';
import '../components/json.js';
import { toolChange } from '../components/tool-change.js';
import { age, line, plural } from '../format.js';
import { inbox } from '../inbox.js';
import { link, setQuery } from '../route.js';

const SHOWN = 25; // items before a click: each reads its task
const KINDS = { question: ['Question', 'wait'], credential: ['Credential', 'wait'], tool: ['Tool', 'run'], review: ['Review', 'run'], ballot: ['Ballot', 'run'] };
const AGES = /** @type {Record<string, [string, number]>} */ ({ '1h': ['over an hour', 3_600_000], '1d': ['over a day', 86_400_000] });

/** @typedef {import('../inbox.js').Item} Item */

class InboxScreen extends Screen {
  static properties = { shown: { state: true }, tasks: { state: true }, errors: { state: true }, done: { state: true }, busy: { state: true } };

  constructor() {
    super();
    this.shown = SHOWN;
    /** Tasks of the items that are shown, by id. @type {Map<string, import('../types.js').Task>} */
    this.tasks = new Map();
    /** Times of the statuses with which tasks were read, by id. @type {Map<string, string>} */
    this.asked = new Map();
    /** Refusals by the key of the item. @type {Map<string, any>} */
    this.errors = new Map();
    /** What was done last. */
    this.done = '';
    /** Key of the item that is answered. */
    this.busy = '';
  }

  connectedCallback() {
    super.connectedCallback();
    this.listen(inbox, 'change', () => this.requestUpdate());
    inbox.read();
  }

  /** @returns {Item[]} */
  get items() {
    const agent = this.route.query.get('agent');
    const [, least] = AGES[this.route.query.get('age') ?? ''] ?? ['', 0];
    return (inbox.items ?? []).filter(item => (!agent || item.agent === agent) && (!least || (item.at !== undefined && hubNow() - Date.parse(item.at) >= least)));
  }

  updated() {
    for (const { kind, key, agent, data } of this.items.slice(0, this.shown)) {
      if ((kind !== 'question' && kind !== 'credential') || this.asked.get(key) === data.updated) continue;
      this.asked.set(key, data.updated);
      api.task(agent, key).then(task => this.tasks.set(key, task), error => this.errors.set(key, error)).then(() => this.requestUpdate());
    }
  }

  /** @param {Item} item @param {string} done @param {() => Promise<unknown>} work */
  async act(item, done, work) {
    this.busy = item.key;
    this.errors.delete(item.key);
    try {
      await work();
      this.done = `${done}: ${item.title}`;
      inbox.read();
    } catch (error) {
      this.errors.set(item.key, error);
    }
    this.busy = '';
  }

  render() {
    const { items } = this;
    const { query } = this.route;
    const agents = [...new Set([...(inbox.items ?? []).map(item => item.agent), query.get('agent') ?? ''])].filter(Boolean).sort();
    const set = (/** @type {string} */ name) => (/** @type {any} */ event) => setQuery({ [name]: event.target.value });
    return html`<div class="head"><div class="grow"><h1>Inbox</h1><span class="dim">Questions, credentials, tools, reviews and ballots that wait for you.</span></div>
        ${globalThis.Notification ? html`<button type="button" class="btn" aria-pressed=${inbox.notifies} title="A notification of this browser when something new waits" @click=${() => inbox.toggleNotifications()}>${inbox.notifies ? 'Notifications on' : 'Notify me'}</button>` : nothing}</div>
      <div class="filters" role="search">
        <select aria-label="Agent" @change=${set('agent')}><option value="">Any agent</option>${agents.map(agent => html`<option value=${agent} .selected=${agent === query.get('agent')}>${line(agent, 60)}</option>`)}</select>
        <select aria-label="Age" @change=${set('age')}><option value="">Any age</option>${Object.entries(AGES).map(([name, [words]]) => html`<option value=${name} .selected=${name === query.get('age')}>${words}</option>`)}</select>
        <span class="dim grow" role="status">${line(this.done, 200)}</span></div>
      ${inbox.errors.map(error => failure(error, () => inbox.read()))}
      ${inbox.items ? this.list(items, query) : html`<div class="card">${skeleton(6)}</div>`}`;
  }

  /** @param {Item[]} items @param {URLSearchParams} query */
  list(items, query) {
    if (!items.length) {
      return html`<div class="card">${query.get('agent') || query.get('age') ? empty('Nothing matches', 'Remove a filter to see more.')
        : empty('Nothing waits for you', 'Questions of agents, requests for credentials, changed tools, knowledge to review and votes appear here as they come.', html`<a class="btn" href=${link('tasks')}>Tasks</a>`)}</div>`;
    }
    const rest = items.length - this.shown;
    return html`<ul class="inbox stack">${repeat(items.slice(0, this.shown), item => item.key, item => this.item(item))}</ul>
      ${rest > 0 ? html`<p><button type="button" class="btn" @click=${() => (this.shown += SHOWN)}>Show ${Math.min(rest, SHOWN)} more</button></p>` : nothing}
      <p class="dim foot-line"><span>${plural(inbox.total, 'item')}${inbox.total > (inbox.items?.length ?? 0) ? ', the newest are listed' : ''}</span></p>`;
  }

  /** @param {Item} item */
  item(item) {
    const [word, kind] = KINDS[item.kind];
    const isTask = item.kind === 'question' || item.kind === 'credential';
    return html`<li class="card pad stack"><div class="row"><span class="state ${kind}">${word}</span><b class="cut">${isTask ? html`<a href=${link(`tasks/${item.key}`)}>${item.title}</a>` : item.title}</b>
        <span class="dim cut grow">${line(item.agent, 60)}</span>${item.at ? html`<time class="dim num" datetime=${item.at}>${age(item.at, hubNow())}</time>` : nothing}</div>
      ${this.body(item)}${failure(this.errors.get(item.key))}</li>`;
  }

  /** @param {Item} item */
  body(item) {
    const { data, key } = item;
    const isBusy = this.busy === key;
    const button = (/** @type {string} */ label, /** @type {string} */ done, /** @type {() => Promise<unknown>} */ work, kind = '') => html`<button type="button" class="btn ${kind}" ?disabled=${isBusy} @click=${() => this.act(item, done, work)}>${label}</button>`;
    switch (item.kind) {
      case 'tool':
        return html`${toolChange(data)}
          <div class="row">${button('Approve', 'Approved', () => api.approveTool(data.server, data.name, data.digest), 'main')}</div>`;
      case 'review':
        return html`<parley-json .value=${data.update}></parley-json>
          <div class="row">${button('Approve', 'Approved', () => api.review(data.id, 'approve', this.session?.group), 'main')}${button('Reject', 'Rejected', () => api.review(data.id, 'reject', this.session?.group), 'bad')}</div>`;
      case 'ballot':
        return this.ballot(data, button);
      default: {
        const task = this.tasks.get(key);
        if (!task) return this.errors.has(key) ? nothing : skeleton(2);
        return html`<parley-ask .task=${task} .agent=${item.agent} .message=${task.status.message} @answered=${() => ((this.done = `Answered: ${item.title}`), inbox.read())}></parley-ask>`;
      }
    }
  }

  /** A hub without authentication cannot know which voter its caller is. @param {any} data @param {(label: string, done: string, work: () => Promise<unknown>) => unknown} button */
  ballot({ voteId, vote, voted = [] }, button) {
    const open = vote.voters.filter((/** @type {string} */ voter) => !voted.includes(voter));
    const voter = () => (this.session?.signedIn ? undefined : /** @type {HTMLSelectElement | null} */ (this.querySelector(`[data-vote="${CSS.escape(voteId)}"]`))?.value);
    return html`<p class="dim">${plural(voted.length, 'ballot')} of ${vote.voters.length}${vote.deadline ? html`, until ${new Date(vote.deadline).toLocaleString()}` : nothing}</p>
      <div class="row wrap">${this.session?.signedIn ? nothing : html`<select aria-label="Voter" data-vote=${voteId}>${open.map((/** @type {string} */ name) => html`<option value=${name}>${line(name, 60)}</option>`)}</select>`}
        ${vote.options.map((/** @type {string} */ option) => button(line(option, 60), 'Voted', () => api.vote(voteId, option, voter())))}</div>`;
  }
}

customElements.define('screen-inbox', InboxScreen);
