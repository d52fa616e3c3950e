/** All that waits for a person: questions and credentials of tasks, tools of MCP servers, reviews of knowledge, ballots. For the inbox, and for its badge on every page. */
import { api } from './api.js';
import { isWaiting, line, timeOfId } from './format.js';
import { paced, watch } from './live.js';
import { remember, remembered } from './part.js';
import { presence } from './presence.js';
import { go, link } from './route.js';
import { may } from './session.js';

const MOST = 100; // items of a kind
const RUNS = 20; // waiting runs whose steps are looked at
const ABSENT = [401, 403, 404, 501]; // statuses of sources that the hub does not have, or that the caller may not read

/**
 * @typedef {{key: string, kind: 'question' | 'credential' | 'tool' | 'review' | 'ballot', agent: string, title: string, at?: string, data: any}} Item
 * @typedef {(session: import('./types.js').Session | undefined) => Promise<{items: Item[], more?: number, hidden?: string[]}>} Source {@code more}: items that wait and are not listed; {@code hidden}: ids of tasks that are answered elsewhere
 */

/** Dispatches {@code change}. */
class Inbox extends EventTarget {
  /** @type {Set<Source>} */
  #absent = new Set();
  /** What each source had when it was read last. @type {Map<Source, Awaited<ReturnType<Source>>>} */
  #last = new Map();
  /** Keys of items that were notified, or known before. @type {Set<string> | undefined} */
  #known = undefined;
  /** @type {(() => void) | undefined} */
  #end = undefined;

  constructor() {
    super();
    /** Newest first; undefined until they are read. @type {Item[] | undefined} */
    this.items = undefined;
    /** Waiting items, which may be more than are listed. */
    this.total = 0;
    /** Failures, by source. @type {any[]} */
    this.errors = [];
    this.session = /** @type {import('./types.js').Session | undefined} */ (undefined);
    new MutationObserver(() => this.#retitle()).observe(document.head, { childList: true, subtree: true }); // screens set titles of their own
  }

  /** The number stands in the title of the page, too. */
  #retitle() {
    const plain = document.title.replace(/^\(\d+\) /, '');
    const title = this.total ? `(${this.total}) ${plain}` : plain;
    if (document.title !== title) document.title = title;
  }

  /** @param {import('./types.js').Session} session */
  start(session) {
    this.stop();
    this.#absent = new Set();
    this.#last = new Map();
    this.session = session;
    presence.stays = this.notifies;
    this.#end = watch(changes => changes.some(({ kind, state, before }) => kind === 'gap' || (kind === 'task' && (isWaiting(state ?? '') || isWaiting(before ?? '')))) && this.read(), true);
    this.read(true);
  }

  stop() {
    this.#end?.();
    this.#end = this.#known = this.items = undefined;
    this.total = 0;
    this.#retitle();
  }

