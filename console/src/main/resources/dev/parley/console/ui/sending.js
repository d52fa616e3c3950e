/** A message on its way: its request, its answers, and the exchange that the page shows of them. */
import { ApiError, address, reasonOf } from './api.js';
import { request } from './dialects.js';
import { readEvents } from './feed.js';
import { presence } from './presence.js';
import { withProof } from './session.js';

const MOST = 2_000; // elements of a stream that an exchange keeps

/**
 * @typedef {import('./types.js').Exchange} Exchange
 * @typedef {{message: import('./types.js').Message, choice: import('./dialects.js').Choice, exchange: Exchange, before: import('./types.js').Task | undefined,
 *     item: import('./run.js').Item, taskId: string | undefined, lastId: string | undefined, isAnswered: boolean}} Sending
 * {@code before}: the task that the message continues, as it was.
 */

/**
 * @param {string} agent
 * @param {{path: string, headers: Record<string, string>, body: string, trace: string}} sent
 * @param {import('./types.js').Message} message
 * @param {boolean} streams
 * @returns {Exchange}
 */
export function exchangeFor(agent, { path, headers, body, trace }, { parts, taskId, contextId }, streams) {
  const url = address(path).href;
  return { method: 'POST', url, headers, body, answer: [], trace, agent: address(`agents/${encodeURIComponent(agent)}`).href, parts, taskId, contextId, streams };
}

/**
 * The exchange of a message of another visit, as it would be sent now.
 *
 * @param {string} agent
 * @param {import('./dialects.js').Choice} choice
 * @param {import('./types.js').Message} message
 * @returns {Exchange}
 */
export function rebuilt(agent, choice, message) {
  return { ...exchangeFor(agent, request(agent, choice, { message, accepted: [], streams: true }), message, true), rebuilt: true };
}

/**
 * Sends the request, and hands each answer to {@code receive}. Ends early if the page goes away during a stream that can be resumed.
 *
 * @param {Sending} sending
 * @param {AbortSignal} signal
 * @param {(json: any) => void} receive
 */
export async function transfer(sending, signal, receive) {
  const { exchange } = sending;
  const done = new AbortController();
  const connection = new AbortController();
  presence.untilAway(done.signal).addEventListener('abort', () => sending.lastId !== undefined && connection.abort());
  try {
    const answer = await fetch(exchange.url, {
      method: 'POST',
      headers: withProof(exchange.headers),
      body: exchange.body,
      credentials: 'same-origin',
      signal: AbortSignal.any([signal, connection.signal]),
    });
    Object.assign(exchange, { status: answer.status, answerHeaders: Object.fromEntries(answer.headers) });
    if (!answer.headers.get('Content-Type')?.startsWith('text/event-stream') || !answer.body) {
      const text = await answer.text();
      exchange.answer.push(text);
      receive(parsed(text, answer.status));
      return;
    }
    for await (const { id, data } of readEvents(answer.body)) {
      sending.lastId = id ?? sending.lastId;
      if (exchange.answer.length < MOST) exchange.answer.push((id === undefined ? '' : `id: ${id}\n`) + `data: ${data}`);
      receive(JSON.parse(data));
    }
  } finally {
    done.abort();
  }
}

/** @param {string} text @param {number} status */
function parsed(text, status) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(text.trim().slice(0, 200) || `The hub answered ${status}`);
  }
}

/** Whether the connection ended, rather than the hub refused something. @param {any} fault */
export const isLost = fault => fault.details === undefined && (fault instanceof TypeError || fault.name === 'AbortError');

/** @param {Exchange} exchange @param {any} fault */
export function failureOf(exchange, fault) {
  const { code, details } = fault;
  const message = isLost(fault) ? 'The connection is lost' : String(fault.message);
  return new ApiError({ message, status: exchange.status, code, reason: reasonOf(details), trace: exchange.trace, details });
}
