/** S7: a trace: its tasks as waterfall, as sequence diagram and as tree, with one selection. */
import { html, nothing } from 'lit';
import { api, hubNow } from '../api.js';
import { badge, copyButton, empty, failure, skeleton, tabs, time } from '../components/bits.js';
import { place, Screen } from '../components/element.js';
import { sequence } from '../components/sequence.js';
import { clock, duration, line, plural, stateOf, webLink } from '../format.js';
import { paced, watch } from '../live.js';
import { go, link, setQuery } from '../route.js';
import { criticalPath, isBad, rowsOf } from '../trace.js';

const VIEWS = [['waterfall', 'Waterfall'], ['sequence', 'Sequence'], ['tree', 'Tree']];
const PAGE = 200; // rows

/** @typedef {import('../trace.js').Row} Row */
/** @typedef {import('../trace.js').Span} Span */

class TraceScreen extends Screen {
  static properties = { trace: { state: true }, recent: { state: true }, error: { state: true }, open: { state: true }, most: { state: true }, now: { state: true } };

  constructor() {
    super();
    this.trace = /** @type {import('../trace.js').Trace | undefined} */ (undefined);
    this.recent = /** @type {import('../types.js').TaskRow[] | undefined} */ (undefined);
    this.error = /** @type {any} */ (undefined);
    /** Keys of repeats that are shown each. @type {Set<string>} */
    this.open = new Set();
    this.most = PAGE;
    this.now = hubNow();
    this.shown = '?';
  }

  connectedCallback() {
    super.connectedCallback();
    this.until(watch(changes => changes.some(change => change.kind === 'gap' || (change.kind !== 'audit' && this.concerns(change))) && this.read()));
    const clock = setInterval(() => !document.hidden && this.trace?.spans.some(span => !span.ended) && (this.now = hubNow()), 1_000);
    this.until(() => clearInterval(clock));
    this.shown = '?';
    this.requestUpdate();
  }

  /** A task without a trace grows by the tasks of its context. @param {import('../types.js').Change} change */
  concerns({ trace, taskId }) {
    const id = this.trace?.trace;
    return !this.shown || !this.trace || !id || !!trace?.includes(id) || this.trace.spans.some(span => span.id === taskId);
  }

  willUpdate() {
    const id = this.route.params.trace ?? '';
    if (id === this.shown) return;
    Object.assign(this, { shown: id, trace: undefined, recent: undefined, error: undefined, open: new Set(), most: PAGE });
    this.read(true);
  }

  read = paced(() => this.load(), () => this.isConnected, 500);

  async load() {
    const id = this.shown;
    try {
      const answer = id ? { trace: await api.trace(id, { group: this.route.query.get('group') ?? undefined }) } : { recent: (await api.tasks({ pageSize: 20 })).tasks };
      if (id === this.shown) Object.assign(this, answer, { error: undefined, now: hubNow() });
    } catch (error) {
      if (id === this.shown) this.error = error;
    }
  }

