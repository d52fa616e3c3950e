/** Files that the reader saves: lines of JSON, and CSV that no spreadsheet runs as formulas. */

/** @param {string} name of the file @param {string | Blob} content @param {string} [type] media type */
export function save(name, content, type = 'application/octet-stream') {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const anchor = document.createElement('a');
  anchor.href = address;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** One object a line. @param {unknown[]} rows */
export const ndjson = rows => rows.map(row => `${JSON.stringify(row)}\n`).join('');

/** Text of a cell: quoted where CSV needs it, and with an apostrophe before what spreadsheets take for a formula. @param {unknown} value */
function cell(value) {
  const text = value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
  const plain = typeof value !== 'number' && /^[\s]*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** A header and a line for each row (RFC 4180). @param {string[]} members @param {Record<string, any>[]} rows */
export const csv = (members, rows) => [members, ...rows.map(row => members.map(member => row[member]))].map(cells => `${cells.map(cell).join(',')}\r\n`).join('');
