/** S15: the hubs that run: their load, their health in words, and drains. */
import { html, nothing } from 'lit';
import { api, hubNow } from '../api.js';
import { empty, failure, skeleton, time } from '../components/bits.js';
import { dialog } from '../components/dialog.js';
import { Screen } from '../components/element.js';
import { age, count, line, plural } from '../format.js';
import { paced, watch } from '../live.js';
import { link, setQuery } from '../route.js';

/** @typedef {import('../types.js').HubRow} HubRow */

/** Colours of levels, the worst first. @type {Record<string, string>} */
const KINDS = { problem: 'bad', warning: 'wait', ok: 'ok' };
const LEVELS = Object.keys(KINDS);

class Hubs extends Screen {
  static properties = { hubs: { state: true }, health: { state: true }, error: { state: true }, healthError: { state: true }, actError: { state: true }, busy: { state: true } };

  constructor() {
    super();
    this.hubs = /** @type {HubRow[] | undefined} */ (undefined);
    /** Of the hub that is chosen. @type {import('../types.js').HubHealth | undefined} */
    this.health = undefined;
    /** Id of the hub whose checks were asked for. */
    this.checked = '';
    this.error = /** @type {any} */ (undefined);
    this.healthError = /** @type {any} */ (undefined);
    this.actError = /** @type {any} */ (undefined);
    /** The checks run. */
    this.busy = false;
    /** The dialog before a drain, with figures that change. @type {{repaint: () => void} | undefined} */
    this.preview = undefined;
  }

  connectedCallback() {
    super.connectedCallback();
    this.until(watch(() => this.read()));
    this.read(true);
  }

  willUpdate() {
    const { chosen } = this;
    if (!chosen || chosen.id === this.checked) return;
    Object.assign(this, { checked: chosen.id, health: undefined });
    this.check(false);
  }

  updated() {
    this.preview?.repaint();
  }

  /** The hub whose health is shown: that of the address, or the first one. */
  get chosen() {
    return this.hubs?.find(({ id }) => id === this.route.query.get('hub')) ?? this.hubs?.[0];
  }

  read = paced(async () => {
    try {
      this.hubs = (await api.hubs()).hubs;
      this.error = undefined;
    } catch (error) {
      this.error = error;
    }
  }, () => this.isConnected);

  /** @param {boolean} fresh whether the hub runs the checks again */
  async check(fresh) {
    const hub = this.checked;
    this.busy = true;
    this.healthError = undefined;
    const health = await api.hubHealth(hub, fresh).catch(error => ({ error }));
    if (hub !== this.checked) return; // another one was chosen meanwhile
    this.busy = false;
    if ('error' in health) this.healthError = health.error;
    else this.health = health;
  }

  /** @param {HubRow} hub @param {'drain' | 'resume'} action */
  async act(hub, action) {
    this.actError = undefined;
    await api.drainHub(hub.id, action).catch(error => (this.actError = error));
    dispatchEvent(new Event('hub-changed')); // the shell shows it on all pages
    this.read(true);
  }

  /** Shows what a drain does, and does it when the reader agrees. @param {HubRow} hub */
  confirm(hub) {
    const { id } = hub;
    const now = () => this.hubs?.find(each => each.id === id) ?? hub;
    const shown = dialog('Drain the hub', close => ({
      content: html`<ul class="plain stack">
          <li><b>${plural(now().running, 'running task')}</b> and ${plural(now().waiting, 'waiting task')} go on, and take messages.</li>
          <li><b>${plural(now().streams, 'open stream')}</b>, reads, webhooks and this console go on.</li>
          <li><b>New tasks</b> are refused with status 503 until you resume; <code>/ready</code> answers 503, so that load balancers choose another hub.</li></ul>
        <p class="dim">A restart ends the drain, too. Each page of the console shows a banner meanwhile.</p>`,
      buttons: html`<button type="button" class="btn" @click=${close}>Keep it open</button><button type="button" class="btn main" @click=${() => (close(), this.act(hub, 'drain'))}>Drain</button>`,
    }));
    this.preview = shown;
    shown.closed.then(() => (this.preview = undefined));
  }

