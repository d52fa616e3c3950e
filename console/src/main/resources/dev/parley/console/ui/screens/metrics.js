/** S10: calls of the last hour by agent and operation, and the report of use. */
import { html, nothing } from 'lit';
import { api, hubNow } from '../api.js';
import { copyButton, empty, failure, skeleton, tabs } from '../components/bits.js';
import { chart } from '../components/chart.js';
import { Screen } from '../components/element.js';
import '../components/table.js';
import { csv, save } from '../export.js';
import { clock, count, duration, line, plural, size } from '../format.js';
import { paced, watch } from '../live.js';
import { go, link, setQuery } from '../route.js';
import { may } from '../session.js';

const SPANS = /** @type {Record<string, [string, number]>} */ ({ '15m': ['15 minutes', 900_000], '1h': ['hour', 3_600_000] });
const DAYS = /** @type {Record<string, [string, number]>} */ ({ '1d': ['day', 86_400_000], '7d': ['7 days', 604_800_000], '30d': ['30 days', 2_592_000_000] });
const OTHER = '(other)'; // subjects beyond those that the hub keeps
const TABS = [['calls', 'Calls'], ['usage', 'Use']];
const PAUSE = 5_000; // ms between two reads

/**
 * @typedef {{agent: string, operation: string, at: string, calls: number, errors: number, p50Millis: number, p95Millis: number, p99Millis: number}} Measure
 * @typedef {{since: string, until: string, stepSeconds: number, rows: Measure[], totals: Measure[]}} Series
 * @typedef {Record<string, any>} Used
 */

const key = (/** @type {{agent: string, operation: string}} */ { agent, operation }) => `${agent} ${operation}`;
const figure = (/** @type {number} */ value) => (value >= 10 ? Math.round(value) : value && value < 0.1 ? '< 0.1' : value.toFixed(1).replace('.0', ''));
const percent = (/** @type {number} */ share) => `${figure(share * 100)} %`;
const rate = (/** @type {number} */ value) => (value && value < 0.1 ? `${figure(value * 60)}/min` : `${figure(value)}/s`);

class Metrics extends Screen {
  static properties = { series: { state: true }, figures: { state: true }, used: { state: true }, cursor: { state: true }, error: { state: true } };

  constructor() {
    super();
    this.series = /** @type {Series | undefined} */ (undefined);
    /** Open streams and webhooks with deliveries outstanding; undefined for callers who may not read them. @type {Record<string, number> | undefined} */
    this.figures = undefined;
    /** Rows of the report of use. @type {Used[] | undefined} */
    this.used = undefined;
    /** Begin of the step that all charts point at. @type {string | undefined} */
    this.cursor = undefined;
    this.error = /** @type {any} */ (undefined);
    this.shown = 'nothing';
  }

  connectedCallback() {
    super.connectedCallback();
    this.until(watch(changes => changes.some(({ kind }) => kind !== 'audit') && this.read()));
  }

  willUpdate() {
    const shown = this.route.query.toString();
    if (shown === this.shown) return;
    Object.assign(this, { shown, series: undefined, used: undefined, cursor: undefined });
    this.read(true);
  }

  get span() {
    return SPANS[this.route.query.get('span') ?? ''] ?? SPANS['1h'];
  }

  get days() {
    return DAYS[this.route.query.get('days') ?? ''] ?? DAYS['7d'];
  }

  get tab() {
    return this.route.query.get('tab') === 'usage' ? 'usage' : 'calls';
  }

  read = paced(async () => {
    const { shown } = this;
    const { query } = this.route;
    const ago = (/** @type {number} */ ms) => new Date(hubNow() - ms).toISOString();
    try {
      if (this.tab === 'usage') {
        const { rows } = await api.usage({ since: ago(this.days[1]), by: 'agent,caller' });
        if (shown === this.shown) Object.assign(this, { used: rows, error: undefined });
        return;
      }
      const [series, figures] = await Promise.all([api.series({ since: ago(this.span[1]), agent: query.get('agent') ?? undefined, operation: query.get('operation') ?? undefined }), may(this.session, 'metrics') ? api.figures(['parley_open_streams', 'parley_webhooks_pending']) : undefined]);
      if (shown === this.shown) Object.assign(this, { series, figures, error: undefined });
    } catch (error) {
      if (shown === this.shown) this.error = error;
    }
  }, () => this.isConnected, PAUSE);

