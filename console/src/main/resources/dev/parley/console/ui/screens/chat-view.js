/** Parts of the chat: the conversation, and the list of earlier ones. */
import { html, nothing } from 'lit';
import { badge, empty, failure, skeleton, time } from '../components/bits.js';
import { line, plural, stateOf } from '../format.js';
import { link, setQuery } from '../route.js';
import { contexts } from './chat-history.js';

/**
 * @typedef {import('../types.js').Message} Message
 * @typedef {{agent: string, name: string, example: string | undefined, tools: (message: Message, isMine?: boolean) => unknown,
 *     send: (text: string) => void, answer: (message: Message) => void}} Talk
 * {@code example}: text to begin with; {@code tools}: of a message; {@code answer}: answers a question of a task.
 */

/** A conversation. @param {import('../run.js').Run} run @param {Talk} talk */
export function conversation(run, talk) {
  if (!run.items.length) return beginning(run, talk);
  const tasks = run.items.map(item => (item.kind === 'task' ? run.tasks.get(item.id) : undefined));
  const newest = tasks.findLast(Boolean);
  return html`<p class="only-read" role="status">${newest ? `Task ${stateOf(newest.status.state).word}` : ''}</p>
    <div class="flow">
      ${run.next ? html`<p><button type="button" class="link" ?disabled=${run.busy} @click=${() => run.earlier()}>Earlier tasks</button></p>` : nothing}
      ${run.unread ? html`<p class="dim">${plural(run.unread, 'task')} of this conversation cannot be read.</p>` : nothing}
      ${run.items.map((item, i) => (item.kind === 'direct' ? direct(item, talk) : taskOf(run, item.id, tasks[i], talk)))}
      ${failure(run.error)}
    </div>`;
}

/** A conversation without messages. @param {import('../run.js').Run} run @param {Talk} talk */
function beginning(run, { name, example, send }) {
  if (run.busy) return html`<div class="pad">${skeleton(4)}</div>`;
  if (run.error) return html`<div class="pad">${failure(run.error, () => run.load())}</div>`;
  const button = example ? html`<button type="button" class="btn" @click=${() => send(example)}>${line(example, 60)}</button>` : nothing;
  return empty(`Talk to ${line(name, 60)}`, 'Write a message below, or begin with an example of the agent.', button);
}

/** @param {import('../run.js').Run} run @param {string} id @param {import('../types.js').Task | undefined} task @param {Talk} talk */
function taskOf(run, id, task, { agent, tools, answer }) {
  const answered = (/** @type {CustomEvent<Message>} */ event) => {
    event.preventDefault(); // sent by the run, whose stream goes on
    answer(event.detail);
  };
  return html`<parley-conversation .task=${task} .agent=${agent} .tools=${tools} @answer=${answered}></parley-conversation>
    <p class="of-task dim"><a href=${link(`tasks/${id}`)}>Task</a> ${badge(task?.status.state)} ${time(task?.status.timestamp)}
      ${task && task === run.running ? html`<button type="button" class="link" @click=${() => run.cancel()}>Cancel</button>` : nothing}</p>`;
}

/** A message without a task, or one whose task is not known yet. @param {any} item @param {Talk} talk */
function direct(item, { agent, tools }) {
  const { mine, theirs, error } = item;
  return html`<div class="talk">
    <div class="say me"><parley-parts plain .parts=${mine.parts}></parley-parts><small>You${tools(mine)}</small></div>
    ${theirs ? html`<div class="say"><parley-parts .parts=${theirs.parts}></parley-parts>
        <small>${line(agent, 60)}, a message without a task${tools(mine, false)}</small></div>`
      : error ? failure(error) : html`<div class="steps"><i class="spin"></i></div>`}
  </div>`;
}

/**
 * Earlier conversations with the agent.
 *
 * @param {import('./chat-history.js').History} past
 * @param {{shown: number, more: () => void, present: string | undefined, compared: string | undefined, via: string | undefined}} settings
 * {@code shown}: how many; {@code present}, {@code compared}: contexts of the conversations on the page
 */
export function conversations(past, { shown, more, present, compared, via }) {
  const { rows, next, error, agent } = past;
  if (!rows) return skeleton(5);
  if (error && !rows.length) return failure(error, () => past.load());
  const all = contexts(rows);
  if (!all.length) return html`<p class="dim">Conversations with this agent are kept on the hub and appear here.</p>`;
  const row = (/** @type {ReturnType<typeof contexts>[number]} */ { id, title, state, updated }) => html`<li class=${id === present ? 'on' : id === compared ? 'beside' : ''}>
    <a href=${link(`agents/${agent}/try`, { context: id, via })}>
      <span class="cut">${title || 'Conversation'}</span><span class="dim row">${badge(state)} ${time(updated)}</span></a>
    ${present && id !== present ? html`<button type="button" class="link quiet" @click=${() => setQuery({ compare: id }, true)}>compare</button>` : nothing}</li>`;
  return html`<h2>${plural(all.length, 'conversation')}${next ? ' so far' : ''}</h2>
    <ul>${all.slice(0, shown).map(row)}</ul>
    ${failure(error, () => past.load(next))}
    ${(all.length > shown || next) && !error ? html`<button type="button" class="link" @click=${more}>Older conversations</button>` : nothing}`;
}
