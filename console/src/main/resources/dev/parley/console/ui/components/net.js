/** Picture of a graph: the opacity of an edge is its certainty, and one of unknown certainty is dashed. Nodes take the focus. */
import { html, nothing, svg } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { line, plural, utc } from '../format.js';
import { short, termText } from '../knowledge.js';
import { place } from './element.js';

const LABELS = 60; // edges; of more only those of the chosen node have their predicates
const HALF = 14; // of the height of a node

const cut = (/** @type {string} */ text) => (text.length > 24 ? `${text.slice(0, 23)}…` : text);
const wide = (/** @type {Node} */ node) => Math.max(22, cut(node.label).length * 3.6 + 11);

/** @param {number | undefined} certainty */
export const certaintyText = certainty => (certainty === undefined ? 'unknown' : String(Math.round(certainty * 1_000) / 1_000));

/**
 * @typedef {import('../knowledge.js').Node} Node
 * @typedef {import('../force.js').Place} Place
 * @param {{nodes: Map<string, Node>, edges: Map<string, import('../knowledge.js').Edge>, at: Map<string, Place>, chosen?: string, start?: string, fresh?: Set<string>, pinned?: Set<string>, expanded?: Map<string, unknown>,
 *     open: (node: Node) => void, choose?: (node: Node) => void, chooseEdge?: (key: string) => void, key?: (event: KeyboardEvent, node: Node) => void}} net
 */
export function net({ nodes, edges, at, chosen, start, fresh, pinned, expanded, open, choose, chooseEdge, key }) {
  const spot = (/** @type {string} */ name) => at.get(name) ?? { x: 0, y: 0 };
  const reaches = [...nodes.values()].map(node => ({ ...spot(node.key), w: wide(node) }));
  const [left, top] = [Math.min(-200, ...reaches.map(({ x, w }) => x - w)) - 24, Math.min(-120, ...reaches.map(({ y }) => y)) - 40];
  const [width, height] = [Math.max(200, ...reaches.map(({ x, w }) => x + w)) + 24 - left, Math.max(120, ...reaches.map(({ y }) => y)) + 40 - top];
  const pairs = /** @type {Map<string, number>} */ (new Map());
  return html`<div class="net" ${place({ '--w': `${width}px` })}><svg viewBox="${left} ${top} ${width} ${height}" role="group" aria-label="Graph of ${plural(nodes.size, 'node')} and ${plural(edges.size, 'statement')}">
    <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" /></marker></defs>
    ${[...nodes.values()].map(node => (node.of === undefined ? nothing : svg`<path class="to-more" d=${curve(spot(String(node.near)), spot(node.key), 0, 0).path} />`))}
    ${repeat(edges.values(), edge => edge.key, edge => {
      const pair = [edge.from, edge.to].sort().join(' ');
      const number = pairs.get(pair) ?? 0;
      pairs.set(pair, number + 1);
      const { path, x, y } = curve(spot(edge.from), spot(edge.to), wide(/** @type {Node} */ (nodes.get(edge.to))), edge.from < edge.to ? number : -number);
      const isOn = chosen !== undefined && [edge.key, edge.from, edge.to].includes(chosen);
      return svg`<g class="tie ${edge.certainty === undefined ? 'unknown' : ''} ${isOn ? 'on' : ''} ${fresh?.has(edge.key) ? 'fresh' : ''}" @click=${() => chooseEdge?.(edge.key)}>
        <title>${short(edge.subject)} ${short(edge.predicate)} ${termText(edge.object)}: certainty ${certaintyText(edge.certainty)}, from ${line(edge.source ?? 'unknown', 60)}, ${utc(edge.at)}</title>
        <path class="hit" d=${path} /><path class="ray" d=${path} stroke-opacity=${(0.2 + 0.8 * (edge.certainty ?? 0.6)).toFixed(2)} marker-end="url(#tip)" />
        ${edges.size <= LABELS || isOn ? svg`<text x=${x} y=${y + 4}>${cut(short(edge.predicate))} <tspan>${edge.certainty === undefined ? '' : certaintyText(edge.certainty)}</tspan></text>` : nothing}</g>`;
    })}
    ${repeat(nodes.values(), node => node.key, node => {
      const [{ x, y }, w, id] = [spot(node.key), wide(node), node.id ?? ''];
      const kind = node.of !== undefined ? 'more' : node.id === undefined ? 'value' : 'entity';
      const state = `${expanded?.has(id) ? ', expanded' : ''}${pinned?.has(id) ? ', pinned' : ''}`;
      return svg`<g class="dot ${kind} ${node.key === chosen ? 'on' : ''} ${start && id === start ? 'start' : ''}" transform="translate(${x} ${y})" tabindex="0" role="button" aria-label="${node.label}${state}"
        @click=${() => (kind === 'more' ? open(node) : choose?.(node))} @dblclick=${() => kind === 'entity' && open(node)} @keydown=${(/** @type {KeyboardEvent} */ event) => (event.key === 'Enter' ? open(node) : event.key === ' ' ? (event.preventDefault(), kind === 'more' ? open(node) : choose?.(node)) : key?.(event, node))}>
        <title>${line(node.id ?? node.label, 300)}${state}</title><rect x=${-w} y=${-HALF} width=${2 * w} height=${2 * HALF} rx=${kind === 'value' ? 4 : HALF} /><text y="4.5">${cut(node.label)}</text>
        ${pinned?.has(id) ? svg`<circle class="pin" cx=${w - 4} cy=${3 - HALF} r="4.5" />` : nothing}</g>`;
    })}</svg></div>`;
}

