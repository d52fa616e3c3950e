/** Webhooks that failed, routes of the gateway, and the number of tools that wait for approval. */
import { html, nothing } from 'lit';
import { api } from '../api.js';
import { empty, time } from '../components/bits.js';
import { line, plural, visible } from '../format.js';
import { link } from '../route.js';
import { Tab } from './settings-tab.js';

/** @typedef {{taskId: string, configId: string, agent: string, url: string, attempts: number, deadSince?: string, nextAttempt?: string, lastError?: string}} Hook */
/** @typedef {{name: string, url: string, state: string, reason?: string, problem?: string, available?: string}} RemoteRoute */
/** @typedef {{dead: Hook[], waiting: Hook[], routes: RemoteRoute[] | undefined, tools: number}} Deliveries */

/** The answer, or undefined if the hub has no such part. @template T @param {Promise<T>} answer @returns {Promise<T | undefined>} */
const present = answer => answer.catch(error => {
  if (error.status === 404 || error.status === 501) return undefined;
  throw error;
});

const KINDS = /** @type {Record<string, string>} */ ({ active: 'ok', waiting: 'wait', paused: 'wait', damaged: 'bad', changed: 'bad' });

/** @extends {Tab<Deliveries>} */
class DeliveriesTab extends Tab {
  static properties = { ...Tab.properties, results: { state: true }, busy: { state: true } };

  constructor() {
    super();
    /** Failures of redeliveries by webhook. @type {Map<string, string>} */
    this.results = new Map();
    this.busy = false;
  }

  get kinds() {
    return ['task', 'agent', 'audit', 'gap'];
  }

  async load() {
    const [dead, waiting, routes, mcp] = await Promise.all([api.deadWebhooks(), api.admin('GET', ['webhooks', 'waiting']), present(api.admin('GET', ['gateway', 'routes'])), present(api.mcpTools())]);
    return { dead: dead.webhooks, waiting: waiting.webhooks, routes: routes?.routes, tools: (mcp?.servers ?? []).flatMap(server => server.tools).filter(tool => tool.state !== 'approved').length };
  }

  /** @param {Hook[]} hooks */
  async redeliver(hooks) {
    this.busy = true;
    const results = new Map();
    for (const { taskId, configId } of hooks) await api.redeliver(taskId, configId).catch(error => results.set(`${taskId} ${configId}`, error.message));
    Object.assign(this, { results, busy: false });
    this.read(true);
  }

  /** @param {Deliveries} data */
  content({ dead, waiting, routes, tools }) {
    return html`<section class="card" aria-label="Webhooks given up"><h2 class="row"><span class="grow">Webhooks given up <span class="dim">${dead.length}</span></span>
        <button type="button" class="link" @click=${() => this.read(true)}>Read again</button>${dead.length ? html`<button type="button" class="link" ?disabled=${this.busy} @click=${() => this.redeliver(dead)}>Redeliver all</button>` : nothing}</h2>
        ${dead.length ? html`<ul class="hooks pad">${dead.map(hook => this.hook(hook))}</ul>` : html`<p class="pad dim">None: every webhook accepts its events, or is tried again.</p>`}</section>
      <section class="card" aria-label="Webhooks tried again"><h2>Webhooks tried again <span class="dim">${waiting.length}</span></h2>
        ${waiting.length ? html`<ul class="hooks pad">${waiting.map(hook => this.hook(hook))}</ul>` : html`<p class="pad dim">None: no delivery waits for another attempt.</p>`}</section>
      ${routes ? html`<section class="card" aria-label="Routes"><h2>Routes of the gateway <span class="dim">${routes.length}</span></h2>${routes.length ? html`<ul class="list">${routes.map(route => html`<li><span class="stack-0"><a class="cut" href=${link(`agents/${route.name}`)}>${line(route.name, 80)}</a><span class="dim mono cut" title=${line(route.url, 300)}>${line(route.url, 300)}</span>
          ${route.reason || route.problem ? html`<span class="reason">${line(route.reason ?? route.problem, 400)}</span>` : nothing}</span>
          <span class="row">${route.available ? html`<span class="dim">${line(route.available, 60)}</span>` : nothing}<span class="state ${KINDS[route.state] ?? 'off'}">${line(route.state, 40)}</span></span></li>`)}</ul>` : empty('No route', html`<code>parley gateway add NAME URL</code> hosts a remote agent.`)}</section>` : nothing}
      <section class="card" aria-label="Tools"><h2 class="row"><span class="grow">Tools of MCP servers</span><a href=${link('tools')}>${tools ? `${plural(tools, 'tool')} to approve` : 'No tool to approve'}</a></h2></section>`;
  }

  /** @param {Hook} hook */
  hook(hook) {
    const failed = this.results.get(`${hook.taskId} ${hook.configId}`);
    return html`<li><div class="row wrap"><span class="mono grow cut" title=${line(hook.url, 300)}>${visible(hook.url, 300)}</span>
        ${hook.deadSince ? html`<span class="state bad">given up</span><button type="button" class="btn" ?disabled=${this.busy} @click=${() => this.redeliver([hook])}>Redeliver</button>` : html`<span class="state wait">waits</span>`}</div>
      <div class="dim"><a href=${link(`tasks/${hook.taskId}`, { tab: 'webhooks' })}>task of ${line(hook.agent, 80)}</a>, ${plural(hook.attempts, 'attempt')}, ${hook.deadSince ? html`given up ${time(hook.deadSince)}` : hook.nextAttempt ? html`next attempt ${time(hook.nextAttempt)}` : 'next attempt now'}</div>
      ${hook.lastError ? html`<div class="reason">${line(hook.lastError, 400)}</div>` : nothing}${failed ? html`<div class="reason">Not redelivered: ${line(failed, 300)}</div>` : nothing}</li>`;
  }
}

customElements.define('settings-deliveries', DeliveriesTab);
