/** Places of the nodes of a graph by forces: the same graph has the same picture. Pure: no page, no network. */

const LENGTH = 84; // of an edge at rest
const ROUNDS = 180;
const STRETCH = 1.6; // names are wider than high
const TURN = 2.399963; // golden angle: nodes around another one begin apart

/** @typedef {{x: number, y: number}} Place */

/**
 * Nodes that have a place keep it, about; new ones begin beside the node that they belong to.
 *
 * @param {Iterable<{key: string, near?: string}>} nodes some hundred at most, each after the one that it is near to
 * @param {{from: string, to: string}[]} edges
 * @param {Map<string, Place>} before
 * @returns {Map<string, Place>}
 */
export function places(nodes, edges, before) {
  /** @type {Map<string, Place & {dx: number, dy: number, ease: number}>} */
  const spots = new Map();
  for (const { key, near } of nodes) {
    const [i, old, parent] = [spots.size, before.get(key), spots.get(near ?? '')];
    const radius = parent ? LENGTH * (0.8 + (i % 3) * 0.2) : 30 * Math.sqrt(i);
    spots.set(key, { x: old ? old.x / STRETCH : (parent?.x ?? 0) + Math.cos(i * TURN) * radius, y: old?.y ?? (parent?.y ?? 0) + Math.sin(i * TURN) * radius, dx: 0, dy: 0, ease: old ? 0.2 : i ? 1 : 0.1 });
  }
  const all = [...spots.values()];
  const push = (/** @type {typeof all[0]} */ a, /** @type {typeof all[0]} */ b, /** @type {boolean} */ isEdge) => {
    const x = a.x - b.x || 0.01;
    const y = a.y - b.y || 0.01;
    const square = x * x + y * y;
    const strength = isEdge ? (1 - Math.sqrt(square) / LENGTH) / 3 : (LENGTH * LENGTH) / 2 / Math.max(40, square);
    a.dx += x * strength, a.dy += y * strength, b.dx -= x * strength, b.dy -= y * strength;
  };
  const ties = edges.map(({ from, to }) => [spots.get(from), spots.get(to)]);
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 1; i < all.length; i++) for (let j = 0; j < i; j++) push(all[i], all[j], false);
    for (const [a, b] of ties) if (a && b && a !== b) push(a, b, true);
    for (const spot of all) {
      const [x, y] = [spot.dx - spot.x * 0.02, spot.dy - spot.y * 0.03];
      const step = spot.ease * Math.min(1, (18 * (1 - round / ROUNDS)) / (Math.hypot(x, y) || 1));
      Object.assign(spot, { x: spot.x + x * step, y: spot.y + y * step, dx: 0, dy: 0 });
    }
  }
  return new Map([...spots].map(([key, { x, y }]) => [key, { x: Math.round(x * STRETCH), y: Math.round(y) }]));
}
