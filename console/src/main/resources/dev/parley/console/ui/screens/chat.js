/** S3: a conversation with an agent. History is on the hub: tasks of the caller, by context. */
import { html, nothing } from 'lit';
import { api, newId } from '../api.js';
import { badge, empty, failure, skeleton, time } from '../components/bits.js';
import '../components/compose.js';
import '../components/conversation.js';
import { Part } from '../components/element.js';
import { showExchange } from '../components/exchange.js';
import { choiceOf, choicesOf, nameOf } from '../dialects.js';
import { line, plural, stateOf } from '../format.js';
import { watch } from '../live.js';
import { firstMessage } from '../model.js';
import { link, setQuery } from '../route.js';
import { Run } from '../run.js';
import { History, contexts } from './chat-history.js';

const MOST = 60; // conversations of the list before a click
const TOOLS = [['raw', 'raw'], ['curl', 'curl'], ['cli', 'CLI'], ['java', 'Java']];

class Chat extends Part {
  static properties = {
    route: { attribute: false }, session: { attribute: false }, card: { state: true }, error: { state: true }, run: { state: true }, other: { state: true }, shown: { state: true }, drop: { state: true },
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
    this.past = new History('');
    /** Conversations of the list that are shown. */
    this.shown = MOST;
    this.drop = false;
    this.replayed = '';
    this.stick = true;
  }

  connectedCallback() {
    super.connectedCallback();
    this.until(watch(changes => {
      this.past.apply(changes);
      for (const run of [this.run, this.other]) run?.apply(changes);
    }));
    this.requestUpdate('route');
    this.stick = true;
    this.listen(window, 'scroll', () => (this.stick = innerHeight + scrollY > document.documentElement.scrollHeight - 160));
    const end = new ResizeObserver(() => this.stick && this.run.items.length && scrollTo(0, document.documentElement.scrollHeight));
    end.observe(this); // follows what the agent writes, unless the reader has scrolled up
    this.until(() => end.disconnect());
    this.until(() => (this.past.stop(), this.run.stop(), this.other?.stop(), (this.other = undefined), (this.agent = '')));
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (!changed.has('route') || !this.isConnected) return; // the run may be ahead of the address
    const { params, query } = this.route;
    if (params.agent !== this.agent) {
      this.agent = params.agent;
      this.context = query.get('context') ?? undefined;
      this.other?.stop();
      Object.assign(this, { card: undefined, error: undefined, shown: MOST, other: undefined });
      this.use(this.context);
      this.readCard();
      this.past.stop();
      const past = (this.past = new History(this.agent));
      past.addEventListener('change', () => past === this.past && this.requestUpdate());
      past.load();
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
      if (agent !== this.agent) return;
      this.card = card;
      document.title = `${line(card.name, 60)} – Parley`;
    } catch (error) {
      if (agent === this.agent) this.error = error;
    }
  }

  /** Puts the first message of a task into the composer. @param {string} id */
  async readReplay(id) {
    const { agent } = this;
    const message = await api.task(agent, id).then(firstMessage, error => ((this.error = error), undefined));
    await this.updateComplete;
    if (message && agent === this.agent) /** @type {any} */ (this.querySelector('parley-compose'))?.fill(message.parts);
  }

  get choice() {
    return choiceOf(this.route.query.get('via'));
  }

  /** @param {{parts: import('../types.js').Part[], accepted?: string[]}} written @param {Run} [run] */
  send({ parts, accepted = [] }, run = this.run) {
    const open = run.open;
    const back = () => /** @type {any} */ (this.querySelector('parley-compose'))?.restore(parts);
    this.post({ messageId: newId(), role: 'ROLE_USER', parts, contextId: run.contextId, taskId: open?.id }, accepted, run, open ? back : undefined);
  }

