/** Conversations of a caller with an agent, from its tasks. */
import { line } from '../format.js';

/**
 * Contexts, the newest first.
 *
 * @param {import('../types.js').TaskRow[]} rows newest first
 */
export function contexts(rows) {
  /** @type {Map<string, {id: string, title: string, state: string, updated: string, tasks: number}>} */
  const found = new Map();
  for (const row of rows) {
    const known = found.get(row.contextId);
    const title = line(row.title, 80);
    if (!known) found.set(row.contextId, { id: row.contextId, title: title || 'Conversation', state: row.state, updated: row.updated, tasks: 1 });
    else Object.assign(known, { title: title || known.title, tasks: known.tasks + 1 }); // the first message of the oldest task names it
  }
  return [...found.values()];
}
