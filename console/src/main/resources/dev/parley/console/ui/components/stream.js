/** State of the stream of changes, in the header. */
import { html, nothing } from 'lit';
import { count, line } from '../format.js';
import { feed } from '../live.js';

let tick = 0;

/** @param {() => void} repaint */
export function streamState(repaint) {
  const { state, failure: cause, retryAt, rate } = feed;
  if (state === 'live') {
    const events = rate >= 10 ? count(Math.round(rate)) : rate.toFixed(1);
    return html`<span class="live ok"><span role="status">live</span>${rate ? html`<span class="wide num dim">${events} events/s</span>` : nothing}</span>`;
  }
  if (state === 'waiting') {
    tick ||= setTimeout(() => ((tick = 0), repaint()), 1_000);
    const seconds = Math.max(1, Math.round((retryAt - Date.now()) / 1_000));
    return html`<button type="button" class="live wait" @click=${() => feed.retry()} title=${cause ? line(cause.message) : 'The connection is lost'}>reconnecting in ${seconds} s</button>`;
  }
  if (state === 'refused') return html`<span class="live bad" title=${line(cause?.message)}>no access to the stream</span>`;
  if (state === 'off') return html`<span class="live off" title="This hub has no stream of changes">not live</span>`;
  return html`<span class="live off" role="status">connecting</span>`;
}
