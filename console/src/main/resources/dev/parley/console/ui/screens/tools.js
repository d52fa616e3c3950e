/** S17: MCP servers that the hub hosts as agents, and their tools: state, log, a form to try one, approvals, configuration for other hosts. */
import { html, nothing } from 'lit';
import { address, api } from '../api.js';
import { empty, failure, skeleton, time } from '../components/bits.js';
import { Screen } from '../components/element.js';
import { toolChange } from '../components/tool-change.js';
import { line, plural, visible } from '../format.js';
import { paced, watch } from '../live.js';
import { link, setQuery } from '../route.js';
import './connect.js';
import './tool-try.js';

/** @typedef {import('../components/tool-change.js').Tool} Tool */
/** @typedef {{name: string, state: string, restarts: number, problem?: string, lastProblem?: string, tools: Tool[]}} Server */

const NEWEST = 100; // lines of a log

class Tools extends Screen {
  static properties = { servers: { state: true }, log: { state: true }, error: { state: true }, actError: { state: true }, busy: { state: true } };

  constructor() {
    super();
    this.servers = /** @type {Server[] | undefined} */ (undefined);
    /** Of the server whose log is shown. @type {{at: string, text: string}[] | undefined} */
    this.log = undefined;
    this.logged = '';
    this.logError = /** @type {any} */ (undefined);
    this.error = /** @type {any} */ (undefined);
    this.actError = /** @type {any} */ (undefined);
    this.busy = false;
  }

  connectedCallback() {
    super.connectedCallback();
    this.until(watch(changes => changes.some(({ kind }) => kind === 'task' || kind === 'agent' || kind === 'gap') && this.read())); // calls of tools are tasks, and failures of servers are those of tasks
    this.read(true);
  }

  willUpdate() {
    const logged = this.route.query.get('log') ?? '';
    if (logged === this.logged) return;
    Object.assign(this, { logged, log: undefined });
    this.read(true);
  }

  read = paced(async () => {
    const { logged } = this;
    try {
      const [{ servers }, log] = await Promise.all([api.mcpTools(), logged ? api.mcpLog(logged).catch(failure => ({ failure, lines: [] })) : undefined]);
      this.servers = servers;
      if (logged === this.logged) Object.assign(this, { log: log?.lines, logError: log && 'failure' in log ? log.failure : undefined });
      this.error = undefined;
    } catch (error) {
      this.error = error;
    }
  }, () => this.isConnected);

  /** @param {Server} server @param {Tool} tool */
  async approve(server, tool) {
    this.busy = true;
    this.actError = undefined;
    await api.approveTool(server.name, tool.name, tool.digest).catch(error => (this.actError = error));
    this.busy = false;
    this.read(true);
  }

  render() {
    const { query } = this.route;
    const server = this.servers?.find(({ name }) => name === query.get('server'));
    const tool = server?.tools.find(({ name }) => name === query.get('tool'));
    const isNone = this.error?.status === 404 || this.error?.status === 501 || this.servers?.length === 0;
    return html`<div class="head"><div class="grow"><h1>Tools</h1><span class="dim">MCP servers that this hub hosts as agents, and their tools.</span></div></div>
      ${isNone ? html`<div class="card">${empty('No MCP server', html`Start the hub with <code>--mcp-servers FILE</code>, a file as other hosts of MCP have it.`)}</div>` : html`${failure(this.error, () => this.read(true))}
      ${this.servers ? html`<div class=${server ? 'cols' : ''}><div class="stack">${this.servers.map(each => this.server(each))}</div>${server ? html`<div class="stack">${tool ? this.tool(server, tool) : nothing}${this.configuration(server)}</div>` : nothing}</div>` : this.error ? nothing : html`<div class="card">${skeleton(6)}</div>`}`}`;
  }

  /** @param {Server} server */
  server(server) {
    const { name, state, restarts, problem, lastProblem, tools } = server;
    const isChosen = this.route.query.get('server') === name;
    const trouble = problem ?? lastProblem;
    return html`<section class="card server" aria-label=${line(name, 80)}><h2 class="row"><a class="cut" href=${link(`agents/${name}`)}>${line(name, 80)}</a><span class="state ${state === 'connected' ? 'ok' : 'bad'}">${line(state, 30)}</span>
        <span class="dim grow">${plural(tools.length, 'tool')}${restarts ? `, ${plural(restarts, 'restart')}` : ''}</span>
        ${state === 'unusable' ? nothing : html`<button type="button" class="link" aria-expanded=${this.logged === name} @click=${() => setQuery({ log: this.logged === name ? undefined : name })}>Log</button>`}
        <button type="button" class="link" @click=${() => setQuery({ server: name, tool: undefined })}>Connect</button></h2>
      ${trouble ? html`<p class="pad ${problem ? 'bad-text' : 'dim'}">${problem ? '' : 'Last problem: '}${line(trouble, 500)}</p>` : nothing}
      ${this.logged === name ? this.lines() : nothing}
      <ul class="list">${tools.map(tool => html`<li class=${isChosen && this.route.query.get('tool') === tool.name ? 'on' : ''}><a class="stack" href=${link('tools', { server: name, tool: tool.name, log: this.logged })}><b class="cut">${line(tool.name, 80)}</b><span class="dim cut">${line(tool.description, 200)}</span></a>
        ${tool.state === 'approved' ? nothing : html`<span class="state wait">${tool.state}</span>`}</li>`)}</ul></section>`;
  }

  lines() {
    if (!this.log || this.logError) return this.error || this.logError ? html`<div class="pad">${failure(this.logError)}</div>` : skeleton(3);
    return this.log.length ? html`<ol class="log mono" tabindex="0" aria-label="Log">${this.log.slice(-NEWEST).map(({ at, text }) => html`<li>${time(at)} ${visible(text, 1_000)}</li>`)}</ol>` : html`<p class="pad dim">The program has written nothing to its standard error. Servers over HTTP have no log here.</p>`;
  }

  /** @param {Server} server @param {Tool} tool */
  tool(server, tool) {
    return html`<section class="card" aria-label="Tool"><h2 class="row"><span class="grow cut">${line(tool.name, 80)}</span><button type="button" class="link" @click=${() => setQuery({ tool: undefined, server: undefined })}>Close</button></h2>
      <div class="pad stack">${tool.state === 'approved' ? nothing : html`${toolChange(tool)}<div class="row"><button type="button" class="btn main" ?disabled=${this.busy} @click=${() => this.approve(server, tool)}>Approve</button></div>`}
        ${failure(this.actError)}
        ${tool.state === 'new' ? nothing : html`<parley-tool-try .server=${server.name} .tool=${tool.name}></parley-tool-try>`}</div></section>`;
  }

  /** @param {Server} server */
  configuration({ name }) {
    return html`<parley-connect .agents=${[{ name, url: address(`agents/${encodeURIComponent(name)}`).href }]} .first=${'mcp'} .session=${this.session} .route=${this.route}></parley-connect>`;
  }
}

customElements.define('screen-tools', Tools);
