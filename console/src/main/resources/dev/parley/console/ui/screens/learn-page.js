/** A page of the documents with its contents, the address of the reader's hub, and buttons that run its examples. */
import { html, nothing } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import { api } from '../api.js';
import { codeBlock, empty, failure, skeleton } from '../components/bits.js';
import { Screen } from '../components/element.js';
import { blocks, prose } from '../components/markdown.js';
import { anchor, pageLink, pages, resolver } from '../docs.js';
import { line } from '../format.js';
import { link } from '../route.js';
import { plain, slugs } from '../sections.js';
import { commands } from './learn-run.js';

/** @typedef {{depth: number, text: string, slug: string} | {code: string, language?: string, calls: import('./learn-run.js').Call[]} | {prose: DocumentFragment}} Item */

const BESIDE = 1_100; // px; with less room the contents are folded

class LearnPage extends Screen {
  static properties = { texts: { state: true }, agents: { state: true }, error: { state: true } };

  constructor() {
    super();
    this.texts = /** @type {Record<string, string> | undefined} */ (undefined);
    this.agents = /** @type {string[]} */ ([]); // that examples may call
    this.error = /** @type {any} */ (undefined);
    this.page = '';
    this.items = /** @type {Item[]} */ ([]);
  }

  connectedCallback() {
    super.connectedCallback();
    this.read();
    if (!this.session?.isVisitor) api.agents().then(({ agents }) => (this.agents = agents.map(each => each.name)), () => {});
  }

  async read() {
    this.error = undefined;
    this.texts = await pages().catch(error => ((this.error = error), undefined));
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    const { page } = this.route.params;
    if (this.texts && (page !== this.page || changed.has('texts'))) Object.assign(this, { page, items: itemsOf(page, this.texts) });
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    if (!this.texts || !(changed.has('route') || changed.has('texts'))) return;
    document.title = `${this.heading} – Parley`;
    const slug = CSS.escape(anchor());
    if (slug) requestAnimationFrame(() => this.querySelector(`#${slug}`)?.scrollIntoView()); // after the shell, which shows the begin of a page
  }

  get heading() {
    const [first] = this.items;
    return first && 'depth' in first ? first.text : line(this.page, 60);
  }

  render() {
    if (this.error) return failure(this.error, () => this.read());
    if (!this.texts) return html`<div class="card">${skeleton(10)}</div>`;
    if (!this.items.length) return html`<div class="card">${empty(`No page “${this.heading}”`, 'The documentation has no page of this name.', html`<a class="btn" href=${link('learn')}>All pages</a>`)}</div>`;
    const [first] = this.items;
    const contents = this.items.flatMap(each => ('depth' in each && each.depth > 1 && each.depth < 4 ? [each] : []));
    return html`<div class="head"><div class="grow"><div class="crumbs dim"><a href=${link('learn')}>Learn</a></div><h1 id=${first && 'slug' in first ? first.slug : nothing}>${this.heading}</h1></div></div>
      ${keyed(this.page, html`<div class="learn"><details class="toc" .open=${innerWidth >= BESIDE} ?hidden=${!contents.length}><summary>On this page</summary><nav aria-label="On this page">
          ${contents.map(({ depth, text, slug }) => html`<a class="depth-${depth}" href=${pageLink(this.page, slug)}>${text}</a>`)}</nav></details>
        <article class="card pad md">${this.items.slice(first && 'depth' in first ? 1 : 0).map(each => this.item(each))}</article></div>`)}`;
  }

  /** @param {Item} item */
  item(item) {
    if ('prose' in item) return html`<div class="md">${item.prose}</div>`;
    if ('depth' in item) {
      const heading = html`${item.text}<a class="anchor" href=${pageLink(this.page, item.slug)} aria-label="Link to ${item.text}">#</a>`;
      return item.depth < 3 ? html`<h2 id=${item.slug}>${heading}</h2>` : html`<h3 id=${item.slug}>${heading}</h3>`;
    }
    const runs = this.session?.isVisitor ? html`<p class="dim">Sign in to run this example here.</p>` : item.calls.filter(({ agent }) => !agent || this.agents.includes(agent)).map(call => html`<parley-run .call=${call}></parley-run>`);
    return html`${codeBlock(item.code, item.language || 'Example')}${item.calls.length ? runs : nothing}`;
  }
}

/** @param {string} page @param {Record<string, string>} texts @returns {Item[]} */
function itemsOf(page, texts) {
  const items = /** @type {Item[]} */ ([]);
  let between = /** @type {import('marked').Token[]} */ ([]);
  const slug = slugs();
  const flush = () => between.length && (items.push({ prose: prose(between, resolver(page, texts)) }), (between = []));
  for (const token of /** @type {import('marked').Tokens.Generic[]} */ (blocks(Object.hasOwn(texts, page) ? texts[page] : ''))) {
    if (token.type === 'heading' || token.type === 'code') flush();
    if (token.type === 'heading') items.push({ depth: token.depth, text: plain(token.text), slug: slug(token.text) });
    else if (token.type === 'code') items.push({ code: token.text, language: token.lang, calls: commands(token.text) });
    else between.push(token);
  }
  flush();
  return items;
}

customElements.define('screen-learn-page', LearnPage);
