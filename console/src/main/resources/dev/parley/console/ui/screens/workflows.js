/** S6: runs of workflows, and definitions. */
import { html, nothing } from 'lit';
import { api, hubNow } from '../api.js';
import { badge, empty, failure, skeleton, tabs, time } from '../components/bits.js';
import { Screen } from '../components/element.js';
import { progressBar } from '../components/graph.js';
import '../components/table.js';
import { age, line, plural, timeOfId } from '../format.js';
import { paced, watch } from '../live.js';
import { link, setQuery } from '../route.js';

const PAGE = 50;

/** State of a task of A2A. @param {string} word */
export const taskState = word => `TASK_STATE_${word.toUpperCase().replaceAll('-', '_')}`;

/** @type {import('../components/table.js').Column<import('../types.js').WorkflowRun>[]} */
const RUNS = [
  { name: 'title', label: 'Run', cell: run => html`<a class="cut" href=${link(`workflows/${run.workflowId}`)}>${run.origin?.definition ? `${line(run.origin.definition, 80)} ${run.origin.version ?? ''}` : line(run.steps.map(step => step.id).join(', '), 120) || run.workflowId}</a>` },
  { name: 'msg', label: 'Message', cell: run => html`<span class="cut dim" title=${line(run.message, 300)}>${line(run.message, 160)}</span>` },
  { name: 'st', label: 'State', cell: run => badge(taskState(run.state)) },
  { name: 'prog', label: 'Progress', cell: run => progressBar(run.progress) },
  { name: 'age num', label: 'Begun', cell: (run, now) => html`<span class="dim">${age(timeOfId(run.workflowId), now)}</span>` },
];
/** @type {import('../components/table.js').Column<import('../types.js').Definition>[]} */
const DEFINITIONS = [
  { name: 'title', label: 'Definition', cell: each => html`<a class="cut" href=${link('workflows/new', { from: each.name })}>${line(each.name, 120)}</a>` },
  { name: 'about', label: 'Description', cell: each => html`<span class="cut dim">${line(each.description, 200)}</span>` },
  { name: 'version num', label: 'Version', cell: each => each.version },
  { name: 'steps num', label: 'Steps', cell: each => each.steps },
  { name: 'age num', label: 'Saved', cell: each => time(new Date(each.savedAt).toISOString()) },
];

class Workflows extends Screen {
  static properties = { rows: { state: true }, next: { state: true }, error: { state: true }, now: { state: true } };

  constructor() {
    super();
    this.rows = /** @type {any[] | undefined} */ (undefined);
    this.next = /** @type {string | undefined} */ (undefined);
    this.error = /** @type {any} */ (undefined);
    this.now = hubNow();
    this.shown = '';
  }

  connectedCallback() {
    super.connectedCallback();
    this.shown = '';
    this.requestUpdate();
    this.until(watch(changes => changes.some(({ kind, agent }) => kind === 'gap' || agent === 'one') && this.read()));
    const clock = setInterval(() => !document.hidden && (this.now = hubNow()), 5_000);
    this.until(() => clearInterval(clock));
  }

  get tab() {
    return this.route.query.get('tab') === 'definitions' ? 'definitions' : 'runs';
  }

  willUpdate() {
    if (this.shown === this.tab) return;
    this.shown = this.tab;
    Object.assign(this, { rows: undefined, next: undefined });
    this.read(true);
  }

  read = paced(() => this.load(), () => this.isConnected);

  /** Reads the first page again; rows after it stay. */
  async load() {
    const { tab } = this;
    try {
      const { rows, next } = await this.page(tab);
      if (tab !== this.tab) return;
      const keys = new Set(rows.map(KEY));
      const further = (this.rows ?? []).slice(PAGE).filter(row => !keys.has(KEY(row)));
      Object.assign(this, { rows: [...rows, ...further], error: undefined, now: hubNow(), ...(further.length ? {} : { next }) });
    } catch (error) {
      this.error = error;
    }
  }

  /** @param {string} tab @param {string} [pageToken] @returns {Promise<{rows: any[], next?: string}>} */
  async page(tab, pageToken) {
    if (tab === 'runs') {
      const page = await api.runs({ pageSize: PAGE, pageToken });
      return { rows: page.workflows.filter(run => run.steps.length), next: page.nextPageToken || undefined }; // votes are tasks of the same agent
    }
    const page = await api.definitions({ pageSize: PAGE, pageToken });
    return { rows: page.definitions, next: page.nextPageToken || undefined };
  }

  async more() {
    const { tab, next } = this;
    this.next = undefined;
    const page = await this.page(tab, next).catch(error => ((this.error = error), undefined));
    if (!page || tab !== this.tab) return;
    this.rows = [...(this.rows ?? []), ...page.rows];
    this.next = page.next;
  }

  render() {
    const { tab } = this;
    return html`<div class="head"><div class="grow"><h1>Workflows</h1><span class="dim">Steps of agents, run by the hub.</span></div><a class="btn main" href=${link('workflows/new')}>New workflow</a></div>
      ${failure(this.error, () => this.read())}
      <div class="card">${tabs('Workflows', [['runs', 'Runs'], ['definitions', 'Definitions']], tab, name => setQuery({ tab: name === 'runs' ? undefined : name }), 'list')}
        <div role="tabpanel" id="list" aria-labelledby="list-${tab}">${this.list(tab)}</div></div>`;
  }

  /** @param {string} tab */
  list(tab) {
    if (!this.rows) return this.error ? nothing : skeleton(6);
    if (!this.rows.length) {
      const action = html`<a class="btn main" href=${link('workflows/new')}>New workflow</a>`;
      return tab === 'runs' ? empty('No run yet', 'A workflow calls agents in order and hands their results on. Write one, see its picture, and run it.', action)
        : empty('No definition yet', 'A definition is a workflow with a name, versions and inputs, which everyone of your group can run.', action);
    }
    return html`<parley-rows class=${tab} label=${tab === 'runs' ? 'Runs' : 'Definitions'} .rows=${this.rows} .columns=${tab === 'runs' ? RUNS : DEFINITIONS} .rowKey=${KEY} .now=${this.now}
        .more=${!!this.next} @more=${this.more}></parley-rows><p class="dim foot-line"><span>${plural(this.rows.length, tab === 'runs' ? 'run' : 'definition')}${this.next ? ' so far' : ''}</span></p>`;
  }
}

const KEY = (/** @type {any} */ row) => row.workflowId ?? row.name;

customElements.define('screen-workflows', Workflows);
