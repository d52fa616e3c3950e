/** S13: public search of the registry, for visitors without credentials, too. */
import { html, nothing } from 'lit';
import { empty } from '../components/bits.js';
import { line } from '../format.js';
import { link } from '../route.js';
import { Agents } from './agents.js';
import { columns } from './agents-row.js';

class Registry extends Agents {
  /** Entries are those of the registry only. */
  async plain() {
    this.error = { message: 'This hub has no registry for you', status: 404 };
  }

  get publish() {
    return this.session.isVisitor ? nothing : html`<button type="button" class="btn main" @click=${() => this.add()}>Publish</button>`;
  }

  heading() {
    return html`<div class="head"><div class="grow"><h1>Registry</h1><span class="dim">${this.session.isVisitor ? 'Public agents. Sign in to publish one.' : 'Paste the address of an agent or a card anywhere on this page to publish it.'}</span></div>
      <a class="btn" href=${link('registry/account')}>Developer account</a>${this.publish}</div>`;
  }

  get columns() {
    const check = this.session.isVisitor ? undefined : (/** @type {import('../types.js').Found} */ found) => this.check(found);
    return [...columns(this.words, this.now, check, this.checks, entry => link(`registry/${entry.id}`)).slice(0, -1),
      { name: 'act', label: 'Visible', cell: (/** @type {import('../types.js').Found} */ { agent }) => html`<span class="dim">${line(agent.visibility, 20)}</span>` }];
  }

  none() {
    return empty('No agent yet', 'An agent is published by its address or its card.', this.publish);
  }
}

customElements.define('screen-registry', Registry);
