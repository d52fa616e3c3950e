/** Operations of the hub by name. Every request carries a trace of its own, whose id finds it in the audit and in the hub's log. */
import { root } from './route.js';
import { began, end, isKept, untilEnd, withProof } from './session.js';

const SESSION = 'ui/-/session';

/** An answer that is not a success, or none at all. */
export class ApiError extends Error {
  /** @param {{message: string, status?: number, code?: number, reason?: string, trace: string, details?: unknown}} fault {@code code}: that of JSON-RPC */
  constructor({ message, status = 0, code, reason, trace, details }) {
    super(message);
    this.status = status;
    this.code = code;
    this.reason = reason;
    this.trace = trace;
    this.details = details;
  }
}

/** @param {number} bytes */
function hex(bytes) {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), byte => byte.toString(16).padStart(2, '0')).join('');
}

const SKEW = 5_000; // ms; a difference of the clocks below is the time of the answer
let skew = 0;

/** Time of the hub, whose clock may differ from that of the browser; ages are differences to it. */
export const hubNow = () => Date.now() + skew;

/** @param {Response} answer */
function compareClocks(answer) {
  const difference = Date.parse(answer.headers.get('Date') ?? '') - Date.now();
  if (!Number.isNaN(difference)) skew = Math.abs(difference) > SKEW ? difference : 0;
}

/** Id of a trace, and the header that carries it. */
export function newTrace() {
  const trace = hex(16);
  return { trace, header: `00-${trace}-${hex(8)}-01` };
}

/** A new id; pages of plain http have no {@code crypto.randomUUID}. */
export const newId = () => crypto.randomUUID?.() ?? hex(16);

/** Address of a path of the hub. @param {string} path without a slash in front @param {Record<string, unknown>} [query] */
export function address(path, query = {}) {
  const url = new URL(root + path, location.origin);
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined && each !== '') url.searchParams.append(name, String(each));
  }
  return url;
}

/**
 * @typedef {{query?: Record<string, unknown>, body?: unknown, headers?: Record<string, string>, signal?: AbortSignal, credentials?: 'same-origin' | 'omit'}} Options
 * {@code omit}: the request has credentials of its own, or none, and says nothing about the session
 */

/**
 * Sends a request.
 *
 * @param {string} method
 * @param {string} path
 * @param {Options} [options]
 * @returns {Promise<Response>} an answer of 200 to 299
 */
export async function request(method, path, options = {}) {
  const { query, body, headers = {}, signal, credentials = 'same-origin' } = options;
  const { trace, header } = newTrace();
  const open = method === 'GET' && credentials !== 'omit' && path !== SESSION ? untilEnd(signal) : signal;
  /** @type {Response} */
  let answer;
  try {
    answer = await fetch(address(path, query), {
      method,
      signal: open,
      credentials,
      headers: withProof({ Accept: 'application/json', traceparent: header, ...(body === undefined || body instanceof URLSearchParams ? {} : { 'Content-Type': 'application/json' }), ...headers }),
      body: body === undefined || body instanceof URLSearchParams ? body : JSON.stringify(body),
    });
  } catch (failure) {
    if (signal?.aborted) throw failure;
    if (open?.aborted && (await isKept())) return request(method, path, options);
    if (open?.aborted) throw new ApiError({ message: 'The session ends', trace });
    throw new ApiError({ message: 'The hub does not answer', trace, details: String(failure) });
  }
  compareClocks(answer);
  if (answer.ok) return answer;
  const failure = await problem(answer, trace);
  if (answer.status === 401 && credentials !== 'omit') dispatchEvent(new Event('signed-out'));
  throw failure;
}

/** Reason of an error of REST or JSON-RPC. @param {any} error @returns {string | undefined} */
export function reasonOf(error) {
  const details = [error?.details, error?.data].find(Array.isArray) ?? [];
  const reason = details.find((/** @type {any} */ detail) => detail?.reason)?.reason ?? error?.status;
  return typeof reason === 'string' ? reason : undefined;
}

/** The error of an answer. @param {Response} answer @param {string} trace */
export async function problem(answer, trace) {
  const text = (await answer.text().catch(() => '')).slice(0, 20_000);
  try {
    const error = JSON.parse(text).error ?? JSON.parse(text);
    return new ApiError({ message: String(error.message ?? error.detail ?? error.title ?? text), status: answer.status, reason: reasonOf(error), trace, details: error });
  } catch {
    return new ApiError({ message: text.trim().slice(0, 200) || `The hub answered ${answer.status}`, status: answer.status, trace });
  }
}

