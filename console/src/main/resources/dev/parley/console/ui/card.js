/** Checks of a card that need no network. The hub checks again, and more, when it registers one. */
import { webLink } from './format.js';

/** @typedef {{severity: 'error' | 'warning', pointer: string, text: string}} Finding */

/**
 * Findings in a card of A2A 1.0 or 0.3.
 *
 * @param {any} card
 * @returns {Finding[]}
 */
export function findings(card) {
  /** @type {Finding[]} */
  const all = [];
  const add = (/** @type {Finding['severity']} */ severity, /** @type {string} */ pointer, /** @type {string} */ text) => all.push({ severity, pointer, text });
  const text = (/** @type {any} */ object, /** @type {string} */ name, /** @type {string} */ at) => {
    if (typeof object?.[name] !== 'string' || !object[name].trim()) add('error', `${at}/${name}`, 'is missing (expected: a text)');
  };
  for (const name of ['name', 'description', 'version']) text(card, name, '');
  const interfaces = Array.isArray(card.supportedInterfaces) ? card.supportedInterfaces : [];
  if (!interfaces.length && typeof card.url !== 'string') add('error', '/supportedInterfaces', 'is missing (expected: at least one address)');
  interfaces.forEach((/** @type {any} */ each, /** @type {number} */ i) => {
    address(each?.url, `/supportedInterfaces/${i}/url`, add);
    text(each, 'protocolBinding', `/supportedInterfaces/${i}`);
    text(each, 'protocolVersion', `/supportedInterfaces/${i}`);
  });
  if (typeof card.url === 'string') address(card.url, '/url', add);
  if (!Array.isArray(card.skills) || !card.skills.length) add('error', '/skills', 'is empty (expected: at least one skill)');
  else {
    const ids = new Set();
    card.skills.slice(0, 500).forEach((/** @type {any} */ skill, /** @type {number} */ i) => {
      for (const name of ['id', 'name', 'description']) text(skill, name, `/skills/${i}`);
      if (!Array.isArray(skill?.tags) || !skill.tags.length) add('warning', `/skills/${i}/tags`, 'is empty (expected: words by which callers find the skill)');
      if (ids.has(skill?.id)) add('error', `/skills/${i}/id`, `"${String(skill.id).slice(0, 60)}": duplicate id`);
      ids.add(skill?.id);
    });
  }
  for (const name of ['defaultInputModes', 'defaultOutputModes']) if (!Array.isArray(card[name]) || !card[name].length) add('error', `/${name}`, 'is missing (expected: media types)');
  if (card.capabilities === null || typeof card.capabilities !== 'object') add('error', '/capabilities', 'is missing (expected: an object)');
  if (!card.signatures?.length) add('warning', '/signatures', 'is missing: nobody can verify who published the card');
  return all.slice(0, 100);
}

/** @param {unknown} url @param {string} pointer @param {(severity: Finding['severity'], pointer: string, text: string) => void} add */
function address(url, pointer, add) {
  const link = webLink(url);
  if (!link) add('error', pointer, `"${String(url).slice(0, 80)}": no address (expected: http or https)`);
  else if (link.startsWith('http:') && !/^http:\/\/(localhost|127\.|\[::1\])/.test(link)) add('warning', pointer, 'is not encrypted (expected: https)');
}
