/** Traces: their tree, the critical path, repeats. Pure: no page, no network. */

/**
 * @typedef {{at: string, kind: string, state?: string, text?: string}} SpanEvent
 * @typedef {{id: string, parent?: string, kind: string, agent: string, caller: string, name: string, started: string, ended?: string, state: string, error?: string, events: SpanEvent[]}} Span
 * @typedef {{trace?: string, spans: Span[], hasMore?: boolean, link?: string}} Trace
 * @typedef {{span: Span, depth: number, from: number, to: number, times: number, key: string, isBad: boolean}} Row
 */

/** Whether a span failed. @param {Span} span */
export const isBad = ({ kind, state, error }) => !!error || /FAILED|REJECTED/.test(state) || (kind === 'audit' && /denied|failed|error/i.test(state));

/** End of a span in milliseconds. @param {Span} span @param {number} now */
const endOf = (span, now) => Math.max(Date.parse(span.started), span.ended ? Date.parse(span.ended) : now);

/** Children by the id of their parent; roots under ''. @param {Span[]} spans */
export function children(spans) {
  const ids = new Set(spans.map(span => span.id));
  /** @type {Map<string, Span[]>} */
  const byParent = new Map();
  for (const span of spans) {
    const parent = span.parent && span.parent !== span.id && ids.has(span.parent) ? span.parent : '';
    byParent.set(parent, [...(byParent.get(parent) ?? []), span]);
  }
  return byParent;
}

/**
 * Ids of the spans that determine the end: from the end backwards, at each time the child that ended last before it, and its own children.
 * Of children that ended in the same millisecond, the one that began last comes first: it may have begun as the other ended.
 *
 * @param {Span[]} spans @param {number} now
 * @returns {Set<string>}
 */
export function criticalPath(spans, now) {
  const byParent = children(spans);
  const chain = new Set();
  const follow = (/** @type {string} */ parent, /** @type {number} */ end) => {
    const rest = (byParent.get(parent) ?? []).filter(span => span.kind !== 'audit').sort((a, b) => endOf(b, now) - endOf(a, now) || Date.parse(b.started) - Date.parse(a.started));
    for (const span of rest) {
      if (endOf(span, now) > end || chain.has(span.id)) continue;
      chain.add(span.id);
      follow(span.id, endOf(span, now));
      end = Date.parse(span.started);
      if (!parent) break; // one root has the last end
    }
  };
  follow('', Infinity);
  return chain;
}

/**
 * Rows from the top, each span above its children.
 *
 * @param {Span[]} spans
 * @param {{now: number, errors?: boolean, collapse?: boolean, open?: Set<string>, most?: number}} options {@code errors}: only failed spans and those above them; {@code open}: keys of repeats that are shown each
 * @returns {{rows: Row[], more: number}}
 */
export function rowsOf(spans, { now, errors = false, collapse = false, open = new Set(), most = 200 }) {
  const byParent = children(errors ? withFailures(spans) : spans);
  /** @type {Row[]} */
  const rows = [];
  const visit = (/** @type {string} */ parent, /** @type {number} */ depth) => {
    /** @type {Map<string, Span[]>} */
    const groups = new Map();
    for (const span of byParent.get(parent) ?? []) {
      const key = collapse ? `${parent}/${span.agent}/${span.name}` : span.id;
      groups.set(key, [...(groups.get(key) ?? []), span]);
    }
    byParent.delete(parent); // a circle ends
    for (const [key, group] of groups) {
      const [span] = group;
      if (group.length > 1) rows.push({ span, depth, times: group.length, key, from: Date.parse(span.started), to: Math.max(...group.map(each => endOf(each, now))), isBad: group.some(isBad) });
      if (group.length > 1 && !open.has(key)) continue;
      for (const each of group) {
        const inner = group.length > 1 ? depth + 1 : depth;
        rows.push({ span: each, depth: inner, times: 1, key, from: Date.parse(each.started), to: endOf(each, now), isBad: isBad(each) });
        visit(each.id, inner + 1);
      }
    }
  };
  visit('', 0);
  return { rows: rows.slice(0, most), more: Math.max(0, rows.length - most) };
}

/** Failed spans, and those above them. @param {Span[]} spans */
function withFailures(spans) {
  const byId = new Map(spans.map(span => [span.id, span]));
  const kept = new Set();
  for (const span of spans.filter(isBad)) for (let each = /** @type {Span | undefined} */ (span); each && !kept.has(each.id); each = byId.get(each.parent ?? '')) kept.add(each.id);
  return spans.filter(span => kept.has(span.id));
}

/**
 * Arrows between lifelines, in the order of time: the message that begins a span, its status and artifacts, and its answer.
 *
 * @param {Row[]} rows @param {Span[]} spans
 * @returns {{lanes: string[], arrows: {span: Span, from: string, to: string, kind: string, text: string, at: number}[]}}
 */
export function arrowsOf(rows, spans) {
  const byId = new Map(spans.map(span => [span.id, span]));
  /** @type {Set<string>} */
  const lanes = new Set();
  const arrows = rows.filter(row => row.span.kind !== 'audit' && (row.times === 1 || !rows.some(other => other.times === 1 && other.span.id === row.span.id))).flatMap(({ span, times }) => {
    const from = byId.get(span.parent ?? '')?.agent ?? (span.caller || 'anonymous');
    lanes.add(from).add(span.agent);
    const arrow = (/** @type {string} */ kind, /** @type {string} */ text, /** @type {string} */ at) => ({ span, from: kind === 'message' ? from : span.agent, to: kind === 'message' ? span.agent : from, kind, text, at: Date.parse(at) });
    const first = arrow('message', `${span.name || 'message'}${times > 1 ? ` × ${times}` : ''}`, span.started);
    const events = span.events.filter(({ state }) => state !== span.state && !/SUBMITTED/.test(state ?? '')).map(({ kind, text, state, at }) => arrow(kind === 'artifact' ? kind : 'status', text || (state ?? kind).replace('TASK_STATE_', '').toLowerCase(), at));
    return [first, ...events, ...(span.ended ? [arrow('answer', span.error || span.state.replace('TASK_STATE_', '').toLowerCase(), span.ended)] : [])];
  });
  return { lanes: [...lanes], arrows: arrows.sort((a, b) => a.at - b.at) };
}
