/** A conversation with an agent: the tasks of a context, kept by the hub, and followed while they run. */
import { ApiError, address, api } from './api.js';
import { answer, request } from './dialects.js';
import { Feed, readEvents } from './feed.js';
import { isTerminal, isWaiting } from './format.js';
import { answered, apply } from './model.js';

const MOST = 50; // tasks of a context

/**
 * @typedef {{kind: 'task', id: string} | {kind: 'direct', mine: import('./types.js').Message, theirs?: import('./types.js').Message, error?: any}} Item
 */

/** Dispatches {@code change} after each change, at most once a frame. */
export class Run extends EventTarget {
  #frame = 0;
  /** @type {Map<string, Feed>} */
  #feeds = new Map();
  /** @type {AbortController | undefined} */
  #sending;

  /** @param {string} agent @param {string} [contextId] */
  constructor(agent, contextId) {
    super();
    this.agent = agent;
    this.contextId = contextId;
    /** @type {Map<string, import('./types.js').Task>} */
    this.tasks = new Map();
    /** @type {Item[]} */
    this.items = [];
    /** Exchanges by the ids of their messages. @type {Map<string, import('./types.js').Exchange>} */
    this.exchanges = new Map();
    this.busy = false;
    /** @type {any} */
    this.error = undefined;
  }

