/** Picture of a workflow: a link for each step, colour and word for its state. */
import { html, nothing, svg } from 'lit';
import { HEIGHT, WIDTH, layout } from '../flow.js';
import { duration, line } from '../format.js';
import { go } from '../route.js';
import { place } from './element.js';

const KINDS = /** @type {Record<string, string>} */ ({ completed: 'ok', running: 'run', 'input-required': 'wait', failed: 'bad' });
const LONGEST = 19; // characters of a name

/** Class of the colour of a state. @param {string} state */
export const kindOf = state => KINDS[state] ?? 'off';

/** @param {string} text */
const cut = text => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);

/**
 * @param {import('../flow.js').Step[]} steps
 * @param {{href?: (id: string) => string, selected?: string, critical?: Set<string>, times?: Map<string, {begun?: number, ended?: number}>, now?: number}} [options]
 */
export function graph(steps, { href, selected, critical = new Set(), times = new Map(), now = 0 } = {}) {
  const { nodes, edges, width, height } = layout(steps);
  const isCritical = (/** @type {string} */ a, /** @type {string} */ b) => critical.has(a) && critical.has(b);
  return html`<div class="flow" tabindex="0" role="group" aria-label="Graph of the steps"><svg width=${width + 4} height=${height + 4} viewBox="-2 -2 ${width + 4} ${height + 4}">
    ${edges.map(({ from, to }) => {
      const [x1, y1, x2, y2] = [from.x + WIDTH, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2];
      return svg`<path class="edge ${isCritical(from.step.id, to.step.id) ? 'critical' : ''}" d="M${x1} ${y1}C${x1 + 26} ${y1} ${x2 - 26} ${y2} ${x2} ${y2}" />`;
    })}
    ${nodes.map(({ step, x, y }) => {
      const { begun, ended } = times.get(step.id) ?? {};
      const took = begun === undefined ? '' : duration((ended ?? now) - begun);
      const [id, agent] = [line(step.id, 200), line(step.agent, 100)];
      const box = svg`<title>${id}: ${line(step.state, 30)}${step.problem ? `, ${line(step.problem, 300)}` : ''}</title>
        <rect width=${WIDTH} height=${HEIGHT} rx="8" /><text x="12" y="19" class="name">${cut(id)}</text><text x="12" y="36">${cut(`${line(step.state, 20)}${took ? `, ${took}` : agent ? `, ${agent}` : ''}`)}</text>`;
      const name = `node ${kindOf(step.state)} ${critical.has(step.id) ? 'critical' : ''} ${step.id === selected ? 'on' : ''}`;
      const follow = (/** @type {MouseEvent} */ event) => href && !event.ctrlKey && !event.metaKey && !event.shiftKey && (event.preventDefault(), go(href(step.id)));
      return href ? svg`<a class=${name} href=${href(step.id)} @click=${follow} transform="translate(${x} ${y})" aria-current=${step.id === selected ? 'true' : nothing}>${box}</a>` : svg`<g class=${name} transform="translate(${x} ${y})">${box}</g>`;
    })}</svg></div>`;
}

/** Progress in percent as a bar. @param {number} percent */
export const progressBar = percent => html`<span class="bar" role="progressbar" aria-valuenow=${percent} aria-label="Progress"><i ${place({ '--part': `${percent}%` })}></i></span>`;
