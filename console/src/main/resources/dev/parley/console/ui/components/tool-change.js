/** What differs between the approved definition of a tool and the one that waits. */
import { html, nothing } from 'lit';
import { line, visible } from '../format.js';

/** @typedef {{name: string, state: 'approved' | 'new' | 'changed', digest: string, description?: string, differences?: Record<string, {approved?: unknown, held?: unknown}>, change?: unknown}} Tool */

/** @param {Tool} tool */
export const toolChange = tool => html`<p>${tool.state === 'new' ? 'The server has a new tool.' : 'The definition differs from the approved one:'}</p>
  <ul class="diff">${Object.entries(tool.differences ?? { '': { held: tool.change } }).map(([path, change]) => html`<li><code>${line(path || 'definition', 120)}</code>
    ${'approved' in change ? html`<del>${visible(JSON.stringify(change.approved) ?? 'missing', 600)}</del>` : nothing}<ins>${visible(JSON.stringify(change.held) ?? 'missing', 600)}</ins></li>`)}</ul>`;