  render() {
    const choices = this.tab === 'usage' ? DAYS : SPANS;
    const [name, present] = this.tab === 'usage' ? ['days', this.days] : ['span', this.span];
    return html`<div class="head"><div class="grow"><h1>Metrics</h1><span class="dim">Calls of agents, by this hub. Prometheus reads more at <code>/metrics</code>.</span></div>
        <select aria-label="Time" @change=${(/** @type {any} */ event) => setQuery({ [name]: event.target.value })}>${Object.entries(choices).map(([id, choice]) => html`<option value=${id} .selected=${choice === present}>last ${choice[0]}</option>`)}</select>
        ${this.tab === 'usage' ? html`<button type="button" class="btn" ?disabled=${!this.used?.length} @click=${() => this.used && save('usage.csv', csv([...new Set(this.used.flatMap(Object.keys))], this.used), 'text/csv')}>CSV</button>` : nothing}</div>
      ${failure(this.error, () => this.read(true))}
      <section class="card" aria-label="Metrics">${tabs('Metrics', TABS, this.tab, id => setQuery({ tab: id === 'calls' ? undefined : id }), 'metrics')}
        <div role="tabpanel" id="metrics" aria-labelledby="metrics-${this.tab}">${this.tab === 'usage' ? this.usage() : this.series ? this.calls(this.series) : this.error ? nothing : skeleton(6)}</div></section>`;
  }

  /** @param {Series} series */
  calls({ since, until, stepSeconds, rows, totals }) {
    const { query } = this.route;
    const [agent, operation] = [query.get('agent') ?? undefined, query.get('operation') ?? undefined];
    if (!totals.length) return empty('No call in this time', 'Each call of an agent is counted here, by steps of 15 seconds.', html`<a class="btn main" href=${link('agents')}>Try an agent</a>`);
    const [first, end, step] = [Date.parse(since), Date.parse(until), stepSeconds * 1_000];
    const times = Array.from({ length: Math.round((end - first) / step) }, (_, i) => new Date(first + i * step).toISOString());
    const byTime = new Map(rows.map(row => [Date.parse(row.at), row]));
    const values = (/** @type {(row: Measure) => number} */ of, /** @type {number | undefined} */ none) => times.map(at => {
      const row = byTime.get(Date.parse(at));
      return row ? of(row) : none;
    });
    const labels = [agent && `agent=${JSON.stringify(agent)}`, operation && `operation=${JSON.stringify(operation)}`].filter(Boolean).join(',');
    const of = (/** @type {string} */ metric, more = '') => `rate(${metric}{${[labels, more].filter(Boolean).join(',')}}[5m])`.replace('{}', '');
    const cursor = this.cursor === undefined ? -1 : times.indexOf(this.cursor);
    const shared = { times, cursor: cursor < 0 ? undefined : cursor, point: (/** @type {number | undefined} */ at) => (this.cursor = at === undefined ? undefined : times[at]),
      open: (/** @type {number} */ at) => go(link('tasks', { agent: agent === OTHER ? undefined : agent, group: this.session?.signedIn ? '*' : undefined, since: new Date(Date.parse(times[at]) - 1_000).toISOString(), until: new Date(Date.parse(times[at]) + step).toISOString() })) }; // a call is counted when it is answered
    const quantile = (/** @type {number} */ share) => `histogram_quantile(${share}, sum by (le) (${of('parley_request_duration_seconds_bucket')}))`;
    const promql = (/** @type {string} */ text) => (agent === OTHER ? nothing : copyButton(text, 'PromQL'));
    return html`<div class="pad stack"><div class="row wrap">${this.figures ? html`<span class="chip">${plural(this.figures.parley_open_streams, 'open stream')}</span><span class="chip">${plural(this.figures.parley_webhooks_pending, 'webhook')} with deliveries outstanding</span>` : nothing}
        ${agent ? html`<button type="button" class="chip on" @click=${() => setQuery({ agent: undefined, operation: undefined })}>${line(agent, 60)} ${line(operation, 60)} ×</button>` : nothing}
        <span class="dim grow">${cursor < 0 ? 'A click on a chart shows the tasks whose status changed in that step.' : `${clock(this.cursor)}, ${stepSeconds} s`}</span></div>
      ${chart({ ...shared, title: 'Calls', lines: [{ name: 'calls', kind: 'run', values: values(row => row.calls / stepSeconds, 0) }], format: rate, least: 0.1, aside: promql(`sum(${of('parley_requests_total')})`) })}
      ${chart({ ...shared, title: 'Errors', lines: [{ name: 'errors', kind: 'bad', values: values(row => row.errors / row.calls, 0) }], format: percent, least: 0.01, aside: promql(`sum(${of('parley_errors_total')}) / sum(${of('parley_requests_total')})`) })}
      ${chart({ ...shared, title: 'Durations', lines: [{ name: 'p50', kind: 'ok', values: values(row => row.p50Millis, undefined) }, { name: 'p95', kind: 'wait', values: values(row => row.p95Millis, undefined) }, { name: 'p99', kind: 'bad', values: values(row => row.p99Millis, undefined) }], format: duration, least: 1, aside: promql(quantile(0.95)) })}</div>
      <parley-rows class="measures" label="Agents and operations" .rows=${totals} .rowKey=${key} .rowClass=${(/** @type {Measure} */ row) => (row.agent === agent && (!operation || row.operation === operation) ? 'on' : '')} .columns=${this.columns(end - first)}></parley-rows>`;
  }