  #changed() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.dispatchEvent(new Event('change'));
    });
  }

  /** Reads the tasks of the context, and follows those that run. */
  async load() {
    if (!this.contextId) return;
    this.busy = true;
    this.error = undefined;
    try {
      const page = await api.tasks({ agent: this.agent, contextId: this.contextId, pageSize: MOST });
      const rows = page.tasks.sort((a, b) => ((a.created ?? a.taskId) < (b.created ?? b.taskId) ? -1 : 1));
      const tasks = await Promise.all(rows.map(row => api.task(this.agent, row.taskId)));
      for (const task of tasks) this.#keep(task);
      for (const task of tasks) this.follow(task);
    } catch (error) {
      this.error = error;
    }
    this.busy = false;
    this.#changed();
  }

  /** @param {import('./types.js').Task} task */
  #keep(task) {
    if (!this.tasks.has(task.id)) this.items.push({ kind: 'task', id: task.id });
    this.tasks.set(task.id, task);
    this.contextId ??= task.contextId;
    this.#changed();
  }

  /** The task that a message would continue: one that waits for its caller. */
  get open() {
    return [...this.tasks.values()].reverse().find(task => isWaiting(task.status.state));
  }

  /** The task that runs. */
  get running() {
    return [...this.tasks.values()].find(task => !isTerminal(task.status.state) && !isWaiting(task.status.state));
  }

  /** Follows a task to its end. @param {import('./types.js').Task} task @param {string} [after] id of the last event that is known */
  follow(task, after) {
    if (isTerminal(task.status.state) || isWaiting(task.status.state) || this.#feeds.has(task.id)) return;
    const feed = new Feed({
      path: `agents/${encodeURIComponent(this.agent)}/tasks/${encodeURIComponent(task.id)}:subscribe`, headers: { 'A2A-Version': '1.0' }, after,
      receive: event => this.#receive(task.id, event),
    });
    feed.addEventListener('change', async () => {
      this.#changed();
      if (feed.state !== 'ended' && feed.state !== 'off' && feed.state !== 'refused') return;
      this.#feeds.delete(task.id);
      const final = await api.task(this.agent, task.id).catch(() => undefined);
      if (final) this.#keep(final);
    });
    this.#feeds.set(task.id, feed);
    feed.start();
  }

  /** @param {string} id @param {import('./types.js').StreamResponse} event */
  #receive(id, event) {
    const task = apply(this.tasks.get(id), event);
    if (task) this.#keep(task);
    return isTerminal(task?.status.state) || isWaiting(task?.status.state);
  }

  /**
   * @param {{path: string, headers: Record<string, string>, body: string, trace: string}} sent
   * @param {import('./types.js').Message} message
   * @param {boolean} streams
   * @returns {import('./types.js').Exchange}
   */
  #exchange({ path, headers, body, trace }, { parts, taskId, contextId }, streams) {
    return { method: 'POST', url: address(path).href, headers, body, answer: [], trace, agent: address(`agents/${encodeURIComponent(this.agent)}`).href, parts, taskId, contextId, streams };
  }

  /**
   * The exchange of a message: as it was, or, for a message of another visit, as it would be sent now.
   *
   * @param {import('./types.js').Message} message
   * @param {import('./dialects.js').Choice} choice
   */
  exchangeOf(message, choice) {
    const known = this.exchanges.get(message.messageId);
    if (known) return known;
    const begins = this.tasks.get(message.taskId ?? '')?.history?.[0]?.messageId === message.messageId;
    const again = { ...message, taskId: begins ? undefined : message.taskId };
    return { ...this.#exchange(request(this.agent, choice, { message: again, accepted: [], streams: true }), again, true), rebuilt: true };
  }

  /**
   * Sends a message.
   *
   * @param {{message: import('./types.js').Message, choice: import('./dialects.js').Choice, accepted: string[], streams: boolean}} send
   */
  async send({ message, choice, accepted, streams }) {
    const sent = request(this.agent, choice, { message, accepted, streams });
    const url = address(sent.path).href;
    const begun = performance.now();
    const exchange = this.#exchange(sent, message, streams);
    this.exchanges.set(message.messageId, exchange);
    const known = message.taskId ? this.tasks.get(message.taskId) : undefined;
    /** @type {Item} */
    const item = { kind: 'direct', mine: message };
    if (known) this.#keep(answered(known, message));
    else this.items.push(item);
    this.busy = true;
    this.error = undefined;
    this.#changed();
    this.#sending = new AbortController();
    let taskId = message.taskId;
    let lastId;
    const receive = (/** @type {any} */ json) => {
      const event = answer(choice, json);
      if (event.message) Object.assign(item, { theirs: event.message });
      const id = event.task?.id ?? event.statusUpdate?.taskId ?? event.artifactUpdate?.taskId;
      if (!id) return this.#changed();
      if (!taskId) this.items = this.items.filter(each => each !== item);
      const before = this.tasks.get(id);
      const task = apply(before ?? { id, contextId: message.contextId, status: { state: 'TASK_STATE_SUBMITTED' }, history: [message] }, event);
      taskId = id;
      // Dialects before 0.2 answer without the message.
      if (task) this.#keep(task.history?.some(each => each.role === 'ROLE_USER') ? task : { ...task, history: [message, ...(task.history ?? [])] });
    };
    try {
      const got = await fetch(url, { method: 'POST', headers: sent.headers, body: sent.body, credentials: 'same-origin', signal: this.#sending.signal });
      Object.assign(exchange, { status: got.status, answerHeaders: Object.fromEntries(got.headers) });
      if (got.headers.get('Content-Type')?.startsWith('text/event-stream') && got.body) {
        for await (const event of readEvents(got.body)) {
          lastId = event.id;
          if (exchange.answer.length < 2_000) exchange.answer.push((event.id === undefined ? '' : `id: ${event.id}\n`) + `data: ${event.data}`);
          receive(JSON.parse(event.data));
        }
      } else {
        const text = await got.text();
        exchange.answer.push(text);
        receive(parsed(text, got.status));
      }
    } catch (error) {
      const fault = /** @type {any} */ (error);
      const failure = new ApiError({ message: fault.message === 'Failed to fetch' ? 'The connection is lost' : String(fault.message), status: exchange.status, trace: sent.trace, details: fault.details });
      exchange.error = failure.message;
      if (this.items.includes(item)) Object.assign(item, { error: failure });
      else if (fault.name !== 'AbortError' && exchange.status !== 200) this.error = failure;
    }
    exchange.ms = performance.now() - begun;
    this.busy = false;
    const task = taskId ? this.tasks.get(taskId) : undefined;
    if (task) this.follow(task, lastId); // a stream that broke, or a task that goes on
    this.#changed();
  }

  /** Cancels the task that runs. */
  async cancel() {
    const task = this.running;
    if (!task) return;
    try {
      this.#keep(await api.cancel(this.agent, task.id));
    } catch (error) {
      this.error = error;
      this.#changed();
    }
  }

  stop() {
    this.#sending?.abort();
    for (const feed of this.#feeds.values()) feed.stop();
    this.#feeds.clear();
    cancelAnimationFrame(this.#frame);
  }
}

/** @param {string} text @param {number} status */
function parsed(text, status) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(text.trim().slice(0, 200) || `The hub answered ${status}`);
  }
}
