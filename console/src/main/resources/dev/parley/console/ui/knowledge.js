/** The part of a knowledge graph that is explored: statements around entities, read piece by piece. Of the network only queries. */
import { api } from './api.js';
import { count, line } from './format.js';

const PAGE = 25; // statements of an expansion
export const MOST = 500; // nodes and edges of a picture
const AROUND = 'query($f:StatementFilter,$n:Int,$c:String){statements(filter:$f,first:$n,after:$c){nodes{subject{id}predicate object{id value type language}graph certainty confirmedAt provenance}pageInfo{hasNextPage endCursor}}}';
const COUNT = 'SELECT (COUNT(*) AS ?n) {{?id ?p ?o} UNION {GRAPH ?g {?id ?p ?o}} UNION {?s ?p ?id} UNION {GRAPH ?g {?s ?p ?id}}}';
const SEARCH = 'query($t:String!,$id:ID!){one:entity(id:$id){id types}text:entities(text:$t,first:20){nodes{id types}}type:entities(type:$t,first:20){nodes{id types}}object:statements(filter:{objects:[$id]},first:1){nodes{object{id}}}}';
const NAMES = 'SELECT DISTINCT ?s {{?s ?p ?o} UNION {GRAPH ?g {?s ?p ?o}} FILTER(CONTAINS(LCASE(STR(?s)), LCASE(?t)))} LIMIT 20';

/**
 * @typedef {{agent: string, languages: string[]}} Source
 * @typedef {{id?: string | null, value?: unknown, type?: string, language?: string}} Term
 * @typedef {{key: string, from: string, to: string, subject: string, predicate: string, object: Term, graph?: string, certainty?: number, source?: string, because?: string, task?: string, at?: string}} Edge {@code from}, {@code to}: keys of nodes
 * @typedef {{key: string, id?: string, label: string, near?: string, of?: string}} Node {@code of}: entity whose statements are not all read; the node stands for the others
 * @typedef {{edges: Map<string, Edge>, left: number, cursors: (string | null | undefined)[]}} Reach cursors of the statements from and to an entity, null after the last page; {@code left}: statements that are not read, -1 if their number is unknown
 * @typedef {{start: string, reach: Map<string, Reach>, pinned: Set<string>}} Graph statements by the entity that is expanded
 */

/** Key of the node of an entity. @param {string} id */
export const nodeKey = id => `e${id}`;
/** Last part of an IRI. @param {string} id */
export const short = id => line(id.includes('://') ? id.slice(Math.max(id.lastIndexOf('#'), id.lastIndexOf('/')) + 1) || id : id, 60);
/** @param {unknown} value */
export const text = value => (typeof value === 'string' ? value : JSON.stringify(value) ?? '');
/** @param {Term} term */
export const termText = term => (term.id == null ? line(text(term.value), 60) : short(term.id));

/** @param {any} statement of a query, a change or a result @param {string} [at] @returns {Edge} */
export function edgeOf({ subject, predicate, object, graph, certainty, provenance, confirmedAt }, at) {
  const name = text(predicate.id ?? predicate);
  const key = JSON.stringify([graph ?? '', subject.id, name, object.id ?? [object.value, object.language ?? '']]);
  return { key, from: nodeKey(subject.id), to: object.id == null ? `v${key}` : nodeKey(object.id), subject: subject.id, predicate: name, object, graph: graph ?? undefined, certainty: certainty ?? undefined,
    source: provenance?.sourceAgentId ?? provenance?.recordedBy, because: provenance?.justification, task: provenance?.taskId, at: at ?? confirmedAt };
}

/** Runs a query; its error has the details. @param {string} agent @param {{query: string, queryLanguage?: string, variables?: Record<string, unknown>}} query */
export const ask = (agent, query) => api.knowledge(agent, query).catch(error => {
  const { detail, errors } = error.details?.details?.[0]?.metadata ?? {};
  throw Object.assign(error, { message: detail ?? (errors ? JSON.parse(errors).map((/** @type {any} */ each) => each.message).join('; ') : error.message) });
});

/** Rows of a query in SPARQL; none if the hub has no SPARQL. @param {Source} source @param {string} query @param {Record<string, unknown>} variables @returns {Promise<any[]>} */
const rows = async ({ agent, languages }, query, variables) =>
  languages.includes('sparql') ? ask(agent, { queryLanguage: 'sparql', query, variables }).then(({ data }) => data.results.bindings, () => []) : [];

/** First agent that offers the graph: those of a hub share one. @param {string} agent of the address, or none @returns {Promise<Source | undefined>} */
export async function graphSource(agent) {
  const names = agent ? [agent] : (await api.agents()).agents.map(({ name }) => name).slice(0, 64);
  const cards = await Promise.all(names.map(name => api.card(name).catch(error => {
    if ([401, 403, 404].includes(error.status)) return undefined;
    throw error;
  })));
  const offers = cards.map(card => /** @type {any[]} */ (card?.capabilities?.extensions ?? []).find(({ uri }) => String(uri).includes('/extensions/knowledge-graph/')));
  const first = offers.findIndex(Boolean);
  return first < 0 ? undefined : { agent: names[first], languages: offers[first].params?.queryLanguages ?? ['graphql'] };
}

/** Entities with an id, a part of it, a type or a text. @param {Source} source @param {string} words @returns {Promise<{id: string, types: string[]}[]>} */
export async function search(source, words) {
  const [names, { data }] = await Promise.all([rows(source, NAMES, { t: words }), ask(source.agent, { query: SEARCH, variables: { t: words, id: words } })]);
  const found = [...(data.text?.nodes ?? []), ...names.map(row => ({ id: row.s.value, types: [] })), ...(data.object?.nodes.map(() => ({ id: words, types: [] })) ?? []), ...(data.type?.nodes ?? []), data.one].filter(Boolean);
  return [...new Map(found.map(each => [each.id, each])).values()].sort((a, b) => Number(b.id === words) - Number(a.id === words));
}

