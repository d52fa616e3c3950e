/** Parts of messages and artifacts by media type. HTML, SVG and other active content is shown as text or offered as a file. */
import { html, nothing } from 'lit';
import { save as saveFile } from '../export.js';
import { count, line, size, visible, webLink } from '../format.js';
import { part as loaded } from '../part.js';
import { Part } from './element.js';
import './json.js';

/** @typedef {import('../types.js').Part} A2APart */

const PICTURES = /^image\/(png|jpeg|gif|webp|avif|bmp)$/;
const LARGEST_PICTURE = 8_000_000;
const ROWS = 200;
const MARKDOWN = /(^|\n)(#{1,4} |```|\s*[-*] \S|\s*\d+\. \S|> |\|.*\|.*\n\s*\|?\s*:?-{3})|\*\*[^*\n]+\*\*|\[[^\]\n]+\]\(https?:|`[^`\n]+`/;

/** @param {A2APart} part @param {string} [name] of the artifact */
export function fileName(part, name) {
  const extension = ({ 'text/markdown': 'md', 'text/csv': 'csv', 'application/json': 'json', 'image/png': 'png', 'image/jpeg': 'jpg', 'text/html': 'html', 'image/svg+xml': 'svg' })[part.mediaType ?? ''];
  const wanted = part.filename || (name ? `${name}.${extension ?? (part.data !== undefined ? 'json' : 'txt')}` : `part.${extension ?? (part.data !== undefined ? 'json' : 'txt')}`);
  return visible(wanted, 120).replace(/[\\/:*?"<>|\n\r\t⟨⟩]/g, '_').replace(/^\.+/, '_') || 'file';
}

/** @param {A2APart} part @returns {BlobPart} */
function bytesOf(part) {
  if (typeof part.text === 'string') return part.text;
  if (part.data !== undefined) return JSON.stringify(part.data, null, 2);
  return decoded(part.raw ?? '');
}

/** @param {string} base64 */
function decoded(base64) {
  try {
    return Uint8Array.from(atob(base64.replace(/-/g, '+').replace(/_/g, '/')), char => char.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

/** Saves a part as a file that no browser opens as a page. @param {A2APart} part @param {string} [name] */
export function save(part, name) {
  saveFile(fileName(part, name), new Blob([bytesOf(part)], { type: 'application/octet-stream' }));
}

/** Sizes of parts, which are computed once. @type {WeakMap<A2APart, number>} */
const sizes = new WeakMap();

/** Size of a part in bytes, about. @param {A2APart} part */
export function sizeOf(part) {
  let bytes = sizes.get(part);
  if (bytes === undefined) sizes.set(part, (bytes = measured(part)));
  return bytes;
}

/** @param {A2APart} part */
function measured(part) {
  if (typeof part.text === 'string') return part.text.length > 100_000 ? part.text.length : new Blob([part.text]).size;
  if (part.data !== undefined) return JSON.stringify(part.data).length;
  return Math.floor(((part.raw ?? '').length * 3) / 4);
}

/** Rows of a text with separated values; quotes are respected. @param {string} text @param {string} separator @returns {string[][]} */
export function csvRows(text, separator = ',') {
  /** @type {string[][]} */
  const rows = [[]];
  let field = '';
  let quoted = false;
  for (let i = 0; i < text.length && rows.length <= ROWS + 1; i++) {
    const char = text[i];
    if (quoted) {
      if (char !== '"') field += char;
      else if (text[i + 1] === '"') field += text[++i];
      else quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === separator) rows[rows.length - 1].push(field), (field = '');
    else if (char === '\n') rows[rows.length - 1].push(field.replace(/\r$/, '')), (field = ''), rows.push([]);
    else field += char;
  }
  rows[rows.length - 1].push(field);
  return rows.filter(row => row.length > 1 || row[0]);
}

class Parts extends Part {
  static properties = { parts: { attribute: false }, name: { attribute: false }, plain: { type: Boolean }, markdown: { state: true } };

  constructor() {
    super();
    this.parts = /** @type {A2APart[]} */ ([]);
    this.name = /** @type {string | undefined} */ (undefined);
    this.plain = false;
    this.markdown = false;
  }

  needMarkdown() {
    if (!this.markdown) loaded(import('./markdown.js')).then(() => (this.markdown = true), () => {}); // lost: the text is shown as it is
    return this.markdown;
  }

  render() {
    return html`${(this.parts ?? []).slice(0, 100).map(part => this.one(part))}${this.parts?.length > 100 ? html`<p class="dim">${count(this.parts.length - 100)} more parts</p>` : nothing}`;
  }

  /** @param {A2APart} part */
  one(part) {
    const type = (part.mediaType ?? '').split(';')[0].trim().toLowerCase();
    if (typeof part.text === 'string') return this.text(part, part.text, type);
    if (part.data !== undefined) return html`<div class="part tree"><parley-json .value=${part.data}></parley-json></div>`;
    if (part.raw !== undefined) return this.bytes(part, type);
    if (part.url !== undefined) return linkRow(part, type);
    return html`<p class="dim">empty part</p>`;
  }

  /** @param {A2APart} part @param {string} text @param {string} type */
  text(part, text, type) {
    if (type === 'text/csv' || type === 'text/tab-separated-values') return table(text, type === 'text/csv' ? ',' : '\t');
    if (type === 'application/json' || type.endsWith('+json')) {
      try {
        return html`<div class="part tree"><parley-json .value=${JSON.parse(text)}></parley-json></div>`;
      } catch {
        // shown as text
      }
    }
    const isMarkdown = type === 'text/markdown' || (!this.plain && (type === '' || type === 'text/plain') && MARKDOWN.test(text.slice(0, 20_000)));
    if (isMarkdown && this.needMarkdown()) return html`<parley-markdown class="part" .text=${text}></parley-markdown>`;
    const code = type !== '' && type !== 'text/plain' && type !== 'text/markdown';
    return html`<div class="part ${code ? 'mono source' : 'plain'}" dir="auto">${visible(text, 200_000)}</div>`;
  }

  /** @param {A2APart} part @param {string} type */
  bytes(part, type) {
    if (PICTURES.test(type) && sizeOf(part) <= LARGEST_PICTURE) {
      return html`<figure class="part picture"><img src="data:${type};base64,${part.raw}" alt=${line(part.filename ?? this.name ?? 'Image of the agent', 120)} loading="lazy"></figure>`;
    }
    if ((type.startsWith('text/') || type.endsWith('json') || type.endsWith('+xml')) && sizeOf(part) < 1_000_000) return this.text(part, new TextDecoder().decode(decoded(part.raw ?? '')), type);
    return html`<div class="part file"><span class="cut">${line(part.filename ?? 'file', 120)}</span><span class="dim">${line(type || 'unknown type', 60)}, ${size(sizeOf(part))}</span>
      <button type="button" class="link" @click=${() => save(part, this.name)}>Save</button></div>`;
  }
}

/** A file at another address is a link and never loaded by the page. @param {A2APart} part @param {string} type */
function linkRow(part, type) {
  const href = webLink(part.url);
  return html`<div class="part file"><span class="cut">${line(part.filename ?? part.url, 120)}</span><span class="dim cut">${line(type, 60)}</span>
    ${href ? html`<a href=${href} target="_blank" rel="noopener noreferrer" title=${line(href, 300)}>Open at ${new URL(href).host}</a>` : html`<span class="dim cut">${line(part.url, 100)}</span>`}</div>`;
}

/** @param {string} text @param {string} separator */
function table(text, separator) {
  const [head = [], ...rows] = csvRows(text, separator);
  const numeric = head.map((_, i) => rows.length > 0 && rows.every(row => !row[i] || /^-?[\d.,]+ ?%?$/.test(row[i])));
  return html`<div class="part md-table" tabindex="0"><table><thead><tr>${head.map((cell, i) => html`<th class=${numeric[i] ? 'num' : ''}>${line(cell, 100)}</th>`)}</tr></thead>
    <tbody>${rows.slice(0, ROWS).map(row => html`<tr>${head.map((_, i) => html`<td class=${numeric[i] ? 'num' : ''}>${line(row[i], 300)}</td>`)}</tr>`)}</tbody></table></div>
    ${rows.length >= ROWS ? html`<p class="dim">The first ${ROWS} rows. Save the file to see all.</p>` : nothing}`;
}

customElements.define('parley-parts', Parts);