  /** @param {SubmitEvent} event */
  find(event) {
    event.preventDefault();
    const typed = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get('trace')).trim();
    if (typed) go(link(`traces/${/^00-([0-9a-f]{32})-/.exec(typed)?.[1] ?? typed}`));
  }

  entry() {
    return html`<div class="head"><div class="grow"><h1>Traces</h1><span class="dim">The tasks of one call and of all calls that it led to.</span></div></div>
      <form class="filters" @submit=${this.find}><input class="grow" name="trace" required aria-label="Trace" placeholder="Id of a trace or a task, or a traceparent"><button class="btn main">Show</button></form>
      ${failure(this.error, () => this.read(true))}
      <section class="card" aria-label="Newest tasks"><h2>Newest tasks</h2>${!this.recent ? skeleton(5) : !this.recent.length ? empty('No task yet', 'Each message to an agent begins one.', html`<a class="btn main" href=${link('agents')}>Try an agent</a>`)
        : html`<ul class="list">${this.recent.map(task => html`<li><a class="cut" href=${link(`traces/${task.taskId}`)}>${line(task.title, 100) || 'Task'}</a><span class="row"><span class="dim cut">${line(task.agent, 60)}</span>${badge(task.state)}${time(task.updated)}</span></li>`)}</ul>`}</section>`;
  }

  get view() {
    return VIEWS.find(([name]) => name === this.route.query.get('view'))?.[0] ?? 'waterfall';
  }

  /** Span that is selected: of a trace by the id of a task, that task. */
  get selected() {
    return this.route.query.get('span') ?? this.shown;
  }

  choose = (/** @type {string} */ span) => setQuery({ span });

  render() {
    const { trace, now } = this;
    if (!this.shown) return this.entry();
    if (!trace) return this.error?.status === 404 ? html`<div class="card">${empty('No such trace', 'No task began in it, or all of them belong to someone else.', html`<a class="btn" href=${link('traces')}>Traces</a>`)}</div>`
      : html`${failure(this.error, () => this.read(true))}${this.error ? nothing : html`<div class="card">${skeleton(8)}</div>`}`;
    const { query } = this.route;
    const { spans } = trace;
    const critical = criticalPath(spans, now);
    const { rows, more } = rowsOf(spans, { now, errors: query.has('errors'), collapse: !query.has('each'), open: this.open, most: this.most });
    const begin = Math.min(...spans.map(span => Date.parse(span.started)));
    const end = Math.max(begin + 1, ...spans.map(span => (span.ended ? Date.parse(span.ended) : now)));
    const failed = spans.filter(isBad).length;
    const one = spans.find(span => span.id === this.selected);
    const page = webLink(trace.link);
    const toggle = (/** @type {string} */ name, /** @type {string} */ label, on = query.has(name)) => html`<label class="row"><input type="checkbox" .checked=${on} @change=${() => setQuery({ [name]: query.has(name) ? undefined : '1' })}>${label}</label>`;
    return html`<div class="head"><div class="grow"><div class="crumbs dim"><a href=${link('traces')}>Traces</a> / <code>${line(trace.trace ?? this.shown, 40)}</code> ${copyButton(trace.trace ?? this.shown)}</div>
        <h1>${line(spans[0]?.name, 120) || 'Trace'}</h1><span class="dim">${plural(spans.length, 'span')} in ${duration(end - begin)}${failed ? `, ${failed} failed` : ''}${trace.hasMore ? ', the first ones of a larger trace' : ''}</span></div>
        ${page ? html`<a class="btn" href=${page} target="_blank" rel="noreferrer">Open in the tracing backend</a>` : nothing}</div>
      ${failure(this.error, () => this.read(true))}
      <div class=${one ? 'cols' : 'stack'}><section class="card" aria-label="Trace">${tabs('Views of the trace', VIEWS, this.view, view => setQuery({ view: view === 'waterfall' ? undefined : view }), 'trace')}
        <div class="row wrap pad">${toggle('errors', 'Only errors')}${toggle('path', 'Critical path')}${toggle('each', 'Collapse repeats', !query.has('each'))}</div>
        <div role="tabpanel" id="trace" aria-labelledby="trace-${this.view}">${!rows.length ? empty('No failure', 'Nothing in this trace failed.') : this.view === 'sequence' ? sequence(rows, spans, { selected: this.selected, critical: query.has('path') ? critical : new Set(), choose: this.choose, begin }) : this.rows(rows, query.has('path') ? critical : new Set(), begin, end)}
        ${more ? html`<p class="pad"><button type="button" class="btn" @click=${() => (this.most += PAGE)}>+${more} more</button></p>` : nothing}</div></section>
        ${one ? this.span(one, spans) : nothing}</div>`;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [.../** @type {HTMLElement} */ (event.currentTarget).querySelectorAll('button')];
    const next = all[Math.max(0, Math.min(all.length - 1, all.indexOf(/** @type {any} */ (document.activeElement)) + step))];
    next?.focus();
    next?.click();
  }

  /** Waterfall and tree. @param {Row[]} rows @param {Set<string>} critical @param {number} begin @param {number} end */
  rows(rows, critical, begin, end) {
    const isTree = this.view === 'tree';
    const percent = (/** @type {number} */ at) => ((at - begin) / (end - begin)) * 100;
    const expand = (/** @type {string} */ key) => (this.open = new Set(this.open.has(key) ? [...this.open].filter(each => each !== key) : [...this.open, key]));
    return html`<div class=${isTree ? 'tree-view' : 'waterfall'} role="listbox" aria-label="Spans" @keydown=${this.key}>${rows.map(({ span, depth, from, to, times, key, isBad: bad }) => {
      const kind = bad ? 'bad' : span.kind === 'audit' ? 'off' : stateOf(span.state).kind;
      const left = Math.min(99.4, percent(from));
      const isOn = times === 1 && span.id === this.selected;
      return html`<button type="button" role="option" class="span ${critical.has(span.id) && times === 1 ? 'critical' : ''} ${bad ? 'bad' : ''}" data-span=${span.id} aria-selected=${isOn} aria-expanded=${times > 1 ? String(this.open.has(key)) : nothing}
        @click=${() => (times > 1 ? expand(key) : this.choose(span.id))} ${place({ '--depth': String(Math.min(depth, 12)) })}>
        <span class="who cut"><b>${line(span.agent, 60)}</b> <span class="dim">${line(span.name, 80)}${times > 1 ? ` × ${times}` : ''}</span></span>
        ${isTree ? html`<span class="state ${kind}">${span.kind === 'audit' ? line(span.state, 20) : stateOf(span.state).word}</span>` : html`<span class="track"><i class="step ${kind} ${span.ended ? '' : 'open'}" ${place({ '--left': `${left}%`, '--width': `${Math.min(100 - left, Math.max(0.6, percent(to) - left))}%` })}></i></span>`}
        <span class="num dim">${span.kind === 'audit' ? clock(span.started) : duration(to - from)}</span></button>`;
    })}</div>`;
  }

  /** @param {Span} one @param {Span[]} spans */
  span(one, spans) {
    const parent = spans.find(span => span.id === one.parent);
    const isTask = one.kind === 'task';
    return html`<section class="card" aria-label="Span"><h2 class="row"><span class="grow cut">${line(one.agent, 100)}</span>${isTask ? badge(one.state) : line(one.state, 30)}</h2>
      ${one.error ? html`<div class="pad"><p class="reason">${line(one.error, 400)}</p></div>` : nothing}
      <dl class="kv">${one.name ? html`<dt>${isTask ? 'Message' : 'Action'}</dt><dd>${line(one.name, 200)}</dd>` : nothing}<dt>Caller</dt><dd>${line(one.caller || 'anonymous', 100)}</dd>
        ${parent ? html`<dt>Within</dt><dd><button type="button" class="link" @click=${() => this.choose(parent.id)}>${line(parent.agent, 100)}</button></dd>` : nothing}
        <dt>Began</dt><dd>${time(one.started)}</dd>${one.ended ? html`<dt>Took</dt><dd>${duration(Date.parse(one.ended) - Date.parse(one.started))}</dd>` : nothing}
        ${isTask ? html`<dt>Task</dt><dd><a href=${link(`tasks/${one.id}`, { group: this.route.query.get('group') ?? undefined })}><code>${line(one.id, 40)}</code></a></dd>` : html`<dt>Row</dt><dd><a href=${link('audit', { row: one.id.slice('audit-'.length) })}>${one.id.slice('audit-'.length)}</a></dd>`}</dl>
      <ul class="list">${one.events.slice(0, 50).map(event => html`<li><span class="cut">${event.kind === 'status' ? badge(event.state) : html`<span class="state off">${event.kind}</span>`} ${line(event.text, 120)}</span><span class="dim num">+${duration(Date.parse(event.at) - Date.parse(one.started))}</span></li>`)}</ul>
      ${one.events.length > 50 ? html`<p class="dim pad">+${one.events.length - 50} more</p>` : nothing}</section>`;
  }
}

customElements.define('screen-trace', TraceScreen);
