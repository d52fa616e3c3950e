/** The entry of an agent by an address, without a change of one that is registered already. */
import { api } from '../api.js';

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
