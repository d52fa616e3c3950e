/** S3: a conversation with an agent. History is on the hub: tasks of the caller, by context. */
import { html, nothing } from 'lit';
import { api, newId } from '../api.js';
import { badge, empty, failure, skeleton, time } from '../components/bits.js';
import '../components/compose.js';
import '../components/conversation.js';
import { Part } from '../components/element.js';
import { showExchange } from '../components/exchange.js';
import { choiceOf, choicesOf, nameOf } from '../dialects.js';
import { line, plural } from '../format.js';
import { watch } from '../live.js';
import { firstMessage } from '../model.js';
import { link, setQuery } from '../route.js';
import { Run } from '../run.js';
import { contexts } from './chat-history.js';

const TOOLS = [['raw', 'raw'], ['curl', 'curl'], ['cli', 'CLI'], ['java', 'Java']];

class Chat extends Part {
  static properties = {
    route: { attribute: false }, session: { attribute: false }, card: { state: true }, error: { state: true }, run: { state: true }, other: { state: true }, rows: { state: true }, drop: { state: true },
  };

  constructor() {
    super();
    /** @type {import('../types.js').Route} */
    this.route = /** @type {any} */ (undefined);
    /** @type {import('../types.js').Card | undefined} */
    this.card = undefined;
    /** @type {any} */
    this.error = undefined;
    this.agent = '';
    /** Context of the address, as far as it is applied. @type {string | undefined} */
    this.context = undefined;
    /** @type {Run} */
    this.run = new Run('');
    /** The run to compare with. @type {Run | undefined} */
    this.other = undefined;
    /** @type {import('../types.js').TaskRow[] | undefined} */
    this.rows = undefined;
    this.drop = false;
    this.reading = false;
    this.replayed = '';
    this.stick = true;
  }

  connectedCallback() {
    super.connectedCallback();
    this.until(watch(changes => {
      if (changes.some(change => change.kind === 'gap' || (change.kind === 'task' && change.agent === this.agent))) this.readHistory();
    }));
    this.stick = true;
    this.listen(window, 'scroll', () => (this.stick = innerHeight + scrollY > document.documentElement.scrollHeight - 160));
    const end = new ResizeObserver(() => this.stick && this.run.items.length && scrollTo(0, document.documentElement.scrollHeight));
    end.observe(this); // follows what the agent writes, unless the reader has scrolled up
    this.until(() => end.disconnect());
    this.until(() => (this.run.stop(), this.other?.stop(), (this.agent = '')));
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (!changed.has('route')) return; // the run may be ahead of the address
    const { params, query } = this.route;
    if (params.agent !== this.agent) {
      this.agent = params.agent;
      this.context = query.get('context') ?? undefined;
      Object.assign(this, { card: undefined, error: undefined, rows: undefined });
      this.use(this.context);
      this.readCard();
      this.readHistory();
    }
    const context = query.get('context') ?? undefined;
    if (context !== this.context) {
      this.context = context;
      if (context !== this.run.contextId) this.use(context);
    }
    const compare = query.get('compare') ?? undefined;
    if (compare !== this.other?.contextId) {
      this.other?.stop();
      this.other = compare ? this.begin(new Run(this.agent, compare)) : undefined;
    }
    const replay = query.get('replay') ?? '';
    if (replay !== this.replayed) {
      this.replayed = replay;
      if (replay) this.readReplay(replay);
    }
  }

  /** @param {Run} run */
  begin(run) {
    run.addEventListener('change', () => {
      if (run === this.run && run.contextId && this.route.query.get('context') !== run.contextId) setQuery({ context: run.contextId, replay: undefined });
      this.requestUpdate();
    });
    run.load();
    return run;
  }

  /** @param {string | undefined} context */
  use(context) {
    if (this.run.agent === this.agent && this.run.contextId === context && context) return;
    this.run.stop();
    this.run = this.begin(new Run(this.agent, context));
  }

