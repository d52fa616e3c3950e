/** Palette of Ctrl-K: agents, workflows, tasks, entities and pages by name, and what has an id. */
import { html, nothing } from 'lit';
import { api } from '../api.js';
import { line } from '../format.js';
import { part } from '../part.js';
import { go, link } from '../route.js';
import { screens } from '../screens.js';
import { lacking } from '../session.js';
import { badge } from './bits.js';
import { Part } from './element.js';

/** @typedef {{kind: string, name: string, note?: unknown, href: string}} Hit */

const SOURCES = ['ids', 'agents', 'workflows', 'runs', 'tasks', 'entities', 'sections']; // in the order of their hits
const PAUSE = 120; // ms after a letter before the hub is asked
const FEW = 6;
const ID = /^(?=.*\d)[\w:.-]{16,}$/;

class Palette extends Part {
  static properties = { session: { attribute: false }, words: { state: true }, found: { state: true }, chosen: { state: true }, open: { state: true } };

  constructor() {
    super();
    this.session = /** @type {import('../types.js').Session | undefined} */ (undefined);
    this.words = '';
    this.found = /** @type {Record<string, Hit[]>} */ ({}); // by their sources
    this.chosen = ''; // address of the hit that the keyboard is at: others come above it
    this.open = 0; // sources that are still read
    this.abort = new AbortController();
    this.isWhole = true; // all tasks were searched, not only the newest
    this.kept = /** @type {Map<string, Promise<any>>} */ (new Map()); // what is read once
  }

  firstUpdated() {
    this.until(() => this.abort.abort());
    /** @type {HTMLDialogElement} */ (this.querySelector('dialog')).showModal();
  }

  get hits() {
    return [...pages(this.words, this.session), ...SOURCES.flatMap(name => this.found[name] ?? [])];
  }

  get at() {
    return Math.max(0, this.hits.findIndex(({ href }) => href === this.chosen));
  }

  /** @template T @param {string} name @param {() => Promise<T>} read @returns {Promise<T>} */
  once = (name, read) => this.kept.get(name) ?? (this.kept.set(name, read()), this.once(name, read));

  /** @param {InputEvent} event */
  async find(event) {
    this.abort.abort();
    const { signal } = (this.abort = new AbortController());
    const words = (this.words = /** @type {HTMLInputElement} */ (event.target).value.trim());
    const wanted = words.toLowerCase();
    this.chosen = '';
    this.found = {};
    this.open = 0;
    if (!words) return;
    this.open = 1;
    await new Promise(resolve => setTimeout(resolve, PAUSE));
    if (signal.aborted) return;
    /** Shows hits as soon as they are there. @param {string} name @param {Promise<Hit[]>} hits */
    const add = async (name, hits) => {
      this.open++;
      const found = await hits.catch(() => []);
      if (signal.aborted) return;
      this.open--;
      this.found = { ...this.found, [name]: found.slice(0, FEW) };
    };
    if (ID.test(words)) add('ids', this.ids(words, signal));
    add('agents', api.search({ q: words, typing: true, pageSize: FEW }, signal).then(answer => answer.results.map(found => agentHit(found.agent)), () => (signal.aborted ? [] : plainAgents(words))));
    add('workflows', this.once('workflows', () => api.definitions({ pageSize: 100 })).then(answer => answer.definitions.filter(each => each.name.toLowerCase().includes(wanted)).map(workflowHit)));
    add('runs', this.once('runs', () => api.runs({ pageSize: 100 })).then(answer => answer.workflows.filter(run => run.steps.length && (run.origin?.definition ?? '').toLowerCase().includes(wanted)).map(runHit)));
    add('tasks', api.tasks({ q: words, pageSize: FEW }, signal).then(page => ((this.isWhole = !page.next), page.tasks.map(taskHit))));
    if (words.length > 2) add('entities', this.entities(words));
    add('sections', part(import('../docs.js')).then(async ({ find, pageLink }) => (await find(words)).slice(0, 4).map(each => ({ kind: 'Learn', name: each.heading, href: pageLink(each.page, each.slug), note: html`<span class="dim cut">${each.title}</span>` }))));
    this.open--;
  }

