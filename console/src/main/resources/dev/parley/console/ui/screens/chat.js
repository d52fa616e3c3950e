/** S3: a conversation with an agent. History is on the hub: tasks of the caller, by context. */
import { html, nothing } from 'lit';
import { api, newId } from '../api.js';
import { empty, failure } from '../components/bits.js';
import '../components/compose.js';
import '../components/conversation.js';
import { Screen } from '../components/element.js';
import { showExchange } from '../components/exchange.js';
import { choiceOf, choicesOf, nameOf } from '../dialects.js';
import { line } from '../format.js';
import { watch } from '../live.js';
import { firstMessage } from '../model.js';
import { link, setQuery } from '../route.js';
import { Run } from '../run.js';
import { History, contexts } from './chat-history.js';
import { conversation, conversations } from './chat-view.js';

const MOST = 60; // conversations of the list before a click
const TOOLS = [['raw', 'raw'], ['curl', 'curl'], ['cli', 'CLI'], ['java', 'Java']];

class Chat extends Screen {
  static properties = {
    card: { state: true }, error: { state: true }, run: { state: true }, other: { state: true }, shown: { state: true }, drop: { state: true },
  };

  constructor() {
    super();
    this.card = /** @type {import('../types.js').Card | undefined} */ (undefined);
    this.error = /** @type {any} */ (undefined);
    this.agent = '';
    /** Context of the address, as far as it is applied. @type {string | undefined} */
    this.context = undefined;
    this.run = /** @type {Run} */ (new Run(''));
    /** The run to compare with. @type {Run | undefined} */
    this.other = undefined;
    this.past = new History('');
    /** Conversations of the list that are shown. */
    this.shown = MOST;
    this.drop = false;
    this.replayed = '';
    /** Text of the address that was put into the composer. */
    this.filled = '';
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
    const text = query.get('text') ?? '';
    if (text && text !== this.filled) this.updateComplete.then(() => /** @type {any} */ (this.querySelector('parley-compose'))?.fill([{ text }]));
    this.filled = text;
    const replay = query.get('replay') ?? '';
    if (replay !== this.replayed) {
      this.replayed = replay;
      if (replay) this.readReplay(replay);
    }
  }

  /** @param {Run} run */
  begin(run) {
    run.addEventListener('change', () => {
      if (run === this.run && run.contextId && this.route.query.get('context') !== run.contextId) setQuery({ context: run.contextId, replay: undefined, text: undefined });
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

  /** Shows more of the earlier conversations, and reads further ones if need be. */
  older() {
    const { rows, next } = this.past;
    this.shown += MOST;
    if (next && contexts(rows ?? []).length < this.shown) this.past.load(next);
  }

  /** @param {Run} run @returns {import('./chat-view.js').Talk} */
  talk(run) {
    return {
      agent: this.agent,
      name: this.card?.name ?? this.agent,
      example: this.card?.skills?.flatMap(skill => skill.examples ?? [])[0],
      tools: this.tools(run),
      send: text => this.send({ parts: [{ text }] }),
      answer: message => this.post(message, [], run),
    };
  }

  render() {
    const { query } = this.route;
    const via = query.get('via') ?? undefined;
    const past = { shown: this.shown, more: () => this.older(), present: this.run.contextId, compared: this.other?.contextId, via };
    const over = (/** @type {Event} */ event) => (event.preventDefault(), (this.drop = true));
    if (this.error?.status === 404 && !this.card) {
      return html`<div class="card">${empty(`No agent “${line(this.agent, 60)}”`, 'This hub has no agent of this name, or you may not see it.', html`<a class="btn" href=${link('agents')}>Agents</a>`)}</div>`;
    }
    return html`${this.head(query, via)}
      ${failure(this.error, () => this.readCard())}
      <div class="chat ${this.other ? 'two' : ''}" @dragover=${over} @dragleave=${() => (this.drop = false)} @drop=${this.dropped}>
        <aside class="history" aria-label="Conversations">${conversations(this.past, past)}</aside>
        <section class="card talk-card ${this.drop ? 'dropping' : ''}" aria-label="Conversation">
          ${conversation(this.run, this.talk(this.run))}
          ${this.composer(query)}
        </section>
        ${this.other ? this.compared(this.other) : nothing}
      </div>`;
  }

  /** @param {URLSearchParams} query @param {string | undefined} via */
  head(query, via) {
    const waits = query.get('wait') === 'true';
    return html`<div class="head"><div class="grow"><div class="crumbs dim"><a href=${link('agents')}>Agents</a> / <a href=${link(`agents/${this.agent}`)}><code>${line(this.agent, 60)}</code></a></div>
        <h1>${line(this.card?.name ?? this.agent, 120)}</h1><p class="dim cut-2">${line(this.card?.description, 400)}</p></div>
      <select aria-label="Binding and dialect" title="Binding and dialect" @change=${(/** @type {any} */ event) => setQuery({ via: event.target.value })}>
        ${choicesOf(this.card).map(choice => html`<option .selected=${nameOf(choice) === nameOf(this.choice)}>${nameOf(choice)}</option>`)}</select>
      ${this.card?.capabilities?.streaming ? html`<label class="chip"><input type="checkbox" .checked=${!waits}
        @change=${(/** @type {any} */ event) => setQuery({ wait: event.target.checked ? undefined : 'true' })}>stream</label>` : nothing}
      <a class="btn" href=${link(`agents/${this.agent}/try`, { via })}>New conversation</a>
    </div>`;
  }

  /** @param {URLSearchParams} query */
  composer(query) {
    const tab = (/** @type {CustomEvent} */ event) => setQuery({ mode: event.detail === 'message' ? undefined : event.detail });
    return html`<parley-compose .card=${this.card} .skill=${query.get('skill') ?? ''} .tab=${query.get('mode') ?? 'message'} .busy=${this.run.busy}
      @send=${(/** @type {CustomEvent} */ event) => this.send(event.detail)} @tab=${tab}
      @skill=${(/** @type {CustomEvent} */ event) => setQuery({ skill: event.detail })}></parley-compose>`;
  }

  /** @param {Run} other */
  compared(other) {
    return html`<section class="card talk-card" aria-label="Compared conversation">
      <div class="row pad"><b class="grow">Compared with</b><button type="button" class="link" @click=${() => setQuery({ compare: undefined })}>Close</button></div>
      ${conversation(other, this.talk(other))}</section>`;
  }
}

customElements.define('screen-chat', Chat);