/** @param {string} method @param {string} path @param {Options} [options] @returns {Promise<any>} */
async function json(method, path, options) {
  const answer = await request(method, path, options);
  const text = await answer.text();
  return text ? JSON.parse(text) : undefined;
}

const V1 = { 'A2A-Version': '1.0' };
const id = encodeURIComponent;

/** The operations that the screens use. */
export const api = {
  /** @returns {Promise<import('./types.js').Session>} */
  session: async () => json('GET', SESSION).catch(failure => {
    if (failure.status === 404) return { signedIn: false, needsSignIn: false };
    throw failure;
  }),
  /** Request to the authorization endpoint of the issuer, without its state and challenge. @returns {Promise<Record<string, string>>} */
  openId: () => json('GET', 'ui/-/session/openid'),
  /** @param {{key?: string, token?: string, code?: string, verifier?: string}} credential */
  signIn: async credential => began((await json('POST', SESSION, { body: credential }))?.proof),
  signOut: () => end(() => json('DELETE', SESSION)),

  /** @returns {Promise<{agents: {name: string, description?: string, url: string}[]}>} */
  agents: () => json('GET', 'agents'),
  /** @param {string} agent @returns {Promise<import('./types.js').Card>} */
  card: agent => json('GET', `agents/${id(agent)}/.well-known/agent-card.json`, { headers: V1 }),
  /** @param {Record<string, unknown>} query @param {AbortSignal} [signal] @returns {Promise<{results: import('./types.js').Found[], nextPageToken?: string}>} */
  search: (query, signal) => json('GET', 'registry/search', { query, signal }),
  /** @param {Record<string, unknown>} query @param {AbortSignal} [signal] @returns {Promise<{agents: import('./types.js').Entry[], nextPageToken?: string}>} */
  entries: (query, signal) => json('GET', 'registry/agents', { query, signal }),
  /** @param {Record<string, unknown>} query @param {AbortSignal} [signal] @returns {Promise<{total: number, facets: Record<string, {others: number, buckets: {value: string, count: number}[]}>}>} */
  facets: (query, signal) => json('GET', 'registry/facets', { query, signal }),
  /** @param {string} entry @returns {Promise<import('./types.js').Entry>} */
  entry: entry => json('GET', `registry/agents/${id(entry)}`),
  /** @param {string} entry @returns {Promise<any>} */
  health: entry => json('GET', `registry/agents/${id(entry)}/health`),
  /** @param {Record<string, unknown>} publication @returns {Promise<import('./types.js').Entry>} */
  register: publication => json('POST', 'registry/agents', { body: publication }),
  /** Checks a card and registers nothing. @param {Record<string, unknown>} card its url, card, agent or id @returns {Promise<import('./types.js').Inspection>} */
  inspect: card => json('POST', 'registry/inspect', { body: card }),
  /** Publishes a version. @param {string} entry @param {Record<string, unknown>} publication @returns {Promise<import('./types.js').Entry>} */
  publish: (entry, publication) => json('PUT', `registry/agents/${id(entry)}`, { body: publication }),
  /** @param {string} entry @returns {Promise<{versions: import('./types.js').Version[]}>} */
  versions: entry => json('GET', `registry/agents/${id(entry)}/versions`),
  /** The document of an entry. @param {string} entry @returns {Promise<any>} */
  document: entry => json('GET', `registry/agents/${id(entry)}/card`),
  /** @param {string} entry @returns {Promise<import('./types.js').Reviews>} */
  entryReviews: entry => json('GET', `registry/agents/${id(entry)}/reviews`),
  /** Leaves the caller's review; without stars and text it is withdrawn. @param {string} entry @param {{stars: number, text?: string}} review */
  reviewEntry: (entry, review) => json('POST', `registry/agents/${id(entry)}:review`, { body: review }),
  /** @param {string} entry @param {Record<string, unknown>} query @returns {Promise<import('./types.js').Difference>} */
  diff: (entry, query) => json('GET', `registry/agents/${id(entry)}/diff`, { query }),

  /** An operation of the administration; needs the scope admin. @param {'GET' | 'POST'} method @param {string[]} path its segments @param {Record<string, unknown>} [body] @returns {Promise<any>} */
  admin: (method, path, body = {}) => json(method, `admin/${path.map(id).join('/')}`, method === 'POST' ? { body } : {}),
  /** Metrics, each summed over its labels; callers need the scope metrics. @param {string[]} names @returns {Promise<Record<string, number>>} */
  figures: async names => {
    const text = await (await request('GET', 'metrics', { query: { 'name[]': names }, headers: { Accept: 'text/plain' } })).text();
    return Object.fromEntries(names.map(name => [name, text.split('\n').filter(each => each.startsWith(name)).reduce((sum, each) => sum + Number(each.split(' ').pop()), 0)]));
  },
  /** Calls of the last hour; needs the scope admin, as does the report of use. @param {Record<string, unknown>} query @returns {Promise<any>} */
  series: query => json('GET', 'admin/measures', { query }),
  /** @param {Record<string, unknown>} query @returns {Promise<{rows: Record<string, any>[]}>} */
  usage: query => json('GET', 'admin/reports/usage', { query }),

  /** @param {Record<string, unknown>} query @param {AbortSignal} [signal] @returns {Promise<import('./types.js').TaskPage>} */
  tasks: (query, signal) => json('GET', 'activity/tasks', { query, signal }),
  /** @param {Record<string, unknown>} [query] @param {AbortSignal} [signal] @returns {Promise<import('./types.js').Counts>} */
  counts: (query, signal) => json('GET', 'activity/counts', { query, signal }),
  /** @param {string} task @param {Record<string, unknown>} [query] @param {AbortSignal} [signal] @returns {Promise<import('./types.js').TaskHistory>} */
  history: (task, query, signal) => json('GET', `activity/tasks/${id(task)}`, { query, signal }),

  /** @param {string} trace its id, or that of a task @param {Record<string, unknown>} query @returns {Promise<import('./trace.js').Trace>} */
  trace: (trace, query) => json('GET', `activity/traces/${id(trace)}`, { query }),

  /** @param {Record<string, unknown>} query @param {AbortSignal} [signal] @returns {Promise<{workflows: import('./types.js').WorkflowRun[], nextPageToken?: string}>} */
  runs: (query, signal) => json('GET', 'one/workflows', { query, signal }),
  /** @param {string} run @param {AbortSignal} [signal] @returns {Promise<import('./types.js').WorkflowRun>} */
  run: (run, signal) => json('GET', `one/workflows/${id(run)}`, { signal }),
  /** @param {unknown} document @returns {Promise<import('./types.js').WorkflowRun>} */
  startRun: document => json('POST', 'one/workflows', { body: document }),
  /** @param {string} run @param {'resume' | 'repeat'} action @returns {Promise<import('./types.js').WorkflowRun>} */
  againRun: (run, action) => json('POST', `one/workflows/${id(run)}/${action}`, { body: {} }),
  /** @param {string} run */
  cancelRun: run => json('DELETE', `one/workflows/${id(run)}`),
  /** @param {unknown} document @param {AbortSignal} [signal] @returns {Promise<{valid: boolean, problems: {location: string, message: string}[], steps: import('./flow.js').Step[]}>} */
  checkWorkflow: (document, signal) => json('POST', 'one/workflows/check', { body: document, signal }),
  /** @param {Record<string, unknown>} query @returns {Promise<{definitions: import('./types.js').Definition[], nextPageToken?: string}>} */
  definitions: query => json('GET', 'one/definitions', { query }),
  /** @param {string} name @returns {Promise<import('./types.js').Definition>} */
  definition: name => json('GET', `one/definitions/${id(name)}`),
  /** @param {unknown} document @returns {Promise<import('./types.js').Definition>} */
  saveDefinition: document => json('POST', 'one/definitions', { body: document }),
  /** View of the mesh. @param {'agents' | 'connections' | 'events'} view @param {Record<string, unknown>} query @returns {Promise<any>} */
  mesh: (view, query) => json('GET', `one/${view}`, { query, headers: V1 }),
  /** @param {Record<string, unknown>} query @returns {Promise<{votes: any[], nextPageToken?: string}>} */
  votes: query => json('GET', 'one/votes', { query }),
  /** @param {string} vote @param {string} option @param {string} [voter] on a hub without authentication */
  vote: (vote, option, voter) => json('POST', `one/votes/${id(vote)}/ballots`, { body: { option, voter } }),
  /** Queries the knowledge graph that agents share. @param {string} agent @param {Record<string, unknown>} query @param {AbortSignal} [signal] @returns {Promise<{data: any, queryMetadata?: any}>} */
  knowledge: (agent, query, signal) => json('POST', `agents/${id(agent)}/kg:query`, { headers: V1, body: query, signal }),
  /** Tools of MCP servers; needs the scope admin, as do reviews. @returns {Promise<{servers: {name: string, state: string, restarts: number, problem?: string, lastProblem?: string, tools: any[]}[]}>} */
  mcpTools: () => json('GET', 'admin/mcp/tools'),
  /** The newest lines of a server's program. @param {string} server @returns {Promise<{lines: {at: string, text: string}[]}>} */
  mcpLog: server => json('GET', `admin/mcp/servers/${id(server)}/log`),
  /** @param {string} server @param {string} tool @param {string} digest */
  approveTool: (server, tool, digest) => json('POST', `admin/mcp/servers/${id(server)}/approve`, { body: { tool, digest } }),
  /** @param {string} [group] @returns {Promise<{reviews: any[]}>} */
  reviews: group => json('GET', 'admin/knowledge/reviews', { query: { group } }),
  /** @param {string} review @param {'approve' | 'reject'} decision @param {string} [group] */
  review: (review, decision, group) => json('POST', `admin/knowledge/reviews/${id(review)}/${decision}`, { query: { group }, body: {} }),

  /** @param {string} agent @param {string} task @param {AbortSignal} [signal] @returns {Promise<import('./types.js').Task>} */
  task: (agent, task, signal) => json('GET', `agents/${id(agent)}/tasks/${id(task)}`, { headers: V1, signal }),
  /** @param {string} agent @param {string} task @returns {Promise<import('./types.js').Task>} */
  cancel: (agent, task) => json('POST', `agents/${id(agent)}/tasks/${id(task)}:cancel`, { headers: V1, body: {} }),
  /** @param {string} agent @param {Record<string, unknown>} body @returns {Promise<import('./types.js').StreamResponse>} */
  send: (agent, body) => json('POST', `agents/${id(agent)}/message:send`, { headers: V1, body }),
  /** @param {string} agent @param {string} task @returns {Promise<{configs?: any[]}>} */
  webhooks: (agent, task) => json('GET', `agents/${id(agent)}/tasks/${id(task)}/pushNotificationConfigs`, { headers: V1 }),
  /** Hubs that run; needs the scope admin, as do their health and drains. @returns {Promise<{hubs: import('./types.js').HubRow[]}>} */
  hubs: () => json('GET', 'admin/hubs'),
  /** @param {string} hub @param {boolean} fresh @returns {Promise<import('./types.js').HubHealth>} */
  hubHealth: (hub, fresh) => json('GET', `admin/hubs/${id(hub)}/health`, { query: { fresh: fresh || undefined } }),
  /** @param {string} hub @param {'drain' | 'resume'} action @returns {Promise<import('./types.js').HubRow>} */
  drainHub: (hub, action) => json('POST', `admin/hubs/${id(hub)}/${action}`, { body: {} }),
  /** Rows of the audit log; needs the scope admin. @param {Record<string, unknown>} query @returns {Promise<{rows: any[], next?: import('./place.js').Place}>} */
  audit: query => json('GET', 'admin/audit', { query }),
  /** The place of the newest rows, or one that is some rows earlier. @param {{before?: import('./place.js').Place, rows?: number}} [query] @returns {Promise<{number: import('./place.js').Place}>} */
  auditNewest: query => json('GET', 'admin/audit/newest', { query }),
  /** @returns {Promise<{good: boolean, rows: number, end: string, broken?: string}>} */
  auditVerify: () => json('GET', 'admin/audit/verify'),
  /** Webhooks that were given up; needs the scope admin. @returns {Promise<{webhooks: any[]}>} */
  deadWebhooks: () => json('GET', 'admin/webhooks/dead'),
  /** @param {string} task @param {string} config */
  redeliver: (task, config) => json('POST', `admin/webhooks/${id(task)}/${id(config)}/redeliver`, { body: {} }),
};
