/** Palette of Ctrl-K: agents, workflows, tasks and pages by name. */
import { html, nothing } from 'lit';
import { api } from '../api.js';
import { line } from '../format.js';
import { part } from '../part.js';
import { go, link } from '../route.js';
import { screens } from '../screens.js';
import { badge } from './bits.js';
import { Part } from './element.js';

/** @typedef {{kind: string, name: string, note?: unknown, href: string}} Hit */

class Palette extends Part {
  static properties = { words: { state: true }, hits: { state: true }, at: { state: true }, busy: { state: true } };

  constructor() {
    super();
    this.words = '';
    this.hits = /** @type {Hit[]} */ (pages(''));
    this.at = 0;
    this.busy = false;
    this.abort = new AbortController();
    /** All tasks were searched, not only the newest. */
    this.isWhole = true;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.abort.abort();
  }

  firstUpdated() {
    /** @type {HTMLDialogElement} */ (this.querySelector('dialog')).showModal();
  }

  /** @param {InputEvent} event */
  async find(event) {
    this.words = /** @type {HTMLInputElement} */ (event.target).value.trim();
    this.abort.abort();
    const { signal } = (this.abort = new AbortController());
    const words = this.words;
    this.at = 0;
    this.hits = pages(words);
    if (!words) return;
    this.busy = true;
    const [agents, page, workflows, sections] = await Promise.all([
      api.search({ q: words, typing: true, pageSize: 6 }, signal).then(answer => answer.results.map(found => agentHit(found.agent)), () => plainAgents(words)),
      api.tasks({ q: words, pageSize: 6 }, signal).catch(() => undefined),
      api.definitions({ pageSize: 100 }).then(answer => answer.definitions.filter(each => each.name.toLowerCase().includes(words.toLowerCase())).slice(0, 6).map(workflowHit), () => []),
      part(import('../docs.js')).then(async ({ find, pageLink }) => (await find(words)).slice(0, 4).map(each => ({ kind: 'Learn', name: each.heading, href: pageLink(each.page, each.slug), note: html`<span class="dim cut">${each.title}</span>` })), () => []),
    ]);
    if (signal.aborted) return;
    this.busy = false;
    this.isWhole = !!page && !page.next;
    const tasks = (page?.tasks ?? []).map(taskHit);
    this.hits = [...pages(words), ...agents, ...workflows, ...tasks, ...sections];
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step) {
      event.preventDefault();
      this.at = (this.at + step + this.hits.length) % Math.max(1, this.hits.length);
    } else if (event.key === 'Enter' && this.hits[this.at]) {
      this.open(this.hits[this.at]);
    }
  }

  /** @param {Hit} hit */
  open(hit) {
    /** @type {HTMLDialogElement} */ (this.querySelector('dialog')).close();
    go(hit.href);
  }

  updated() {
    this.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }

  render() {
    return html`<dialog class="palette" aria-label="Search" @close=${() => this.emit('close')} @click=${this.outside}>
      <input type="search" role="combobox" aria-expanded="true" aria-controls="hits" aria-activedescendant=${this.hits.length ? `hit-${this.at}` : nothing}
        aria-label="Search agents, workflows, tasks and pages" placeholder="Agent, workflow, task or page" autocomplete="off" spellcheck="false" autofocus @input=${this.find} @keydown=${this.key}>
      <div id="hits" role="listbox" aria-label="Results">
        ${this.hits.map((hit, i) => html`<div role="option" id="hit-${i}" aria-selected=${i === this.at} @click=${() => this.open(hit)} @pointermove=${() => (this.at = i)}>
          <span class="dim kind">${hit.kind}</span><span class="cut grow">${hit.name}</span>${hit.note ?? nothing}</div>`)}
      </div>
      ${this.hits.length ? nothing : html`<p class="dim none">${this.busy ? 'Searching' : this.isWhole ? 'No agent, workflow, task or page has these words.' : 'No agent, workflow or page has these words, and none of the newest tasks.'}</p>`}
      <footer class="dim"><span><kbd>↑</kbd> <kbd>↓</kbd> choose</span><span><kbd>Enter</kbd> open</span><span><kbd>Esc</kbd> close</span></footer>
    </dialog>`;
  }

  /** @param {MouseEvent} event */
  outside(event) {
    if (event.target === this.querySelector('dialog')) /** @type {HTMLDialogElement} */ (event.target).close();
  }
}

/** @param {string} words @returns {Hit[]} */
function pages(words) {
  return screens.filter(screen => screen.group && screen.title.toLowerCase().includes(words.toLowerCase()))
    .map(screen => ({ kind: 'Page', name: screen.title, href: link(screen.path), note: html`<kbd>g ${screen.key}</kbd>` }));
}

/** Agents of a hub without a registry. @param {string} words @returns {Promise<Hit[]>} */
async function plainAgents(words) {
  const { agents } = await api.agents().catch(() => ({ agents: [] }));
  const wanted = words.toLowerCase();
  return agents.filter(each => `${each.name} ${each.description ?? ''}`.toLowerCase().includes(wanted)).slice(0, 6)
    .map(each => ({ kind: 'Agent', name: line(each.name, 100), href: link(`agents/${each.name}/try`) }));
}

/** @param {import('../types.js').Entry} entry @returns {Hit} */
function agentHit(entry) {
  const agent = typeof entry.metadata?.agent === 'string' ? entry.metadata.agent : undefined;
  return { kind: 'Agent', name: line(entry.name, 100), href: agent ? link(`agents/${agent}/try`) : link('agents', { q: entry.name }) };
}

/** @param {import('../types.js').Definition} definition @returns {Hit} */
const workflowHit = ({ name, version }) => ({ kind: 'Workflow', name: line(name, 100), note: html`<span class="dim">version ${version}</span>`, href: link('workflows/new', { from: name }) });

/** @param {import('../types.js').TaskRow} task @returns {Hit} */
function taskHit(task) {
  return { kind: 'Task', name: line(task.title || task.taskId, 120), href: link(`tasks/${task.taskId}`), note: badge(task.state) };
}

customElements.define('parley-palette', Palette);
