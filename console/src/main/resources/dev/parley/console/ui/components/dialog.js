/** A modal dialog: title, content, and buttons in its foot. Esc and a click outside close it. */
import { html, render } from 'lit';

/**
 * Shows a dialog until {@code close} is called.
 *
 * @param {string} title
 * @param {(close: () => void) => {content: unknown, buttons?: unknown}} draw called at each repaint
 * @param {string} [kind] class of the dialog
 * @returns {{repaint: () => void, close: () => void, closed: Promise<void>}}
 */
export function dialog(title, draw, kind = '') {
  const element = document.createElement('dialog');
  element.className = `dialog ${kind}`;
  element.setAttribute('aria-label', title);
  const close = () => element.close();
  const repaint = () => {
    const { content, buttons } = draw(close);
    render(html`<header><h2>${title}</h2><button type="button" class="icon" aria-label="Close" @click=${close}>
        <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d="M3 3l10 10M13 3L3 13" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" /></svg></button></header>
      <div class="content">${content}</div>${buttons ? html`<footer>${buttons}</footer>` : ''}`, element);
  };
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  const closed = new Promise(resolve => element.addEventListener('close', () => (element.remove(), before?.focus?.(), resolve(undefined))));
  let isOutside = false; // a text that is selected inside and let go outside closes nothing
  element.addEventListener('pointerdown', event => (isOutside = event.target === element));
  element.addEventListener('click', event => event.target === element && isOutside && close());
  const { pathname } = location;
  const routed = () => location.pathname !== pathname && close(); // not for a parameter, such as the context of a chat that began
  addEventListener('routed', routed);
  closed.then(() => removeEventListener('routed', routed));
  repaint();
  element.tabIndex = -1;
  element.autofocus = !element.querySelector('[autofocus]'); // else its first button, which closes it
  document.body.append(element);
  element.showModal();
  return { repaint, close, closed: /** @type {Promise<void>} */ (closed) };
}
