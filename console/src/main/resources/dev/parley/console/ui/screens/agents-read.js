/** Agents as the hub tells of them: health, and the list without a registry. */
import { html } from 'lit';
import { api } from '../api.js';
import { duration, line } from '../format.js';
import { hosted } from './agents-row.js';

/** @typedef {import('../types.js').Entry} Entry */

const PROBED = 12;

/** Agents of a hub without a registry. @param {string | undefined} q @returns {Promise<import('../types.js').Found[]>} */
export async function plainList(q) {
  const { agents } = await api.agents();
  const words = (q ?? '').toLowerCase();
  return agents.filter(each => `${each.name} ${each.description}`.toLowerCase().includes(words))
    .map(each => ({ agent: { id: each.name, name: each.name, description: each.description, owner: '*', metadata: { agent: each.name } } }));
}

/** Health with the time of the last probe. @param {import('../types.js').Entry} entry @returns {Promise<import('../types.js').Health | undefined>} */
export const probed = entry => api.health(entry.id).then(health => ({ ...health, checked: health.probes?.[0]?.time }), () => entry.health);

/** Health of the first agents that are not up, by their ids. @param {import('../types.js').Found[]} rows */
export async function probesOf(rows) {
  const ill = rows.filter(({ agent }) => agent.health?.status === 'down' || agent.health?.status === 'degraded').slice(0, PROBED);
  return new Map(await Promise.all(ill.map(async ({ agent }) => /** @type {const} */ ([agent.id, await probed(agent)]))));
}

/**
 * Health of an agent whose card could not be fetched just now.
 *
 * @param {string} reason words of the registry
 * @param {import('../types.js').Health | undefined} before
 * @returns {import('../types.js').Health}
 */
export function unreachable(reason, before) {
  const now = new Date().toISOString();
  const cause = /certificate|tls|ssl|handshake/i.test(reason) ? 'tls' : /refused|connect/i.test(reason) ? 'connect' : /found|resolve|unknown host/i.test(reason) ? 'dns'
    : /time|within/i.test(reason) ? 'latency' : 'protocol';
  return { status: 'down', cause, reason, checked: now, since: before?.status === 'down' ? before.since : now };
}

/**
 * Reads the card now: from this hub, or by the registry from where the entry was registered. The entry stays as it is.
 *
 * @param {Entry} entry
 * @returns {Promise<{told: unknown, health: import('../types.js').Health | undefined}>} told: what the row says instead of the health
 */
export async function checkNow(entry) {
  const agent = hosted(entry);
  const begun = performance.now();
  /** @type {unknown} */
  let told;
  /** @type {import('../types.js').Health | undefined} */
  let health;
  try {
    const seen = agent ? await api.inspect({ agent }) : await api.inspect(entry.url ? { url: entry.url } : { id: entry.id });
    const ill = seen.interfaces.find(each => each.reachable === false);
    if (ill) health = { status: 'down', cause: ill.cause, reason: ill.reason, checked: new Date().toISOString(), since: entry.health?.status === 'down' ? entry.health.since : undefined };
    else told = seen.digest === entry.digest ? `card read in ${duration(performance.now() - begun)}` : 'the card has changed since it was registered';
  } catch (error) {
    const fault = /** @type {import('../api.js').ApiError} */ (error);
    if (fault.reason === 'NOT_FETCHED') health = unreachable(fault.message, entry.health);
    else told = html`<span class="bad-text" title=${`${line(fault.message, 300)} (request ${fault.trace})`}>${line(fault.message, 80)}</span>`;
  }
  return { told, health: health ?? (agent ? undefined : await probed(entry)) };
}
