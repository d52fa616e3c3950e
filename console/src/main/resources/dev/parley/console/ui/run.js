/** A conversation with an agent: the tasks of a context, kept by the hub, and followed while they run. */
import { api } from './api.js';
import { answer, request } from './dialects.js';
import { Feed } from './feed.js';
import { isTerminal, isWaiting } from './format.js';
import { answered, apply } from './model.js';
import { exchangeFor, failureOf, isLost, rebuilt, transfer } from './sending.js';

const PAGE = 50; // tasks of a context
const STREAMS = 2; // connections of a run: browsers allow six to a host over all tabs

/**
 * @typedef {{kind: 'task', id: string} | {kind: 'direct', mine: import('./types.js').Message, theirs?: import('./types.js').Message, error?: any}} Item
 * @typedef {import('./sending.js').Sending} Sending
 */

/** Dispatches {@code change} after each change, at most once a frame. */
export class Run extends EventTarget {
  #frame = 0;
  /** @type {Map<string, Feed>} */
  #feeds = new Map();
  /** Aborted by {@code stop}: whatever is under way ends, and nothing begins. */
  #life = new AbortController();
  /** @type {Set<string>} */
  #refreshing = new Set();

  /** @param {string} agent @param {string} [contextId] */
  constructor(agent, contextId) {
    super();
    this.agent = agent;
    this.contextId = contextId;
    this.tasks = /** @type {Map<string, import('./types.js').Task>} */ (new Map());
    this.items = /** @type {Item[]} */ ([]);
    /** Exchanges by the ids of their messages. @type {Map<string, import('./types.js').Exchange>} */
    this.exchanges = new Map();
    this.busy = false;
    /** Page of earlier tasks. @type {string | undefined} */
    this.next = undefined;
    /** Tasks that could not be read. */
    this.unread = 0;
    this.error = /** @type {any} */ (undefined);
  }

