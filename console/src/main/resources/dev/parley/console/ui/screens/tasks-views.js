/** Saved views of the list of tasks: names of filters, kept in the browser. */
import { html, nothing } from 'lit';
import { dialog } from '../components/dialog.js';
import { line } from '../format.js';
import { remember, remembered } from '../part.js';
import { link } from '../route.js';

const PLACE = 'views.tasks';
const BUILT_IN = [{ name: 'All', query: '' }, { name: 'Waiting for a person', query: 'state=TASK_STATE_INPUT_REQUIRED%2CTASK_STATE_AUTH_REQUIRED' },
  { name: 'Failed today', query: 'state=TASK_STATE_FAILED%2CTASK_STATE_REJECTED&since=24h' }];

/** @returns {{name: string, query: string}[]} */
function saved() {
  try {
    const views = JSON.parse(remembered(PLACE) ?? '[]');
    return Array.isArray(views) ? views.filter(view => typeof view?.name === 'string' && typeof view.query === 'string') : [];
  } catch {
    return [];
  }
}

/** @param {{name: string, query: string}[]} views */
function save(views) {
  remember(PLACE, JSON.stringify(views.slice(0, 50)));
  dispatchEvent(new Event('routed')); // repaints the screen
}

/** Asks for the name of a view. @param {string} query */
function ask(query) {
  let name = '';
  const add = (/** @type {() => void} */ close) => {
    if (!name.trim()) return;
    const views = saved().filter(view => view.name !== name.trim());
    close();
    save([...views, { name: name.trim(), query }]);
  };
  dialog('Save this view', close => ({
    content: html`<label class="field">Name<input maxlength="60" autofocus @input=${(/** @type {Event} */ event) => (name = /** @type {HTMLInputElement} */ (event.target).value)}
        @keydown=${(/** @type {KeyboardEvent} */ event) => event.key === 'Enter' && add(close)}></label><p class="dim">It keeps the filters of this page, in this browser.</p>`,
    buttons: html`<button type="button" class="btn" @click=${close}>Cancel</button><button type="button" class="btn main" @click=${() => add(close)}>Save</button>`,
  }), 'small');
}

/** Views as tabs. @param {URLSearchParams} present */
export function viewBar(present) {
  const query = present.toString();
  const own = saved();
  const known = [...BUILT_IN, ...own].some(view => same(view.query, query));
  return html`<nav class="views" aria-label="Views">
    ${[...BUILT_IN, ...own].map(view => html`<span class=${same(view.query, query) ? 'on' : ''}>
      <a href=${link('tasks') + (view.query ? `?${view.query}` : '')} aria-current=${same(view.query, query) ? 'true' : nothing}>${line(view.name, 60)}</a>
      ${own.includes(view) ? html`<button type="button" class="icon" aria-label=${`Remove the view ${line(view.name, 60)}`} @click=${() => save(own.filter(each => each !== view))}>×</button>` : nothing}</span>`)}
    ${known ? nothing : html`<button type="button" class="link" @click=${() => ask(query)}>Save view</button>`}
  </nav>`;
}

/** @param {string} one @param {string} other */
function same(one, other) {
  const sorted = (/** @type {string} */ text) => {
    const query = new URLSearchParams(text);
    query.sort();
    return query.toString();
  };
  return sorted(one) === sorted(other);
}
