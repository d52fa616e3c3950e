/** The shell: navigation, palette, theme, sign-in, state of the stream, and the screen of the address. */
import { html, nothing } from 'lit';
import { api } from './api.js';
import { failure } from './components/bits.js';
import { Part } from './components/element.js';
import { count, line } from './format.js';
import * as live from './live.js';
import { begin, current, go, link, root } from './route.js';
import { screens } from './screens.js';

const THEMES = ['system', 'light', 'dark'];
const NEXT_THEME = /** @type {Record<string, string>} */ ({ system: 'Theme: as the system', light: 'Theme: light', dark: 'Theme: dark' });

class App extends Part {
  static properties = { route: { state: true }, session: { state: true }, error: { state: true }, palette: { state: true }, theme: { state: true } };

  constructor() {
    super();
    this.route = current();
    /** @type {import('./types.js').Session | undefined} */
    this.session = undefined;
    /** @type {any} */
    this.error = undefined;
    this.palette = false;
    this.theme = localStorage.getItem('theme') ?? 'system';
    /** @type {HTMLElement & {route?: import('./types.js').Route, session?: unknown} | undefined} */
    this.screen = undefined;
    this.chord = 0;
    this.tick = 0;
  }

  connectedCallback() {
    super.connectedCallback();
    begin();
    this.paint();
    this.listen(window, 'routed', () => this.show());
    this.listen(window, 'signed-out', () => this.session?.signedIn && this.read());
    this.listen(document, 'keydown', event => this.key(event));
    this.listen(live.feed, 'change', () => this.requestUpdate());
    this.read();
  }

  /** Reads the session, then shows the screen or the sign-in. */
  async read() {
    try {
      this.error = undefined;
      this.session = await api.session();
    } catch (error) {
      this.error = error;
      return;
    }
    if (this.mustSignIn) {
      live.feed.stop();
      this.screen = undefined;
      await import('./screens/signin.js');
      this.requestUpdate();
      return;
    }
    live.feed.start(this.session.signedIn ? `${this.session.group}/${this.session.name}` : '-');
    this.show();
  }

  get mustSignIn() {
    return !!this.session?.needsSignIn && !this.session.signedIn;
  }

