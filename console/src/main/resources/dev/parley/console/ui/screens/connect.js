/** Connect: configuration for programs that call an agent of this hub, with its address, and a key that is made on demand. */
import { html, nothing } from 'lit';
import { address, api } from '../api.js';
import { codeBlock, failure, tabs } from '../components/bits.js';
import { Part } from '../components/element.js';
import { quoted } from '../commands.js';
import { clock, line } from '../format.js';
import { setQuery } from '../route.js';

const DAYS = 7;
const DAY = 86_400_000; // ms
const KEY_NAME = 'PARLEY_KEY';

/**
 * @typedef {{agent: string, url: string, key: string | undefined, needsKey: boolean}} Target {@code key}: made here; a variable stands for it where one is needed
 * @typedef {{id: string, key: string, principal: string, expires?: string, revoked?: boolean}} MadeKey
 */

/** A text as it is written in JSON, Java and Python. @param {string} text */
const text = text => JSON.stringify(text).replace(/[\u007f-\uffff]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** @param {Target} target */
const key = ({ key: made }) => text(made ?? `$${KEY_NAME}`);

/** Lines, without those that need a key where none is needed. @param {(string | false)[]} lines */
const lines = (...lines) => lines.filter(each => each !== false).join('\n');

/** @type {[string, string, (target: Target) => string][]} */
const KINDS = [
  ['curl', 'curl', target => lines(
    `curl -s ${quoted(`${target.url}/message:send`)} \\`,
    "  -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' \\",
    target.needsKey && `  -H ${target.key ? quoted(`X-Api-Key: ${target.key}`) : `"X-Api-Key: $${KEY_NAME}"`} \\`,
    `  -d '{"message":{"messageId":"'$(date +%s%N)'","role":"ROLE_USER","parts":[{"text":"hello"}]}}'`)],
  ['cli', 'Parley', target => `${target.needsKey ? `A2ACLI_API_KEY=${target.key ? quoted(target.key) : `$${KEY_NAME}`} ` : ''}parley send -a ${quoted(target.url)} hello`],
  ['java', 'Java', target => lines(
    'import dev.parley.client.AgentClient;',
    '',
    target.needsKey ? `try (AgentClient agent = AgentClient.builder().apiKey(${key(target)})` : `try (AgentClient agent = AgentClient.connect(${text(target.url)})) {`,
    target.needsKey && `        .connect(${text(target.url)})) {`,
    '    System.out.println(agent.send("hello"));',
    '}')],
  ['mcp', 'MCP hosts', target => JSON.stringify({ mcpServers: { [target.agent]: { type: 'http', url: `${target.url}/mcp`, ...(target.needsKey ? { headers: { 'X-Api-Key': target.key ?? `$${KEY_NAME}` } } : {}) } } }, null, 2)],
  ['langchain4j', 'LangChain4j', target => lines(
    '// dev.langchain4j:langchain4j-mcp: the skills of the agent as tools of a model',
    'var transport = StreamableHttpMcpTransport.builder()',
    `        .url(${text(`${target.url}/mcp`)})`,
    target.needsKey && `        .customHeaders(Map.of("X-Api-Key", ${key(target)}))`,
    '        .build();',
    'var client = DefaultMcpClient.builder().transport(transport).build();',
    'var tools = McpToolProvider.builder().mcpClients(client).build();')],
  ['adk', 'Google ADK', target => lines(
    target.needsKey && 'import httpx',
    'from google.adk.agents.remote_a2a_agent import RemoteA2aAgent',
    '',
    'agent = RemoteA2aAgent(',
    `    name=${text(target.agent.replace(/\W/g, '_'))},`,
    `    agent_card=${text(`${target.url}/.well-known/agent-card.json`)},`,
    target.needsKey && `    httpx_client=httpx.AsyncClient(headers={"X-Api-Key": ${key(target)}}, timeout=600),`,
    ')')],
  ['crewai', 'CrewAI', target => lines(
    'from crewai.a2a import A2AClientConfig',
    target.needsKey && 'from crewai.a2a.auth import APIKeyAuth',
    '',
    'remote = A2AClientConfig(  # Agent(…, a2a=remote)',
    `    endpoint=${text(`${target.url}/.well-known/agent-card.json`)},`,
    target.needsKey && `    auth=APIKeyAuth(api_key=${key(target)}, location="header", name="X-Api-Key"),`,
    ')')],
];

class Connect extends Part {
  static properties = { agents: { attribute: false }, first: { attribute: false }, session: { attribute: false }, route: { attribute: false }, made: { state: true }, error: { state: true }, busy: { state: true } };

  constructor() {
    super();
    this.agents = /** @type {{name: string, url: string}[]} */ ([]);
    /** Program that is shown first. */
    this.first = 'curl';
    this.session = /** @type {import('../types.js').Session | undefined} */ (undefined);
    this.route = /** @type {import('../types.js').Route} */ (/** @type {any} */ (undefined));
    /** Keys that were made here, by agent; they are shown until the page is left. @type {Map<string, MadeKey>} */
    this.made = new Map();
    this.error = /** @type {any} */ (undefined);
    this.busy = false;
  }

  get agent() {
    const wanted = this.route?.query.get('agent');
    return this.agents.find(each => each.name === wanted) ?? this.agents.find(each => each.name === 'echo') ?? this.agents[0];
  }

  /** @param {() => Promise<void>} work */
  async perform(work) {
    this.busy = true;
    this.error = undefined;
    await work().catch(error => (this.error = error));
    this.busy = false;
  }

  /** @param {SubmitEvent} event */
  make(event) {
    event.preventDefault();
    const principal = /** @type {HTMLInputElement} */ (this.querySelector('input[name=principal]')).value.trim();
    const { name } = this.agent;
    this.perform(async () => {
      const expires = new Date(Date.now() + DAYS * DAY).toISOString();
      const made = await api.admin('POST', ['keys'], { group: this.session?.group ?? 'default', principal, scopes: [`agent:${name}`, 'agent:mcp'], expires });
      this.made = new Map(this.made).set(name, made);
    });
  }

  /** @param {string} agent @param {MadeKey} made */
  revoke(agent, made) {
    this.perform(async () => {
      await api.admin('POST', ['keys', made.id, 'revoke']);
      this.made = new Map(this.made).set(agent, { ...made, revoked: true });
    });
  }

  render() {
    const { name } = this.agent;
    const made = this.made.get(name);
    const kind = KINDS.find(([id]) => id === (this.route?.query.get('with') ?? this.first)) ?? KINDS[0];
    const target = { agent: name, url: address(`agents/${encodeURIComponent(name)}`).href, key: made?.revoked ? undefined : made?.key, needsKey: !!this.session?.needsSignIn };
    return html`<section class="card connect" aria-label="Connect"><h2 class="row"><span class="grow">Connect a program</span>
        ${this.agents.length > 1 ? html`<select aria-label="Agent" @change=${(/** @type {any} */ event) => setQuery({ agent: event.target.value })}>${this.agents.map(each => html`<option value=${each.name} .selected=${each.name === name}>${line(each.name, 60)}</option>`)}</select>` : line(name, 60)}</h2>
      ${tabs('Programs', KINDS.map(([id, title]) => [id, title]), kind[0], id => setQuery({ with: id }), 'program')}
      <div class="pad stack" role="tabpanel" id="program" aria-labelledby="program-${kind[0]}">
        ${codeBlock(kind[2](target), kind[1])}
        ${target.needsKey ? this.keys(name, made) : html`<p class="dim">This hub needs no key.</p>`}
        ${failure(this.error)}
      </div></section>`;
  }

  /** @param {string} agent @param {MadeKey | undefined} made */
  keys(agent, made) {
    if (made && !made.revoked) {
      return html`<p class="check ok">Key ${line(made.id, 40)} of ${line(made.principal, 60)}, for ${line(agent, 60)} only, until ${clock(made.expires)}. It is not shown again.</p>
        <div><button type="button" class="btn bad" ?disabled=${this.busy} @click=${() => this.revoke(agent, made)}>Revoke the key</button></div>`;
    }
    if (!this.session?.scopes?.includes('admin')) {
      return html`<p class="dim"><code>$${KEY_NAME}</code> stands for an API key. Operators make one that is limited to this agent by <code>parley key create --scope agent:${line(agent, 60)} --expires ${DAYS}d</code>.</p>`;
    }
    return html`<form class="row wrap" @submit=${this.make}>
      <label class="field grow">Name of the program<input name="principal" required maxlength="200" autocomplete="off" .value=${`${agent}-client`}></label>
      <button class="btn main" ?disabled=${this.busy}>Make a key</button></form>
      ${made ? html`<p class="check">The key ${line(made.id, 40)} is revoked.</p>` : nothing}
      <p class="dim">The key reaches ${line(agent, 60)} only, and ends after ${DAYS} days. Until then <code>$${KEY_NAME}</code> stands for it.</p>`;
  }
}

customElements.define('parley-connect', Connect);
