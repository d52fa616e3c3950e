/** The shell: navigation, palette, theme, sign-in, state of the stream, and the screen of the address. */
import { html, nothing } from 'lit';
import { api } from './api.js';
import { banners, empty, failure, skeleton } from './components/bits.js';
import { Part } from './components/element.js';
import { streamState } from './components/stream.js';
import { NEXT_THEME, THEMES, themeIcon } from './components/theme.js';
import { count, line } from './format.js';
import * as live from './live.js';
import { part, remember, remembered, shortcuts } from './part.js';
import { begin, current, go, link, root, setQuery } from './route.js';
import { screens } from './screens.js';
import { askOthers, forget, goOn, lacking } from './session.js';

const SLOW = 200; // ms without the module of a screen before its skeleton is shown
const PART_LOST = { message: 'A part of the console could not be loaded: the hub does not answer, or has another version now' };

/** @param {import('./types.js').Session} session */
const mustSignIn = session => session.needsSignIn && !session.signedIn;

/** @param {import('./types.js').Session} session */
const callerOf = ({ signedIn, group, name }) => (signedIn ? `${group}/${name}` : '-');

class App extends Part {
  static properties = { route: { state: true }, session: { state: true }, error: { state: true }, palette: { state: true }, theme: { state: true }, problem: { state: true }, isSlow: { state: true } };

  constructor() {
    super();
    this.route = current();
    this.session = /** @type {import('./types.js').Session | undefined} */ (undefined);
    this.error = /** @type {any} */ (undefined);
    this.palette = false;
    /** Failure beside the screen. @type {any} */
    this.problem = undefined;
    /** The session, or the module of the screen, has not come for a while. */
    this.isSlow = false;
    this.theme = remembered('theme') ?? 'system';
    this.screen = /** @type {HTMLElement & {route?: import('./types.js').Route, session?: unknown} | undefined} */ (undefined);
    this.inbox = /** @type {typeof import('./inbox.js').inbox | undefined} */ (undefined);
    this.chord = 0;
  }

  connectedCallback() {
    super.connectedCallback();
    begin();
    this.paint();
    this.listen(window, 'routed', () => this.show());
    this.listen(window, 'signed-out', () => (this.session?.signedIn ? this.read() : this.session?.isVisitor && this.route.path === 'registry' && setQuery({ signin: '1' }))); // it is not open
    this.listen(window, 'session-changed', () => this.read());
    this.listen(window, 'part-lost', () => (this.problem = PART_LOST));
    this.listen(document, 'keydown', event => this.key(event));
    this.listen(live.feed, 'change', () => this.requestUpdate());
    this.listen(window, 'hub-changed', () => this.readHub(true));
    this.until(live.watch(changes => changes.some(({ kind }) => kind === 'hub' || kind === 'gap') && this.readHub()));
    setTimeout(() => (this.isSlow ||= !this.session), SLOW);
    this.read();
  }

  /** Reads the session, then shows the screen or the sign-in. */
  async read() {
    try {
      this.error = undefined;
      if (current().path === 'signin') await (await part(import('./openid.js'))).finish();
      const session = await this.readSession();
      session.isVisitor = mustSignIn(session);
      if (this.session && callerOf(session) !== callerOf(this.session)) this.screen = undefined; // with what another caller saw
      this.session = session;
      this.isSlow = false;
    } catch (error) {
      this.error = error;
      return goOn();
    }
    if (this.session.isVisitor) {
      live.feed.stop();
      this.inbox?.stop();
      goOn();
      return this.show();
    }
    goOn();
    if (current().query.has('signin')) setQuery({ signin: undefined });
    live.feed.start(callerOf(this.session));
    part(import('./inbox.js')).then(({ inbox }) => {
      if (!this.inbox) this.listen(inbox, 'change', () => this.requestUpdate());
      this.inbox = inbox;
      if (this.session && !this.session.isVisitor) inbox.start(this.session);
    }, () => {});
    this.show();
  }

  readHub = live.paced(async () => {
    const { hub } = await api.session().catch(() => this.session ?? /** @type {import('./types.js').Session} */ ({}));
    if (this.session) this.session = { ...this.session, hub };
  }, () => this.isConnected, 5_000);

  /** The session; a tab that was opened by itself gets its proof from another one. */
  async readSession() {
    const session = await api.session();
    if (!mustSignIn(session) || !(await askOthers())) return session;
    const again = await api.session();
    if (mustSignIn(again)) forget();
    return again;
  }

  /** A visitor sees open screens only. */
  get mustSignIn() {
    return !!this.session?.isVisitor && (!this.route.screen?.open || this.route.query.has('signin'));
  }

