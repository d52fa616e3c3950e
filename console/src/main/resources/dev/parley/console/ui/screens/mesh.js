/** S12: who talks to whom, what was said, and how agents stand. */
import { html, nothing, svg } from 'lit';
import { api, hubNow } from '../api.js';
import { badge, empty, failure, skeleton, tabs, time } from '../components/bits.js';
import { Screen } from '../components/element.js';
import '../components/json.js';
import '../components/table.js';
import { age, count, duration, line, plural } from '../format.js';
import { paced, watch } from '../live.js';
import { go, link, setQuery } from '../route.js';
import { taskState } from './workflows.js';

const MOST = 40; // nodes of the map
const RADIUS = 210;
const HOUR = 3_600_000; // ms
const TABS = [['map', 'Map'], ['standings', 'Standings'], ['reports', 'Conflicts and feedback']];

/**
 * @typedef {{fromEntityId: string, toEntityId: string, count?: number, lastAt?: number, status?: string}} Connection {@code lastAt}: in milliseconds since 1970, as timestamps of events
 * @typedef {{agentId: string, score: number, reasons: Record<string, number>}} Standing
 * @typedef {{number: number, type: string, timestamp: number, actorId?: string, entityId?: string, targetId?: string, metadata?: Record<string, any>}} MeshEvent
 */

/** @param {number | undefined} at */
const iso = at => (at === undefined ? undefined : new Date(at).toISOString());

const percent = (/** @type {number | undefined} */ share) => (share === undefined ? '–' : `${Math.round(share * 100)} %`);

/** @type {import('../components/table.js').Column<Standing>[]} */
const STANDINGS = [
  { name: 'title', label: 'Agent', cell: row => html`<a class="cut" href=${link(`agents/${row.agentId}`)}>${line(row.agentId, 100)}</a>` },
  { name: 'num score', label: 'Score', cell: row => row.score.toFixed(2) },
  { name: 'num', label: 'Trust', cell: row => percent(row.reasons.trust) },
  { name: 'num', label: 'Success', cell: row => percent(row.reasons.successRate) },
  { name: 'num', label: 'Tasks', cell: row => count(row.reasons.tasks) },
  { name: 'num', label: 'Median', cell: row => (row.reasons.latencyMillis === undefined ? '–' : duration(row.reasons.latencyMillis)) },
  { name: 'num', label: 'Open', cell: row => count(row.reasons.openTasks) },
];

class Mesh extends Screen {
  static properties = { talks: { state: true }, failed: { state: true }, standings: { state: true }, reports: { state: true }, events: { state: true }, error: { state: true } };

  constructor() {
    super();
    this.talks = /** @type {Connection[] | undefined} */ (undefined);
    /** Failed delegations by the ends of their edge. @type {Map<string, number>} */
    this.failed = new Map();
    this.standings = /** @type {Standing[]} */ ([]);
    this.reports = /** @type {MeshEvent[]} */ ([]);
    /** Events of the edge that is shown. @type {MeshEvent[] | undefined} */
    this.events = undefined;
    this.error = /** @type {any} */ (undefined);
    this.edge = '';
  }

  connectedCallback() {
    super.connectedCallback();
    this.until(watch(changes => changes.some(({ kind }) => kind === 'task' || kind === 'gap') && this.read()));
    this.read();
  }

  willUpdate() {
    const [fromEntityId, toEntityId] = [this.route.query.get('from'), this.route.query.get('to')];
    const edge = fromEntityId && toEntityId ? key({ fromEntityId, toEntityId }) : '';
    if (edge === this.edge) return;
    this.edge = edge;
    this.events = undefined;
    this.readEvents();
  }

  read = paced(() => this.load(), () => this.isConnected, 2_000);