  async show() {
    if (!this.session || this.mustSignIn) return;
    const route = current();
    if (!route.path) return go(link('agents'), true);
    const changed = route.path !== this.route.path || !this.screen;
    this.route = route;
    this.palette = false;
    this.error = undefined;
    if (!route.screen) {
      this.screen = undefined;
      return;
    }
    try {
      await route.screen.load();
    } catch (error) {
      this.error = error;
      return;
    }
    if (this.route !== route) return; // another address meanwhile
    if (this.screen?.localName !== route.screen.element) this.screen = document.createElement(route.screen.element);
    Object.assign(this.screen, { route, session: this.session });
    this.requestUpdate();
    if (!changed) return;
    document.title = `${route.screen.title} – Parley`;
    await this.updateComplete;
    scrollTo(0, 0);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      this.openPalette();
      return;
    }
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest('input, textarea, select, dialog, [contenteditable]')) return;
    if (event.key === 'g') {
      this.chord = Date.now();
    } else if (Date.now() - this.chord < 1_000) {
      const screen = screens.find(each => each.key === event.key);
      if (screen) go(link(screen.path));
      this.chord = 0;
    } else if (event.key === '/') {
      const search = /** @type {HTMLInputElement | null} */ (this.querySelector('main input[type=search]'));
      if (search) event.preventDefault();
      search?.focus();
    }
  }

  async openPalette() {
    if (this.mustSignIn) return;
    await import('./components/palette.js');
    this.palette = true;
  }

  nextTheme() {
    this.theme = THEMES[(THEMES.indexOf(this.theme) + 1) % THEMES.length];
    localStorage.setItem('theme', this.theme);
    this.paint();
  }

  paint() {
    if (this.theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.theme;
  }

  async signOut() {
    await api.signOut().catch(() => {});
    this.read();
  }

  render() {
    if (this.error && !this.session) return html`<main class="alone">${failure(this.error, () => this.read())}</main>`;
    if (!this.session) return nothing;
    if (this.mustSignIn) return html`<screen-signin .session=${this.session} @signed-in=${() => this.read()}></screen-signin>`;
    const section = this.route.path.split('/')[0];
    const groups = [...new Set(screens.map(screen => screen.group).filter(Boolean))];
    return html`<a class="skip" href="#main" @click=${this.skip}>Skip to the content</a>
      <div class="shell">
        <nav class="side" aria-label="Screens">
          <a class="brand" href=${link('')}><i></i>Parley</a>
          ${groups.map(group => html`<b class="group">${group}</b>
            ${screens.filter(screen => screen.group === group).map(screen => html`
              <a href=${link(screen.path)} class=${section === screen.path ? 'on' : ''} aria-current=${section === screen.path ? 'page' : nothing}>
                ${screen.title}<kbd aria-hidden="true">g ${screen.key}</kbd></a>`)}`)}
          <span class="grow"></span>
          <div class="foot dim">${this.session.hub?.version ? html`<span>Parley ${line(this.session.hub.version, 20)}</span>` : nothing}
            <a href="${root}openapi.json" data-page>API</a></div>
        </nav>
        <div class="page">
          <header class="top">
            <button type="button" class="find" @click=${this.openPalette}><span class="cut">Search agents, tasks and pages</span><kbd>Ctrl K</kbd></button>
            ${this.stream()}
            <button type="button" class="icon" title=${NEXT_THEME[this.theme]} aria-label=${NEXT_THEME[this.theme]} @click=${this.nextTheme}>${themeIcon(this.theme)}</button>
            ${this.session.signedIn ? html`<span class="who cut wide">${line(this.session.name, 40)}${this.session.group ? html`<span class="dim"> @ ${line(this.session.group, 40)}</span>` : nothing}</span>
              <button type="button" class="link" @click=${this.signOut}>Sign out</button>` : nothing}
          </header>
          <main id="main" tabindex="-1">${this.content()}</main>
        </div>
      </div>
      ${this.palette ? html`<parley-palette @close=${() => (this.palette = false)}></parley-palette>` : nothing}`;
  }

  /** @param {Event} event */
  skip(event) {
    event.preventDefault();
    document.getElementById('main')?.focus();
  }

  content() {
    if (this.error) return failure(this.error, () => location.reload()); // files of another version of the hub
    if (this.screen) return this.screen;
    if (this.route.screen || !this.route.path) return nothing;
    return html`<div class="empty"><h2>No page at this address</h2><p class="dim"><code>${line(this.route.path, 200)}</code></p>
      <div class="row"><a class="btn" href=${link('agents')}>Agents</a><a class="btn" href=${link('tasks')}>Tasks</a></div></div>`;
  }

  /** State of the feed of changes. */
  stream() {
    const { state, failure: cause, retryAt } = live.feed;
    const seconds = Math.max(1, Math.round((retryAt - Date.now()) / 1_000));
    if (state === 'live') {
      const { rate } = live.feed;
      const events = rate >= 10 ? count(Math.round(rate)) : rate.toFixed(1);
      return html`<span class="live ok"><span role="status">live</span>${rate ? html`<span class="wide num">, ${events} events/s</span>` : nothing}</span>`;
    }
    if (state === 'waiting') {
      this.tick ||= setTimeout(() => ((this.tick = 0), this.requestUpdate()), 1_000);
      return html`<button type="button" class="live wait" @click=${() => live.feed.retry()} title=${cause ? line(cause.message) : 'The connection is lost'}>reconnecting in ${seconds} s</button>`;
    }
    if (state === 'refused') return html`<span class="live bad" title=${line(cause?.message)}>no access to the stream</span>`;
    if (state === 'off') return html`<span class="live off" title="This hub has no stream of changes">not live</span>`;
    return html`<span class="live off" role="status">connecting</span>`;
  }
}

/** @param {string} theme */
function themeIcon(theme) {
  const half = html`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="1.5" /><path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" /></svg>`;
  const sun = html`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><circle cx="8" cy="8" r="3" fill="currentColor" /><path d="M8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.5 1.5M11.5 11.5L13 13M13 3l-1.5 1.5M4.5 11.5L3 13" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" /></svg>`;
  const moon = html`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="M13.5 9.8A6 6 0 0 1 6.2 2.5a6 6 0 1 0 7.3 7.3z" fill="currentColor" /></svg>`;
  return theme === 'light' ? sun : theme === 'dark' ? moon : half;
}

customElements.define('parley-app', App);
if (!document.querySelector('parley-app')) document.body.append(document.createElement('parley-app'));
