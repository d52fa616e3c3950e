/** Small parts of pages as templates. */
import { html, nothing } from 'lit';
import { clock, line, stateOf, utc, visible } from '../format.js';
import { link } from '../route.js';
import { may } from '../session.js';

/** State by colour and word. @param {string | undefined} state */
export function badge(state) {
  const { word, kind } = stateOf(state);
  return html`<span class="state ${kind}">${word}</span>`;
}

/** Promises of the hub that do not hold at the moment. @param {import('../types.js').Session} session */
export function banners(session) {
  const { drained, problems = [] } = session.hub ?? {};
  const all = problems.map(text => ({ text: `${text}.`, kind: 'bad', action: 'Health' }));
  if (drained) all.push({ text: 'The hub is drained: it takes no new tasks; those that run go on.', kind: '', action: 'Resume' });
  return all.map(({ text, kind, action }) => html`<p class="banner ${kind}" role="status">${line(text, 400)}${may(session, 'admin') ? html` <a href=${link('hubs')}>${action}</a>` : nothing}</p>`);
}

/** Local time, UTC on hover. @param {string | undefined} at */
export const time = at => html`<time datetime=${at ?? nothing} title=${utc(at)}>${clock(at)}</time>`;

/** @param {string} text */
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea'); // pages of plain http have no clipboard
  field.value = text;
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}

/** Copies a text, and says so on the button. @param {string | (() => string)} text @param {string} [label] */
export function copyButton(text, label = 'Copy') {
  /** @param {Event} event */
  const clicked = async event => {
    const button = /** @type {HTMLElement} */ (event.currentTarget);
    await copy(typeof text === 'function' ? text() : text);
    button.dataset.done = 'Copied';
    setTimeout(() => delete button.dataset.done, 1_500);
  };
  return html`<button type="button" class="link copy" @click=${clicked}>${label}</button>`;
}

/**
 * What to do where there is nothing yet.
 *
 * @param {string} title
 * @param {unknown} text
 * @param {unknown} [actions]
 */
export function empty(title, text, actions = nothing) {
  return html`<div class="empty">
    <svg viewBox="0 0 64 40" width="64" height="40" aria-hidden="true">
      <rect x="1" y="5" width="38" height="22" rx="8" fill="none" stroke="currentColor" stroke-width="1.5" />
      <rect x="25" y="13" width="38" height="22" rx="8" class="front" stroke="currentColor" stroke-width="1.5" />
      <path d="M33 21h18M33 27h12" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" />
    </svg>
    <h2>${title}</h2>
    <p class="dim">${text}</p>
    ${actions === nothing ? nothing : html`<div class="row wrap">${actions}</div>`}
  </div>`;
}

/**
 * An error with the id of its request.
 *
 * @param {any} error
 * @param {(() => void)} [retry]
 */
export function failure(error, retry) {
  if (!error) return nothing;
  return html`<div class="failure" role="alert">
    <div class="grow">
      <b>${line(error.message || 'The hub does not answer', 400)}</b>
      <div class="dim row wrap">
        ${error.status || error.code ? html`<span>${error.code ? `code ${error.code}` : `status ${error.status}`}${error.reason ? `, ${line(error.reason, 60)}` : ''}</span>` : nothing}
        ${error.trace ? html`<span>request <code>${error.trace}</code></span>${copyButton(error.trace, 'Copy id')}` : nothing}
      </div>
    </div>
    ${retry ? html`<button type="button" class="btn" @click=${retry}>Try again</button>` : nothing}
  </div>`;
}

/** Rows of grey bars while data is on its way. @param {number} rows */
export const skeleton = rows =>
  html`<div class="skeleton" role="status"><span class="only-read">Loading</span>${Array.from({ length: rows }, () => html`<i></i>`)}</div>`;

/** Text with each occurrence of the words in a mark. @param {string | undefined} text @param {string[]} words @param {number} [max] */
export function highlighted(text, words, max = 300) {
  const shown = line(text, max);
  const wanted = words.filter(word => word.length > 1).map(word => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  if (!wanted.length) return shown;
  return shown.split(new RegExp(`(${wanted.join('|')})`, 'giu')).map((piece, i) => (i % 2 ? html`<mark>${piece}</mark>` : piece));
}

/** A block of code with a button that copies it. @param {string} code @param {string} [label] name for screen readers */
export function codeBlock(code, label = 'Code') {
  return html`<div class="code"><pre tabindex="0" aria-label=${label}>${visible(code, 200_000)}</pre>${copyButton(code)}</div>`;
}

/**
 * Tabs; arrow keys move among them.
 *
 * @param {string} label
 * @param {string[][]} items name and title of each
 * @param {string} present name of the tab that is shown
 * @param {(name: string) => void} choose
 * @param {string} [panel] id of the panel
 */
export function tabs(label, items, present, choose, panel) {
  const key = (/** @type {KeyboardEvent} */ event) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const at = items.findIndex(([name]) => name === present);
    const next = (at + step + items.length) % items.length;
    const buttons = /** @type {HTMLElement} */ (event.currentTarget).querySelectorAll('button');
    choose(items[next][0]);
    buttons[next].focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} @keydown=${key}>${items.map(([name, title]) => html`<button type="button" role="tab" id=${panel ? `${panel}-${name}` : nothing}
    aria-controls=${panel ?? nothing} aria-selected=${name === present} tabindex=${name === present ? 0 : -1} @click=${() => choose(name)}>${title}</button>`)}</div>`;
}
