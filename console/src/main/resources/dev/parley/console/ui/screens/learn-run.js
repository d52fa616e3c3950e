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

/** Calls among the commands of a block. @param {string} block @returns {Call[]} */
export const commands = block => block.replace(/\\\n\s*/g, ' ').split('\n').flatMap(each => callOf(each.replace(/\s+#.*$/, '')) ?? []);

/** @param {string} command @returns {Call | undefined} */
function callOf(command) {
  const program = /^(?:\.\/)?(parley send|curl) /.exec(command);
  if (!program || /[|<>;&$`]/.test(command.replace(/'[^']*'/g, ''))) return undefined;
  const words = Array.from(command.slice(program[0].length).matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g), ([, double, single, word]) => double ?? single ?? word);
  const given = /** @type {Record<string, string[]>} */ ({ '-a': [], '-o': [], '-H': [], '-d': [], rest: [] });
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word.startsWith('-') && Object.hasOwn(given, word)) given[word].push(words.shift() ?? '');
    else if (word !== '-s' && word !== '--stream') given.rest.push(word);
  }
  const { '-a': [to], '-d': [body], '-H': fields, rest: [first, ...more] } = given;
  const isSend = program[1] !== 'curl';
  const url = (isSend ? to : first) ?? '';
  if (more.length || !first || first.startsWith('-') || !url.startsWith(`${hubAddress()}/`)) return undefined;
  const path = url.slice(hubAddress().length + 1);
  const agent = (isSend ? /^agents\/([^/]+)$/ : /^agents\/([^/]+)\/message:send$/).exec(path)?.[1];
  const headers = Object.fromEntries(fields.map(each => each.split(': ', 2)).filter(([name]) => name === 'A2A-Version')); // the credential is that of the session
  if (!isSend && !body) return fields.some(each => each.includes('event-stream')) ? undefined : { parts: [], path, headers };
  try {
    return agent ? { agent, parts: isSend ? [{ text: first }] : JSON.parse(body).message.parts, path, headers } : undefined;
  } catch {
    return undefined; // a body that is not a message
  }
}

class Run extends Part {
  static properties = { call: { attribute: false }, task: { state: true }, parts: { state: true }, text: { state: true }, error: { state: true }, busy: { state: true } };

  constructor() {
    super();
    this.call = /** @type {Call} */ ({ parts: [], path: '', headers: {} });
    this.task = /** @type {import('../types.js').Task | undefined} */ (undefined);
    this.parts = /** @type {import('../types.js').Part[] | undefined} */ (undefined); // of an answer without a task
    this.text = /** @type {string | undefined} */ (undefined); // that was read
    this.error = /** @type {any} */ (undefined);
    this.busy = false;
    this.follow = paced(async () => {
      const { task } = this;
      const read = task && (await api.task(this.call.agent ?? '', task.id));
      if (task === this.task) this.task = read;
    }, () => this.isConnected, 200);
  }

  connectedCallback() {
    super.connectedCallback();
    this.until(watch(changes => this.task && !isTerminal(this.task.status.state) && changes.some(each => each.kind === 'gap' || each.taskId === this.task?.id) && this.follow()));
  }

  async run() {
    const { agent, parts, path, headers } = this.call;
    Object.assign(this, { busy: true, error: undefined, task: undefined, parts: undefined, text: undefined });
    try {
      const answer = agent ? await api.send(agent, { message: { messageId: newId(), role: 'ROLE_USER', parts }, configuration: { returnImmediately: true } }) : undefined;
      if (answer) Object.assign(this, { task: answer.task, parts: answer.message?.parts });
      else this.text = await (await request('GET', path, { headers: { Accept: '*/*', ...headers } })).text();
      if (this.task) this.follow();
    } catch (error) {
      this.error = error;
    }
    this.busy = false;
  }

  render() {
    const { task, call: { agent, path, parts } } = this;
    const text = textOf(parts);
    return html`<div class="row wrap"><button type="button" class="btn" ?disabled=${this.busy} @click=${this.run}>Run</button><span class="dim cut">${agent ? `${line(agent, 60)}: ${line(text, 80)}` : `GET /${line(path, 80)}`}</span>
        ${agent ? html`<a href=${link(`agents/${agent}/try`, { text })}>Open in a chat</a>` : nothing}</div>
      ${failure(this.error)}${this.text === undefined ? nothing : codeBlock(this.text, 'Answer')}${this.parts ? html`<parley-parts .parts=${this.parts}></parley-parts>` : nothing}
      ${task ? html`<div class="row wrap" role="status">${badge(task.status.state)}<a href=${link(`tasks/${task.id}`)}>Watch the task</a></div>
        ${isWaiting(task.status.state) ? html`<parley-ask .task=${task} .agent=${agent} @answered=${() => this.follow(true)}></parley-ask>` : html`<parley-parts .parts=${[...(task.status.message?.parts ?? []), ...(task.artifacts ?? []).flatMap(each => each.parts)]}></parley-parts>`}` : nothing}`;
  }
}

customElements.define('parley-run', Run);
