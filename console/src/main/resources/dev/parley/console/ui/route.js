/** Addresses of the console: every screen, filter, tab and selection is in the URL. */
import { screens } from './screens.js';

const page = new URL(document.baseURI).pathname;
const cut = page.indexOf('/ui/');

/** Path below which the hub answers, {@code /} or {@code /prefix/}. */
export const root = cut < 0 ? '/' : page.slice(0, cut + 1);
const ui = `${root}ui/`;

/** Address of a screen. @param {string} path for example {@code tasks/ID} @param {Record<string, string | undefined>} [query] */
export function link(path, query = {}) {
  const text = new URLSearchParams(Object.entries(query).filter(entry => entry[1]).map(entry => [entry[0], String(entry[1])])).toString();
  return ui + path.split('/').map(encodeURIComponent).join('/') + (text ? `?${text}` : '');
}

/** The route of the present address. @returns {import('./types.js').Route} */
export function current() {
  const path = location.pathname.startsWith(ui) ? location.pathname.slice(ui.length) : '';
  const query = new URLSearchParams(location.search);
  const segments = path.split('/').filter(Boolean).map(decoded);
  for (const screen of screens) {
    const pattern = screen.path.split('/').filter(Boolean);
    if (pattern.length !== segments.length) continue;
    /** @type {Record<string, string>} */
    const params = {};
    const fits = pattern.every((part, i) => (part.startsWith(':') ? ((params[part.slice(1)] = segments[i]), true) : part === segments[i]));
    if (fits) return { path, params, query, screen };
  }
  return { path, params: {}, query, screen: undefined };
}

/** @param {string} segment */
function decoded(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Leads to an address of the console. @param {string} href @param {boolean} [replace] no entry of its own in the history of the browser */
export function go(href, replace = false) {
  if (new URL(href, location.href).href === location.href) return;
  if (replace) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  dispatchEvent(new Event('routed'));
}

/** Changes parameters of the present address; an empty value removes one. @param {Record<string, string | undefined>} changes @param {boolean} [push] */
export function setQuery(changes, push = false) {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  go(url.href, !push);
}

/** Follows clicks on links of the console without loading the page. @param {MouseEvent} event */
function follow(event) {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const anchor = event.composedPath().find(node => node instanceof HTMLAnchorElement && node.href);
  if (!(anchor instanceof HTMLAnchorElement) || anchor.target || anchor.hasAttribute('download')) return;
  const url = new URL(anchor.href);
  if (url.origin !== location.origin || !url.pathname.startsWith(ui) || anchor.hasAttribute('data-page')) return;
  event.preventDefault();
  go(url.href);
}

/** Begins to follow links. */
export function begin() {
  document.addEventListener('click', follow);
  addEventListener('popstate', () => dispatchEvent(new Event('routed')));
}
