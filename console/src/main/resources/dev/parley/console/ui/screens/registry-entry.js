/** S13: a public page of an entry: that of an agent, with reviews and the history of its health. */
import { html, nothing } from 'lit';
import { api, hubNow } from '../api.js';
import { empty, failure, time } from '../components/bits.js';
import { count, duration, line, plural, visible } from '../format.js';
import { part } from '../part.js';
import { AgentScreen } from './agent.js';
import { HEALTH, healthOf, hosted } from './agents-row.js';

class RegistryEntry extends AgentScreen {
  static properties = { ...AgentScreen.properties, fault: { state: true } };

  constructor() {
    super();
    this.place = ['registry', 'Registry'];
    this.reviews = /** @type {import('../types.js').Reviews} */ ({ count: 0, average: 0, reviews: [] });
    this.health = /** @type {any} */ ({});
    this.fault = /** @type {any} */ (undefined);
  }

  get subject() {
    return { id: this.route.params.entry, probe: false };
  }

  get own() {
    return this.session.isVisitor || !this.entry ? undefined : hosted(this.entry);
  }

  /** Visitors may inspect nothing: they see what the registry has. @param {{id: string, probe: boolean}} subject */
  async look(subject) {
    const { id } = subject;
    const [entry, card, health, reviews] = await Promise.all([api.entry(id), api.document(id).catch(() => ({})), api.health(id), api.entryReviews(id)]);
    const { trust, endpoints = [], skills = [], digest = '' } = entry;
    const shown = { dialect: '', dialects: [...new Set(endpoints.map(each => each.dialect))], digest, card, asV1: { ...entry, ...card, skills }, findings: [], signature: trust ?? { outcome: 'unsigned' },
      interfaces: endpoints.map(each => ({ ...each, status: '' })) };
    return { entry, health, reviews, fault: undefined, seen: this.session.isVisitor ? shown : { ...(await api.inspect(subject).catch(() => shown)), url: undefined, interfaces: shown.interfaces } };
  }

  actions() {
    const publish = () => part(import('./agents-add.js')).then(({ addAgent }) => addAgent('', () => this.load(), 'public'));
    return this.session.isVisitor ? nothing : html`<button type="button" class="btn" @click=${publish}>Publish a version</button>${super.actions()}`;
  }

  /** @param {import('../types.js').Inspection} seen */
  items(seen) {
    return [...super.items(seen).filter(([name]) => name !== 'findings' || !this.session.isVisitor), ['reviews', `Reviews ${count(this.reviews.count)}`], ['health', 'Health']];
  }

  /** @param {string} tab @param {import('../types.js').Inspection} seen @returns {unknown} */
  panel(tab, seen) {
    return tab === 'reviews' ? this.reviewList(this.reviews) : tab === 'health' ? history(this.health) : super.panel(tab, seen);
  }

  /** @param {import('../types.js').Reviews} given */
  reviewList({ count: number, average, reviews }) {
    const review = (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      const { stars, text } = Object.fromEntries(new FormData(/** @type {HTMLFormElement} */ (event.target), event.submitter)); // the button that withdraws has no stars
      api.reviewEntry(this.route.params.entry, { stars: Number(stars), text: Number(stars) ? String(text) : '' }).then(() => this.load(), error => (this.fault = error));
    };
    return html`<div class="cols"><div>${number ? html`<h2>${average.toFixed(1)} of 5 <span class="dim">in ${plural(number, 'review')}</span></h2>` : empty('No review yet', 'Callers of this hub leave them.')}
        <ul class="list reviews">${reviews.map(({ principal, stars = 0, text, time: at }) => html`<li><span class="two"><span><b class="stars" role="img" aria-label=${plural(stars, 'star')}>${'★'.repeat(stars)}${'☆'.repeat(5 - stars)}</b>
          ${line(principal, 60)}</span><span class="plain">${visible(text, 4_000)}</span></span><span class="dim">${time(at)}</span></li>`)}</ul></div>
      ${this.session.isVisitor ? html`<p class="dim">Sign in to leave a review.</p>` : html`<form class="stack" @submit=${review}>${failure(this.fault)}
        <label class="field">Stars<select name="stars">${[5, 4, 3, 2, 1].map(stars => html`<option value=${stars}>${plural(stars, 'star')}</option>`)}</select></label><label class="field">Review<textarea name="text" rows="3" maxlength="4000"></textarea></label>
        <div class="row wrap"><button class="btn main">Leave the review</button><button name="stars" value="0" class="btn">Withdraw mine</button></div></form>`}</div>`;
  }
}

/** The last probes of an agent. @param {any} health */
function history(health) {
  const probes = /** @type {{time: string, status: string, cause: string, reason: string, latencyMillis: number}[]} */ (health.probes ?? []);
  if (!probes.length) return empty('No probe yet', 'The registry probes agents soon after their registration. Agents of this hub are not probed: their health comes from their runs.');
  return html`<p>${healthOf(health, hubNow())}</p><p class="dim">${count(probes.filter(({ status }) => status === 'up').length)} of the last ${plural(probes.length, 'probe')} found it up.</p>
    <ol class="list">${probes.map(({ time: at, status, cause, reason, latencyMillis: ms }) => html`<li><span><span class="state ${HEALTH[status] ?? 'off'}">${line(status, 20)}</span>
      ${cause && cause !== 'none' ? line(`${cause}${reason ? `: ${reason}` : ''}`, 300) : nothing}</span><span class="dim">${ms >= 0 ? `${duration(ms)}, ` : ''}${time(at)}</span></li>`)}</ol>`;
}

customElements.define('screen-registry-entry', RegistryEntry);
