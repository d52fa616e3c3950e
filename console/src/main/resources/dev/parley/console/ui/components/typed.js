/** Fields of words that are in the address: a screen shows what a person types in them while the person types on. */
import { noChange } from 'lit';
import { Directive, directive } from 'lit/directive.js';
import { setQuery } from '../route.js';

/**
 * Binds a field to a parameter of the address. A screen follows the address later than the person types, so the field gets the value of
 * the parameter only if it was changed elsewhere: what has been typed since, such as a space after a word, is not overwritten.
 */
class Typed extends Directive {
  #name = '';
  /** Value of the parameter that the field has shown or set last. @type {string | undefined} */
  #known;
  #listens = false;

  /** @param {string} _name @param {'input' | 'change'} [_event] */
  render(_name, _event) {
    return noChange;
  }

  /** @param {import('lit/directive.js').ElementPart} part @param {[string, ('input' | 'change')?]} values */
  update(part, [name, event = 'input']) {
    const field = /** @type {HTMLInputElement} */ (part.element);
    this.#name = name;
    if (!this.#listens) {
      this.#listens = true;
      field.addEventListener(event, () => setQuery({ [this.#name]: (this.#known = field.value.trim()) }));
    }
    const now = new URLSearchParams(location.search).get(name) ?? '';
    if (now !== this.#known) field.value = this.#known = now;
    return noChange;
  }
}

/** {@code <input type="search" ${typed('q')}>}; with {@code 'change'} the address changes when the person has ended the words. */
export const typed = directive(Typed);
