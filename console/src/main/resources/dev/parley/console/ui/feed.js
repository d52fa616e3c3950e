/** Resumable streams of server-sent events by fetch: one reader for the feed of changes, for tasks and for chats. */
import { ApiError, address, newTrace, problem, reasonOf } from './api.js';
import { presence } from './presence.js';
import { untilEnd, withProof } from './session.js';

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;
const SILENCE = 60_000; // the hub sends a comment each 15 s
const LONGEST_EVENT = 32_000_000;

/**
 * Events of the body of an answer.
 *
 * @param {ReadableStream<Uint8Array>} body
 * @param {() => void} [heard] called for each piece, also for comments
 * @returns {AsyncGenerator<{id?: string, event?: string, data: string}>}
 */
export async function* readEvents(body, heard) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  /** Pieces of a line whose end has not come. @type {string[]} */
  let pieces = [];
  let length = 0;
  /** @type {string[]} */
  let data = [];
  /** @type {string | undefined} */
  let id;
  let event = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard?.();
      const piece = decoder.decode(value, { stream: true });
      length += piece.length;
      if (length > LONGEST_EVENT) throw new Error('An event of the stream is larger than 32 MB');
      pieces.push(piece);
      if (!piece.includes('\n')) continue; // a long line comes in many pieces, each of which is searched once
      const lines = pieces.join('').split(/\r?\n/);
      pieces = [/** @type {string} */ (lines.pop())];
      length = pieces[0].length + data.reduce((sum, text) => sum + text.length, 0);
      for (const each of lines) {
        if (each === '') {
          if (data.length) yield { id, event: event || undefined, data: data.join('\n') };
          data = [];
          length = pieces[0].length;
          event = '';
          continue;
        }
        const colon = each.indexOf(':');
        const field = colon < 0 ? each : each.slice(0, colon);
        const text = colon < 0 ? '' : each.slice(colon + 1).replace(/^ /, '');
        if (field === 'data') data.push(text);
        else if (field === 'id') id = text;
        else if (field === 'event') event = text;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * @typedef {'idle' | 'connecting' | 'live' | 'waiting' | 'off' | 'refused' | 'ended'} FeedState
 * {@code off}: the hub has no such stream; {@code refused}: the caller may not read it.
 */

/**
 * A stream that goes on after its last event when the connection is lost. It rests while the page is away, and goes on when the page is shown again.
 * Dispatches {@code change} when its state changes.
 */
export class Feed extends EventTarget {
  /** @type {AbortController | undefined} */
  #abort;
  #pause = FIRST_PAUSE;
  /** @type {(() => void) | undefined} */
  #wake;

  /**
   * @param {{path: string, query?: Record<string, unknown>, headers?: Record<string, string>, body?: unknown, after?: string,
   *     receive: (element: any, id: string | undefined) => boolean | void}} settings {@code receive} returns true after the last element
   */
  constructor({ path, query, headers, body, after, receive }) {
    super();
    this.path = path;
    this.query = query;
    this.headers = headers;
    this.body = body;
    this.lastId = after;
    this.receive = receive;
    this.state = /** @type {FeedState} */ ('idle');
    /** Time of the next attempt, while the feed waits. */
    this.retryAt = 0;
    this.failure = /** @type {ApiError | undefined} */ (undefined);
  }

  start() {
    if (this.#abort) return;
    const abort = (this.#abort = new AbortController());
    this.#run(abort.signal).finally(() => this.#abort === abort && (this.#abort = undefined));
  }

  stop() {
    this.#abort?.abort();
    this.#abort = undefined;
    this.#wake?.();
    this.#become('idle');
  }

  /** Tries now instead of after the pause. */
  retry() {
    this.#wake?.();
  }

  /** @param {FeedState} state @param {ApiError} [failure] */
  #become(state, failure) {
    if (this.state === state && this.failure === failure) return;
    this.state = state;
    this.failure = failure;
    this.dispatchEvent(new Event('change'));
  }

  /** @param {AbortSignal} signal */
  async #run(signal) {
    const wake = () => this.#wake?.();
    addEventListener('online', wake);
    try {
      while (!signal.aborted) {
        await presence.here(signal);
        if (signal.aborted) return;
        if (this.state !== 'waiting') this.#become('connecting');
        const failure = await this.#read(signal).catch(error => error);
        if (signal.aborted || failure === 'ended') return;
        if (presence.away) {
          this.#become('idle');
          continue;
        }
        if (failure instanceof ApiError && isFinal(failure.status)) {
          this.#become(failure.status === 404 || failure.status === 405 ? 'off' : 'refused', failure);
          if (failure.status === 401) dispatchEvent(new Event('signed-out'));
          return;
        }
        await this.#rest(failure instanceof ApiError ? failure : undefined);
      }
    } finally {
      removeEventListener('online', wake);
    }
  }

  /** Waits for the next attempt; pages that wait together do not come together. @param {ApiError} [failure] */
  async #rest(failure) {
    const pause = this.#pause * (0.5 + Math.random() / 2);
    this.#pause = Math.min(LONGEST_PAUSE, this.#pause * 2);
    this.retryAt = Date.now() + pause;
    this.#become('waiting', failure);
    await new Promise(resolve => {
      const timer = setTimeout(resolve, pause);
      this.#wake = () => (clearTimeout(timer), resolve(undefined));
    });
    this.#wake = undefined;
  }

  /** @param {AbortSignal} outer @returns {Promise<'ended' | undefined>} */
  async #read(outer) {
    const { trace, header } = newTrace();
    const stalled = new AbortController();
    const done = new AbortController();
    let timer = setTimeout(() => stalled.abort(), SILENCE);
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => stalled.abort(), SILENCE);
    };
    try {
      const answer = await fetch(address(this.path, this.query), {
        signal: AbortSignal.any([this.body === undefined ? untilEnd(outer) : outer, stalled.signal, presence.untilAway(done.signal)]),
        ...(this.body === undefined ? {} : { method: 'POST', body: JSON.stringify(this.body) }),
        credentials: 'same-origin',
        headers: withProof({ Accept: 'text/event-stream', traceparent: header, ...(this.body === undefined ? {} : { 'Content-Type': 'application/json' }), ...this.headers, ...(this.lastId === undefined ? {} : { 'Last-Event-ID': this.lastId }) }),
      });
      if (!answer.ok || !answer.body || !answer.headers.get('Content-Type')?.startsWith('text/event-stream')) {
        throw await problem(answer, trace);
      }
      this.lastId ??= answer.headers.get('Stream-Position') ?? answer.headers.get('Knowledge-Position') ?? undefined; // where it begins, for a connection that is lost before an event
      this.#become('live');
      for await (const event of readEvents(answer.body, heard)) {
        const element = JSON.parse(event.data);
        if (isError(element)) throw failureOf(element.error, trace);
        this.#pause = FIRST_PAUSE; // only progress resets the back-off
        if (event.id !== undefined) this.lastId = event.id;
        if (this.receive(element, event.id)) {
          this.#become('ended');
          return 'ended';
        }
      }
      return undefined;
    } finally {
      clearTimeout(timer);
      done.abort();
    }
  }
}

/** Statuses after which another attempt has the same answer. @param {number} status */
const isFinal = status => status >= 400 && status < 500 && status !== 408 && status !== 429;

/** The last element of a stream that breaks is an error of the hub. @param {any} element */
const isError = element => typeof element?.error === 'object' && !['kind', 'task', 'message', 'statusUpdate', 'artifactUpdate'].some(name => name in element);

/** @param {any} error @param {string} trace */
function failureOf(error, trace) {
  const status = error.code >= 400 && error.code < 600 ? error.code : 0; // codes of JSON-RPC are negative
  return new ApiError({ message: String(error.message ?? 'The stream broke'), status, code: status ? undefined : error.code, reason: reasonOf(error), trace, details: error });
}