  /** @param {number} ms @returns {import('../components/table.js').Column<Measure>[]} */
  columns(ms) {
    const choose = (/** @type {string} */ agent, /** @type {string} */ operation = '') => link('metrics', { ...Object.fromEntries(this.route.query), agent, operation });
    return [
      { name: 'title', label: 'Agent', cell: row => html`<a class="cut" href=${choose(row.agent)}>${line(row.agent, 80)}</a>` },
      { name: 'operation', label: 'Operation', cell: row => html`<a class="cut quiet" href=${choose(row.agent, row.operation)}>${line(row.operation, 80)}</a>` },
      { name: 'num', label: 'Rate', cell: row => rate((row.calls * 1_000) / ms) },
      { name: 'num', label: 'Calls', cell: row => count(row.calls) },
      { name: 'num errors', label: 'Errors', cell: row => html`<span class=${row.errors ? 'bad-text' : 'dim'}>${percent(row.errors / row.calls)}</span>` },
      ...[50, 95, 99].map(share => ({ name: 'num', label: `p${share}`, cell: (/** @type {any} */ row) => duration(row[`p${share}Millis`]) })),
    ];
  }

  usage() {
    if (!this.used) return this.error ? nothing : skeleton(6);
    if (!this.used.length) return empty('No call in this time', 'The report covers the past 400 days.');
    return html`<parley-rows class="measures" label="Use by agent and caller" .rows=${this.used} .rowKey=${(/** @type {Used} */ row) => `${row.agent} ${row.caller}`} .columns=${USED}></parley-rows>`;
  }
}

/** @type {import('../components/table.js').Column<Used>[]} */
const USED = [
  { name: 'title', label: 'Agent', cell: row => html`<a class="cut" href=${link('tasks', { agent: row.agent })}>${line(row.agent, 80)}</a>` },
  { name: 'operation', label: 'Caller', cell: row => html`<span class="cut">${line(row.caller, 80)}</span>` },
  { name: 'num', label: 'Calls', cell: row => count(row.calls) },
  { name: 'num errors', label: 'Errors', cell: row => html`<span class=${row.errors ? 'bad-text' : 'dim'}>${count(row.errors)}</span>` },
  { name: 'num', label: 'Tasks', cell: row => count(row.tasks) },
  { name: 'num', label: 'p95', cell: row => duration(row.p95Millis) },
  { name: 'num', label: 'Received', cell: row => size(row.bytesReceived) },
  { name: 'num', label: 'Sent', cell: row => size(row.bytesSent) },
];

customElements.define('screen-metrics', Metrics);
