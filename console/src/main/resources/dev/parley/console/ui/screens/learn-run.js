/** Commands of the documents that the page can run: messages to agents, and reads. Nothing runs without a click. */
import { html, nothing } from 'lit';
import { api, newId, request } from '../api.js';
import '../components/ask.js';
import { badge, codeBlock, failure } from '../components/bits.js';
import { Part } from '../components/element.js';
import '../components/parts.js';
import { hubAddress } from '../docs.js';
import { isTerminal, isWaiting, line, textOf } from '../format.js';
import { paced, watch } from '../live.js';
import { link } from '../route.js';

/** @typedef {{agent?: string, parts: import('../types.js').Part[], path: string, headers: Record<string, string>}} Call a message to an agent, or a path to read */

const FLAGS = new Set(['-s', '--stream']);
const VALUES = new Set(['-a', '-o', '-H', '-d']);

/** Calls among the commands of a block. @param {string} block @returns {Call[]} */
export function commands(block) {
  return block.replace(/\\\n\s*/g, ' ').split('\n').flatMap(each => callOf(each.replace(/\s+#.*$/, '')) ?? []);
}

/** @param {string} command @returns {Call | undefined} */
function callOf(command) {
  const program = /^(?:\.\/)?(parley send|curl) /.exec(command);
  if (!program || /[|<>;&$`]/.test(command.replace(/'[^']*'/g, ''))) return undefined;
  const words = Array.from(command.slice(program[0].length).matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g), ([, double, single, word]) => double ?? single ?? word);
  /** @type {Record<string, string[]>} */
  const given = { '-a': [], '-o': [], '-H': [], '-d': [], rest: [] };
  for (let i = 0; i < words.length; i++) {
    if (VALUES.has(words[i])) given[words[i]].push(words[++i] ?? '');
    else if (words[i].startsWith('-') && !FLAGS.has(words[i])) return undefined;
    else if (!FLAGS.has(words[i])) given.rest.push(words[i]);
  }
  const isSend = program[1] !== 'curl';
  const url = isSend ? given['-a'][0] : given.rest[0];
  const [text] = given.rest;
  if (given.rest.length !== 1 || !url?.startsWith(`${hubAddress()}/`)) return undefined;
  const path = url.slice(hubAddress().length + 1);
  const agent = (isSend ? /^agents\/([^/]+)$/ : /^agents\/([^/]+)\/message:send$/).exec(path)?.[1];
  if (isSend) return agent ? { agent, parts: [{ text }], path, headers: {} } : undefined;
  const headers = Object.fromEntries(given['-H'].map(each => each.split(': ', 2)).filter(([name]) => name === 'A2A-Version')); // credentials are those of the session
  if (!given['-d'].length) return given['-H'].some(each => each.includes('event-stream')) ? undefined : { parts: [], path, headers };
  try {
    return agent ? { agent, parts: JSON.parse(given['-d'][0]).message.parts, path, headers } : undefined;
  } catch {
    return undefined;
  }
}

class Run extends Part {
  static properties = { call: { attribute: false }, task: { state: true }, parts: { state: true }, text: { state: true }, error: { state: true }, busy: { state: true } };

  constructor() {
    super();
    /** @type {Call} */
    this.call = { parts: [], path: '', headers: {} };
    /** @type {import('../types.js').Task | undefined} */
    this.task = undefined;
    /** Parts of an answer without a task. @type {import('../types.js').Part[] | undefined} */
    this.parts = undefined;
    /** @type {string | undefined} */
    this.text = undefined;
    /** @type {any} */
    this.error = undefined;
    this.busy = false;
    this.follow = paced(() => this.read(), () => this.isConnected, 200);
  }

  connectedCallback() {
    super.connectedCallback();
    this.until(watch(changes => this.task && !isTerminal(this.task.status.state) && changes.some(each => each.kind === 'gap' || each.taskId === this.task?.id) && this.follow()));
  }

  async read() {
    const { agent = '' } = this.call;
    if (this.task) this.task = await api.task(agent, this.task.id);
  }

  async run() {
    const { agent, parts, path, headers } = this.call;
    Object.assign(this, { busy: true, error: undefined, task: undefined, parts: undefined, text: undefined });
    try {
      if (agent) {
        const answer = await api.send(agent, { message: { messageId: newId(), role: 'ROLE_USER', parts }, configuration: { returnImmediately: true } });
        Object.assign(this, { task: answer.task, parts: answer.message?.parts });
        this.follow();
      } else this.text = await (await request('GET', path, { headers: { Accept: '*/*', ...headers } })).text();
    } catch (error) {
      this.error = error;
    }
    this.busy = false;
  }

  render() {
    const { agent, parts, path } = this.call;
    const text = textOf(parts);
    const task = this.task;
    return html`<div class="row wrap"><button type="button" class="btn" ?disabled=${this.busy} @click=${this.run}>Run</button>
        <span class="dim cut">${agent ? `${line(agent, 60)}: ${line(text, 80)}` : `GET /${line(path, 80)}`}</span>
        ${agent ? html`<a href=${link(`agents/${agent}/try`, { text })}>Open in a chat</a>` : nothing}</div>
      ${failure(this.error)}
      ${this.text === undefined ? nothing : codeBlock(this.text, 'Answer')}
      ${this.parts ? html`<parley-parts .parts=${this.parts}></parley-parts>` : nothing}
      ${task ? html`<div class="row wrap" role="status">${badge(task.status.state)}<a href=${link(`tasks/${task.id}`)}>Watch the task</a></div>
        ${isWaiting(task.status.state) ? html`<parley-ask .task=${task} .agent=${agent} @answered=${() => this.follow(true)}></parley-ask>` : html`<parley-parts .parts=${[...(task.status.message?.parts ?? []), ...(task.artifacts ?? []).flatMap(each => each.parts)]}></parley-parts>`}` : nothing}`;
  }
}

customElements.define('parley-run', Run);
