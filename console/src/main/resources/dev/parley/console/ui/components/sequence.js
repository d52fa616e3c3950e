/** Sequence diagram of a trace: a lifeline for each party, an arrow for each message, status, artifact and answer. */
import { html, nothing, svg } from 'lit';
import { duration, line, plural } from '../format.js';
import { arrowsOf, isBad } from '../trace.js';

const MOST = 200; // arrows
const WIDTH = 170;
const HEIGHT = 30;
const TOP = 44;

/**
 * @param {import('../trace.js').Row[]} rows
 * @param {import('../trace.js').Span[]} spans
 * @param {{selected: string, critical: Set<string>, choose: (id: string) => void, begin: number}} options
 */
export function sequence(rows, spans, { selected, critical, choose, begin }) {
  const { lanes, arrows } = arrowsOf(rows, spans);
  const shown = arrows.slice(0, MOST);
  const x = (/** @type {string} */ lane) => 110 + lanes.indexOf(lane) * WIDTH;
  const bottom = TOP + shown.length * HEIGHT + 10;
  return html`<div class="flow" tabindex="0" role="group" aria-label="Sequence of the trace"><svg class="sequence" width=${lanes.length * WIDTH + 80} height=${bottom}>
      ${lanes.map(lane => svg`<g class="lifeline"><text x=${x(lane)} y="18" text-anchor="middle">${line(lane, 22)}</text><path d="M${x(lane)} 28V${bottom}" /></g>`)}
      ${shown.map(({ span, from, to, kind, text, at }, i) => {
        const [a, b, y] = [x(from), x(to), TOP + i * HEIGHT + 14];
        const tip = a === b ? -1 : Math.sign(b - a);
        const name = `arrow ${kind} ${isBad(span) && kind === 'answer' ? 'bad' : ''} ${critical.has(span.id) ? 'critical' : ''} ${span.id === selected ? 'on' : ''}`;
        return svg`<g class=${name} data-span=${span.id} @click=${() => choose(span.id)}><title>${kind}, ${line(from, 60)} to ${line(to, 60)}: ${line(text, 200)}</title>
          <rect x="0" y=${y - 18} width=${lanes.length * WIDTH + 80} height=${HEIGHT} /><path d=${a === b ? `M${a} ${y - 6}h30v10H${a}` : `M${a} ${y}H${b}`} /><path d="M${b - tip * 7} ${y - 4}L${b} ${y}l${-tip * 7} 4" />
          <text class="when" x="2" y=${y + 3}>${duration(at - begin)}</text><text x=${a === b ? a + 36 : (a + b) / 2} y=${y - 5} text-anchor=${a === b ? 'start' : 'middle'}>${line(text, 24)}</text></g>`;
      })}</svg></div>${arrows.length > MOST ? html`<p class="dim foot-line">+${plural(arrows.length - MOST, 'more arrow')}</p>` : nothing}`;
}