  async load() {
    try {
      const [talks, delegations, standings, conflicts, feedback] = await Promise.all([api.mesh('connections', { type: 'communicates_with', pageSize: 1_000 }), api.mesh('connections', { type: 'delegated_to', pageSize: 1_000 }),
        api.mesh('agents', {}), api.mesh('events', { type: 'conflict' }), api.mesh('events', { type: 'feedback' })]);
      /** @type {Map<string, number>} */
      const failed = new Map();
      for (const each of delegations.connections) if (each.status === 'failed' || each.status === 'rejected') failed.set(key(each), (failed.get(key(each)) ?? 0) + 1);
      Object.assign(this, { talks: talks.connections, failed, standings: standings.agents, reports: [...conflicts.events, ...feedback.events].sort((a, b) => b.number - a.number), error: undefined });
      await this.readEvents();
    } catch (error) {
      this.error = error;
    }
  }

  /** Events of the last hour of the edge that is shown, the newest first. */
  async readEvents() {
    const [from, to] = [this.route.query.get('from'), this.route.query.get('to')];
    if (!from || !to) return;
    const last = this.talks?.find(each => key(each) === this.edge)?.lastAt ?? hubNow();
    const page = await api.mesh('events', { agentId: to, since: new Date(last - HOUR).toISOString(), pageSize: 500 }).catch(error => ((this.error = error), { events: [] }));
    const ends = (/** @type {MeshEvent} */ each) => [each.actorId, each.entityId, each.targetId];
    this.events = page.events.filter((/** @type {MeshEvent} */ each) => ends(each).includes(from) && ends(each).includes(to)).reverse();
  }

  render() {
    const tab = TABS.find(([name]) => name === this.route.query.get('tab'))?.[0] ?? 'map';
    return html`<div class="head"><div class="grow"><h1>Mesh</h1><span class="dim">Messages and delegations between callers and agents of your group.</span></div></div>
      ${failure(this.error, () => this.read())}
      <div class=${this.edge && tab === 'map' ? 'cols' : ''}><section class="card" aria-label="Mesh">${tabs('Views of the mesh', TABS, tab, name => setQuery({ tab: name === 'map' ? undefined : name, from: undefined, to: undefined }), 'mesh')}
        <div role="tabpanel" id="mesh" aria-labelledby="mesh-${tab}">${this.talks ? this.panel(tab) : this.error ? nothing : skeleton(6)}</div></section>
      ${this.edge && tab === 'map' ? this.talk() : nothing}</div>`;
  }

  /** @param {string} tab */
  panel(tab) {
    if (tab === 'standings') return html`<parley-rows class="standings" label="Standings" .rows=${this.standings} .columns=${STANDINGS} .rowKey=${(/** @type {Standing} */ row) => row.agentId}></parley-rows>`;
    if (tab === 'reports') {
      return this.reports.length ? html`<ul class="list">${this.reports.map(each => html`<li><span class="stack"><span class="row"><span class="state ${each.metadata?.messageType === 'conflict' ? 'bad' : 'run'}">${line(each.metadata?.messageType, 30)}</span><b class="cut">${line(each.actorId, 80)}</b>
        <span class="dim cut">to ${line(each.entityId ?? each.targetId, 80)}</span></span><parley-json .value=${each.metadata?.content}></parley-json></span>${time(iso(each.timestamp))}</li>`)}</ul>` : empty('No conflict, no feedback', 'Agents report conflicts and give feedback by messages of these types.');
    }
    return this.talks?.length ? this.map(this.talks) : empty('No messages yet', 'Each message between a caller and an agent, and between agents, draws a line here.', html`<a class="btn main" href=${link('agents')}>Try an agent</a>`);
  }

