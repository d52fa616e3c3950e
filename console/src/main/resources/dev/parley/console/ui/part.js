/** Parts of the console that are loaded on first use. */

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
