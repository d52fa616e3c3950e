/** Adds an agent by the address of its card, or by the card itself: read, check, preview, register. */
import { html, nothing } from 'lit';
import { api } from '../api.js';
import { failure, skeleton } from '../components/bits.js';
import { dialog } from '../components/dialog.js';
import { count, line, plural, visible, webLink } from '../format.js';
import { link } from '../route.js';
import { healthOf, trustOf } from './agents-row.js';

/** A hub takes 1 MB. */
const MOST_CHARACTERS = 1_100_000;

/** Whether a text may be a card or the address of one. @param {string} text */
export const isAddable = text => /^\s*\{[\s\S]*"(name|skills|url|supportedInterfaces)"/.test(text) || (!/\s/.test(text.trim()) && /^https?:\/\//.test(text.trim()));

/**
 * What an entry or a card says about an agent.
 *
 * @param {import('../types.js').Entry | undefined} entry
 * @param {import('../types.js').Inspection | undefined} seen
 */
function preview(entry, seen) {
  const card = seen?.asV1 ?? seen?.card;
  const listed = entry?.skills ?? card?.skills;
  const skills = Array.isArray(listed) ? listed : [];
  return html`<div class="preview"><h3 class="name">${line(entry?.name ?? card?.name, 160)} <span class="dim">${line(entry?.version ?? card?.version, 40)}</span></h3>
    <p>${line(entry?.description ?? card?.description, 600)}</p>
    ${entry ? verdicts(entry) : seen ? html`<p class="row wrap">${trustOf(seen.signature)} <span class="dim">${line(seen.signature.reason, 200)}</span></p>` : nothing}
    ${seen ? problemsOf(seen.findings) : nothing}
    <h3>${plural(skills.length, 'skill')}</h3><ul class="skills">${skills.slice(0, 20).map((/** @type {any} */ skill) => html`<li>
      <b class="cut">${line(skill?.name, 100)}</b><span class="dim cut">${line(skill?.description, 200)}</span></li>`)}</ul>
    <h3>Addresses</h3><ul class="skills">${addresses(entry, seen).slice(0, 12).map(([url, kind]) => html`<li>
      <span>${line(kind, 60)}</span><code class="cut">${visible(url, 300)}</code></li>`)}</ul></div>`;
}

/** Health, signature and look-alikes. @param {import('../types.js').Entry} entry */
function verdicts({ health, trust, lookAlikes }) {
  return html`<p class="row wrap">${healthOf(health, Date.now())} ${trustOf(trust)}
    ${lookAlikes?.length ? html`<span class="state bad">looks like ${plural(lookAlikes.length, 'other agent')}</span>` : nothing}</p>`;
}

/** @param {import('../types.js').Finding[]} problems */
function problemsOf(problems) {
  if (!problems.length) return html`<p class="check ok">No finding in the card.</p>`;
  return html`<h3>${plural(problems.length, 'finding')}</h3><ul class="findings">${problems.map(({ severity, pointer, message }) => html`<li>
    <span class="state ${severity === 'error' ? 'bad' : severity === 'warning' ? 'wait' : 'off'}">${line(severity, 20)}</span><code>${line(pointer, 120)}</code><span>${line(message, 200)}</span></li>`)}</ul>`;
}

/** Addresses with their bindings. @param {import('../types.js').Entry | undefined} entry @param {import('../types.js').Inspection | undefined} seen @returns {string[][]} */
function addresses(entry, seen) {
  const unreachable = new Set(seen?.interfaces.filter(each => each.reachable === false).map(each => each.url));
  return (entry?.endpoints ?? seen?.interfaces ?? []).map(each => [each.url, `${each.binding} ${each.dialect}${unreachable.has(each.url) ? ', not reachable' : ''}`]);
}

/** Shows an entry of the registry. @param {string} id */
export async function showEntry(id) {
  /** @type {import('../types.js').Entry | undefined} */
  let entry;
  /** @type {import('../types.js').Inspection | undefined} */
  let seen;
  /** @type {any} */
  let error;
  const shown = dialog('Agent', close => ({
    content: error ? failure(error) : entry ? preview(entry, seen) : skeleton(4),
    buttons: html`<button type="button" class="btn" @click=${close}>Close</button>`,
  }), 'wide-dialog');
  try {
    entry = await api.entry(id);
    shown.repaint();
    seen = await api.inspect({ id, probe: false });
  } catch (fault) {
    if (!entry) error = fault; // an entry may be no card
  }
  shown.repaint();
  await shown.closed;
}

/** Card of an agent of this hub, if the address is one. @param {string} address */
function ownAgent(address) {
  const url = new URL(address);
  return url.origin === location.origin ? /\/agents\/([^/]+)/.exec(url.pathname)?.[1] : undefined;
}

/**
 * Opens the dialog.
 *
 * @param {string} [pasted] an address or a card
 * @param {() => void} [registered]
 * @param {'group' | 'public'} [visibility] of a new entry
 */
export function addAgent(pasted = '', registered = () => {}, visibility = 'group') {
  let text = pasted.trim();
  /** The entry that the card is of, or would be. @type {import('../types.js').Entry | undefined} */
  let entry;
  /** What the registry inspects, and registers on a click. @type {Record<string, unknown>} */
  let subject = {};
  /** @type {import('../types.js').Inspection | undefined} */
  let seen;
  /** @type {any} */
  let error;
  let phase = 'ask';

  const shown = dialog('Add an agent', close => ({ content: content(), buttons: buttons(close) }), 'wide-dialog');

  function content() {
    const isRead = phase === 'preview' || phase === 'done';
    return html`<label class="field">Address of the agent or of its card, or the card as JSON
        <textarea autofocus rows=${text.startsWith('{') ? 6 : 2} spellcheck="false" class="mono" ?disabled=${isRead} .value=${text}
          @input=${(/** @type {any} */ event) => (text = event.target.value.trim())}></textarea></label>
      ${phase === 'read' || phase === 'save' ? html`<p class="row"><i class="spin"></i>${phase === 'read' ? 'Reads the card' : 'Registers the agent'}</p>` : nothing}
      ${failure(error)}
      ${phase === 'preview' ? preview(undefined, seen) : nothing}
      ${phase === 'preview' && entry ? html`<p class="dim">${isSame() ? 'This agent is registered already.' : 'This card is a new version of an agent that is registered.'} <a href=${link(`agents/${entry.id}`)}>Details</a></p>`
        : phase === 'preview' && subject.url ? html`<p class="dim">Nothing is registered yet. <a href=${link('agents/inspect', { url: String(subject.url), tab: 'findings' })}>All details</a></p>` : nothing}
      ${phase === 'done' ? html`<p class="check ok">${line(entry?.name, 100)} is ${visibility === 'public' && entry?.visibility === 'public' ? 'published' : 'registered'}.</p>` : nothing}`;
  }

  /** @param {() => void} close */
  function buttons(close) {
    if (phase === 'done') return html`<button type="button" class="btn main" @click=${close}>Close</button>`;
    if (phase === 'preview') {
      return html`<button type="button" class="btn" @click=${close}>Close</button>
        ${isSame() ? nothing : html`<button type="button" class="btn main" @click=${register}>${entry ? 'Register the version' : visibility === 'public' ? 'Publish' : 'Register'}</button>`}`;
    }
    return html`<button type="button" class="btn" @click=${close}>Cancel</button>
      <button type="button" class="btn main" ?disabled=${phase !== 'ask'} @click=${read}>Read the card</button>`;
  }

  const isSame = () => !!entry && (entry.digest === seen?.digest || !!subject.agent);

  /** @param {string} next @param {() => Promise<void>} work */
  async function step(next, work) {
    const before = phase;
    phase = next;
    error = undefined;
    shown.repaint();
    try {
      await work();
    } catch (fault) {
      error = fault;
      phase = before;
    }
    shown.repaint();
  }

  function read() {
    step('read', async () => {
      if (text.length > MOST_CHARACTERS) throw new Error(`The card has ${count(text.length)} characters (expected: at most ${count(MOST_CHARACTERS)})`);
      if (text.startsWith('{')) subject = { card: JSON.parse(text) };
      else if (!webLink(text)) throw new Error(`address "${line(text, 100)}": not an address (expected: http or https, or a card as JSON)`);
      else subject = ownAgent(text) ? { agent: decodeURIComponent(/** @type {string} */ (ownAgent(text))) } : { url: text };
      seen = await api.inspect({ ...subject, probe: !!subject.url });
      entry = seen.entry ? await api.entry(seen.entry) : undefined;
      phase = 'preview';
    });
  }

  function register() {
    step('save', async () => {
      entry = entry ? await api.publish(entry.id, subject) : await api.register({ ...subject, visibility });
      phase = 'done';
      registered();
    });
  }

  if (isAddable(text)) read();
}
