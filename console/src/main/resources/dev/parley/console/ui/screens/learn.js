/** S14: the documents of the product: start, list of pages, and search in all of them. */
import { html, nothing } from 'lit';
import { empty, failure, highlighted, skeleton } from '../components/bits.js';
import { Screen } from '../components/element.js';
import { blocks, prose } from '../components/markdown.js';
import { typed } from '../components/typed.js';
import { find, pageLink, pages, resolver } from '../docs.js';
import { link } from '../route.js';

const STARTS = [[pageLink('first-agent'), 'First agent in ten minutes', 'Write an agent, run it, call it and watch it'], [pageLink('tutorial'), 'Tutorial', 'Two agents and a tool that asks a person'],
  [link('learn/api'), 'API', 'Operations of this hub to try, and its extensions']];

class Learn extends Screen {
  static properties = { list: { state: true }, found: { state: true }, error: { state: true } };

  constructor() {
    super();
    this.list = /** @type {DocumentFragment | undefined} */ (undefined); // of the pages
    this.found = /** @type {Awaited<ReturnType<typeof find>> | undefined} */ (undefined);
    this.error = /** @type {any} */ (undefined);
  }

  get words() {
    return this.route.query.get('q') ?? '';
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('route')) this.read();
  }

  async read() {
    const { words } = this;
    try {
      const texts = await pages();
      const found = words ? await find(words) : undefined;
      this.list ??= prose(blocks(texts.README).slice(1), resolver('README', texts));
      if (words === this.words) Object.assign(this, { found, error: undefined });
    } catch (error) {
      if (words === this.words) this.error = error;
    }
  }

  render() {
    return html`<div class="head"><div class="grow"><h1>Learn</h1><span class="dim">The documentation of this version. It needs no network.</span></div></div>
      <div class="learn-start">${STARTS.map(([href, title, text]) => html`<a class="card" href=${href}><b>${title}</b><span class="dim">${text}</span></a>`)}</div>
      <input type="search" class="learn-search" aria-label="Search the documentation" placeholder="Search the documentation" autocomplete="off" ${typed('q')}>
      ${failure(this.error, () => this.read())}${this.words && this.found ? this.results(this.found, this.words.split(/\s+/)) : nothing}
      <div class="card pad md" ?hidden=${!!this.words}>${this.list ?? (this.error ? nothing : skeleton(8))}</div>`;
  }

  /** @param {Awaited<ReturnType<typeof find>>} found @param {string[]} words */
  results(found, words) {
    return html`<section class="card" aria-label="Results">${found.length ? html`<ul class="list learn-found">${found.map(each => html`<li><div>
        <a href=${pageLink(each.page, each.slug)}><b>${highlighted(each.heading, words)}</b></a> <span class="dim">${each.heading === each.title ? '' : each.title}</span>
        <p class="dim">${highlighted(each.excerpt, words)}</p></div></li>`)}</ul>` : empty('No section has these words', 'Try fewer or shorter words.')}</section>`;
  }
}

customElements.define('screen-learn', Learn);
