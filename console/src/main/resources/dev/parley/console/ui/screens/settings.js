/** S11: settings of the hub: keys, users and groups, effective settings, deliveries and routes. */
import { html } from 'lit';
import { tabs } from '../components/bits.js';
import { Screen } from '../components/element.js';
import { setQuery } from '../route.js';
import './settings-deliveries.js';
import './settings-keys.js';
import './settings-users.js';
import './settings-values.js';

const TABS = [['keys', 'Keys'], ['users', 'Users and groups'], ['values', 'Values'], ['deliveries', 'Deliveries']];

class Settings extends Screen {
  render() {
    const head = html`<div class="head"><div class="grow"><h1>Settings</h1><span class="dim">Keys and users, effective values and their sources, deliveries and routes.</span></div></div>`;
    const named = this.route.query.get('tab');
    const tab = TABS.find(([name]) => name === named)?.[0] ?? 'keys';
    const { route, session } = this;
    return html`${head}<div class="card">${tabs('Settings', TABS, tab, name => setQuery({ tab: name, q: undefined, source: undefined }, true), 'settings')}
      <div id="settings" role="tabpanel" aria-labelledby="settings-${tab}">${tab === 'keys' ? html`<settings-keys .route=${route} .session=${session}></settings-keys>`
        : tab === 'users' ? html`<settings-users .route=${route} .session=${session}></settings-users>`
        : tab === 'values' ? html`<settings-values .route=${route} .session=${session}></settings-values>`
        : html`<settings-deliveries .route=${route} .session=${session}></settings-deliveries>`}</div></div>`;
  }
}

customElements.define('screen-settings', Settings);