  async readCard() {
    const { agent } = this;
    try {
      const card = await api.card(agent);
      if (agent === this.agent) this.card = card;
      document.title = `${line(card.name, 60)} – Parley`;
    } catch (error) {
      this.error = error;
    }
  }

  async readHistory() {
    if (this.reading) return;
    this.reading = true;
    this.rows = await api.tasks({ agent: this.agent, pageSize: 100 }).then(page => page.tasks, () => this.rows ?? []);
    this.reading = false;
  }

  /** Puts the first message of a task into the composer. @param {string} id */
  async readReplay(id) {
    const message = await api.task(this.agent, id).then(firstMessage, () => undefined);
    await this.updateComplete;
    if (message) /** @type {any} */ (this.querySelector('parley-compose'))?.fill(message.parts);
  }

  get choice() {
    return choiceOf(this.route.query.get('via'));
  }

  /** @param {{parts: import('../types.js').Part[], accepted?: string[]}} written @param {Run} [run] */
  send({ parts, accepted = [] }, run = this.run) {
    const open = run.open;
    this.post({ messageId: newId(), role: 'ROLE_USER', parts, contextId: run.contextId, taskId: open?.id }, accepted, run);
  }

  /** @param {import('../types.js').Message} message @param {string[]} accepted @param {Run} run */
  post(message, accepted, run) {
    const streams = this.card?.capabilities?.streaming === true && this.route.query.get('wait') !== 'true';
    this.stick = true;
    run.send({ message, choice: this.choice, accepted, streams });
  }

  /** Sends the same message in a new conversation, beside the present one. @param {import('../types.js').Message} message */
  replay(message) {
    const before = this.run.contextId;
    this.run.stop();
    this.run = this.begin(new Run(this.agent));
    this.context = undefined;
    setQuery({ context: undefined, compare: before }, true);
    this.send({ parts: message.parts });
  }

  /** @param {Run} run */
  tools(run) {
    return (/** @type {import('../types.js').Message} */ message, isMine = true) => html`<span class="tools">
      ${TOOLS.map(([view, name]) => html`<button type="button" class="link" @click=${() => showExchange(run.exchangeOf(message, this.choice), view)}>${name}</button>`)}
      ${isMine ? html`<button type="button" class="link" title="Send it again in a new conversation beside this one" @click=${() => this.replay(message)}>replay</button>` : nothing}</span>`;
  }

  /** @param {DragEvent} event */
  dropped(event) {
    event.preventDefault();
    this.drop = false;
    if (event.dataTransfer?.files.length) /** @type {any} */ (this.querySelector('parley-compose'))?.add(event.dataTransfer.files);
  }

  render() {
    const { query } = this.route;
    const choices = choicesOf(this.card);
    const name = line(this.card?.name ?? this.agent, 120);
    return html`<div class="head"><div class="grow"><div class="crumbs dim"><a href=${link('agents')}>Agents</a> / <code>${line(this.agent, 60)}</code></div>
        <h1>${name}</h1><p class="dim cut-2">${line(this.card?.description, 400)}</p></div>
        <select aria-label="Binding and dialect" title="Binding and dialect" @change=${(/** @type {any} */ event) => setQuery({ via: event.target.value })}>${choices.map(choice => html`<option .selected=${nameOf(choice) === nameOf(this.choice)}>${nameOf(choice)}</option>`)}</select>
        ${this.card?.capabilities?.streaming ? html`<label class="chip"><input type="checkbox" .checked=${query.get('wait') !== 'true'} @change=${(/** @type {any} */ event) => setQuery({ wait: event.target.checked ? undefined : 'true' })}>stream</label>` : nothing}
        <a class="btn" href=${link(`agents/${this.agent}/try`, { via: query.get('via') ?? undefined })}>New conversation</a>
      </div>
      ${failure(this.error, () => this.readCard())}
      <div class="chat ${this.other ? 'two' : ''}" @dragover=${(/** @type {Event} */ event) => (event.preventDefault(), (this.drop = true))} @dragleave=${() => (this.drop = false)} @drop=${this.dropped}>
        <aside class="history" aria-label="Conversations">${this.history(query)}</aside>
        <section class="card talk-card ${this.drop ? 'dropping' : ''}" aria-label="Conversation">
          ${this.conversation(this.run)}
          <parley-compose .card=${this.card} .skill=${query.get('skill') ?? ''} .tab=${query.get('mode') ?? 'message'} .busy=${this.run.busy}
            @send=${(/** @type {CustomEvent} */ event) => this.send(event.detail)} @tab=${(/** @type {CustomEvent} */ event) => setQuery({ mode: event.detail === 'message' ? undefined : event.detail })}
            @skill=${(/** @type {CustomEvent} */ event) => setQuery({ skill: event.detail })}></parley-compose>
        </section>
        ${this.other ? html`<section class="card talk-card" aria-label="Compared conversation"><div class="row pad"><b class="grow">Compared with</b><button type="button" class="link" @click=${() => setQuery({ compare: undefined })}>Close</button></div>
          ${this.conversation(this.other)}</section>` : nothing}
      </div>`;
  }