  #changed() {
    if (this.#life.signal.aborted) return;
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.dispatchEvent(new Event('change'));
    });
  }

  /** Reads the newest tasks of the context, and follows the one that runs. */
  async load() {
    if (!this.contextId) return;
    this.error = undefined;
    this.next = undefined;
    await this.earlier();
    if (this.running) this.follow(this.running);
  }

  /** Reads a page of tasks, which are before those that are shown. */
  async earlier() {
    if (this.busy || this.#life.signal.aborted) return;
    const { signal } = this.#life;
    this.busy = true;
    try {
      const page = await api.tasks({ agent: this.agent, contextId: this.contextId, pageSize: PAGE, after: this.next }, signal);
      const rows = page.tasks.filter(row => !this.tasks.has(row.taskId)).sort((a, b) => ((a.created ?? a.taskId) < (b.created ?? b.taskId) ? -1 : 1));
      const answers = await Promise.allSettled(rows.map(row => api.task(this.agent, row.taskId, signal)));
      if (this.#life.signal.aborted) return;
      const tasks = answers.flatMap(answer => (answer.status === 'fulfilled' ? [answer.value] : []));
      const refused = answers.find(answer => answer.status === 'rejected');
      if (refused && !tasks.length) throw refused.reason;
      this.unread += answers.length - tasks.length;
      this.next = page.next;
      for (const task of tasks) this.tasks.set(task.id, task);
      this.items = [...tasks.map(task => ({ kind: /** @type {const} */ ('task'), id: task.id })), ...this.items];
    } catch (error) {
      if (!this.#life.signal.aborted) this.error = error;
    }
    this.busy = false;
    this.#changed();
  }

  /** Reads again what changed and is not followed. @param {import('./types.js').Change[]} changes */
  apply(changes) {
    const own = changes.filter(change => change.kind === 'task' && (this.tasks.has(change.taskId ?? '') || (this.contextId && change.contextId === this.contextId)));
    const isGap = changes.some(change => change.kind === 'gap');
    const running = isGap ? [...this.tasks.values()].filter(task => !isTerminal(task.status.state)) : [];
    if (isGap) for (const feed of this.#feeds.values()) feed.retry(); // the hub answers again
    this.refresh([...own.map(change => change.taskId ?? ''), ...running.map(task => task.id)]);
  }

  /** Reads tasks again that are not followed. @param {string[]} ids @param {boolean} [follows] */
  async refresh(ids, follows = true) {
    for (const id of new Set(ids)) {
      if (this.busy || this.#feeds.has(id) || this.#refreshing.has(id)) continue; // the answer to a message tells the same
      this.#refreshing.add(id);
      const task = await api.task(this.agent, id, this.#life.signal).catch(() => undefined);
      this.#refreshing.delete(id);
      if (!task || this.busy) continue;
      this.#keep(task);
      if (follows) this.follow(task);
    }
  }

  /** @param {import('./types.js').Task} task */
  #keep(task) {
    if (this.#life.signal.aborted) return;
    if (!this.tasks.has(task.id)) this.items.push({ kind: 'task', id: task.id });
    this.tasks.set(task.id, task);
    this.contextId ??= task.contextId;
    this.#changed();
  }

  /** @param {(state: string) => boolean} fits */
  #newest(fits) {
    return this.items.map(item => (item.kind === 'task' ? this.tasks.get(item.id) : undefined)).findLast(task => task && fits(task.status.state));
  }

  /** The task that a message would continue: one that waits for its caller. */
  get open() {
    return this.#newest(isWaiting);
  }

  /** The newest task that runs. */
  get running() {
    return this.#newest(state => !isTerminal(state) && !isWaiting(state));
  }

  /** Follows a task to its end. @param {import('./types.js').Task} task @param {string} [after] id of the last event that is known */
  follow(task, after) {
    if (this.#life.signal.aborted || isTerminal(task.status.state) || isWaiting(task.status.state) || this.#feeds.has(task.id)) return;
    while (this.#feeds.size >= STREAMS) this.#unfollow([...this.#feeds.keys()][0]);
    const feed = new Feed({
      path: `agents/${encodeURIComponent(this.agent)}/tasks/${encodeURIComponent(task.id)}:subscribe`, headers: { 'A2A-Version': '1.0' }, after,
      receive: event => this.#receive(task.id, event),
    });
    feed.addEventListener('change', () => {
      this.#changed();
      if (feed.state !== 'ended' && feed.state !== 'off' && feed.state !== 'refused') return;
      this.#unfollow(task.id);
      this.refresh([task.id], false); // a stream that is refused would be refused again
    });
    this.#feeds.set(task.id, feed);
    feed.start();
  }

  /** @param {string} id */
  #unfollow(id) {
    const feed = this.#feeds.get(id);
    this.#feeds.delete(id);
    feed?.stop();
  }

  /** @param {string} id @param {import('./types.js').StreamResponse} event */
  #receive(id, event) {
    const task = apply(this.tasks.get(id), event);
    if (task) this.#keep(task);
    return isTerminal(task?.status.state) || isWaiting(task?.status.state);
  }

  /** The exchange of a message: as it was, or, for a message of another visit, as it would be sent now. @param {import('./types.js').Message} message @param {import('./dialects.js').Choice} choice */
  exchangeOf(message, choice) {
    const known = this.exchanges.get(message.messageId);
    if (known) return known;
    const begins = this.tasks.get(message.taskId ?? '')?.history?.[0]?.messageId === message.messageId;
    return rebuilt(this.agent, choice, begins ? { ...message, taskId: undefined } : message);
  }

  /**
   * Sends a message. A refused message leaves the task as it was, and its error in the run or in the item of the message.
   *
   * @param {{message: import('./types.js').Message, choice: import('./dialects.js').Choice, accepted: string[], streams: boolean}} send
   * @returns {Promise<boolean>} whether the hub answered it
   */
  async send({ message, choice, accepted, streams }) {
    const sent = request(this.agent, choice, { message, accepted, streams });
    const exchange = exchangeFor(this.agent, sent, message, streams);
    this.exchanges.set(message.messageId, exchange);
    const before = message.taskId ? this.tasks.get(message.taskId) : undefined;
    /** @type {Sending} */
    const sending = { message, choice, exchange, before, item: { kind: 'direct', mine: message }, taskId: message.taskId, lastId: undefined, isAnswered: false };
    if (before) this.#keep(answered(before, message));
    else this.items.push(sending.item);
    this.busy = true;
    this.error = undefined;
    this.#changed();
    const begun = performance.now();
    try {
      await transfer(sending, this.#life.signal, json => this.#answer(sending, json));
    } catch (fault) {
      this.#fail(sending, /** @type {any} */ (fault));
    }
    exchange.ms = performance.now() - begun;
    this.busy = false;
    const task = sending.taskId ? this.tasks.get(sending.taskId) : undefined;
    if (task && sending.isAnswered) this.follow(task, sending.lastId); // a stream that broke, or a task that goes on
    else if (task) this.refresh([task.id]); // the hub may have received the message
    this.#changed();
    return sending.isAnswered;
  }

  /** @param {Sending} sending @param {any} json an answer, or an element of a stream */
  #answer(sending, json) {
    const { message, item } = sending;
    const event = answer(sending.choice, json);
    sending.isAnswered = true;
    if (event.message) Object.assign(item, { theirs: event.message });
    const id = event.task?.id ?? event.statusUpdate?.taskId ?? event.artifactUpdate?.taskId;
    if (!id) return this.#changed();
    if (!sending.taskId) this.items = this.items.filter(each => each !== item);
    sending.taskId = id;
    const task = apply(this.tasks.get(id) ?? { id, contextId: message.contextId, status: { state: 'TASK_STATE_SUBMITTED' }, history: [message] }, event);
    // Dialects before 0.2 answer without the message.
    if (task) this.#keep(task.history?.some(each => each.role === 'ROLE_USER') ? task : { ...task, history: [message, ...(task.history ?? [])] });
  }

  /** @param {Sending} sending @param {any} fault */
  #fail({ exchange, before, item, isAnswered }, fault) {
    if (this.#life.signal.aborted) return;
    const failure = failureOf(exchange, fault);
    if (isLost(fault) && isAnswered && !this.items.includes(item)) return; // the stream of the task goes on
    exchange.error = failure.message;
    if (before && !isAnswered) this.#keep(before);
    if (this.items.includes(item)) Object.assign(item, { error: failure });
    else this.error = failure;
  }

  /** Cancels the task that runs. */
  async cancel() {
    const { running } = this;
    try {
      if (running) this.#keep(await api.cancel(this.agent, running.id));
    } catch (error) {
      this.error = error;
      this.#changed();
    }
  }

  stop() {
    this.#life.abort();
    for (const feed of this.#feeds.values()) feed.stop();
    this.#feeds.clear();
    cancelAnimationFrame(this.#frame);
  }
}
