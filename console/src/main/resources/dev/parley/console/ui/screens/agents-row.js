/** Cells of the list of agents. */
import { html, nothing } from 'lit';
import { highlighted } from '../components/bits.js';
import { age, line } from '../format.js';
import { link, setQuery } from '../route.js';

/** @typedef {import('../types.js').Found} Found */

export const HEALTH = /** @type {Record<string, string>} */ ({ up: 'ok', degraded: 'wait', down: 'bad' });
const CAUSES = /** @type {Record<string, string>} */ ({
  dns: 'host not found', connect: 'no connection', tls: 'no TLS', protocol: 'wrong answer', latency: 'slow', authentication: 'needs credentials', 'card-drift': 'card differs',
  lease: 'lease has ended', errors: 'runs fail',
});
const TRUST = /** @type {Record<string, string>} */ ({ verified: 'ok', integrity: 'run', tampered: 'bad', revoked: 'bad', unverifiable: 'wait' });

/** Reason of a health, and when it was checked. @param {import('../types.js').Health | undefined} health @param {number} now */
function reasonOf(health, now) {
  const why = health?.cause && health.cause !== 'none' ? CAUSES[health.cause] ?? line(health.cause, 40) : '';
  const when = health?.checked ? `checked ${age(health.checked, now)} ago`.replace('now ago', 'now') : (health?.status ?? 'unknown') === 'unknown' ? 'not checked yet' : '';
  const words = [why, when].filter(Boolean).join(', ');
  return health?.reason && why ? `${words}: ${line(health.reason, 120)}` : words;
}

/** Health and since when. @param {import('../types.js').Health | undefined} health @param {number} now @param {boolean} [whole] with the reason */
export function healthOf(health, now, whole = true) {
  const status = health?.status ?? 'unknown';
  const since = health?.since && status !== 'unknown' ? `for ${age(health.since, now)}` : '';
  const text = [since, whole ? reasonOf(health, now) : ''].filter(Boolean).join(', ');
  return html`<span class="health" title=${line(health?.reason || text, 300)}><span class="state ${HEALTH[status] ?? 'off'}">${line(status, 20)}</span> <span class="dim cut">${text}</span></span>`;
}

/** @param {import('../types.js').Entry['trust']} trust */
export function trustOf(trust) {
  if (!trust) return nothing;
  const word = trust.outcome === 'tampered' ? 'TAMPERED' : line(trust.outcome, 20);
  return html`<span class="state ${TRUST[trust.outcome] ?? 'off'}" title=${line(trust.reason, 200)}>${word}</span>`;
}

/** Name of the agent on this hub, if it is one of it. @param {import('../types.js').Entry} entry */
export const hosted = entry => (typeof entry.metadata?.agent === 'string' && entry.owner === '*' ? entry.metadata.agent : undefined);

/** The present address with an entry that is shown. @param {string} id */
function entryLink(id) {
  const query = new URLSearchParams(location.search); // may have a filter several times
  query.set('entry', id);
  return `${link('agents')}?${query}`;
}

/** The skill that matched, or the first one. @param {Found} found @param {string[]} words */
function skillCell({ why, agent }, words) {
  const skills = agent.skills ?? [];
  const skill = skills.find(each => each.id === why?.skill) ?? skills.find(each => words.some(word => `${each.name} ${(each.tags ?? []).join(' ')} ${(each.examples ?? []).join(' ')}`.toLowerCase().includes(word))) ?? skills[0];
  if (!skill) return html`<span class="dim">no skill</span>`;
  const tag = skill.tags?.find(each => words.some(word => each.toLowerCase().includes(word)));
  const example = words.length ? skill.examples?.find(each => words.some(word => each.toLowerCase().includes(word))) : undefined;
  const below = example ? html`“${highlighted(example, words, 120)}”` : tag ? html`tag ${highlighted(tag, words, 60)}` : highlighted(skill.description, words, 160);
  return html`<span class="two"><span class="cut">${highlighted(skill.name, words, 100)}${skills.length > 1 ? html`<span class="dim"> +${skills.length - 1}</span>` : nothing}</span><span class="dim cut">${below}</span></span>`;
}

/**
 * @param {string[]} words
 * @param {number} now
 * @param {((found: Found) => void) | undefined} check undefined for callers who may not
 * @param {Map<string, unknown>} checks what checks told, by the id of the entry
 * @param {(entry: import('../types.js').Entry) => string} [to] address behind the name
 * @returns {import('../components/table.js').Column<Found>[]}
 */
export function columns(words, now, check, checks, to = entry => (hosted(entry) ? link(`agents/${hosted(entry)}/try`) : entryLink(entry.id))) {
  return [
    { name: 'agent', label: 'Agent', cell: ({ agent }) => html`<span class="two"><span class="cut"><a href=${to(agent)}>${highlighted(agent.name, words, 120)}</a> <span class="dim">${line(agent.version, 20)}</span>
      ${agent.lookAlikes?.length && !hosted(agent) ? html`<span class="state bad" title="Another agent has a name that looks the same">look-alike</span>` : nothing}</span>
      <span class="dim cut" title=${line(agent.description, 400)}>${highlighted(agent.description, words, 200)}</span></span>` },
    { name: 'skill', label: words.length ? 'Matching skill' : 'Skills', cell: found => skillCell(found, words) },
    { name: 'health', label: 'Health', cell: found => {
      const { health, id } = found.agent;
      const isOwn = !!hosted(found.agent) && (health?.status ?? 'unknown') === 'unknown'; // the registry checks agents of other hosts
      const badge = isOwn ? html`<span class="health"><span class="state ok">hosted</span> <span class="dim cut">by this hub</span></span>` : healthOf(health, now, false);
      return html`<span class="two">${badge}<span class="row"><span class="dim cut" title=${line(health?.reason, 300)}>${checks.get(id) ?? (isOwn ? nothing : reasonOf(health, now))}</span>
        ${check ? html`<button type="button" class="link" @click=${() => check(found)}>Check now</button>` : nothing}</span></span>`;
    } },
    { name: 'trust', label: 'Signature', cell: ({ agent }) => trustOf(agent.trust) },
    { name: 'act', label: 'Action', hideLabel: true, cell: ({ agent }) => html`<span class="two">${hosted(agent) ? html`<a class="btn" href=${link(`agents/${hosted(agent)}/try`)}>Try</a>`
      : html`<button type="button" class="btn" @click=${() => setQuery({ entry: agent.id }, true)}>Show</button>`}
      <a class="link" href=${link(`agents/${hosted(agent) ?? agent.id}`)}>Details</a></span>` },
  ];
}
