/**
 * Changes of all tasks and agents that the caller may see, in batches. The tabs of a browser share one stream: the tab that holds a lock reads it and
 * passes the changes on by a channel. Where there are no locks (pages of plain http that are not of this machine) each tab reads a stream of its own,
 * as long as it is shown.
 */
import { ApiError } from './api.js';
import { Feed } from './feed.js';
import { presence } from './presence.js';
import { root } from './route.js';

const BATCH = 200; // ms; 1,000 events a second are five repaints
const MOST = 5_000; // elements of a batch
const LONGEST_REPLAY = 120_000; // ms; after a longer time without changes lists are read again, instead of all that happened

/** @typedef {import('./types.js').Change} Change */
/** @typedef {(changes: Change[]) => void} Reader */

/** Readers, and whether they get changes while the page is hidden. @type {Map<Reader, boolean>} */
const readers = new Map();

/** Dispatches {@code change} when the state of the stream or the rate of events changes. */
class Live extends EventTarget {
  #name = '';
  /** @type {AbortController | undefined} */
  #member;
  /** @type {BroadcastChannel | undefined} */
  #channel;
  /** The stream, if this tab reads it. @type {Feed | undefined} */
  #feed;
  /** @type {Change[]} */
  #batch = [];
  #timer = 0;
  /** Changes were left out while the page was hidden, or before the stream began. */
  #missed = false;
  /** @type {string | undefined} */
  #lastId;
  #lastHeard = 0;
  #received = 0;
  #since = Date.now();

  constructor() {
    super();
    this.state = /** @type {import('./feed.js').FeedState} */ ('idle');
    this.retryAt = 0;
    this.failure = /** @type {ApiError | undefined} */ (undefined);
    /** Events a second, over the last seconds. */
    this.rate = 0;
    presence.addEventListener('away', () => this.#leave());
    presence.addEventListener('back', () => this.#name && this.#join());
    document.addEventListener('visibilitychange', () => this.#catchUp());
  }

  /** @param {string} caller tabs of one caller share a stream */
  start(caller) {
    if (this.#name === caller && this.state !== 'refused') return;
    this.stop();
    this.#name = caller;
    if (!presence.away) this.#join();
  }

  stop() {
    this.#leave();
    this.#name = '';
    this.#lastId = undefined;
  }

  /** Tries now instead of after the pause. */
  retry() {
    if (this.#feed) this.#feed.retry();
    else this.#channel?.postMessage({ kind: 'retry' });
  }

  #join() {
    if (this.#member) return;
    const { signal } = (this.#member = new AbortController());
    if (Date.now() - this.#lastHeard > LONGEST_REPLAY) this.#lastId = undefined;
    this.#missed = true;
    this.#become({ state: 'connecting' });
    if (!navigator.locks || !globalThis.BroadcastChannel) return this.#read(signal);
    const name = `parley-changes ${root} ${this.#name}`;
    const channel = (this.#channel = new BroadcastChannel(name));
    channel.onmessage = ({ data }) => this.#hear(data);
    channel.postMessage({ kind: 'hello' });
    navigator.locks.request(name, { signal }, () => this.#read(signal)).catch(() => {}); // aborted while it waited
  }

  #leave() {
    this.#member?.abort();
    this.#member = undefined;
    this.#channel?.close();
    this.#channel = undefined;
    this.#feed?.stop();
    this.#feed = undefined;
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#batch = [];
    this.#become({ state: 'idle' });
  }

  /** Reads the stream until the signal is aborted, for the other tabs, too. @param {AbortSignal} signal @returns {Promise<void>} */
  async #read(signal) {
    if (signal.aborted) return;
    const feed = (this.#feed = new Feed({
      path: 'activity/changes',
      after: this.#lastId,
      receive: element => {
        if (this.#batch.length >= MOST) this.#batch = [{ kind: 'gap' }];
        else if (element.kind !== 'position') this.#batch.push(element); // of a position only the id counts
        this.#timer ||= setTimeout(() => this.#flush(), BATCH);
      },
    }));
    feed.addEventListener('change', () => feed === this.#feed && this.#tell());
    feed.start();
    await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }));
  }

  #flush() {
    this.#timer = 0;
    const changes = this.#batch;
    this.#batch = [];
    this.#channel?.postMessage({ kind: 'changes', changes, lastId: this.#feed?.lastId });
    this.#deliver(changes, this.#feed?.lastId);
  }

  /** Passes the state of the stream on. */
  #tell() {
    const { state, failure, retryAt, lastId } = /** @type {Feed} */ (this.#feed);
    // An error is no plain object: a channel would lose its members.
    const cause = failure && { message: failure.message, status: failure.status, trace: failure.trace };
    this.#channel?.postMessage({ kind: 'state', state, failure: cause, retryAt, lastId });
    this.#become({ state, failure, retryAt });
    if (state === 'live') this.#begun(lastId);
  }

  /** @param {any} message of another tab */
  #hear(message) {
    if (this.#feed) {
      if (message.kind === 'hello') this.#tell();
      else if (message.kind === 'retry') this.#feed.retry();
      return;
    }
    if (message.kind === 'changes') this.#deliver(message.changes, message.lastId);
    if (message.kind !== 'state') return;
    const failure = message.failure && new ApiError(message.failure);
    this.#become({ state: message.state, failure, retryAt: message.retryAt });
    if (failure?.status === 401) dispatchEvent(new Event('signed-out'));
    if (message.state === 'live') this.#begun(message.lastId);
  }

  /** A stream (re)begins: changes without numbers, and those before its begin, are unknown to the readers. @param {string | undefined} lastId */
  #begun(lastId) {
    this.#lastId = lastId ?? this.#lastId;
    this.#lastHeard = Date.now();
    this.#catchUp();
  }

  #catchUp() {
    if (document.hidden || !this.#missed || this.state !== 'live') return;
    this.#missed = false;
    for (const reader of readers.keys()) guarded(reader, [{ kind: 'gap' }]);
  }

  /** @param {{state: import('./feed.js').FeedState, failure?: ApiError, retryAt?: number}} status */
  #become({ state, failure, retryAt = 0 }) {
    if (this.state === 'live' && state !== 'live') this.#missed = true;
    Object.assign(this, { state, failure, retryAt });
    this.dispatchEvent(new Event('change'));
  }

