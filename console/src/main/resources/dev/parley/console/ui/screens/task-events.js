/** Events of a task: number, gap check, time since the previous one, contents. A stream can be resumed after each. */
import { html, nothing } from 'lit';
import { count, duration, isTerminal, line, plural, textOf, utc } from '../format.js';
import { badge, time } from '../components/bits.js';
import { Part } from '../components/element.js';
import { Feed } from '../feed.js';
import { setQuery } from '../route.js';

/** @typedef {import('../types.js').NumberedEvent} NumberedEvent */

const MOST = 1_000; // elements of a resumed stream
const MOST_ROWS = 5_000;

/** What happened, in a line. @param {import('../types.js').StreamResponse} event */
function told(event) {
  if (event.task) return html`${badge(event.task.status.state)} <span class="cut">task begins</span>`;
  if (event.statusUpdate) {
    const { status } = event.statusUpdate;
    return html`${badge(status.state)} <span class="cut">${line(textOf(status.message?.parts), 300)}</span>`;
  }
  if (event.artifactUpdate) {
    const { artifact, append } = event.artifactUpdate;
    return html`<span class="state off">artifact</span> <span class="cut">${append ? 'more of ' : ''}${line(artifact.name || artifact.artifactId, 120)}: ${line(textOf(artifact.parts), 160) || plural(artifact.parts.length, 'part')}</span>`;
  }
  if (event.damaged) return html`<span class="state bad">damaged</span> <span class="cut">cannot be read, nor can those up to the next number</span>`;
  return html`<span class="state off">message</span> <span class="cut">${line(textOf(event.message?.parts), 300)}</span>`;
}

/** How many numbers are missing between events: the history of a task has none of them left out. @param {NumberedEvent[]} events */
export function gaps(events) {
  let missing = 0;
  for (let i = 1; i < events.length; i++) missing += Math.max(0, events[i].number - events[i - 1].number - 1);
  return missing;
}

class Events extends Part {
  static properties = { events: { attribute: false }, route: { attribute: false }, agent: { attribute: false }, task: { attribute: false }, earlier: { attribute: false }, resumed: { state: true }, open: { state: true } };

  constructor() {
    super();
    this.events = /** @type {NumberedEvent[]} */ ([]);
    this.route = /** @type {import('../types.js').Route} */ (/** @type {any} */ (undefined));
    this.agent = '';
    this.task = '';
    this.earlier = false;
    /** Elements of a resumed stream. @type {{after: number, elements: {id: string | undefined, event: any}[], feed: Feed} | undefined} */
    this.resumed = undefined;
    this.open = /** @type {Set<number>} */ (new Set());
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.resumed?.feed.stop();
  }

  willUpdate() {
    const after = Number(this.route?.query.get('resume') || NaN);
    if (this.resumed?.after === after || !this.agent) return;
    this.resumed?.feed.stop();
    this.resumed = undefined;
    if (Number.isNaN(after)) return;
    /** @type {{id: string | undefined, event: any}[]} */
    const elements = [];
    const feed = new Feed({
      path: `agents/${encodeURIComponent(this.agent)}/tasks/${encodeURIComponent(this.task)}:subscribe`, headers: { 'A2A-Version': '1.0' }, after: String(after),
      receive: (event, id) => {
        elements.push({ id, event });
        this.requestUpdate();
        return elements.length >= MOST || isTerminal(event.statusUpdate?.status.state ?? event.task?.status.state);
      },
    });
    this.listen(feed, 'change', () => {
      const last = this.events.findLast(each => each.event.statusUpdate ?? each.event.task)?.event;
      if (feed.state === 'waiting' && isTerminal(last?.statusUpdate?.status.state ?? last?.task?.status.state)) feed.stop(); // ended with the task
      this.requestUpdate();
    });
    this.resumed = { after, elements, feed };
    feed.start();
  }

  /** @param {number} number */
  toggle(number) {
    const open = new Set(this.open);
    if (!open.delete(number)) open.add(number);
    this.open = open;
  }

  render() {
    const { events } = this;
    const missing = gaps(events);
    return html`<p class="check ${missing ? 'bad' : 'ok'}">${missing ? `${plural(missing, 'event')} missing between ${events[0]?.number} and ${events.at(-1)?.number}`
      : events.length ? `Numbers ${events[0].number} to ${events.at(-1)?.number}, no gap` : 'No events'}</p>
      ${this.resume()}
      ${this.earlier ? html`<button type="button" class="btn" @click=${() => this.emit('earlier')}>Earlier events</button>` : nothing}
      <ol class="events">${events.slice(-MOST_ROWS).map((each, i, all) => this.event(each, all[i - 1]))}</ol>`;
  }

  /** @param {NumberedEvent} each @param {NumberedEvent | undefined} before */
  event(each, before) {
    const since = before?.at && each.at ? Date.parse(each.at) - Date.parse(before.at) : NaN;
    const skipped = before ? each.number - before.number - 1 : 0;
    const open = this.open.has(each.number);
    return html`${skipped > 0 ? html`<li class="skipped dim">${plural(skipped, 'number')} missing</li>` : nothing}
      <li class=${open ? 'open' : ''}><button type="button" class="line" aria-expanded=${open} @click=${() => this.toggle(each.number)}>
        <span class="num dim">${each.number}</span><span class="num dim" title=${utc(each.at)}>${Number.isNaN(since) ? time(each.at) : `+${duration(since)}`}</span><span class="row">${told(each.event)}</span></button>
        <button type="button" class="link quiet" title=${`Open the stream of the task after event ${each.number}, as a client does after a lost connection`}
          @click=${() => setQuery({ resume: String(each.number) })}>resume</button>
        ${open ? html`<div class="detail"><div class="dim">${utc(each.at)}</div><parley-json .value=${each.event}></parley-json></div>` : nothing}</li>`;
  }

  resume() {
    if (!this.resumed) return nothing;
    const { after, elements, feed } = this.resumed;
    const state = feed.state === 'live' ? 'open' : feed.state === 'waiting' ? 'lost, tries again' : elements.length >= MOST ? 'and closed' : feed.state === 'refused' || feed.state === 'off' ? line(feed.failure?.message, 120) : feed.state === 'idle' ? 'ended' : feed.state;
    return html`<section class="resumed"><header class="row"><b>Stream after event ${after}</b><span class="dim grow cut">${count(elements.length)} received, ${state}</span>
        <button type="button" class="link" @click=${() => (feed.stop(), (this.resumed = undefined), setQuery({ resume: undefined }))}>Close</button></header>
      ${elements.length ? html`<ol class="events">${elements.slice(-200).map(each => html`<li><div class="line"><span class="num dim">${each.id}</span><span></span><span class="row">${told(each.event)}</span></div></li>`)}</ol>` : nothing}</section>`;
  }
}

customElements.define('task-events', Events);
