/** Lines over time in SVG, with a cursor that several charts share. */
import { html, nothing, svg } from 'lit';
import { clock, line } from '../format.js';

const WIDTH = 900;
const HEIGHT = 120;
const TICKS = 3;

/**
 * @typedef {{name: string, kind: string, values: (number | undefined)[]}} Line a value for each step, undefined where there is none; {@code kind}: class of its colour
 * @typedef {{title: string, lines: Line[], times: string[], format: (value: number) => string, least: number, cursor: number | undefined, point: (step: number | undefined) => void, open: (step: number) => void, aside?: unknown}} Chart
 */

/** The next round number: 1, 2 or 5 times a power of ten. @param {number} value */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return ([1, 2, 5].find(each => each * power >= value) ?? 10) * power;
}

/** @param {Chart} chart */
export function chart({ title, lines, times, format, least, cursor, point, open, aside = nothing }) {
  const top = roundUp(Math.max(least, ...lines.flatMap(each => each.values.map(value => value ?? 0))));
  const x = (/** @type {number} */ step) => (times.length < 2 ? 0 : (step / (times.length - 1)) * WIDTH);
  const y = (/** @type {number} */ value) => HEIGHT - (value / top) * HEIGHT;
  const path = (/** @type {(number | undefined)[]} */ values) => values.map((value, i) => (value === undefined ? '' : `${i && values[i - 1] !== undefined ? 'L' : 'M'}${x(i).toFixed(1)} ${y(value).toFixed(1)}${values[i + 1] === undefined ? 'h.1' : ''}`)).join(''); // a single value is a dot
  const at = (/** @type {PointerEvent} */ event) => {
    const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
    return Math.max(0, Math.min(times.length - 1, Math.round(((event.clientX - box.left) / box.width) * (times.length - 1))));
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const last = times.length - 1;
    const to = { ArrowLeft: (cursor ?? last + 1) - 1, ArrowDown: (cursor ?? last + 1) - 1, ArrowRight: (cursor ?? last) + 1, ArrowUp: (cursor ?? last) + 1, Home: 0, End: last }[event.key];
    if (to !== undefined) event.preventDefault(), point(Math.max(0, Math.min(last, to)));
    else if (event.key === 'Escape') point(undefined);
    else if (event.key === 'Enter' && cursor !== undefined) event.stopPropagation(), open(cursor);
  };
  const said = cursor === undefined ? '' : `${clock(times[cursor])}: ${lines.map(each => `${each.name} ${each.values[cursor] === undefined ? 'none' : format(each.values[cursor] ?? 0)}`).join(', ')}`;
  return html`<section class="chart" aria-label=${title}><div class="row"><b class="grow">${title}</b>
      ${lines.map(each => html`<span class="key ${each.kind}">${each.name} <span class="num">${cursor === undefined || each.values[cursor] === undefined ? '' : format(each.values[cursor] ?? 0)}</span></span>`)}${aside}</div>
    <div class="plot"><div class="scale num" aria-hidden="true">${Array.from({ length: TICKS }, (_, i) => html`<span>${format((top * (TICKS - 1 - i)) / (TICKS - 1))}</span>`)}</div>
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="slider" tabindex="0" aria-label=${line(title, 80)} aria-valuemin="0" aria-valuemax=${Math.max(0, times.length - 1)} aria-valuenow=${cursor ?? 0} aria-valuetext=${said || 'no step is chosen'}
        @pointermove=${(/** @type {PointerEvent} */ event) => point(at(event))} @pointerleave=${() => point(undefined)} @click=${(/** @type {PointerEvent} */ event) => open(at(event))} @keydown=${key}>
        ${lines.map(each => svg`<path class="trend ${each.kind}" d=${path(each.values)} />`)}
        ${cursor === undefined ? nothing : svg`<line class="cursor" x1=${x(cursor)} x2=${x(cursor)} y1="0" y2=${HEIGHT} />`}</svg></div></section>`;
}