  read = paced(() => this.#load(), () => !!this.#end);

  /** Reads the sources. A source that the hub does not have, or the caller may not read, has no items. */
  async #load() {
    const { session } = this;
    const sources = [tasks, ballots, ...(may(session, 'admin') ? [tools, reviews] : [])].filter(source => !this.#absent.has(source));
    const parts = await Promise.allSettled(sources.map(source => source(session)));
    if (session !== this.session || !this.#end) return; // another session has asked meanwhile, or none
    parts.forEach((each, i) => each.status === 'rejected' && ABSENT.includes(each.reason.status) && this.#absent.add(sources[i]));
    parts.forEach((each, i) => each.status === 'fulfilled' && this.#last.set(sources[i], each.value));
    const found = sources.flatMap(source => (this.#absent.has(source) ? [] : this.#last.get(source) ?? [])); // of a source that fails, what it had
    const hidden = new Set(found.flatMap(each => each.hidden ?? []));
    const items = found.flatMap(each => each.items).filter(({ key }) => !hidden.has(key));
    this.errors = parts.flatMap(each => (each.status === 'rejected' && !ABSENT.includes(each.reason.status) ? [each.reason] : []));
    this.items = items.sort((a, b) => ((a.at ?? '') < (b.at ?? '') ? 1 : -1));
    this.total = items.length + found.reduce((sum, each) => sum + (each.more ?? 0), 0);
    this.#notify();
    this.#retitle();
    this.dispatchEvent(new Event('change'));
  }

  /** Whether this browser shows notifications of new items. */
  get notifies() {
    return remembered('notify') === 'on' && globalThis.Notification?.permission === 'granted';
  }

  /** Asks for the permission, or ends the notifications. */
  async toggleNotifications() {
    const on = !this.notifies && (await Notification.requestPermission()) === 'granted';
    remember('notify', on ? 'on' : 'off');
    presence.stays = on;
    this.dispatchEvent(new Event('change'));
  }

  #notify() {
    const before = this.#known;
    const items = this.items ?? /** @type {Item[]} */ ([]);
    this.#known = new Set(items.map(item => item.key));
    const news = before ? items.filter(item => !before.has(item.key)) : [];
    if (!news.length || !document.hidden || !this.notifies) return;
    const shown = new Notification(`Parley: ${this.total} in the inbox`, { body: news.map(item => `${item.agent}: ${item.title}`).slice(0, 3).join('\n'), tag: 'parley-inbox' });
    shown.onclick = () => (focus(), go(link('inbox')), shown.close());
  }
}

/** @param {import('./types.js').TaskRow} task @returns {Item} */
const taskItem = task => ({
  key: task.taskId, kind: task.state === 'TASK_STATE_AUTH_REQUIRED' ? 'credential' : 'question', agent: task.agent, title: line(task.title || task.taskId, 120), at: task.updated, data: task,
});

/** @param {any} vote @returns {Item} */
const voteItem = vote => ({ key: `vote ${vote.voteId}`, kind: 'ballot', agent: 'one', title: line(vote.vote.question, 120), at: timeOfId(vote.voteId), data: vote });

/** Tasks that wait. The question of a step of a workflow is answered through its run, which waits for it. @type {Source} */
async function tasks() {
  const { tasks: rows, next } = await api.tasks({ state: 'input-required,auth-required', pageSize: MOST });
  const counts = next ? await api.counts() : undefined;
  const all = counts ? Object.entries(counts.states).reduce((sum, [state, number]) => sum + (isWaiting(state) ? number : 0), 0) : rows.length;
  const runs = await Promise.all(rows.filter(row => row.agent === 'one').slice(0, RUNS).map(row => api.run(row.taskId).catch(() => undefined)));
  const hidden = runs.flatMap(run => run?.steps.flatMap(step => (step.state === 'input-required' && step.taskId ? [step.taskId] : [])) ?? []);
  const names = new Map(runs.map(run => [run?.workflowId, run?.origin?.definition ?? run?.steps.map(step => step.id).join(', ')]));
  return { items: rows.map(row => taskItem({ ...row, title: row.title ?? names.get(row.taskId) })), more: Math.max(0, all - rows.length), hidden };
}

/** Open votes. A vote is a task of the agent {@code one} as well, which nobody answers by a text. @type {Source} */
async function ballots() {
  const [open, own] = await Promise.all([api.votes({ waiting: true, pageSize: MOST }), api.votes({ pageSize: MOST })]);
  return { items: open.votes.map(voteItem), more: open.nextPageToken ? 1 : 0, hidden: [...open.votes, ...own.votes].map(({ voteId }) => voteId) };
}

/** @type {Source} */
async function tools() {
  const { servers } = await api.mcpTools();
  return { items: servers.flatMap(server => server.tools.filter(tool => tool.state !== 'approved').map(tool => ({
    key: `tool ${server.name} ${tool.name} ${tool.digest}`, kind: /** @type {const} */ ('tool'), agent: server.name, title: line(tool.name, 120), data: { ...tool, server: server.name },
  }))) };
}

/** @type {Source} */
async function reviews(session) {
  const answer = await api.reviews(session?.group);
  return { items: answer.reviews.map(review => ({ key: `review ${review.id}`, kind: /** @type {const} */ ('review'), agent: line(review.caller, 60), title: line(review.reason || 'Update of the knowledge graph', 120), at: review.madeAt, data: review })) };
}

export const inbox = new Inbox();
