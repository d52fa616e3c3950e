/** Timeline of a task: one bar for each step, its summary on the bar, the text of a failure on the bar that failed. */
import { html, nothing } from 'lit';
import { duration, isTerminal, isWaiting, line, plural, stateOf, textOf } from '../format.js';
import { place } from './element.js';

/**
 * @typedef {{lane: string, kind: string, text: string, from: number, to: number, open: boolean, times: number}} Step
 * @typedef {import('../types.js').NumberedEvent} NumberedEvent
 */

const MOST = 24; // lanes

/** Time of an event. @param {NumberedEvent} each @param {number} before time of the event before */
function timeOf(each, before) {
  const at = Date.parse(each.at ?? each.event.statusUpdate?.status.timestamp ?? each.event.task?.status.timestamp ?? '');
  return Number.isNaN(at) ? before : at;
}

/**
 * Steps of a task. A status lasts until the next one; an artifact from its first piece to its last.
 *
 * @param {NumberedEvent[]} events
 * @param {number} now
 * @returns {Step[]}
 */
export function stepsOf(events, now) {
  /** @type {Step[]} */
  const steps = [];
  /** @type {Map<string, Step>} */
  const artifacts = new Map();
  /** @type {Step | undefined} */
  let status;
  let at = 0;
  for (const each of events) {
    at = timeOf(each, at || now);
    const moved = each.event.statusUpdate?.status ?? each.event.task?.status;
    const produced = each.event.artifactUpdate;
    if (moved) {
      if (status) Object.assign(status, { to: at, open: false });
      const { word, kind } = stateOf(moved.state);
      const text = line(textOf(moved.message?.parts), 160);
      if (status && text && status.text === text && status.lane === word) { // the same words again
        Object.assign(status, { to: now, open: !isTerminal(moved.state), times: status.times + 1 });
        continue;
      }
      const same = status && status.lane === word && status.kind === kind && !isTerminal(moved.state) && !isWaiting(moved.state);
      const ends = isTerminal(moved.state);
      status = { lane: word, kind, text: text || (ends ? word : ''), from: at, to: ends ? at : now, open: !ends, times: 1 };
      if (same && steps.at(-1)?.text === '') status.from = steps.pop()?.from ?? at; // a state without words, and its words
      steps.push(status);
    } else if (produced) {
      const { artifactId, name, parts } = produced.artifact;
      const known = artifacts.get(artifactId);
      if (known) {
        Object.assign(known, { to: at, times: known.times + 1, open: !produced.lastChunk });
        continue;
      }
      const step = { lane: 'artifact', kind: 'ok', text: line(name || textOf(parts) || artifactId, 80), from: at, to: at, open: produced.lastChunk === false, times: 1 };
      artifacts.set(artifactId, step);
      steps.push(step);
    }
  }
  return collapsed(steps.map(step => (step.times === 1 ? step : { ...step, text: step.lane === 'artifact' ? `${step.text}, ${plural(step.times, 'piece')}` : `${step.text} × ${step.times}` })));
}

/** Many siblings are one bar with their number. @param {Step[]} steps @returns {Step[]} */
function collapsed(steps) {
  if (steps.length <= MOST) return steps;
  /** @type {Step[]} */
  const few = [];
  for (const step of steps) {
    const last = few.at(-1);
    if (last && last.lane === step.lane && last.kind === step.kind) Object.assign(last, { to: step.to, open: step.open, text: step.text, times: last.times + 1 });
    else few.push({ ...step });
  }
  return few.slice(-3 * MOST).map(step => (step.times > 1 && step.lane !== 'artifact' ? { ...step, text: `× ${step.times}, last: ${step.text}` } : step));
}

/** @param {Step[]} steps */
export function timeline(steps) {
  if (!steps.length) return nothing;
  const begin = steps[0].from;
  const end = Math.max(...steps.map(step => step.to), begin + 1);
  const span = end - begin;
  const percent = (/** @type {number} */ time) => ((time - begin) / span) * 100;
  return html`<ol class="time" aria-label="Timeline">
    ${steps.map((step, i) => {
      const left = percent(step.from);
      const width = Math.max(0.6, percent(step.to) - left);
      const room = 100 - left;
      const fits = width > Math.min(60, step.text.length * 1.15 + 3);
      const side = fits ? '' : room - width > Math.min(70, step.text.length * 1.3 + 4) ? 'after' : 'before';
      const lane = steps[i - 1]?.lane === step.lane ? html`<span class="only-read">${step.lane}</span>` : step.lane;
      return html`<li class="lane"><span class="cut dim">${lane}</span>
        <div class="track"><div class="step ${step.kind} ${side} ${step.open ? 'open' : ''}" title=${step.text} ${place({ '--left': `${Math.min(99.4, left)}%`, '--width': `${Math.min(width, 100 - Math.min(99.4, left))}%`, '--room': String(room / 100) })}><b class="cut">${step.text}</b></div></div>
        <span class="num dim">${step.open ? '…' : step.to === step.from ? '' : duration(step.to - step.from)}</span></li>`;
    })}
    <li class="axis" aria-hidden="true"><span></span><span class="ticks">${(span < 8 ? [0, 1] : [0, 0.25, 0.5, 0.75, 1]).map(part => html`<i>${part ? duration(span * part) : '0'}</i>`)}</span><span></span></li>
  </ol>`;
}

/** @param {Step[]} steps */
export function summary(steps) {
  if (!steps.length) return '';
  const failed = steps.filter(step => step.kind === 'bad').length;
  const span = Math.max(...steps.map(step => step.to)) - steps[0].from;
  return `${plural(steps.reduce((sum, step) => sum + step.times, 0), 'step')} in ${duration(span)}${failed ? `, ${failed} failed` : ''}`;
}
