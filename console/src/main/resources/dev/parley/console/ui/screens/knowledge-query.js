/** Queries of the knowledge graph in GraphQL and SPARQL; the result as table, graph or JSON. */
import { html, nothing } from 'lit';
import { empty, failure, skeleton, tabs } from '../components/bits.js';
import { Part } from '../components/element.js';
import '../components/json.js';
import { net } from '../components/net.js';
import { places } from '../force.js';
import { count, line, plural } from '../format.js';
import { ask, edgeOf, picture, short, text } from '../knowledge.js';
import { go, link, setQuery } from '../route.js';

const MOST = 200; // rows and statements that are shown
const VIEWS = [['table', 'Table'], ['graph', 'Graph'], ['json', 'JSON']];
/** By language: its name, a query to begin with, a query for the names of the graph, words of the language. @type {Record<string, string[]>} */
const LANGUAGES = {
  graphql: ['GraphQL', '{\n  statements(first: 20) {\n    nodes { subject { id } predicate object { id value } certainty }\n  }\n}', '{__schema{types{name fields{name}}}}', 'query filter where first after orderBy subjects predicates objects minCertainty'],
  sparql: ['SPARQL', 'SELECT ?subject ?predicate ?object {\n  ?subject ?predicate ?object\n} LIMIT 20', 'SELECT DISTINCT ?w {{?s ?w ?o} UNION {?s a ?w}} LIMIT 300', 'SELECT DISTINCT WHERE FILTER OPTIONAL UNION GRAPH CONSTRUCT DESCRIBE PREFIX ORDER LIMIT COUNT CONTAINS REGEX BIND VALUES'],
};

/** Members of an object and of objects in it, by their paths. @param {any} value @param {string} [path] @returns {[string, unknown][]} */
const flat = (value, path = '') => (value === null || typeof value !== 'object' || Array.isArray(value) ? [[path || 'value', value]] : Object.entries(value).flatMap(([name, member]) => flat(member, path ? `${path}.${name}` : name)));

/** First list in data. @param {any} data @returns {any[] | undefined} */
const listOf = data => (Array.isArray(data) ? data : data && typeof data === 'object' ? Object.values(data).map(listOf).find(Boolean) : undefined);

/** @param {any} data @returns {{columns: string[], cells: unknown[][]}} */
function tableOf(data) {
  if (data?.results) return { columns: data.head.vars, cells: data.results.bindings.map((/** @type {any} */ row) => data.head.vars.map((/** @type {string} */ name) => row[name]?.value)) };
  const rows = (listOf(data?.head ? { answer: data.boolean } : data) ?? [data]).map(each => new Map(flat(each)));
  const columns = [...new Set(rows.slice(0, MOST).flatMap(row => [...row.keys()]))];
  return { columns, cells: rows.map(row => columns.map(column => row.get(column))) };
}

/** Statements in data; of a SELECT, rows whose first three columns are one. @param {any} data @returns {import('../knowledge.js').Edge[]} */
function statementsOf(data) {
  if (data?.results) {
    const term = (/** @type {any} */ { type, value, 'xml:lang': language }) => (type === 'literal' ? { value, language } : { id: value });
    const triples = data.results.bindings.map((/** @type {any} */ row) => data.head.vars.slice(0, 3).map((/** @type {string} */ name) => row[name]));
    return triples.filter((/** @type {any[]} */ [s, p, o]) => o && s?.type !== 'literal' && p?.type === 'uri').slice(0, MOST).map((/** @type {any[]} */ [s, p, o]) => edgeOf({ subject: term(s), predicate: p.value, object: term(o) }));
  }
  if (data === null || typeof data !== 'object') return [];
  return data.subject?.id && data.predicate && data.object ? [edgeOf(data)] : Object.values(data).flatMap(statementsOf).slice(0, MOST);
}

class KnowledgeQuery extends Part {
  static properties = { route: { attribute: false }, source: { attribute: false }, result: { state: true }, error: { state: true }, busy: { state: true }, offers: { state: true } };

  constructor() {
    super();
    this.route = /** @type {import('../types.js').Route} */ (/** @type {unknown} */ (undefined));
    this.source = /** @type {import('../knowledge.js').Source} */ (/** @type {unknown} */ (undefined));
    this.result = /** @type {{data: any, queryMetadata?: any} | undefined} */ (undefined);
    this.error = /** @type {any} */ (undefined);
    this.busy = false;
    this.offers = /** @type {string[]} */ ([]);
    this.words = /** @type {Map<string, string[]>} */ (new Map());
    this.ran = '';
  }

  get language() {
    return this.source.languages.find(name => name === this.route.query.get('lang')) ?? this.source.languages[0];
  }

  /** A link to a query runs it: queries change nothing. */
  updated() {
    const query = this.route.query.get('query');
    if (query && this.ran !== this.language + query) this.run(query);
  }

  /** @param {string} query */
  async run(query) {
    const ran = (this.ran = this.language + query);
    Object.assign(this, { busy: true, error: undefined, result: undefined, offers: [] });
    const outcome = await ask(this.source.agent, { query, queryLanguage: this.language }).then(result => ({ result }), error => ({ error }));
    if (ran === this.ran) Object.assign(this, outcome, { busy: false });
  }

  send() {
    const { value } = this.typed().field;
    if (this.ran === this.language + value) this.run(value);
    else setQuery({ query: value, lang: this.language }, true);
  }

