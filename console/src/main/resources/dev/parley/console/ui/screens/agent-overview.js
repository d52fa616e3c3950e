/** Overview of an agent: skills, interfaces with their reachability, signature, health. */
import { html, nothing } from 'lit';
import { copyButton, time } from '../components/bits.js';
import { duration, line, plural, webLink } from '../format.js';
import { link } from '../route.js';
import { healthOf, trustOf } from './agents-row.js';

/** @typedef {import('../types.js').Inspection} Inspection */

/** Sign, colour and words of each verdict: no two look the same. */
const SEALS = /** @type {Record<string, [string, string, string]>} */ ({
  verified: ['✓', 'ok', 'Verified'], integrity: ['≈', 'run', 'Unchanged, but not signed by the publisher'], unverifiable: ['?', 'wait', 'Signed, but cannot be verified'],
  unsigned: ['–', 'off', 'No signature'], tampered: ['✕', 'bad', 'TAMPERED'], revoked: ['✕', 'bad', 'REVOKED'],
});

/** @param {import('../types.js').Signature} signature */
export function seal({ outcome, reason, keyId, signatures }) {
  const [sign, kind, words] = SEALS[outcome] ?? ['?', 'wait', line(outcome, 40)];
  return html`<section class="card seal ${kind}" aria-label="Signature" role=${kind === 'bad' ? 'alert' : 'region'}><b class="glyph" aria-hidden="true">${sign}</b>
    <div><h2>${words}${outcome === 'verified' && keyId ? html` by key <code>${line(keyId, 80)}</code>` : nothing}</h2><p>${line(reason, 400)}</p>
    ${(signatures ?? []).filter((each, _, all) => all.length > 1 || each.jku || each.problem).map(({ kid, alg, jku, problem }) => html`<p class="dim">${problem ? line(problem, 100) : html`key <code>${line(kid, 80)}</code>, ${line(alg, 20)}${jku ? html`, from ${line(jku, 200)}` : nothing}`}</p>`)}</div></section>`;
}

/** @param {Inspection} seen @param {import('../types.js').Entry | undefined} entry @param {string | undefined} own name on this hub @param {number} now @param {string} [list] screen that tags lead to */
export function overview(seen, entry, own, now, list = 'agents') {
  const { asV1: card, signature, interfaces } = seen;
  const trust = entry?.digest === seen.digest && (entry.trust?.outcome === 'revoked' || entry.trust?.outcome === 'integrity') ? entry.trust : undefined;
  const provider = /** @type {any} */ (card)?.provider;
  return html`<div class="cols"><div class="stack">
      ${card ? nothing : html`<p class="check bad">No reader takes it as a card: ${line(seen.problem, 300)}</p>`}
      ${skillList(card?.skills ?? [], own, list)}
      <section class="card"><h2>Interfaces</h2>${interfaces.length ? html`<ul class="list reached">${interfaces.map(each => reached(each, own))}</ul>` : html`<p class="dim pad">The card has no interface that can be read.</p>`}</section>
    </div><div class="stack">${seal(trust ?? signature)}
      <section class="card"><h2>Facts</h2><dl class="kv">
        <dt>Dialect</dt><dd>${line(seen.dialects.join(', '), 80)}</dd>
        ${own ? html`<dt>Health</dt><dd>hosted by this hub</dd>` : entry ? html`<dt>Health</dt><dd>${healthOf(entry.health, now)}</dd>` : nothing}
        ${provider ? html`<dt>Provider</dt><dd>${webLink(provider.url) ? html`<a href=${webLink(provider.url)} target="_blank" rel="noopener noreferrer">${line(provider.organization, 100)}</a>` : line(provider.organization, 100)}</dd>` : nothing}
        ${entry ? html`<dt>Entry</dt><dd class="mono">${line(entry.id, 300)} ${copyButton(entry.id)}</dd><dt>Visible</dt><dd>${line(entry.visibility, 20)}, ${line(entry.status, 20)}</dd>
        <dt>Verdict</dt><dd>${trustOf(entry.trust)} ${line(entry.trust?.reason, 300)}${entry.trust?.checked ? html`, checked ${time(entry.trust.checked)}` : nothing}</dd>
        ${entry.trust?.tee ? html`<dt>Environment</dt><dd>${line(entry.trust.tee, 40)}: ${line(entry.trust.teeOutcome ?? 'not checked', 40)}. ${line(entry.trust.teeReason, 200)}</dd>` : nothing}
        <dt>Source</dt><dd>${entry.group === '*' ? `copied from the peer ${line(entry.owner, 100)}` : entry.owner === '*' ? 'agent of this hub' : line(entry.url, 200) || 'published as a document'}</dd><dt>Published</dt><dd>${time(entry.created)}</dd><dt>Changed</dt><dd>${time(entry.updated)}</dd>` : nothing}
        <dt>Digest</dt><dd class="mono">${line(seen.digest, 24)}${copyButton(seen.digest)}</dd>
      </dl></section></div></div>`;
}

/** @param {import('../types.js').Skill[]} skills @param {string | undefined} own @param {string} list */
function skillList(skills, own, list) {
  return html`<section class="card"><h2>${plural(skills.length, 'skill')}</h2><ul class="skill-list">${skills.slice(0, 100).map(({ id, name, description, tags, examples }) => html`<li>
    <b>${line(name, 120)}</b> <code class="dim">${line(id, 80)}</code><p>${line(description, 600)}</p>
    <div class="chips">${(tags ?? []).slice(0, 20).map(tag => html`<a class="chip" href=${link(list, { tag })}>${line(tag, 40)}</a>`)}</div>
    ${(examples ?? []).slice(0, 10).map(example => html`<p class="dim">${own ? html`<a href=${link(`agents/${own}/try`, { text: example })}>“${line(example, 200)}”</a>` : html`“${line(example, 200)}”`}</p>`)}</li>`)}</ul></section>`;
}

/** @param {import('../types.js').Reached} each @param {string | undefined} own */
function reached({ url, binding, dialect, reachable, reason, millis, status }, own) {
  const kind = reachable === undefined ? 'off' : !reachable ? 'bad' : status === 'degraded' ? 'wait' : 'ok';
  const words = reachable === undefined ? 'not probed' : reachable ? 'reachable' : 'not reachable';
  return html`<li><span class="two"><code class="cut">${line(url, 300)}</code><span class="dim">${line(`${binding} ${dialect}`, 80)}${reason ? `: ${line(reason, 200)}` : ''}</span></span>
    <span class="row"><span class="state ${kind}" ?hidden=${!status}>${words}${millis === undefined ? '' : ` in ${duration(millis)}`}</span>
    ${own && binding !== 'GRPC' ? html`<a href=${link(`agents/${own}/try`, { via: `${binding} ${dialect}` })}>Try</a>` : nothing}</span></li>`;
}
