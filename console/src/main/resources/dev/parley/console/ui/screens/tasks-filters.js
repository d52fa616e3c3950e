/** Filters of the list of tasks, and its columns. */
import { html, nothing } from 'lit';
import { badge } from '../components/bits.js';
import { place } from '../components/element.js';
import { typed } from '../components/typed.js';
import { TASK_STATES, age, count, isTerminal, line, stateOf } from '../format.js';
import { link, setQuery } from '../route.js';

/** @typedef {import('../types.js').TaskRow} TaskRow */

export const FILTERS = ['state', 'agent', 'contextId', 'caller', 'since', 'until', 'q'];
export const OPERATOR_FILTERS = ['group', 'owner']; // of the scope admin
export const SPANS = /** @type {Record<string, [string, number]>} */ ({ '1h': ['last hour', 3_600_000], '24h': ['last 24 hours', 86_400_000], '7d': ['last 7 days', 604_800_000] });
/** @type {[string, string[], string][]} */
const FIGURES = [
  ['Under way', ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'], 'run'],
  ['Waiting for a person', ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'], 'wait'],
  ['Failed', ['TASK_STATE_FAILED', 'TASK_STATE_REJECTED'], 'bad'],
  ['Completed', ['TASK_STATE_COMPLETED'], 'ok'],
];

/**
 * Whether the filters that a change can tell about let a task pass.
 *
 * @param {{state?: string, agent?: string, contextId?: string, caller?: string}} task
 * @param {Record<string, string | undefined>} filter
 */
export function fits({ state, agent, contextId, caller }, filter) {
  const states = (filter.state ?? '').split(',').filter(Boolean).map(name => `TASK_STATE_${name.replace('TASK_STATE_', '').replace(/-/g, '_').toUpperCase()}`);
  return (!states.length || !state || states.includes(state)) && (!filter.agent || filter.agent === agent) && (!filter.contextId || filter.contextId === contextId)
    && (!filter.caller || !caller || filter.caller === caller);
}

/** Figures that are filters. @param {URLSearchParams} query @param {import('../types.js').Counts | undefined} counts */
export function figures(query, counts) {
  const states = counts?.states;
  return html`<div class="strip">${FIGURES.map(([title, names, kind]) => {
    const on = query.get('state') === names.join(',');
    const value = states ? names.reduce((sum, name) => sum + (states[name] ?? 0), 0) : undefined;
    return html`<a class="card fig ${on ? 'on' : ''}" href=${link('tasks', { ...Object.fromEntries(query), state: on ? undefined : names.join(',') })} aria-current=${on ? 'true' : nothing}>
      <span class="dim">${title}</span><b class="v ${value ? kind : 'none'}">${count(value)}</b></a>`;
  })}</div>`;
}

/** @param {URLSearchParams} query @param {import('../types.js').Counts | undefined} counts @param {boolean} isOperator */
export function filterBar(query, counts, isOperator) {
  const set = (/** @type {string} */ name) => (/** @type {Event} */ event) => setQuery({ [name]: /** @type {HTMLInputElement} */ (event.target).value.trim() });
  const agents = [...new Set([query.get('agent') ?? '', ...(counts?.agents ?? []).map(each => each.agent)])].filter(Boolean).sort();
  const state = query.get('state') ?? '';
  const group = FIGURES.find(([, names]) => names.length > 1 && names.join(',') === state);
  return html`<div class="filters" role="search">
    <input type="search" class="grow" placeholder="Title, status or id" aria-label="Search tasks" ${typed('q', 'change')}>
    <select aria-label="State" @change=${set('state')}><option value="">Any state</option>
      ${group ? html`<option value=${state} .selected=${true}>${group[0]}</option>` : nothing}
      ${TASK_STATES.map(name => html`<option value=${name} .selected=${name === state}>${stateOf(name).word}</option>`)}</select>
    <select aria-label="Agent" @change=${set('agent')}><option value="">Any agent</option>${agents.map(agent => html`<option value=${agent} .selected=${agent === query.get('agent')}>${line(agent, 60)}</option>`)}</select>
    <select aria-label="Time" @change=${set('since')}><option value="">Any time</option>${Object.entries(SPANS).map(([name, [words]]) => html`<option value=${name} .selected=${name === query.get('since')}>${words}</option>`)}
      ${query.get('since') && !SPANS[query.get('since') ?? ''] ? html`<option .selected=${true} value=${query.get('since') ?? ''}>since ${line(query.get('since'), 30)}</option>` : nothing}</select>
    <input class="short" placeholder="Caller" aria-label="Caller" ${typed('caller', 'change')}>
    <input class="short mono" placeholder="Context" aria-label="Context" ${typed('contextId', 'change')}>
    ${isOperator || query.has('group') ? html`<input class="short" placeholder="Group (* for all)" aria-label="Group" ${typed('group', 'change')}>` : nothing}
    ${isOperator || query.has('owner') ? html`<input class="short" placeholder="Owner" aria-label="Owner" ${typed('owner', 'change')}>` : nothing}
    ${query.has('until') ? html`<button type="button" class="chip on" @click=${() => setQuery({ until: undefined })}>until ${line(query.get('until'), 30)} ×</button>` : nothing}
  </div>`;
}

/** @returns {import('../components/table.js').Column<TaskRow>[]} */
export function columns() {
  return [
    { name: 'title', label: 'Task', cell: row => html`<a class="cut" href=${link(`tasks/${row.taskId}`, { group: row.group })} title=${line(row.title ?? '', 200)}>${line(row.title, 200) || html`<code>${line(row.taskId, 36)}</code>`}</a>` },
    { name: 'agent', label: 'Agent', cell: row => html`<a class="cut quiet" href=${link('tasks', { agent: row.agent })} title=${line(row.agent)}>${line(row.agent, 80)}</a>` },
    { name: 'st', label: 'State', cell: row => badge(row.state) },
    { name: 'prog', label: 'Progress', cell: row => progress(row) },
    { name: 'status', label: 'Last status', cell: row => html`<span class="cut" title=${line(row.status ?? '', 200)}>${line(row.status, 200)}</span>` },
    { name: 'age num', label: 'Age', cell: (row, now) => html`<span class="dim" title=${`updated ${row.updated}`}>${age(row.updated, now)}</span>` },
  ];
}

/** @param {TaskRow} row */
function progress(row) {
  if (typeof row.progress !== 'number' || isTerminal(row.state)) return nothing;
  const percent = Math.round(Math.max(0, Math.min(100, row.progress)));
  return html`<span class="bar" role="progressbar" aria-valuenow=${percent} aria-label="Progress"><i ${place({ '--part': `${percent}%` })}></i></span>`;
}
