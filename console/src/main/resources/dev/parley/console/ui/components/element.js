/** Base of all elements: Lit without a shadow root, so that one style sheet and one tree serve all. */
import { LitElement, noChange } from 'lit';
import { Directive, directive } from 'lit/directive.js';

export class Part extends LitElement {
  /** @type {(() => void)[]} */
  #ends = [];

  createRenderRoot() {
    return this;
  }

  /** Registers what ends when the element leaves the page. @param {() => unknown} end */
  until(end) {
    this.#ends.push(() => end());
  }

  /** Listens as long as the element is on the page. @param {EventTarget} target @param {string} type @param {(event: any) => void} listener */
  listen(target, type, listener) {
    target.addEventListener(type, listener);
    this.until(() => target.removeEventListener(type, listener));
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    for (const end of this.#ends.splice(0)) end();
  }

  /** @param {string} type @param {unknown} [detail] */
  emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true }));
  }
}

/** A screen, or a tab of one, to which the shell gives the address and the session. */
export class Screen extends Part {
  /** @type {import('lit').PropertyDeclarations} */
  static properties = { route: { attribute: false }, session: { attribute: false } };

  constructor() {
    super();
    this.route = /** @type {import('../types.js').Route} */ (/** @type {any} */ (undefined));
    this.session = /** @type {import('../types.js').Session | undefined} */ (undefined);
  }
}

/** Sets custom properties by the object model, which the security policy allows where it forbids style attributes. */
class Place extends Directive {
  /** @param {Record<string, string>} _properties */
  render(_properties) {
    return noChange;
  }

  /** @param {import('lit/directive.js').ElementPart} part @param {[Record<string, string>]} values */
  update(part, [properties]) {
    const { style } = /** @type {HTMLElement} */ (part.element);
    for (const [name, value] of Object.entries(properties)) if (style.getPropertyValue(name) !== value) style.setProperty(name, value);
    return noChange;
  }
}

/** {@code <i ${place({'--x': '20%'})}>} */
export const place = directive(Place);
