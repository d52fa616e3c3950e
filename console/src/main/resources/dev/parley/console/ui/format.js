/** Text for people: visible text of strangers, times, durations, sizes, states. No markup. */

const NAMES = /** @type {Record<number, string>} */ ({
  0x200b: 'ZWSP', 0x200e: 'LRM', 0x200f: 'RLM', 0x061c: 'ALM', 0x202a: 'LRE', 0x202b: 'RLE', 0x202c: 'PDF', 0x202d: 'LRO', 0x202e: 'RLO',
  0x2066: 'LRI', 0x2067: 'RLI', 0x2068: 'FSI', 0x2069: 'PDI', 0xfeff: 'BOM',
});

// Controls except tab and line ends, and characters that reorder or hide text.
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/**
 * Text of a stranger with marks in place of control characters, cut after {@code max} characters.
 *
 * @param {unknown} value
 * @param {number} [max]
 * @returns {string}
 */
export function visible(value, max = 20_000) {
  let text = typeof value === 'string' ? value : value == null ? '' : String(value);
  const more = text.length > max;
  if (more) text = text.slice(0, max);
  text = text.replace(HIDDEN, char => {
    const code = /** @type {number} */ (char.codePointAt(0));
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return `⟨${NAMES[code] ?? 'U+' + code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
  return more ? `${text}…` : text;
}

/** One line of visible text. @param {unknown} value @param {number} [max] */
export function line(value, max = 200) {
  return visible(value, max).replace(/\s+/g, ' ').trim();
}

const STATES = /** @type {Record<string, [string, string]>} */ ({
  SUBMITTED: ['submitted', 'off'], WORKING: ['working', 'run'], INPUT_REQUIRED: ['input required', 'wait'], AUTH_REQUIRED: ['credentials required', 'wait'],
  COMPLETED: ['completed', 'ok'], FAILED: ['failed', 'bad'], REJECTED: ['rejected', 'bad'], CANCELED: ['canceled', 'off'],
});

/** States of A2A 1.0 in the order of a task's life. */
export const TASK_STATES = Object.keys(STATES).map(name => `TASK_STATE_${name}`);
const TERMINAL = new Set(['COMPLETED', 'FAILED', 'REJECTED', 'CANCELED'].map(name => `TASK_STATE_${name}`));

/** Word and colour of a state. @param {string | undefined} state @returns {{word: string, kind: string}} */
export function stateOf(state) {
  const [word, kind] = STATES[String(state).replace('TASK_STATE_', '')] ?? [line(state ?? 'unknown', 40).toLowerCase(), 'off'];
  return { word, kind };
}

/** @param {string | undefined} state */
export const isTerminal = state => TERMINAL.has(String(state));

/** @param {string | undefined} state */
export const isWaiting = state => state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED';

const WHOLE = new Intl.NumberFormat('en');

/** @param {number | undefined} value */
export const count = value => (Number.isFinite(value) ? WHOLE.format(/** @type {number} */ (value)) : '–');

/** {@code 1 task}, {@code 2 tasks}. @param {number} value @param {string} noun */
export const plural = (value, noun) => `${count(value)} ${noun}${value === 1 ? '' : 's'}`;

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** A duration in at most two figures: {@code 12 ms}, {@code 1.4 s}, {@code 3 min}, {@code 2 d}. @param {number} ms @returns {string} */
export function duration(ms) {
  if (!Number.isFinite(ms)) return '–';
  if (ms < 0) return `−${duration(-ms)}`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_500) return `${ms < 9_950 ? (ms / 1000).toFixed(1) : Math.round(ms / 1000)} s`;
  if (ms < 570_000) return `${(ms / 60_000).toFixed(1).replace('.0', '')} min`;
  if (ms < 3_570_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 36 * 3_600_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}

/** Age in whole seconds at least, for cells that are not repainted each frame. @param {string | undefined} at @param {number} now */
export function age(at, now) {
  const time = at ? Date.parse(at) : NaN;
  if (Number.isNaN(time)) return '–';
  const ms = Math.max(0, now - time);
  if (ms < 60_000) return ms < 1000 ? 'now' : `${Math.floor(ms / 1000)} s`;
  return duration(Math.max(60_000, Math.floor(ms / 60_000) * 60_000));
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' });

/** Local time of the day, or date and time if it is not of today. @param {string | undefined} at */
export function clock(at) {
  const time = at ? new Date(at) : new Date(NaN);
  if (Number.isNaN(time.getTime())) return '–';
  return time.toDateString() === new Date().toDateString() ? CLOCK.format(time) : DAY.format(time);
}

/** Time at which a task was made: its id is of version 7. @param {string} id @returns {string | undefined} */
export function timeOfId(id) {
  const time = new Date(parseInt(id.replaceAll('-', '').slice(0, 12), 16));
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** The same moment in UTC, for a title. @param {string | undefined} at */
export function utc(at) {
  const time = at ? new Date(at) : new Date(NaN);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString().replace('T', ' ').replace('Z', ' UTC');
}

/** An address if it is http or https, else undefined. @param {unknown} value @returns {string | undefined} */
export function webLink(value) {
  try {
    const url = new URL(String(value));
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** The text parts of a message as one text. @param {import('./types.js').Part[] | undefined} parts */
export const textOf = parts => (parts ?? []).filter(part => typeof part.text === 'string').map(part => part.text).join('\n');
