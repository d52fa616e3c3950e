/** Tasks from their events, as the engine keeps them. Pure: no page, no network. */
import { isTerminal, isWaiting } from './format.js';

/**
 * @typedef {import('./types.js').Task} Task
 * @typedef {import('./types.js').Message} Message
 * @typedef {import('./types.js').Artifact} Artifact
 */

/**
 * The task after an event.
 *
 * @param {Task | undefined} task
 * @param {import('./types.js').StreamResponse} event
 * @returns {Task | undefined} undefined if there is no task yet
 */
export function apply(task, event) {
  if (event.task) return task?.id === event.task.id ? renewed(task, event.task) : event.task;
  const update = event.statusUpdate;
  if (update) {
    const known = task ?? { id: update.taskId, contextId: update.contextId, status: update.status };
    const before = task?.status.message;
    const history = before && !has(task?.history, before) ? [...(task?.history ?? []), before] : task?.history;
    return { ...known, history, status: update.status, metadata: { ...known.metadata, ...update.metadata } };
  }
  const produced = event.artifactUpdate;
  if (produced) {
    const known = task ?? { id: produced.taskId, contextId: produced.contextId, status: { state: 'TASK_STATE_WORKING' } };
    return { ...known, artifacts: withArtifact(known.artifacts ?? [], produced.artifact, !!produced.append) };
  }
  return task;
}

/** A stream that continues a task begins with a snapshot, which may lack what came before. @param {Task} known @param {Task} next @returns {Task} */
function renewed(known, next) {
  const fresh = (next.history ?? []).filter(message => !has(known.history, message));
  return { ...next, history: [...(known.history ?? []), ...fresh], artifacts: next.artifacts ?? known.artifacts };
}

/** @param {Message[] | undefined} history @param {Message} message */
const has = (history, message) => !!history?.some(each => each.messageId === message.messageId);

/** @param {Artifact[]} artifacts @param {Artifact} artifact @param {boolean} append @returns {Artifact[]} */
function withArtifact(artifacts, artifact, append) {
  const at = artifacts.findIndex(each => each.artifactId === artifact.artifactId);
  if (at < 0) return [...artifacts, artifact];
  const before = artifacts[at];
  const whole = append ? { ...before, parts: joined(before.parts, artifact.parts), metadata: { ...before.metadata, ...artifact.metadata } } : artifact;
  return artifacts.map((each, i) => (i === at ? whole : each));
}

/** Pieces of a text are one text. @param {import('./types.js').Part[]} parts @param {import('./types.js').Part[]} more */
function joined(parts, more) {
  const last = parts.at(-1);
  const first = more[0];
  if (typeof last?.text === 'string' && typeof first?.text === 'string' && (first.mediaType ?? last.mediaType) === last.mediaType) {
    return [...parts.slice(0, -1), { ...last, text: last.text + first.text }, ...more.slice(1)];
  }
  return [...parts, ...more];
}

/** @param {Task} task @param {Message} message the caller's answer to a question of the task */
export function answered(task, message) {
  const question = task.status.message;
  const history = [...(task.history ?? []), ...(question && !has(task.history, question) ? [question] : []), message];
  return { ...task, history, status: { state: 'TASK_STATE_WORKING', timestamp: new Date().toISOString() } };
}

/**
 * @typedef {{kind: 'say', mine: boolean, message: Message} | {kind: 'steps', messages: Message[], done: boolean} | {kind: 'artifact', artifact: Artifact}
 *     | {kind: 'ask', message: Message | undefined, state: string}} Bubble
 */

/** The conversation of a task: progress between two messages of the caller is one bubble. @param {Task} task @returns {Bubble[]} */
export function bubbles(task) {
  /** @type {Bubble[]} */
  const all = [];
  /** @type {Message[]} */
  let steps = [];
  const { state, message: last } = task.status;
  const ended = isTerminal(state);
  const flush = (/** @type {boolean} */ done) => {
    if (steps.length) all.push({ kind: 'steps', messages: steps, done });
    steps = [];
  };
  const history = task.history ?? [];
  history.forEach((message, i) => {
    if (last && message.messageId === last.messageId) return;
    if (message.role === 'ROLE_USER') {
      flush(true);
      all.push({ kind: 'say', mine: true, message });
    } else if (history[i + 1]?.role === 'ROLE_USER') {
      flush(true);
      all.push({ kind: 'say', mine: false, message }); // a question that was answered
    } else {
      steps.push(message);
    }
  });
  if (!ended && !isWaiting(state) && last) steps.push(last);
  flush(ended || isWaiting(state));
  for (const artifact of task.artifacts ?? []) all.push({ kind: 'artifact', artifact });
  if (isWaiting(state)) all.push({ kind: 'ask', message: last, state });
  else if (ended && last) all.push({ kind: 'say', mine: false, message: last });
  return all;
}

/** Progress of a task in percent, if the agent tells it. @param {{metadata?: Record<string, unknown>, status?: {state: string}}} task */
export function progressOf(task) {
  if (task.status?.state === 'TASK_STATE_COMPLETED') return 100;
  const value = Number(task.metadata?.progress);
  return task.metadata?.progress === undefined || Number.isNaN(value) ? undefined : Math.max(0, Math.min(100, value));
}

/** First message of the caller. @param {Task} task */
export const firstMessage = task => task.history?.find(message => message.role === 'ROLE_USER');
