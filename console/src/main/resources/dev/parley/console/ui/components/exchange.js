/** The exchange behind a message: request, answer, headers, time, and the same call for curl, CLI and Java. */
import { html, nothing } from 'lit';
import { cli, curl, java } from '../commands.js';
import { duration, line, plural } from '../format.js';
import { codeBlock, copyButton, tabs } from './bits.js';
import { dialog } from './dialog.js';

/** @typedef {import('../types.js').Exchange} Exchange */

const VIEWS = [['raw', 'Raw'], ['curl', 'curl'], ['cli', 'CLI'], ['java', 'Java']];

/** @param {Record<string, string> | undefined} headers */
const headerText = headers => Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`).join('\n');

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** @param {Exchange} exchange */
function raw(exchange) {
  const { method, url, headers, body = '', status, answerHeaders, ms, answer, error, trace } = exchange;
  const head = `${method} ${new URL(url).pathname}\n${headerText(headers)}`;
  const answered = exchange.streams ? answer.join('\n\n') : answer.map(pretty).join('\n');
  if (exchange.rebuilt) return html`<p class="dim">This message was sent during another visit. This is how it would be sent now.</p>${codeBlock(`${head}\n\n${pretty(body)}`, 'Request')}`;
  return html`<h3>Request</h3>${codeBlock(`${head}\n\n${pretty(body)}`, 'Request')}
    <h3>Answer <span class="dim">${status ?? ''}${ms === undefined ? ', under way' : `, ${duration(ms)}`}${exchange.streams ? `, ${plural(answer.length, 'event')}` : ''}</span></h3>
    ${error ? html`<p class="reason">${line(error, 300)}</p>` : nothing}
    ${codeBlock(`${status ?? ''}\n${headerText(answerHeaders)}\n\n${answered}`, 'Answer')}
    <p class="dim">trace <code>${trace}</code> ${copyButton(trace, 'Copy id')}</p>`;
}

/** Shows an exchange. @param {Exchange} exchange @param {string} view raw, curl, cli or java */
export function showExchange(exchange, view) {
  let present = view;
  const shown = dialog('Exchange', () => ({
    content: html`${tabs('Views of the exchange', VIEWS, present, name => ((present = name), shown.repaint()))}
      ${present === 'curl' ? codeBlock(curl(exchange), 'curl') : present === 'cli' ? codeBlock(cli(exchange), 'CLI') : present === 'java' ? codeBlock(java(exchange), 'Java') : raw(exchange)}`,
  }), 'wide-dialog');
}
