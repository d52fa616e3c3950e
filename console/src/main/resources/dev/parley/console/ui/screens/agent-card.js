/** A card as numbered lines, and findings that lead to them. */
import { html, nothing } from 'lit';
import { copyButton } from '../components/bits.js';
import { count, line, plural, visible } from '../format.js';
import { setQuery } from '../route.js';

const MOST = 5_000; // lines
const KINDS = /** @type {Record<string, string>} */ ({ error: 'bad', warning: 'wait', note: 'off' });

/** Lines of JSON, each with the pointer of its value. @param {unknown} root */
export function linesOf(root) {
  /** @type {{text: string, pointer?: string}[]} */
  const lines = [];
  /** @param {any} value @param {string} pointer @param {string} before @param {string} after */
  const walk = (value, pointer, before, after) => {
    const members = value !== null && typeof value === 'object' ? Object.entries(value) : [];
    const indent = /** @type {RegExpExecArray} */ (/^ */.exec(before))[0];
    if (!members.length) return void lines.push({ pointer, text: before + JSON.stringify(value) + after });
    const list = Array.isArray(value);
    lines.push({ pointer, text: before + (list ? '[' : '{') });
    members.forEach(([name, member], i) => {
      walk(member, `${pointer}/${name.replace(/~/g, '~0').replace(/\//g, '~1')}`, `${indent}  ${list ? '' : `${JSON.stringify(name)}: `}`, i < members.length - 1 ? ',' : '');
    });
    lines.push({ text: indent + (list ? ']' : '}') + after });
  };
  walk(root, '', '', '');
  return lines;
}

/** The line of a pointer, or of what should have the member. @param {{pointer?: string}[]} lines @param {string} pointer */
function lineAt(lines, pointer) {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const found = lines.findIndex(each => each.pointer === at);
    if (found >= 0 || !at.includes('/')) return found;
  }
}

/** @param {unknown} card @param {string} [pointer] whose line is marked */
export function cardText(card, pointer) {
  const lines = linesOf(card);
  const at = pointer === undefined ? -1 : lineAt(lines, pointer);
  const from = Math.max(0, at - MOST + 100);
  return html`<div class="code"><ol class="card-lines" tabindex="0" aria-label="Card as JSON" start=${from + 1}>${lines.slice(from, from + MOST).map((each, i) => html`<li class=${from + i === at ? 'line-at' : nothing}
    aria-current=${from + i === at ? 'true' : nothing}>${visible(each.text, 2_000)}</li>`)}</ol>
    ${copyButton(() => JSON.stringify(card, null, 2))}${lines.length > MOST ? html`<p class="dim">${count(lines.length)} lines, of which ${count(MOST)} are shown</p>` : nothing}</div>`;
}

/** @param {import('../types.js').Finding[]} findings @param {string} [at] pointer of the marked one */
export function findingList(findings, at) {
  if (!findings.length) return html`<p class="check ok">No finding: the card follows the specification.</p>`;
  const open = (/** @type {string} */ pointer) => setQuery({ at: pointer }, true);
  return html`<ul class="findings" aria-label=${plural(findings.length, 'finding')}>${findings.map(({ severity, clause, pointer, message, fix }) => html`<li class=${pointer === at ? 'on' : ''}>
    <span class="state ${KINDS[severity] ?? 'off'}">${line(severity, 20)}</span>
    <button type="button" class="link" aria-pressed=${pointer === at} title="Shows the line of the card" @click=${() => open(pointer)}><code>${line(pointer, 200) || '/'}</code></button>
    <div>${line(message, 300)}<p><span class="dim">Fix:</span> ${line(fix, 300)}</p><p class="dim clause">${line(clause, 80)}</p></div></li>`)}</ul>`;
}