/** The next statements around an entity. @param {Source} source @param {string} id @param {Reach} [present] @returns {Promise<Reach>} */
export async function neighbours(source, id, present) {
  const edges = new Map(present?.edges);
  const cursors = [...(present?.cursors ?? [undefined, undefined])];
  const most = edges.size + PAGE;
  for (const [i, side] of ['subjects', 'objects'].entries()) {
    if (cursors[i] === null || edges.size >= most) continue;
    const { nodes, pageInfo } = (await ask(source.agent, { query: AROUND, variables: { f: { [side]: [id] }, n: most - edges.size, c: cursors[i] } })).data.statements;
    for (const edge of nodes.map((/** @type {any} */ each) => edgeOf(each))) edges.set(edge.key, edge);
    cursors[i] = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  }
  const [total] = cursors.every(cursor => cursor === null) ? [] : await rows(source, COUNT, { id: { id } });
  return { edges, cursors, left: cursors.every(cursor => cursor === null) ? 0 : total ? Number(total.n.value) - edges.size : -1 };
}

/** What is reached from the start and from pinned entities, as far as edges are shown. @param {Graph} graph @param {(edge: Edge) => boolean} isShown */
export function picture({ start, reach, pinned }, isShown) {
  const nodes = /** @type {Map<string, Node>} */ (new Map());
  const edges = /** @type {Map<string, Edge>} */ (new Map());
  const hidden = new Set();
  let isFull = false;
  const ids = new Set([start, ...pinned].filter(Boolean));
  const add = (/** @type {Node} */ node) => nodes.has(node.key) || nodes.set(node.key, node);
  for (const id of ids) {
    const near = nodeKey(id);
    add({ key: near, id, label: short(id) });
    for (const edge of reach.get(id)?.edges.values() ?? []) {
      if (!isShown(edge)) hidden.add(edge.key);
      else if (nodes.size + edges.size > MOST - 4) isFull = true;
      else {
        edges.set(edge.key, edge);
        for (const end of [edge.subject, edge.object.id]) if (end != null) ids.add(end), add({ key: nodeKey(end), id: end, label: short(end), near });
        if (edge.object.id == null) add({ key: edge.to, label: termText(edge.object), near });
      }
    }
    const left = reach.get(id)?.left;
    if (left) add({ key: `m${id}`, label: left < 0 ? 'more' : `+${count(left)} more`, near, of: id });
  }
  return { nodes, edges, hidden: hidden.size, isFull };
}

/** Applies a change of the subscription to the expanded entities that it is about. @param {Graph} graph @param {any} change @returns {Graph} the same if it is about others */
export function applied(graph, { op, statement, timestamp, changeMetadata }) {
  const edge = edgeOf(statement, timestamp);
  const gone = (changeMetadata?.replaced ?? []).map((/** @type {Term} */ object) => edgeOf({ ...statement, object }));
  const reach = new Map(graph.reach);
  for (const [id, present] of graph.reach) {
    const isAbout = (/** @type {Edge} */ each) => each.subject === id || each.object.id === id;
    if (![edge, ...gone].some(isAbout)) continue;
    const edges = new Map(present.edges);
    for (const each of [edge, ...gone]) edges.delete(each.key);
    if (op !== 'remove' && isAbout(edge)) edges.set(edge.key, edge);
    reach.set(id, { ...present, edges });
  }
  return [...reach].some(([id, each]) => each !== graph.reach.get(id)) ? { ...graph, reach } : graph;
}

const PREFIXES = /** @type {Record<string, string>} */ ({ rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#', rdfs: 'http://www.w3.org/2000/01/rdf-schema#', owl: 'http://www.w3.org/2002/07/owl#', xsd: 'http://www.w3.org/2001/XMLSchema#' });

/** The statements in Turtle, which has no certainty: it is in comments. Ids that are no IRIs are left out. @param {Edge[]} edges */
export function turtle(edges) {
  const iri = (/** @type {string} */ id) => (id.startsWith('_:') ? id : `<${id.replace(/^(rdfs?|owl|xsd):/, (_, prefix) => PREFIXES[prefix])}>`);
  const quoted = (/** @type {string} */ value) => JSON.stringify(value).replace(/[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const term = (/** @type {Term} */ { id, value, type, language }) => (id != null ? iri(id) : (typeof value === 'boolean' || Number.isFinite(value)) && !type ? String(value) : quoted(text(value)) + (language ? `@${language}` : type && !/[:#]string$/.test(type) ? `^^${iri(type)}` : ''));
  const isIri = (/** @type {string | null | undefined} */ id) => id == null || /^(_:\w[\w.-]*|[A-Za-z][\w+.-]*:[^\u0000-\u0020<>"{}|^`\\]*)$/u.test(id);
  const good = edges.filter(each => !each.predicate.startsWith('_:') && [each.subject, each.predicate, each.object.id, each.object.type].every(isIri));
  return (good.length < edges.length ? `# ${edges.length - good.length} of ${edges.length} statements are left out: their ids are no IRIs\n` : '')
    + good.map(each => `${iri(each.subject)} ${iri(each.predicate)} ${term(each.object)} .${each.certainty === undefined ? '' : ` # certainty ${each.certainty}`}\n`).join('');
}
