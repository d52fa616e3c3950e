/** Agents as the hub tells of them: an entry by an address, without a change of one that is registered already; health; the list without a registry. */
import { html } from 'lit';
import { api } from '../api.js';
import { duration, line } from '../format.js';
import { hosted } from './agents-row.js';

const PAGE = 100;
const PAGES = 20; // of entries that are looked through

/** @typedef {import('../types.js').Entry} Entry */

/** An address without what differs between those of one agent. @param {string | undefined} text */
function place(text) {
  try {
    const { origin, pathname } = new URL(String(text));
    return origin + pathname.replace(/\/\.well-known\/agent(-card)?\.json$/, '').replace(/\/+$/, '');
  } catch {
    return undefined;
  }
}

/** Entries that the caller sees; {@code isWhole} is false if there are more than the page looks through. */
async function entries() {
  /** @type {Entry[]} */
  const all = [];
  let pageToken;
  for (let i = 0; i < PAGES; i++) {
    const page = await api.entries({ pageSize: PAGE, pageToken });
    all.push(...page.agents);
    pageToken = page.nextPageToken;
    if (!pageToken) return { all, isWhole: true };
  }
  return { all, isWhole: false };
}

/**
 * Reads the card at an address. The registry reads cards only to register them, so a new agent becomes a private entry, which the caller
 * publishes or discards. An agent that is registered already keeps its entry, its version and its visibility.
 *
 * @param {string} address
 * @returns {Promise<{entry: Entry, isNew: boolean, mayDiscard: boolean}>} isNew: the entry was made by this call; mayDiscard: that is certain
 */
export async function readAddress(address) {
  const { all, isWhole } = await entries();
  const wanted = place(address);
  const same = all.find(entry => [entry.url, ...(entry.endpoints ?? []).map(each => each.url)].some(url => place(url) === wanted));
  if (same) return { entry: same, isNew: false, mayDiscard: false };

  const entry = await api.register({ url: address, visibility: 'private', refuse: ['breaking', 'trust', 'safe'] });
  const before = all.find(each => each.id === entry.id); // the same agent under another address
  if (before?.visibility && before.visibility !== entry.visibility) {
    return { entry: await api.changeEntry(entry.id, { visibility: before.visibility }), isNew: false, mayDiscard: false };
  }
  return { entry, isNew: !before, mayDiscard: !before && isWhole };
}

/** Agents of a hub without a registry. @param {string | undefined} q @returns {Promise<import('../types.js').Found[]>} */
export async function plainList(q) {
  const { agents } = await api.agents();
  const words = (q ?? '').toLowerCase();
  return agents.filter(each => `${each.name} ${each.description}`.toLowerCase().includes(words))
    .map(each => ({ agent: { id: each.name, name: each.name, description: each.description, owner: '*', metadata: { agent: each.name } } }));
}

/** Health with the time of the last probe. @param {import('../types.js').Entry} entry @returns {Promise<import('../types.js').Health | undefined>} */
export const probed = entry => api.health(entry.id).then(health => ({ ...health, checked: health.probes?.[0]?.time }), () => entry.health);

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
 * Reads the card now: from this hub, or by the registry from where the entry was registered.
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
    await (agent ? api.card(agent) : api.refetch(entry.id));
    told = `card read in ${duration(performance.now() - begun)}`;
  } catch (error) {
    const fault = /** @type {import('../api.js').ApiError} */ (error);
    if (fault.reason === 'NOT_FETCHED') health = unreachable(fault.message, entry.health);
    else if (fault.reason === 'INVALID_PARAMS') told = 'registered as a card, which has no address to read';
    else told = html`<span class="bad-text" title=${`${line(fault.message, 300)} (request ${fault.trace})`}>${line(fault.message, 80)}</span>`;
  }
  return { told, health: health ?? (agent ? undefined : await probed(entry)) };
}
