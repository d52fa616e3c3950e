/** The one stream of the page: changes of all tasks and agents that the caller may see, in batches. */
import { Feed } from './feed.js';

const BATCH = 200; // ms; 1,000 events a second are five repaints
const MOST = 5_000; // elements of a batch

/** @typedef {(changes: import('./types.js').Change[]) => void} Reader */

/** @type {Set<Reader>} */
const readers = new Set();
/** @type {import('./types.js').Change[]} */
let batch = [];
let timer = 0;
let received = 0;
let since = Date.now();

/** Events a second, over the last seconds. */
export let rate = 0;

export const feed = new Feed({
  path: 'activity/changes',
  receive: element => {
    received++;
    if (batch.length < MOST) batch.push(element);
    else batch = [{ kind: 'gap' }];
    timer ||= setTimeout(flush, BATCH);
  },
});

function flush() {
  timer = 0;
  const now = Date.now();
  if (now - since >= 1_000) {
    rate = (received * 1_000) / (now - since);
    received = 0;
    since = now;
    feed.dispatchEvent(new Event('change'));
    setTimeout(quiet, 2_500);
  }
  const changes = batch;
  batch = [];
  for (const reader of readers) reader(changes);
}

function quiet() {
  if (Date.now() - since < 2_400 || rate === 0) return;
  rate = 0;
  feed.dispatchEvent(new Event('change'));
}

/** Reads changes until the returned function is called. @param {Reader} reader */
export function watch(reader) {
  readers.add(reader);
  return () => readers.delete(reader);
}