  render() {
    const isNone = this.error?.status === 404;
    return html`<div class="head"><div class="grow"><h1>Hubs</h1><span class="dim">Processes that answer at this address, their load and their health.</span></div></div>
      ${isNone ? html`<div class="card">${empty('No administration here', 'The administration of this hub has a port of its own: use parley hub list --url there.')}</div>` : html`${failure(this.error, () => this.read(true))}${failure(this.actError)}
      ${this.hubs ? html`<div class="stack">${this.hubs.map(each => this.hub(each))}${this.checks()}</div>` : this.error ? nothing : html`<div class="card">${skeleton(6)}</div>`}`}`;
  }

  /** @param {HubRow} hub */
  hub(hub) {
    const { id, address, version, started, drained, running, waiting, streams, agents, database } = hub;
    const isAlone = this.hubs?.length === 1;
    const lease = database ? html`<dt>Lease</dt><dd>renewed ${count(Math.round(database.leaseAgeMilliseconds / 1000))} s ago <span class="dim">hub ${count(database.number)}, level ${count(database.level)}, ${line(database.name, 60)}</span></dd>` : nothing;
    if (!address) return html`<section class="card hub" aria-label="Hub ${line(id, 60)}"><h2 class="row"><span class="cut">${line(database?.name ?? id, 100)}</span><span class="state ${database?.role === 'waits' ? 'wait' : 'ok'}">${database?.role === 'waits' ? 'waits for its turn' : 'live'}</span></h2>
      <dl class="kv pad"><dt>Version</dt><dd>${line(version, 40)}</dd><dt>Started</dt><dd>${time(started)} <span class="dim">${age(started, hubNow())} ago</span></dd>${lease}<dt>Agents</dt><dd>${count(agents)} to host</dd></dl></section>`;
    return html`<section class="card hub" aria-label="Hub ${line(id, 60)}"><h2 class="row"><span class="cut">${line(address, 100)}</span><span class="state ${drained ? 'wait' : 'ok'}">${drained ? 'drained' : 'live'}</span><span class="grow"></span>
        ${this.hubs?.filter(each => each.address).length === 1 ? nothing : html`<button type="button" class="link" aria-pressed=${id === this.checked} @click=${() => setQuery({ hub: id })}>Health</button>`}
        ${drained ? html`<button type="button" class="btn main" @click=${() => this.act(hub, 'resume')}>Resume</button>` : html`<button type="button" class="btn" @click=${() => this.confirm(hub)}>Drain…</button>`}</h2>
      <dl class="kv pad">
        <dt>Version</dt><dd>${line(version, 40)}</dd>
        <dt>Started</dt><dd>${time(started)} <span class="dim">${age(started, hubNow())} ago</span></dd>
        ${drained ? html`<dt>Drained</dt><dd>${time(drained)} <span class="dim">${running + waiting ? `${plural(running + waiting, 'task')} to end` : 'all tasks have ended'}</span></dd>` : nothing}
        ${database ? lease : isAlone ? html`<dt>Lease</dt><dd>none <span class="dim">alone, without a cluster</span></dd>` : nothing}
        <dt>Tasks</dt><dd><a href=${link('tasks', { state: 'TASK_STATE_SUBMITTED,TASK_STATE_WORKING' })}>${count(running)} running</a>, ${count(waiting)} waiting for a slot</dd>
        <dt>Streams</dt><dd>${count(streams)} open</dd>
        <dt>Agents</dt><dd><a href=${link('agents')}>${count(agents)} hosted</a></dd></dl></section>`;
  }

  checks() {
    const checks = [...(this.health?.checks ?? [])].sort((one, other) => LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level));
    return html`<section class="card" aria-label="Health"><h2 class="row"><span>Health</span><span class="dim grow">${this.health ? html`of ${time(this.health.made)}` : nothing}</span>
        <button type="button" class="btn" ?disabled=${this.busy} @click=${() => this.check(true)}>${this.busy ? 'Checking…' : 'Check now'}</button></h2>
      ${failure(this.healthError)}
      ${this.health ? html`<ul class="list checks">${checks.map(({ check, level, message, advice, taskId, agent }) => html`<li><span class="state ${KINDS[level] ?? 'off'}">${line(level, 20)}</span><b>${line(check, 60)}</b>
        <span class="said">${taskId ? html`<a href=${link(`tasks/${taskId}`)}>${line(taskId, 60)}</a> of ${line(agent, 60)}: ` : nothing}${line(message, 400)}${advice ? html`<br><span class="dim">${line(advice, 300)}</span>` : nothing}</span></li>`)}</ul>` : this.healthError ? nothing : skeleton(6)}</section>`;
  }
}

customElements.define('screen-hubs', Hubs);