  /** @param {import('../types.js').Message} message @param {string[]} accepted @param {Run} run @param {() => void} [refused] gives the text back */
  async post(message, accepted, run, refused) {
    const streams = this.card?.capabilities?.streaming === true && this.route.query.get('wait') !== 'true';
    this.stick = true;
    if (!(await run.send({ message, choice: this.choice, accepted, streams }))) refused?.();
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
    const unread = run.unread ? html`<p class="dim">${plural(run.unread, 'task')} of this conversation cannot be read.</p>` : nothing;
    const earlier = run.next ? html`<p><button type="button" class="link" ?disabled=${run.busy} @click=${() => run.earlier()}>Earlier tasks</button></p>` : nothing;
    const newest = run.items.map(item => (item.kind === 'task' ? run.tasks.get(item.id) : undefined)).findLast(Boolean);
    return html`<p class="only-read" role="status">${newest ? `Task ${stateOf(newest.status.state).word}` : ''}</p><div class="flow">${earlier}${unread}${run.items.map(item => {
      if (item.kind === 'direct') return direct(item, this.agent, tools);
      const task = run.tasks.get(item.id);
      return html`<parley-conversation .task=${task} .agent=${this.agent} .tools=${tools} @answer=${(/** @type {CustomEvent} */ event) => (event.preventDefault(), this.post(event.detail, [], run))}></parley-conversation>
        <p class="of-task dim"><a href=${link(`tasks/${item.id}`)}>Task</a> ${badge(task?.status.state)} ${time(task?.status.timestamp)}
          ${task === run.running ? html`<button type="button" class="link" @click=${() => run.cancel()}>Cancel</button>` : nothing}</p>`;
    })}${failure(run.error)}</div>`;
  }

  /** @param {URLSearchParams} query */
  history(query) {
    const { rows, next, error } = this.past;
    if (!rows) return skeleton(5);
    if (error && !rows.length) return failure(error, () => this.past.load());
    const all = contexts(rows);
    if (!all.length) return html`<p class="dim">Conversations with this agent are kept on the hub and appear here.</p>`;
    const isMore = all.length > this.shown || next;
    const more = () => ((this.shown += MOST), all.length < this.shown && next && this.past.load(next));
    return html`<h2>${plural(all.length, 'conversation')}${next ? ' so far' : ''}</h2><ul>${all.slice(0, this.shown).map(each => this.conversationLink(each, query))}</ul>
      ${failure(error, () => this.past.load(next))}${isMore && !error ? html`<button type="button" class="link" @click=${more}>Older conversations</button>` : nothing}`;
  }

  /** A conversation of the list. @param {ReturnType<typeof contexts>[number]} each @param {URLSearchParams} query */
  conversationLink({ id, title, state, updated }, query) {
    const isHere = id === this.run.contextId;
    return html`<li class=${isHere ? 'on' : id === this.other?.contextId ? 'beside' : ''}>
      <a href=${link(`agents/${this.agent}/try`, { context: id, via: query.get('via') ?? undefined })}>
        <span class="cut">${title || 'Conversation'}</span><span class="dim row">${badge(state)} ${time(updated)}</span></a>
      ${this.run.contextId && !isHere ? html`<button type="button" class="link quiet" @click=${() => setQuery({ compare: id }, true)}>compare</button>` : nothing}</li>`;
  }
}

/** @param {any} item @param {string} agent @param {(message: import('../types.js').Message, isMine?: boolean) => unknown} tools */
function direct(item, agent, tools) {
  return html`<div class="talk"><div class="say me"><parley-parts plain .parts=${item.mine.parts}></parley-parts><small>You${tools(item.mine)}</small></div>
    ${item.theirs ? html`<div class="say"><parley-parts .parts=${item.theirs.parts}></parley-parts><small>${line(agent, 60)}, a message without a task${tools(item.mine, false)}</small></div>`
      : item.error ? failure(item.error) : html`<div class="steps"><i class="spin"></i></div>`}</div>`;
}

customElements.define('screen-chat', Chat);
