/** Parts of the console that are loaded on first use, and settings that the browser keeps. */

/**
 * The module, or an event {@code part-lost} that makes the shell offer a reload: after an upgrade of the hub the files of the page are gone.
 *
 * @template T
 * @param {Promise<T>} module for example {@code import('./palette.js')}
 * @returns {Promise<T>}
 */
export function part(module) {
  return module.catch(error => {
    dispatchEvent(new CustomEvent('part-lost', { detail: error }));
    throw error;
  });
}

/** A setting that this browser remembers. @param {string} name */
export function remembered(name) {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined; // a browser without storage
  }
}

/** @param {string} name @param {string} value */
export function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // a browser without storage
  }
}

/** Shortcuts of a single key, which disturb those who speak to the browser. */
export const shortcuts = {
  get on() {
    return remembered('shortcuts') !== 'off';
  },
  toggle() {
    remember('shortcuts', this.on ? 'off' : 'on');
  },
};
