/** Filters of the list of agents: values with counts, and those that are set. */
import { html, nothing } from 'lit';
import { count, line } from '../format.js';
import { go } from '../route.js';

/** @typedef {{total: number, facets: Record<string, {others: number, buckets: {value: string, count: number}[]}>}} Facets */

export const FACETS = /** @type {Record<string, string>} */ ({ health: 'Health', trust: 'Signature', tag: 'Tag', provider: 'Provider', dialect: 'Version', status: 'Status' });

/** Sets or removes a value of a filter. @param {URLSearchParams} present @param {string} name @param {string} value */
function toggle(present, name, value) {
  const query = new URLSearchParams(present);
  const values = query.getAll(name);
  query.delete(name);
  for (const each of values.includes(value) ? values.filter(other => other !== value) : [...values, value]) query.append(name, each);
  go(`${location.pathname}${query.size ? `?${query}` : ''}`);
}

/** Filters that are set, each with a button that removes it. @param {URLSearchParams} query */
export function chips(query) {
  return Object.keys(FACETS).flatMap(name => query.getAll(name).map(value => html`<span class="chip on">${FACETS[name]}: ${line(value, 40)}
    <button type="button" class="icon" aria-label=${`Remove ${line(value, 40)}`} @click=${() => toggle(query, name, value)}>×</button></span>`));
}

/** @param {URLSearchParams} query @param {Facets | undefined} all */
export function facetList(query, all) {
  const shown = Object.entries(FACETS)
    .map(([name, title]) => ({ name, title, buckets: all?.facets[name]?.buckets ?? [], others: all?.facets[name]?.others ?? 0 }))
    .filter(each => each.buckets.length > 1 || query.has(each.name)); // one value for all filters nothing
  if (!shown.length) return nothing;
  return html`<aside class="facets" aria-label="Filters">${shown.map(({ name, title, buckets, others }) => html`<h2>${title}</h2><ul>
    ${buckets.map(bucket => facet(query, name, bucket))}
    ${others ? html`<li class="dim">${count(others)} more</li>` : nothing}</ul>`)}</aside>`;
}

/** @param {URLSearchParams} query @param {string} name @param {{value: string, count: number}} bucket */
function facet(query, name, { value, count: number }) {
  const on = query.getAll(name).includes(value);
  return html`<li><button type="button" class="facet ${on ? 'on' : ''}" aria-pressed=${on} @click=${() => toggle(query, name, value)}>
    <span class="cut">${line(value, 60)}</span><span class="dim num">${count(number)}</span></button></li>`;
}