  /** @param {Run} run */
  conversation(run) {
    const example = this.card?.skills?.flatMap(skill => skill.examples ?? [])[0];
    if (!run.items.length) {
      if (run.busy) return html`<div class="pad">${skeleton(4)}</div>`;
      return run.error ? html`<div class="pad">${failure(run.error, () => run.load())}</div>` : empty(`Talk to ${line(this.card?.name ?? this.agent, 60)}`, 'Write a message below, or begin with an example of the agent.',
        example ? html`<button type="button" class="btn" @click=${() => this.send({ parts: [{ text: example }] })}>${line(example, 60)}</button>` : nothing);
    }
    const tools = this.tools(run);
    return html`<div class="flow" aria-live="polite">${run.items.map(item => {
      if (item.kind === 'direct') return direct(item, this.agent, tools);
      const task = run.tasks.get(item.id);
      return html`<parley-conversation .task=${task} .agent=${this.agent} .tools=${tools} @answer=${(/** @type {CustomEvent} */ event) => (event.preventDefault(), this.post(event.detail, [], run))}></parley-conversation>
        <p class="of-task dim"><a href=${link(`tasks/${item.id}`)}>Task</a> ${badge(task?.status.state)} ${time(task?.status.timestamp)}
          ${task === run.running ? html`<button type="button" class="link" @click=${() => run.cancel()}>Cancel</button>` : nothing}</p>`;
    })}${failure(run.error)}</div>`;
  }

  /** @param {URLSearchParams} query */
  history(query) {
    if (!this.rows) return skeleton(5);
    const all = contexts(this.rows);
    if (!all.length) return html`<p class="dim">Conversations with this agent are kept on the hub and appear here.</p>`;
    return html`<h2>${plural(all.length, 'conversation')}</h2><ul>${all.slice(0, 60).map(each => html`<li class=${each.id === this.run.contextId ? 'on' : each.id === this.other?.contextId ? 'beside' : ''}>
      <a href=${link(`agents/${this.agent}/try`, { context: each.id, via: query.get('via') ?? undefined })}><span class="cut">${each.title}</span><span class="dim row">${badge(each.state)} ${time(each.updated)}</span></a>
      ${this.run.contextId && each.id !== this.run.contextId ? html`<button type="button" class="link quiet" @click=${() => setQuery({ compare: each.id }, true)}>compare</button>` : nothing}</li>`)}</ul>`;
  }
}

/** @param {any} item @param {string} agent @param {(message: import('../types.js').Message) => unknown} tools */
function direct(item, agent, tools) {
  return html`<div class="talk"><div class="say me"><parley-parts plain .parts=${item.mine.parts}></parley-parts><small>You${tools(item.mine)}</small></div>
    ${item.theirs ? html`<div class="say"><parley-parts .parts=${item.theirs.parts}></parley-parts><small>${line(agent, 60)}, a message without a task</small></div>`
      : item.error ? failure(item.error) : html`<div class="steps"><i class="spin"></i></div>`}</div>`;
}

customElements.define('screen-chat', Chat);
