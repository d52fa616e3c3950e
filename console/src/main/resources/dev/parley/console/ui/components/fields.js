/** Fields of a form by a JSON schema, and the values that were filled in. */
import { html, nothing } from 'lit';
import { line } from '../format.js';

/** @typedef {{type?: string | string[], enum?: unknown[], description?: string, default?: unknown, required?: string[], properties?: Record<string, Schema>, items?: Schema, $ref?: string}} Schema */

/** @param {Schema} schema */
export const typeOf = schema => (Array.isArray(schema.type) ? schema.type.find(each => each !== 'null') : schema.type) ?? 'object';

/** @param {Schema} schema of an object */
export const fields = schema => Object.entries(schema.properties ?? {}).map(([name, each]) => field(name, each, !!schema.required?.includes(name)));

/** @param {string} name @param {Schema} schema @param {boolean} required */
const field = (name, schema, required) => html`<label class="field"><span>${line(name, 80)}${required ? '' : html` <span class="dim">optional</span>`}</span>${control(name, schema, required)}
  ${schema.description ? html`<small class="dim">${line(schema.description, 300)}</small>` : nothing}</label>`;

/** @param {string} name @param {Schema} schema @param {boolean} required */
function control(name, schema, required) {
  const type = typeOf(schema);
  const choices = schema.enum ?? (type === 'boolean' ? [true, false] : undefined);
  const given = schema.default === undefined ? '' : type === 'string' ? String(schema.default) : JSON.stringify(schema.default);
  if (choices) return html`<select name=${name} ?required=${required}><option value=""></option>${choices.map(each => html`<option value=${String(each)} .selected=${String(each) === given}>${line(String(each), 80)}</option>`)}</select>`;
  if (type === 'integer' || type === 'number') return html`<input type="number" step=${type === 'integer' ? '1' : 'any'} name=${name} .value=${given} ?required=${required}>`;
  return type === 'string' ? html`<input name=${name} .value=${given} ?required=${required}>` : html`<textarea name=${name} rows="3" class="mono" placeholder=${`JSON: ${type}`} .value=${given} ?required=${required}></textarea>`;
}

/** Values of the fields; those that are left empty are left out. @param {Schema} schema @param {FormData} form @returns {Record<string, any>} */
export function valuesOf({ properties = {} }, form) {
  return Object.fromEntries(Object.entries(properties).flatMap(([name, schema]) => {
    const text = String(form.get(name) ?? '');
    const type = typeOf(schema);
    if (text === '') return [];
    if (schema.enum) return [[name, schema.enum.find(each => String(each) === text)]];
    if (type === 'string') return [[name, text]];
    if (type === 'number' || type === 'integer') return [[name, Number(text)]];
    try {
      return [[name, JSON.parse(text)]];
    } catch {
      throw new Error(`${name}: not JSON (expected: ${type})`);
    }
  }));
}