  /** The text, and the word before the caret. */
  typed() {
    const field = /** @type {HTMLTextAreaElement} */ (this.querySelector('textarea'));
    return { field, word: /[\w:#/.~-]*$/.exec(field.value.slice(0, field.selectionStart))?.[0] ?? '' };
  }

  async complete() {
    const [, , names, own] = LANGUAGES[this.language];
    let words = this.words.get(this.language);
    if (!words) {
      this.words.set(this.language, (words = own.split(' ')));
      const { data } = await ask(this.source.agent, { query: names, queryLanguage: this.language }).catch(() => ({ data: undefined }));
      words.unshift(...new Set((data?.results?.bindings.map((/** @type {any} */ row) => row.w.value) ?? data?.__schema?.types.flatMap((/** @type {any} */ type) => [type.name, ...(type.fields ?? []).map((/** @type {any} */ field) => field.name)]) ?? []).filter((/** @type {string} */ each) => !each.startsWith('__'))));
    }
    const word = this.typed().word.toLowerCase();
    const rank = (/** @type {string} */ each) => ([each, short(each)].some(name => name.toLowerCase().startsWith(word)) ? 0 : 1);
    this.offers = word.length < 2 ? [] : words.filter(each => each.toLowerCase().includes(word)).sort((a, b) => rank(a) - rank(b)).slice(0, 8);
  }

  /** @param {string} offer */
  take(offer) {
    const { field, word } = this.typed();
    const start = field.selectionStart - word.length;
    field.setRangeText(offer.includes('://') && field.value[start - 1] !== '<' ? `<${offer}>` : offer, start, field.selectionStart, 'end');
    this.offers = [];
    field.focus();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    if (event.key === 'Enter') this.send();
    else if (event.key === ' ' && this.offers.length) event.preventDefault(), this.take(this.offers[0]);
  }

  render() {
    const { language, result, route: { query } } = this;
    const view = VIEWS.find(([name]) => name === query.get('view'))?.[0] ?? 'table';
    return html`<div class="pad stack"><div class="row wrap"><select aria-label="Language" @change=${(/** @type {Event} */ event) => setQuery({ lang: /** @type {HTMLSelectElement} */ (event.target).value, query: undefined })}>
          ${this.source.languages.map(name => html`<option value=${name} .selected=${name === language}>${LANGUAGES[name]?.[0] ?? line(name, 20)}</option>`)}</select>
        <span class="grow dim" role="status">${this.busy ? 'Runs' : result ? `${count(result.queryMetadata?.executionMs)} ms${result.queryMetadata?.truncated ? ', cut off' : ''}` : ''}</span><button type="button" class="btn main" title="Ctrl+Enter" ?disabled=${this.busy} @click=${this.send}>Run</button></div>
      <textarea class="mono" rows="7" aria-label="Query" spellcheck="false" .value=${query.get('query') ?? LANGUAGES[language]?.[1] ?? ''} @input=${this.complete} @keydown=${this.key}></textarea>
      <div class="chips offers" role="group" aria-label="Completions; the first by Ctrl+Space">${this.offers.map(offer => html`<button type="button" class="chip" @click=${() => this.take(offer)}>${line(offer, 80)}</button>`)}</div>
      ${[this.error, ...(result?.queryMetadata?.errors ?? [])].map(each => failure(each))}${this.busy ? skeleton(3) : nothing}</div>
      ${result ? html`<div class="result">${tabs('Result', VIEWS, view, name => setQuery({ view: name }), 'result')}<div role="tabpanel" id="result" aria-labelledby="result-${view}">${this.panel(view, result)}</div></div>` : nothing}`;
  }

  /** @param {string} view @param {{data: any}} result */
  panel(view, result) {
    if (view === 'json') return html`<div class="pad"><parley-json .value=${result}></parley-json></div>`;
    if (view === 'graph') {
      const found = statementsOf(result.data);
      const reach = new Map(found.map(({ subject }) => [subject, { left: 0, cursors: [], edges: new Map(found.filter(each => each.subject === subject).map(each => [each.key, each])) }]));
      const { nodes, edges } = picture({ start: '', reach, pinned: new Set(reach.keys()) }, () => true);
      return found.length ? net({ nodes, edges, at: places(nodes.values(), [...edges.values()], new Map()), open: ({ id }) => id !== undefined && go(link('kg', { entity: id, agent: this.route.query.get('agent') ?? undefined })) })
        : empty('No statements', 'CONSTRUCT, DESCRIBE, a SELECT of subject, predicate and object, and the field statements have some.');
    }
    const { columns, cells } = tableOf(result.data);
    return cells.length ? html`<div class="pad md-table" tabindex="0" role="group" aria-label="Rows"><table><thead><tr>${columns.map(name => html`<th>${line(name, 80)}</th>`)}</tr></thead>
      <tbody>${cells.slice(0, MOST).map(row => html`<tr>${row.map(value => html`<td>${line(value === undefined ? '' : text(value), 300)}</td>`)}</tr>`)}</tbody></table></div>
      <p class="dim pad">${plural(cells.length, 'row')}${cells.length > MOST ? `, the first ${MOST} are shown` : ''}</p>` : empty('No rows', 'Nothing matches the query.');
  }
}

customElements.define('parley-knowledge-query', KnowledgeQuery);