  /** A trace, or a task with its trace and the run that it is. @param {string} id @param {AbortSignal} signal @returns {Promise<Hit[]>} */
  async ids(id, signal) {
    const trace = { kind: 'Trace', name: line(id, 100), href: link(`traces/${id}`) };
    if (/^[0-9a-f]{32}$/.test(id)) return (await api.trace(id, {})).spans.length ? [trace] : [];
    const { task } = await api.history(id, {}, signal);
    return [taskHit(task), ...(task.agent === 'one' ? [{ kind: 'Run', name: line(id, 100), href: link(`workflows/${id}`) }] : []), trace];
  }

  /** @param {string} words @returns {Promise<Hit[]>} */
  async entities(words) {
    const { graphSource, search, short } = await part(import('../knowledge.js'));
    const source = await this.once('graph', () => graphSource(''));
    return source ? (await search(source, words)).map(({ id, types }) => ({ kind: 'Entity', name: short(id), href: link('kg', { entity: id }), note: html`<span class="dim cut">${types.map(short).join(', ')}</span>` })) : [];
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { hits, at } = this;
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step) {
      event.preventDefault();
      this.chosen = hits[(at + step + hits.length) % Math.max(1, hits.length)]?.href ?? '';
    } else if (event.key === 'Enter' && hits[at]) {
      event.preventDefault(); // the key would press the button that had the focus before
      this.visit(hits[at]);
    }
  }

  /** @param {Hit} hit */
  visit(hit) {
    /** @type {HTMLDialogElement} */ (this.querySelector('dialog')).close();
    go(hit.href);
  }

  updated() {
    this.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }

  render() {
    const { hits, at } = this;
    return html`<dialog class="palette" aria-label="Search" @close=${() => this.emit('close')} @click=${this.outside}>
      <input type="search" role="combobox" aria-expanded="true" aria-controls="hits" aria-activedescendant=${hits.length ? `hit-${at}` : nothing}
        aria-label="Search agents, workflows, tasks, entities and pages" placeholder="Agent, workflow, task, id, entity or page" autocomplete="off" spellcheck="false" autofocus @input=${this.find} @keydown=${this.key}>
      <div id="hits" role="listbox" aria-label="Results">
        ${hits.map((hit, i) => html`<div role="option" id="hit-${i}" aria-selected=${i === at} @click=${() => this.visit(hit)} @pointermove=${() => (this.chosen = hit.href)}>
          <span class="dim kind">${hit.kind}</span><span class="cut grow">${hit.name}</span>${hit.note ?? nothing}</div>`)}
      </div>
      ${hits.length ? nothing : html`<p class="dim none">${this.open ? 'Searching' : this.isWhole ? 'No agent, workflow, task, entity or page has these words.' : 'No agent, workflow, entity or page has these words, and none of the newest tasks.'}</p>`}
      <footer class="dim"><span><kbd>↑</kbd> <kbd>↓</kbd> choose</span><span><kbd>Enter</kbd> open</span><span><kbd>Esc</kbd> close</span></footer>
    </dialog>`;
  }

  /** @param {MouseEvent} event */
  outside(event) {
    if (event.target === this.querySelector('dialog')) /** @type {HTMLDialogElement} */ (event.target).close();
  }
}

/** @param {string} words @param {import('../types.js').Session | undefined} session @returns {Hit[]} */
function pages(words, session) {
  return screens.filter(screen => screen.group && !lacking(session, screen) && screen.title.toLowerCase().includes(words.toLowerCase()))
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

/** @param {import('../types.js').WorkflowRun} run @returns {Hit} */
const runHit = ({ workflowId, origin, state }) => ({ kind: 'Run', name: line(`${origin?.definition ?? 'workflow'} ${workflowId}`, 120), href: link(`workflows/${workflowId}`), note: html`<span class="dim">${line(state, 20)}</span>` });

/** @param {import('../types.js').TaskRow} task @returns {Hit} */
function taskHit(task) {
  return { kind: 'Task', name: line(task.title || task.taskId, 120), href: link(`tasks/${task.taskId}`), note: badge(task.state) };
}

customElements.define('parley-palette', Palette);
