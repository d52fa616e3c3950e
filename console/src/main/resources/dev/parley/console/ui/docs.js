/** Documents of the product: Markdown of the repository, which the hub serves with the files of the page. Searched here, without the network. */
import { address } from './api.js';
import { webLink } from './format.js';
import { link } from './route.js';
import { search, split } from './sections.js';

const HUB = 'http://127.0.0.1:7420'; // the address of a hub in the documents

/** @type {Promise<Record<string, string>> | undefined} */
let reading;
/** @type {import('./sections.js').Section[] | undefined} */
let sections;

/** Address of the hub as the reader has it. */
export const hubAddress = () => address('').href.replace(/\/$/, '');

/** Texts of the pages by their names, with the address of the reader's hub. @returns {Promise<Record<string, string>>} */
export const pages = () => (reading ??= read().catch(error => ((reading = undefined), Promise.reject(error))));

async function read() {
  const answer = await fetch(new URL('docs/pages.json', import.meta.url)).catch(() => undefined);
  if (!answer?.ok) throw new Error(!answer ? 'The hub does not answer' : answer.status === 404 ? 'The hub has other documents now: reload the page' : `The documents cannot be read: the hub answered ${answer.status}`);
  return JSON.parse((await answer.text()).replaceAll(HUB, () => hubAddress()));
}

/** The anchor of the address; a lone percent sign, which it may have, stays. */
export const anchor = () => new URLSearchParams(`at=${location.hash.slice(1)}`).get('at') ?? '';

/** Sections that have all words, those with a word in the heading first. @param {string} words */
export async function find(words) {
  return search((sections ??= Object.entries(await pages()).flatMap(split)), words);
}

/** Address of a section in the console. @param {string} page @param {string} [slug] */
export const pageLink = (page, slug) => link(page === 'README' ? 'learn' : `learn/${page}`) + (slug ? `#${slug}` : '');

/** Resolves links of a page: to pages of the console, their pictures, and other hosts. @param {string} page @param {Record<string, string>} texts */
export const resolver = (page, texts) => (/** @type {string} */ href) => {
  const [file, slug] = href.split('#');
  const name = file.replace(/\.md$/, '');
  if (/^https?:/.test(href)) return webLink(href);
  if (!file) return pageLink(page, slug);
  if (name !== file && Object.hasOwn(texts, name)) return pageLink(name, slug);
  return /^images\/[\w-]+\.png$/.test(file) ? new URL(`docs/${file}`, import.meta.url).href : undefined; // others are files of the repository
};
