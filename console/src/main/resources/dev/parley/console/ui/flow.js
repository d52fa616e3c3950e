/** Graphs of workflows: where the nodes stand, what they were at an event, and which chain took longest. Pure: no page, no network. */

/**
 * @typedef {{id: string, agent?: string, task?: string, depends?: string[], state: string, attempts?: number, taskId?: string, problem?: string, choice?: any}} Step
 * @typedef {{step: Step, x: number, y: number}} Node
 * @typedef {{nodes: Node[], edges: {from: Node, to: Node}[], width: number, height: number}} Layout
 * @typedef {{number: number, at?: string, event: any}} Event
 */

export const WIDTH = 168;
export const HEIGHT = 46;
const GAP_X = 52;
const GAP_Y = 16;
const STEP = 'one/step/'; // members of the metadata of events with the state of a step

/**
 * Layers from left to right, each step after those on which it depends. Within a layer steps stand near those of the layer before.
 *
 * @param {Step[]} steps each after those on which it depends, or not
 * @returns {Layout}
 */
export function layout(steps) {
  const byId = new Map(steps.map(step => [step.id, step]));
  /** @type {Map<string, number>} */
  const layers = new Map();
  const depth = (/** @type {Step} */ step, /** @type {Set<string>} */ above) => {
    const known = layers.get(step.id);
    if (known !== undefined) return known;
    if (above.has(step.id)) return 0; // a circle, in a document that is being written
    above.add(step.id);
    let layer = 0;
    for (const id of step.depends ?? []) {
      const before = byId.get(id);
      if (before) layer = Math.max(layer, depth(before, above) + 1);
    }
    above.delete(step.id);
    layers.set(step.id, layer);
    return layer;
  };
  /** @type {Step[][]} */
  const columns = [];
  for (const step of steps) (columns[depth(step, new Set())] ??= []).push(step);
  /** @type {Map<string, Node>} */
  const nodes = new Map();
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i] ?? [];
    const place = (/** @type {Step} */ step) => {
      const before = (step.depends ?? []).flatMap(id => nodes.get(id)?.y ?? []);
      return before.length ? before.reduce((sum, y) => sum + y, 0) / before.length : 0;
    };
    const sorted = i ? [...column].sort((a, b) => place(a) - place(b)) : column;
    sorted.forEach((step, row) => nodes.set(step.id, { step, x: i * (WIDTH + GAP_X), y: row * (HEIGHT + GAP_Y) }));
  }
  const all = [...nodes.values()];
  const edges = all.flatMap(to => (to.step.depends ?? []).flatMap(id => (nodes.has(id) ? [{ from: /** @type {Node} */ (nodes.get(id)), to }] : [])));
  return { nodes: all, edges, width: columns.length * (WIDTH + GAP_X) - GAP_X, height: Math.max(1, ...Array.from(columns, column => column?.length ?? 0)) * (HEIGHT + GAP_Y) - GAP_Y };
}

/** Changes of steps in an event. @param {any} event @returns {[string, any][]} */
const changes = event => Object.entries({ ...event.task?.metadata, ...event.statusUpdate?.metadata }).filter(([name]) => name.startsWith(STEP)).map(([name, change]) => [name.slice(STEP.length), change]);

/**
 * Steps as they were after an event, and from when to when each was at work.
 *
 * @param {Step[]} steps of the run as it is
 * @param {Event[]} events of the task of the run, in order
 * @param {number} at number of the last event that counts
 */
export function replay(steps, events, at) {
  /** @type {Map<string, Step>} */
  const now = new Map(steps.map(step => [step.id, { ...step, state: 'waiting', taskId: undefined, problem: undefined, attempts: 0 }]));
  /** @type {Map<string, {begun?: number, ended?: number}>} */
  const times = new Map();
  const first = Date.parse(events[0]?.at ?? '');
  for (const { number, at: when, event } of events) {
    if (number > at) break;
    for (const [id, change] of changes(event)) {
      const step = now.get(id);
      if (!step || typeof change?.state !== 'string') continue;
      now.set(id, { ...step, state: change.state, taskId: change.taskId ?? step.taskId, problem: change.problem, attempts: change.attempt ?? step.attempts });
      const time = Date.parse(when ?? '');
      const known = times.get(id) ?? {};
      const before = Math.max(first, ...(step.depends ?? []).map(each => times.get(each)?.ended ?? first));
      times.set(id, { begun: known.begun ?? (change.state === 'running' ? time : before), ended: change.state === 'running' || change.state === 'input-required' ? undefined : time });
    }
  }
  return { steps: [...now.values()], times };
}

/**
 * Ids of the chain of steps that took longest. Of chains that took equally long, it is the one of most steps: a step may begin and end
 * within the millisecond in which those before it ended.
 *
 * @param {Step[]} steps
 * @param {Map<string, {begun?: number, ended?: number}>} times
 * @param {number} now end of the steps that are at work
 * @returns {Set<string>}
 */
export function criticalPath(steps, times, now) {
  const byId = new Map(steps.map(step => [step.id, step]));
  /** @typedef {{length: number, steps: number, before?: string}} Chain length in ms, number of steps, and the step before the last one */
  /** @type {Map<string, Chain>} */
  const best = new Map();
  const isLonger = (/** @type {Chain} */ a, /** @type {Chain} */ b) => a.length > b.length || (a.length === b.length && a.steps > b.steps);
  const measure = (/** @type {Step} */ step) => {
    const known = best.get(step.id);
    if (known) return known;
    const { begun, ended } = times.get(step.id) ?? {};
    /** @type {Chain} */
    const path = { length: 0, steps: 0 };
    best.set(step.id, path);
    for (const id of step.depends ?? []) {
      const before = byId.get(id);
      const chain = before && measure(before);
      if (chain && isLonger(chain, path)) Object.assign(path, { length: chain.length, steps: chain.steps, before: id });
    }
    if (begun !== undefined) path.length += (ended ?? now) - begun;
    path.steps++;
    return path;
  };
  let last = steps.filter(step => times.has(step.id)).reduce((/** @type {Step | undefined} */ most, step) => (!most || isLonger(measure(step), measure(most)) ? step : most), undefined);
  const chain = new Set();
  while (last && !chain.has(last.id)) {
    chain.add(last.id);
    last = byId.get(measure(last).before ?? '');
  }
  return chain;
}
