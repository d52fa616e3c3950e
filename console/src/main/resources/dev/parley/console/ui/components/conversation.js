/** Conversation of a task: messages, progress, artifacts and the open question. */
import { html, nothing } from 'lit';
import { line, plural, size, textOf } from '../format.js';
import { bubbles, progressOf } from '../model.js';
import './ask.js';
import { time } from './bits.js';
import { Part, place } from './element.js';
import { save, sizeOf } from './parts.js';

class Conversation extends Part {
  static properties = { task: { attribute: false }, agent: { attribute: false }, tools: { attribute: false }, times: { attribute: false }, open: { state: true } };

  constructor() {
    super();
    this.task = /** @type {import('../types.js').Task | undefined} */ (undefined);
    this.agent = '';
    /** Tools of a bubble, such as raw and curl, by the message of the caller that led to it. @type {(mine: import('../types.js').Message, isMine: boolean) => unknown} */
    this.tools = () => nothing;
    /** Times of messages by their ids. @type {Map<string, string>} */
    this.times = new Map();
    this.open = false;
  }

  render() {
    const { task } = this;
    if (!task) return nothing;
    /** @type {import('../types.js').Message | undefined} */
    let mine;
    return html`<div class="talk">${bubbles(task).map(bubble => {
      if (bubble.kind === 'say' && bubble.mine) mine = bubble.message;
      return this.bubble(bubble, task, mine);
    })}</div>`;
  }

  /** @param {import('../model.js').Bubble} bubble @param {import('../types.js').Task} task @param {import('../types.js').Message | undefined} cause */
  bubble(bubble, task, cause) {
    const tools = cause ? html`<small>${this.tools(cause, false)}</small>` : nothing;
    if (bubble.kind === 'steps') return this.steps(bubble, task, tools);
    if (bubble.kind === 'artifact') return artifact(bubble.artifact, cause ? this.tools(cause, false) : nothing);
    if (bubble.kind === 'ask') return html`<parley-ask .task=${task} .agent=${this.agent} .message=${bubble.message}></parley-ask>${tools}`;
    const { message, mine } = bubble;
    const at = this.times.get(message.messageId);
    const failed = !mine && /FAILED|REJECTED/.test(task.status.state) && message === task.status.message;
    return html`<div class="say ${mine ? 'me' : ''} ${failed ? 'bad' : ''}">
      <parley-parts .parts=${message.parts} ?plain=${mine}></parley-parts>
      <small>${mine ? 'You' : line(this.agent, 60)}${at ? html`, ${time(at)}` : nothing}${cause ? this.tools(cause, mine) : nothing}</small></div>`;
  }

  /** @param {{messages: import('../types.js').Message[], done: boolean}} bubble @param {import('../types.js').Task} task @param {unknown} tools */
  steps({ messages, done }, task, tools) {
    const last = line(textOf(messages.at(-1)?.parts), 300) || 'working';
    const percent = done ? undefined : progressOf(task);
    return html`<details class="steps"><summary>${done ? html`<span class="tick" aria-hidden="true">✓</span>` : html`<i class="spin"></i>`}<span class="cut">${done && messages.length > 1 ? plural(messages.length, 'step') : last}</span>
        ${percent === undefined ? nothing : html`<span class="bar"><i ${place({ '--part': `${percent}%` })}></i></span>`}</summary>
      <ol>${messages.slice(-200).map(message => html`<li>${line(textOf(message.parts), 400)}</li>`)}</ol>${tools}</details>`;
  }
}

/** @param {import('../types.js').Artifact} artifact @param {unknown} [tools] */
export function artifact(artifact, tools = nothing) {
  const bytes = artifact.parts.reduce((sum, part) => sum + sizeOf(part), 0);
  return html`<section class="artifact"><header><b class="cut">${line(artifact.name || artifact.parts[0]?.filename || artifact.artifactId, 120)}</b>
      <span class="dim cut">${line(artifact.parts[0]?.mediaType ?? '', 60)}</span><span class="dim num">${size(bytes)}</span>
      ${artifact.parts.filter(part => part.url === undefined).slice(0, 10).map((part, i, all) => html`<button type="button" class="link" @click=${() => save(part, artifact.name || artifact.artifactId)}>Save${all.length > 1 ? ` ${i + 1}` : ''}</button>`)}</header>
    ${artifact.description ? html`<p class="dim">${line(artifact.description, 300)}</p>` : nothing}
    <parley-parts .parts=${artifact.parts} .name=${artifact.name}></parley-parts>${tools === nothing ? nothing : html`<small>${tools}</small>`}</section>`;
}

customElements.define('parley-conversation', Conversation);
