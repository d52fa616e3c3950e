/** Cancels or repeats many tasks, after a preview of what happens to each. */
import { html, nothing } from 'lit';
import { ApiError, api, newId } from '../api.js';
import { badge } from '../components/bits.js';
import { dialog } from '../components/dialog.js';
import { isTerminal, line, plural, textOf } from '../format.js';
import { firstMessage } from '../model.js';
import { link } from '../route.js';

/**
 * @typedef {import('../types.js').TaskRow} TaskRow
 * @typedef {{row: TaskRow, does: boolean, text: string, message?: import('../types.js').Message, result?: unknown}} Plan
 */

const AT_ONCE = 4;

/** @param {TaskRow} row @returns {Plan} */
function cancelPlan(row) {
  return isTerminal(row.state) ? { row, does: false, text: 'has ended and stays as it is' } : { row, does: true, text: 'is canceled' };
}

/** @param {TaskRow} row @returns {Promise<Plan>} */
async function retryPlan(row) {
  try {
    const message = firstMessage(await api.task(row.agent, row.taskId));
    if (!message) return { row, does: false, text: 'has no message that could be sent again' };
    return { row, does: true, message, text: `sends “${line(textOf(message.parts) || `${message.parts.length} parts`, 80)}” to ${line(row.agent, 40)} as a new task` };
  } catch (error) {
    return { row, does: false, text: line(/** @type {Error} */ (error).message) };
  }
}

/** @param {'cancel' | 'retry'} kind @param {Plan} plan */
async function perform(kind, plan) {
  try {
    if (kind === 'cancel') {
      const task = await api.cancel(plan.row.agent, plan.row.taskId);
      plan.result = badge(task.status.state);
      return;
    }
    const { parts, metadata, extensions } = /** @type {import('../types.js').Message} */ (plan.message);
    const message = { messageId: newId(), role: 'ROLE_USER', contextId: plan.row.contextId, parts, metadata, extensions };
    const answer = await api.send(plan.row.agent, { message, configuration: { returnImmediately: true } });
    plan.result = answer.task ? html`<a href=${link(`tasks/${answer.task.id}`)}>new task</a>` : 'answered by a message';
  } catch (error) {
    const failure = /** @type {ApiError} */ (error);
    plan.result = html`<span class="state bad" title=${failure.trace ? `request ${failure.trace}` : ''}>${line(failure.message, 80)}</span>`;
  }
}

/** @template T @param {T[]} items @param {(item: T) => Promise<unknown>} work */
async function eachOf(items, work) {
  const queue = [...items];
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  }));
}

/**
 * Shows the preview, and does it when the reader agrees.
 *
 * @param {'cancel' | 'retry'} kind
 * @param {TaskRow[]} rows
 */
export async function act(kind, rows) {
  /** @type {Plan[]} */
  let plans = kind === 'cancel' ? rows.map(cancelPlan) : rows.map(row => ({ row, does: false, text: 'reads its message' }));
  let phase = kind === 'cancel' ? 'preview' : 'reading';
  const verb = kind === 'cancel' ? 'Cancel' : 'Send again';
  const shown = dialog(kind === 'cancel' ? 'Cancel tasks' : 'Send tasks again', close => {
    const doing = plans.filter(plan => plan.does);
    return {
      content: html`<p>${phase === 'reading' ? 'Reads the messages of the tasks.' : `${plural(doing.length, 'task')} of ${plans.length} ${kind === 'cancel' ? 'will be canceled' : 'will be sent again'}.`}</p>
        <ul class="plans">${plans.map(plan => html`<li class=${plan.does ? '' : 'dim'}><span class="cut">${line(plan.row.title || plan.row.taskId, 100)}</span><span class="dim cut-2">${plan.text}</span>
          <span>${plan.result ?? (plan.does && phase === 'running' ? html`<i class="spin"></i>` : nothing)}</span></li>`)}</ul>`,
      buttons: phase === 'done' ? html`<button type="button" class="btn main" @click=${close}>Close</button>`
        : html`<button type="button" class="btn" @click=${close}>Keep all</button><button type="button" class="btn ${kind === 'cancel' ? 'bad' : 'main'}" ?disabled=${phase !== 'preview' || !doing.length}
            @click=${run}>${verb} ${plural(doing.length, 'task')}</button>`,
    };
  });

  async function run() {
    phase = 'running';
    shown.repaint();
    await eachOf(plans.filter(plan => plan.does), plan => perform(kind, plan).then(shown.repaint));
    phase = 'done';
    shown.repaint();
  }

  if (kind === 'retry') {
    const made = new Map();
    await eachOf(rows, async row => made.set(row.taskId, await retryPlan(row)));
    plans = rows.map(row => made.get(row.taskId));
    phase = 'preview';
    shown.repaint();
  }
  await shown.closed;
}