  async show() {
    if (!this.session) return;
    const route = current();
    const isFirst = !this.screen;
    const changed = route.path !== this.route.path || isFirst;
    this.route = route;
    if (changed) this.palette = false;
    this.error = undefined;
    if (this.mustSignIn) {
      this.screen = undefined;
      await import('./screens/signin.js').catch(() => (this.error = PART_LOST));
      return this.requestUpdate();
    }
    if (!route.screen || lacking(this.session, route.screen)) return void (this.screen = undefined);
    const slow = setTimeout(() => (this.isSlow = this.route === route), SLOW);
    try {
      await route.screen.load();
    } catch {
      if (this.route === route) this.error = PART_LOST;
      return;
    } finally {
      clearTimeout(slow);
      if (this.route === route) this.isSlow = false;
    }
    if (this.route !== route) return; // another address meanwhile
    if (this.screen?.localName !== route.screen.element) this.screen = document.createElement(route.screen.element);
    Object.assign(this.screen, { route, session: this.session });
    this.requestUpdate();
    if (!changed) return;
    document.title = `${route.screen.title} – Parley`;
    await this.updateComplete;
    scrollTo(0, 0);
    if (!isFirst) document.getElementById('main')?.focus({ preventScroll: true }); // else the focus stays at what has gone
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      this.openPalette();
      return;
    }
    const target = /** @type {HTMLElement} */ (event.target);
    if (!shortcuts.on || event.ctrlKey || event.metaKey || event.altKey || target.closest('input, textarea, select, dialog, [contenteditable]')) return;
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
    if (this.session?.isVisitor) return;
    await part(import('./components/palette.js')).then(() => (this.palette = true), () => {}); // lost: the shell tells
  }

  nextTheme() {
    this.theme = THEMES[(THEMES.indexOf(this.theme) + 1) % THEMES.length];
    remember('theme', this.theme);
    this.paint();
  }

  paint() {
    if (this.theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.theme;
  }

  async signOut() {
    try {
      this.problem = undefined;
      await api.signOut();
    } catch (error) {
      this.problem = error;
      return;
    }
    this.read();
  }

  render() {
    if (this.error && (!this.session || this.mustSignIn)) return html`<main class="alone stack"><h1>Parley</h1>${failure(this.error, () => this.read())}</main>`;
    if (!this.session) return this.isSlow ? html`<main class="alone">${skeleton(5)}</main>` : nothing;
    if (this.mustSignIn) return html`<screen-signin .session=${this.session} @signed-in=${() => this.read()}></screen-signin>`;
    const section = this.route.path.split('/')[0];
    const reached = screens.filter(screen => (this.session?.isVisitor ? screen.open : !lacking(this.session, screen)));
    const groups = [...new Set(reached.map(screen => screen.group).filter(Boolean))];
    return html`<a class="skip" href="#main" @click=${this.skip}>Skip to the content</a>
      <div class="shell">
        <nav class="side" aria-label="Screens">
          <a class="brand" href=${link('')}><i></i>Parley</a>
          ${groups.map(group => html`<b class="group">${group}</b>
            ${reached.filter(screen => screen.group === group).map(screen => html`
              <a href=${link(screen.path)} class=${section === screen.path ? 'on' : ''} aria-current=${section === screen.path ? 'page' : nothing}>
                ${screen.title}${screen.path === 'inbox' && this.inbox?.total ? html`<span class="badge">${count(this.inbox.total)}<span class="only-read"> waiting</span></span>` : html`<kbd aria-hidden="true">g ${screen.key}</kbd>`}</a>`)}`)}
          <span class="grow"></span>
          <div class="foot dim">${this.session.hub?.version ? html`<span>Parley ${line(this.session.hub.version, 20)}</span>` : nothing}
            <button type="button" class="link" title="Keys without Ctrl, such as g t, j and k" @click=${() => (shortcuts.toggle(), this.requestUpdate())}>Shortcuts ${shortcuts.on ? 'on' : 'off'}</button>
            <a href="${root}openapi.json" data-page>API</a></div>
        </nav>
        <div class="page">
          <header class="top">
            ${this.session.isVisitor ? html`<span class="grow"></span><button type="button" class="btn" @click=${() => setQuery({ signin: '1' })}>Sign in</button>` : html`<button type="button" class="find" @click=${this.openPalette}><span class="cut">Search agents, tasks, ids and pages</span><kbd>Ctrl K</kbd></button>
            ${streamState(() => this.requestUpdate())}`}
            <button type="button" class="icon" title=${NEXT_THEME[this.theme]} aria-label=${NEXT_THEME[this.theme]} @click=${this.nextTheme}>${themeIcon(this.theme)}</button>
            ${this.session.signedIn ? html`<span class="who cut wide">${line(this.session.name, 40)}${this.session.group ? html`<span class="dim"> @ ${line(this.session.group, 40)}</span>` : nothing}</span>
              <button type="button" class="link" @click=${this.signOut}>Sign out</button>` : nothing}
          </header>
          ${banners(this.session)}
          <main id="main" tabindex="-1">${this.problem === PART_LOST ? failure(PART_LOST, () => location.reload()) : failure(this.problem)}${this.content()}</main>
        </div>
      </div>
      ${this.palette ? html`<parley-palette .session=${this.session} @close=${() => (this.palette = false)}></parley-palette>` : nothing}`;
  }

  /** @param {Event} event */
  skip(event) {
    event.preventDefault();
    document.getElementById('main')?.focus();
  }

  content() {
    if (this.error) return failure(this.error, () => location.reload()); // files of another version of the hub
    if (this.isSlow && this.screen?.localName !== this.route.screen?.element) return html`<div class="card">${skeleton(8)}</div>`;
    if (this.screen) return this.screen;
    const { screen } = this.route;
    if (screen) return lacking(this.session, screen) ? html`<div class="head"><h1>${screen.title}</h1></div><div class="card">${empty('For operators', html`Sign in with a key that has the scope <code>${screen.scope}</code>.`)}</div>` : nothing;
    return html`<div class="empty"><h2>No page at this address</h2><p class="dim"><code>${line(this.route.path, 200)}</code></p>
      <div class="row"><a class="btn" href=${link('agents')}>Agents</a><a class="btn" href=${link('tasks')}>Tasks</a></div></div>`;
  }
}

customElements.define('parley-app', App);
if (!document.querySelector('parley-app')) document.body.append(document.createElement('parley-app'));
