/** Messages in the dialects and bindings that a hub serves: requests for each, and answers as those of A2A 1.0. */
import { newId, newTrace } from './api.js';

/**
 * @typedef {{binding: string, dialect: string}} Choice
 * @typedef {import('./types.js').Message} Message
 * @typedef {import('./types.js').StreamResponse} StreamResponse
 */

/** What a page can speak: no gRPC, which browsers cannot send. */
const SPOKEN = ['JSONRPC 1.0', 'HTTP+JSON 1.0', 'JSONRPC 0.3', 'HTTP+JSON 0.3', 'JSONRPC 0.1'];

/** @param {Choice} choice */
export const nameOf = choice => `${choice.binding} ${choice.dialect}`;

/** @param {string | null | undefined} name @returns {Choice} */
export function choiceOf(name) {
  const [binding, dialect] = (name && SPOKEN.includes(name) ? name : SPOKEN[0]).split(' ');
  return { binding, dialect };
}

/** Choices that a card offers and a page can speak. @param {import('./types.js').Card | undefined} card @returns {Choice[]} */
export function choicesOf(card) {
  const offered = new Set((card?.supportedInterfaces ?? []).map(each => `${each.protocolBinding} ${each.protocolVersion}`));
  const names = SPOKEN.filter(name => offered.has(name));
  return (names.length ? names : SPOKEN.slice(0, 1)).map(choiceOf);
}

/** @param {import('./types.js').Part} part */
function oldPart(part) {
  if (typeof part.text === 'string') return { kind: 'text', text: part.text };
  if (part.data !== undefined) return { kind: 'data', data: part.data };
  return { kind: 'file', file: { name: part.filename, mimeType: part.mediaType, ...(part.raw === undefined ? { uri: part.url } : { bytes: part.raw }) } };
}

/** @param {any} part @returns {import('./types.js').Part} */
function newPart(part) {
  const kind = part.kind ?? part.type;
  if (kind === 'text') return { text: String(part.text), metadata: part.metadata };
  if (kind === 'data') return { data: part.data, metadata: part.metadata };
  const file = part.file ?? {};
  return { raw: file.bytes, url: file.uri, filename: file.name, mediaType: file.mimeType, metadata: part.metadata };
}

/** @param {any} message @param {string} [taskId] @returns {Message} */
function newMessage(message, taskId) {
  const role = message.role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT';
  return { ...message, messageId: message.messageId ?? newId(), role, taskId: message.taskId ?? taskId, parts: (message.parts ?? []).map(newPart) };
}

/** @param {any} status @param {string} taskId */
function newStatus(status, taskId) {
  const state = `TASK_STATE_${String(status.state).toUpperCase().replace(/-/g, '_')}`;
  return { ...status, state, message: status.message ? newMessage(status.message, taskId) : undefined };
}

/** @param {any} artifact */
function newArtifact(artifact) {
  return { ...artifact, artifactId: artifact.artifactId ?? artifact.metadata?.a2a_artifactId ?? `artifact-${artifact.index ?? 0}`, parts: (artifact.parts ?? []).map(newPart) };
}

/**
 * The request that sends a message.
 *
 * @param {string} agent
 * @param {Choice} choice
 * @param {{message: Message, accepted: string[], streams: boolean}} send
 */
export function request(agent, { binding, dialect }, { message, accepted, streams }) {
  const { trace, header } = newTrace();
  const base = `agents/${encodeURIComponent(agent)}`;
  /** @type {Record<string, string>} */
  const headers = { 'Content-Type': 'application/json', Accept: streams ? 'text/event-stream' : 'application/json', traceparent: header };
  if (dialect === '1.0') headers['A2A-Version'] = '1.0';
  const modes = accepted.length ? { acceptedOutputModes: accepted } : {};
  const { messageId, taskId, contextId, metadata } = message;
  const call = (/** @type {string} */ method, /** @type {unknown} */ params) => ({ jsonrpc: '2.0', id: messageId, method, params });
  const rest = binding === 'HTTP+JSON';
  let body;
  let path = base;
  if (dialect === '1.0') {
    const params = { message, ...(accepted.length ? { configuration: modes } : {}) };
    body = rest ? params : call(streams ? 'SendStreamingMessage' : 'SendMessage', params);
    if (rest) path += streams ? '/message:stream' : '/message:send';
  } else if (dialect === '0.3') {
    const params = { message: { kind: 'message', messageId, taskId, contextId, metadata, role: 'user', parts: message.parts.map(oldPart) }, configuration: { ...modes, blocking: true } };
    body = rest ? params : call(streams ? 'message/stream' : 'message/send', params);
    if (rest) path += streams ? '/v1/message:stream' : '/v1/message:send';
  } else {
    const parts = message.parts.map(oldPart).map(({ kind, ...part }) => ({ type: kind, ...part }));
    body = call(streams ? 'tasks/sendSubscribe' : 'tasks/send', { id: taskId ?? newId(), sessionId: contextId, message: { role: 'user', parts }, ...modes });
  }
  return { path, headers, body: JSON.stringify(body, null, 2), trace };
}

/**
 * An answer, or an element of a stream, as that of 1.0.
 *
 * @param {Choice} choice
 * @param {any} json
 * @returns {StreamResponse}
 * @throws if it is an error
 */
export function answer({ binding, dialect }, json) {
  if (json?.error) throw Object.assign(new Error(String(json.error.message ?? 'error')), { code: json.error.code, details: json.error });
  const result = binding === 'JSONRPC' ? json.result : json;
  if (dialect === '1.0') return result;
  if (result.kind === 'message') return { message: newMessage(result) };
  if (result.kind === 'task' || (result.status && result.final === undefined && result.taskId === undefined && (result.history || result.artifacts || result.sessionId || !result.kind))) {
    const task = { ...result, contextId: result.contextId ?? result.sessionId, status: newStatus(result.status, result.id) };
    return { task: { ...task, history: (result.history ?? []).map((/** @type {any} */ each) => newMessage(each, result.id)), artifacts: (result.artifacts ?? []).map(newArtifact) } };
  }
  const taskId = result.taskId ?? result.id;
  if (result.status) return { statusUpdate: { taskId, contextId: result.contextId, status: newStatus(result.status, taskId), metadata: result.metadata } };
  const append = result.append ?? result.artifact?.append;
  return { artifactUpdate: { taskId, contextId: result.contextId, artifact: newArtifact(result.artifact), append, lastChunk: result.lastChunk ?? result.artifact?.lastChunk } };
}
