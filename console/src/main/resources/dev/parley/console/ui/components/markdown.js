/** Markdown of agents: by marked, cleaned by DOMPurify. No images of other hosts, links only to http and https. Loaded on first use. */
import DOMPurify from 'dompurify';
import { html } from 'lit';
import { Marked } from 'marked';
import { visible, webLink } from '../format.js';
import { Part } from './element.js';

const MOST = 300_000; // characters
const PAUSE = 150; // ms between two drawings of a text that grows
const PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/i;

/** @param {string} text */
const escaped = text => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');

// HTML of an agent is text: it reaches no parser as HTML. DOMPurify is the second wall.
const marked = new Marked({
  gfm: true,
  breaks: true,
  async: false,
  renderer: {
    html: ({ text }) => escaped(text),
    image: ({ href, text }) => (PICTURE.test(href) ? `<img src="${escaped(href)}" alt="${escaped(text)}">` : `<em>[image: ${escaped(text || webLink(href) || 'no description')}]</em>`),
  },
});
const CLEAN = {
  ALLOWED_TAGS: ['p', 'br', 'strong', 'em', 'del', 'code', 'pre', 'blockquote', 'ul', 'ol', 'li', 'a', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'img'],
  ALLOWED_ATTR: ['href', 'title', 'alt', 'src', 'align', 'start'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

/** @param {string} text @returns {DocumentFragment} */
export function clean(text) {
  const source = /** @type {string} */ (marked.parse(visible(text, MOST)));
  const fragment = /** @type {DocumentFragment} */ (/** @type {unknown} */ (DOMPurify.sanitize(source, CLEAN)));
  for (const anchor of fragment.querySelectorAll('a')) {
    const href = webLink(anchor.getAttribute('href'));
    if (href === undefined) {
      anchor.replaceWith(...anchor.childNodes);
      continue;
    }
    anchor.href = href;
    anchor.rel = 'noopener noreferrer';
    anchor.target = '_blank';
    if (!anchor.textContent?.includes(new URL(href).host)) anchor.title = href;
  }
  for (const image of fragment.querySelectorAll('img')) if (!PICTURE.test(image.getAttribute('src') ?? '')) image.remove();
  // Headings of an agent do not compete with those of the page.
  for (const heading of fragment.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
    const title = document.createElement('p');
    title.className = `md-${heading.localName}`;
    title.append(...heading.childNodes);
    heading.replaceWith(title);
  }
  return framed(fragment);
}

/** Gives tables that are wider than the page a scroll bar. @param {DocumentFragment} fragment */
function framed(fragment) {
  for (const table of fragment.querySelectorAll('table')) {
    const frame = document.createElement('div');
    frame.className = 'md-table';
    frame.tabIndex = 0;
    table.replaceWith(frame);
    frame.append(table);
  }
  return fragment;
}

const documents = new Marked({ gfm: true, async: false, renderer: { html: ({ text }) => escaped(text) } });

/** Blocks of a document of the product. @param {string} text */
export const blocks = text => documents.lexer(text);

/**
 * Blocks as the product has them: with links and pictures at the addresses that {@code resolve} gives; without one a link is its text.
 *
 * @param {import('marked').Token[]} tokens
 * @param {(href: string) => string | undefined} resolve
 */
export function prose(tokens, resolve) {
  const fragment = /** @type {DocumentFragment} */ (/** @type {unknown} */ (DOMPurify.sanitize(documents.parser(tokens), CLEAN)));
  for (const anchor of fragment.querySelectorAll('a')) {
    const href = resolve(anchor.getAttribute('href') ?? '');
    if (href === undefined) anchor.replaceWith(...anchor.childNodes);
    else anchor.href = href;
    if (href && new URL(href, location.href).origin !== location.origin) Object.assign(anchor, { rel: 'noopener noreferrer', target: '_blank' });
  }
  for (const image of fragment.querySelectorAll('img')) {
    const src = resolve(image.getAttribute('src') ?? '');
    if (src) image.src = src;
    else image.replaceWith(image.alt);
  }
  return framed(fragment);
}

class Markdown extends Part {
  static properties = { text: { attribute: false } };

  constructor() {
    super();
    this.text = '';
    this.drawn = '';
    this.fragment = /** @type {DocumentFragment | undefined} */ (undefined);
    /** Time before which a text that grows is not drawn again. */
    this.due = 0;
    this.timer = 0;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.timer);
    this.timer = 0;
  }

  willUpdate() {
    if (this.fragment && this.text === this.drawn) return;
    const begun = performance.now();
    if (this.fragment && begun < this.due) {
      this.timer ||= setTimeout(() => ((this.timer = 0), this.requestUpdate()), this.due - begun);
      return;
    }
    this.drawn = this.text;
    this.fragment = clean(this.text);
    const now = performance.now();
    this.due = now + Math.max(PAUSE, 5 * (now - begun)); // each piece of a stream makes the whole text be parsed again
  }

  render() {
    return html`<div class="md" dir="auto">${this.fragment}</div>`;
  }
}

customElements.define('parley-markdown', Markdown);