  /** The parties on a circle, those with the most messages if there are many. @param {Connection[]} talks */
  map(talks) {
    /** @type {Map<string, number>} */
    const sums = new Map();
    for (const { fromEntityId, toEntityId, count: messages = 1 } of talks) for (const id of [fromEntityId, toEntityId]) sums.set(id, (sums.get(id) ?? 0) + messages);
    const names = [...sums].sort((a, b) => b[1] - a[1]).slice(0, MOST).map(([name]) => name).sort();
    const places = new Map(names.map((name, i) => [name, { x: Math.cos((i / names.length) * 2 * Math.PI - Math.PI / 2) * RADIUS, y: Math.sin((i / names.length) * 2 * Math.PI - Math.PI / 2) * RADIUS }]));
    const shown = talks.filter(each => places.has(each.fromEntityId) && places.has(each.toEntityId));
    return html`<div class="flow"><svg viewBox="-340 -250 680 500" class="mesh-map" role="group" aria-label="Map of the mesh">
      ${shown.map(each => {
        const [a, b] = [/** @type {{x: number, y: number}} */ (places.get(each.fromEntityId)), /** @type {{x: number, y: number}} */ (places.get(each.toEntityId))];
        const bad = this.failed.get(key(each)) ?? 0;
        const href = link('mesh', { from: each.fromEntityId, to: each.toEntityId });
        const follow = (/** @type {MouseEvent} */ event) => (event.preventDefault(), go(href));
        return svg`<a class="talk-line ${bad ? 'bad' : ''} ${key(each) === this.edge ? 'on' : ''}" href=${href} @click=${follow} stroke-width=${Math.min(9, 1.5 + Math.log2(each.count ?? 1))}>
          <title>${line(each.fromEntityId, 80)} to ${line(each.toEntityId, 80)}: ${plural(each.count ?? 1, 'message')}${bad ? `, ${bad} failed` : ''}</title><path d="M${a.x} ${a.y}Q${(a.x + b.x) / 4 + (b.y - a.y) / 9} ${(a.y + b.y) / 4 - (b.x - a.x) / 9} ${b.x} ${b.y}" /></a>`;
      })}
      ${names.map(name => {
        const { x, y } = /** @type {{x: number, y: number}} */ (places.get(name));
        return svg`<g class="party" transform="translate(${x} ${y})"><circle r=${Math.min(16, 5 + Math.log2(sums.get(name) ?? 1))} /><text x=${x < -1 ? -20 : x > 1 ? 20 : 0} y=${Math.abs(x) <= 1 ? Math.sign(y) * 30 : 4} text-anchor=${x < -1 ? 'end' : x > 1 ? 'start' : 'middle'}>${line(name, 18)}</text></g>`;
      })}</svg></div>
      <ul class="list">${shown.sort((a, b) => (b.count ?? 0) - (a.count ?? 0)).slice(0, 20).map(each => html`<li><a class="cut" href=${link('mesh', { from: each.fromEntityId, to: each.toEntityId })}>${line(each.fromEntityId, 60)} → ${line(each.toEntityId, 60)}</a>
        <span class="row">${this.failed.get(key(each)) ? html`<span class="state bad">${this.failed.get(key(each))} failed</span>` : nothing}<span class="num">${plural(each.count ?? 1, 'message')}</span><span class="dim num">${age(iso(each.lastAt), hubNow())}</span></span></li>`)}</ul>
      ${sums.size > MOST ? html`<p class="dim foot-line">+${sums.size - MOST} more with fewer messages</p>` : nothing}`;
  }

  /** Events of the edge that was chosen. */
  talk() {
    const [from, to] = [this.route.query.get('from'), this.route.query.get('to')];
    return html`<section class="card" aria-label="Events"><h2 class="row"><span class="grow cut">${line(from, 60)} → ${line(to, 60)}</span><button type="button" class="link" @click=${() => setQuery({ from: undefined, to: undefined })}>Close</button></h2>
      ${!this.events ? skeleton(4) : !this.events.length ? html`<p class="pad dim">No event in its last hour.</p>` : html`<ul class="list">${this.events.slice(0, 100).map(({ type, timestamp, metadata = {} }) => html`<li>
        <span class="row"><span class="cut">${line(String(metadata.messageType ?? type).replaceAll('_', ' '), 60)}</span>${metadata.status ? badge(taskState(String(metadata.status))) : nothing}${metadata.taskId ? html`<a class="link" href=${link(`tasks/${metadata.taskId}`)}>task</a>` : nothing}</span>${time(iso(timestamp))}</li>`)}</ul>`}</section>`;
  }
}

/** @param {Connection} connection */
const key = ({ fromEntityId, toEntityId }) => `${fromEntityId} → ${toEntityId}`;

customElements.define('screen-mesh', Mesh);