/** A line to the border of the box at its end, bent if it is one of several, and the place of its text. @param {Place} a @param {Place} b @param {number} w @param {number} number */
function curve(a, b, w, number) {
  const [u, v] = [b.x - a.x, b.y - a.y];
  if (!u && !v) return { path: `M${a.x} ${a.y}c-50 -80 50 -80 8 -14`, x: a.x, y: a.y - 56 };
  const bend = (Math.sign(number) * Math.ceil(Math.abs(number) / 2) * (number % 2 ? 44 : -44)) / Math.hypot(u, v);
  const [mx, my] = [(a.x + b.x) / 2 - v * bend, (a.y + b.y) / 2 + u * bend];
  const share = w ? Math.min(0.9, w / Math.abs(b.x - mx || 0.01), HALF / Math.abs(b.y - my || 0.01)) : 0;
  return { path: `M${a.x} ${a.y}Q${mx} ${my} ${b.x - (b.x - mx) * share} ${b.y - (b.y - my) * share}`, x: (a.x + b.x) / 4 + mx / 2, y: (a.y + b.y) / 4 + my / 2 };
}

const LOOK = ['fill', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-dasharray', 'font-size', 'font-weight', 'font-family', 'text-anchor', 'paint-order', 'stroke-linejoin'];

/** The picture as a file of its own, with the colours that it has on the page. @param {SVGSVGElement} picture */
export function standalone(picture) {
  const copy = /** @type {SVGSVGElement} */ (picture.cloneNode(true));
  const ground = document.createElementNS(copy.namespaceURI, 'rect');
  const box = picture.viewBox.baseVal;
  const set = (/** @type {Element} */ element, /** @type {Record<string, unknown>} */ values) => Object.entries(values).forEach(([name, value]) => element.setAttribute(name, String(value)));
  const originals = picture.querySelectorAll('*');
  copy.querySelectorAll('*').forEach((element, i) => {
    for (const name of ['class', 'tabindex', 'role', 'aria-label']) element.removeAttribute(name);
    set(element, Object.fromEntries(LOOK.map(name => [name, getComputedStyle(originals[i]).getPropertyValue(name)])));
  });
  set(ground, { x: box.x, y: box.y, width: box.width, height: box.height, fill: getComputedStyle(/** @type {Element} */ (picture.closest('.card'))).backgroundColor });
  set(copy, { width: box.width, height: box.height });
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy).replace(/<!--.*?-->/gs, '');
}

/** The picture in pixels, in base 64. @param {SVGSVGElement} picture */
export async function pixels(picture) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([standalone(picture)], { type: 'image/svg+xml' }));
  await image.decode();
  const scale = Math.min(2, 8_000 / Math.max(image.width, image.height)); // below the largest canvas of browsers
  const canvas = Object.assign(document.createElement('canvas'), { width: image.width * scale, height: image.height * scale });
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return canvas.toDataURL('image/png').split(',')[1];
}