  /** @param {Change[]} changes @param {string | undefined} lastId */
  #deliver(changes, lastId) {
    this.#lastId = lastId ?? this.#lastId;
    this.#lastHeard = Date.now();
    if (!changes.length) return;
    this.#measure(changes.length);
    if (document.hidden) this.#missed = true; // lists are read again when the page is shown
    for (const [reader, always] of readers) if (always || !document.hidden) guarded(reader, changes);
  }

  /** @param {number} events */
  #measure(events) {
    this.#received += events;
    const now = Date.now();
    if (now - this.#since < 1_000) return;
    this.rate = (this.#received * 1_000) / (now - this.#since);
    this.#received = 0;
    this.#since = now;
    this.dispatchEvent(new Event('change'));
    setTimeout(() => {
      if (Date.now() - this.#since < 2_400 || this.rate === 0) return;
      this.rate = 0;
      this.dispatchEvent(new Event('change'));
    }, 2_500);
  }
}

/** One reader that fails takes nothing from the others. @param {Reader} reader @param {Change[]} changes */
function guarded(reader, changes) {
  try {
    reader(changes);
  } catch (error) {
    reportError(error);
  }
}

export const feed = new Live();

/**
 * A function that reads again at each call, one read at a time and with a pause after each, which a call with {@code true} ends. A call during a read makes
 * one more follow.
 *
 * @param {() => Promise<void>} read shows its failures itself @param {() => boolean} goesOn @param {number} [pause] in milliseconds
 */
export function paced(read, goesOn, pause = 1_000) {
  let isStale = false;
  let reads = false;
  let hurries = false;
  let wake = () => {};
  return async (now = false) => {
    isStale = true;
    if (now) wake();
    hurries ||= now;
    if (reads) return;
    reads = true;
    while (isStale && goesOn()) {
      isStale = hurries = false;
      await read().catch(reportError);
      if (!hurries) await new Promise(resolve => (setTimeout(resolve, pause), (wake = () => resolve(undefined))));
    }
    reads = false;
  };
}

/** Reads changes until the returned function is called; {@code gap}: what is shown has to be read again. @param {Reader} reader @param {boolean} [always] also while the page is hidden */
export function watch(reader, always = false) {
  readers.set(reader, always);
  return () => readers.delete(reader);
}
