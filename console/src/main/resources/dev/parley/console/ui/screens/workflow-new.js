/** S6: editor of a workflow, with a check by the hub and a picture as it is written. */
import { html, nothing } from 'lit';
import { api } from '../api.js';
import { failure, skeleton } from '../components/bits.js';
import { Screen } from '../components/element.js';
import { graph } from '../components/graph.js';
import { line, plural } from '../format.js';
import { go, link } from '../route.js';

const PAUSE = 400; // ms after the last key before the hub checks
const EXAMPLE = { workflow: { steps: [{ id: 'first', agent: 'echo', task: 'echo', parameters: { text: 'hello' } }, { id: 'second', agent: 'echo', task: 'echo', parameters: { text: '${first.text}, again' } }] } };

class WorkflowNew extends Screen {
  static properties = { text: { state: true }, problems: { state: true }, steps: { state: true }, valid: { state: true }, inputs: { state: true }, error: { state: true }, busy: { state: true }, saved: { state: true } };

  constructor() {
    super();
    this.text = /** @type {string | undefined} */ (undefined);
    this.problems = /** @type {{location: string, message: string}[]} */ ([]);
    /** Steps of the last document that could be read. @type {import('../flow.js').Step[]} */
    this.steps = [];
    this.valid = false;
    /** Values of the inputs of a definition, by their names. @type {Record<string, string>} */
    this.inputs = {};
    this.error = /** @type {any} */ (undefined);
    this.busy = false;
    this.saved = '';
    this.origin = '?';
    this.timer = 0;
    this.abort = new AbortController();
  }

  connectedCallback() {
    super.connectedCallback();
    this.until(() => (clearTimeout(this.timer), this.abort.abort()));
  }

  willUpdate() {
    const origin = this.route.query.toString();
    if (origin === this.origin) return;
    this.origin = origin;
    this.load(this.route.query.get('from'), this.route.query.get('run'));
  }

  /** @param {string | null} from name of a definition @param {string | null} run */
  async load(from, run) {
    try {
      /** @type {any} */
      let document = EXAMPLE;
      if (from) {
        document = { name: from, ...(await api.definition(from)).document };
      } else if (run) {
        document = (await api.task('one', run)).history?.[0]?.parts.find(part => part.data !== undefined)?.data ?? EXAMPLE;
      }
      this.write(JSON.stringify(document, null, 2));
    } catch (error) {
      this.error = error;
      this.text = '';
    }
  }

  /** @param {string} text */
  write(text) {
    this.text = text;
    this.saved = '';
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), PAUSE);
  }

  get document() {
    return JSON.parse(this.text ?? '');
  }

  /** Names of the inputs of a definition. @returns {string[]} */
  get inputNames() {
    try {
      const { name, inputs } = this.document;
      return name ? Object.keys(inputs?.properties ?? {}) : [];
    } catch {
      return [];
    }
  }

  async check() {
    this.abort.abort();
    const { signal } = (this.abort = new AbortController());
    try {
      const { valid, problems, steps } = await api.checkWorkflow(this.document, signal);
      if (signal.aborted) return;
      Object.assign(this, { valid, problems, error: undefined, ...(steps.length ? { steps } : {}) });
    } catch (error) {
      if (signal.aborted) return;
      this.valid = false;
      if (error instanceof SyntaxError) this.problems = [{ location: '', message: error.message }];
      else this.error = error;
    }
  }

  /** @param {() => Promise<void>} work */
  async act(work) {
    this.busy = true;
    this.error = undefined;
    await work().catch(error => (this.error = error));
    this.busy = false;
  }

  start() {
    this.act(async () => {
      const { document } = this;
      const inputs = Object.fromEntries(Object.entries(this.inputs).filter(([, text]) => text !== '').map(([name, text]) => [name, valueOf(text, document.inputs?.properties?.[name]?.type)]));
      const { name, version } = document.name ? await api.saveDefinition(document) : { name: '', version: 0 };
      go(link(`workflows/${(await api.startRun(name ? { definition: name, version, inputs } : document)).workflowId}`));
    });
  }

  save() {
    this.act(async () => {
      const { name, version } = await api.saveDefinition(this.document);
      this.saved = `Saved as version ${version} of ${line(name, 100)}.`;
    });
  }

  render() {
    if (this.text === undefined) return html`<div class="card">${skeleton(8)}</div>`;
    const names = this.inputNames;
    const isDefinition = /"name"\s*:/.test(this.text);
    return html`<div class="head"><div class="grow"><div class="crumbs dim"><a href=${link('workflows')}>Workflows</a></div><h1>New workflow</h1><span class="dim">A document as JSON; with a <code>name</code> it is a definition, which is stored with versions.</span></div>
        ${isDefinition ? html`<button type="button" class="btn" ?disabled=${!this.valid || this.busy} @click=${this.save}>Save</button>` : nothing}
        <button type="button" class="btn main" ?disabled=${!this.valid || this.busy} @click=${this.start}>${isDefinition ? 'Save and run' : 'Run'}</button></div>
      ${failure(this.error)}
      <div class="cols editor"><label class="field">Document<textarea class="mono" spellcheck="false" .value=${this.text} @input=${(/** @type {any} */ event) => this.write(event.target.value)}></textarea></label>
        <div class="stack"><section class="card" aria-label="Check"><h2>Check</h2><div class="pad stack" role="status">
            ${this.problems.map(({ location, message }) => html`<p class="check bad"><span>${location ? html`<code>${line(location, 200)}</code> ` : nothing}${line(message, 600)}</span></p>`)}
            ${this.valid ? html`<p class="check ok">${plural(this.steps.length, 'step')}, ready to run.</p>` : nothing}${this.saved ? html`<p class="check ok">${this.saved}</p>` : nothing}</div></section>
          ${names.length ? html`<section class="card" aria-label="Inputs"><h2>Inputs</h2><div class="pad stack">${names.map(name => html`<label class="field">${line(name, 80)}
            <input .value=${this.inputs[name] ?? ''} @input=${(/** @type {any} */ event) => (this.inputs = { ...this.inputs, [name]: event.target.value })}></label>`)}</div></section>` : nothing}
          ${this.steps.length ? html`<section class="card" aria-label="Picture">${graph(this.steps)}</section>` : nothing}</div></div>`;
  }
}

/** A text that was typed, as a value of its type. @param {string} text @param {string | undefined} type */
function valueOf(text, type) {
  if (type === 'string' || type === undefined) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text; // the hub says what it expects
  }
}

customElements.define('screen-workflow-new', WorkflowNew);
