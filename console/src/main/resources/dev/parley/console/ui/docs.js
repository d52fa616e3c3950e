/** Documents of the product: Markdown of the repository, which the hub serves with the files of the page. Searched here, without the network. */
import { address } from './api.js';
import { webLink } from './format.js';
import { link } from './route.js';

const HUB = 'http://127.0.0.1:7420'; // the address of a hub in the documents
const FILE = new URL('docs/pages.json', import.meta.url);

/**
 * @typedef {{page: string, title: string, heading: string, slug: string, text: string, lower: string}} Section {@code title}: of the page
 * @typedef {Section & {excerpt: string}} Found
 */

/** @type {Promise<Record<string, string>> | undefined} */
let reading;
/** @type {Section[] | undefined} */
let sections;

/** Address of the hub as the reader has it. */
export const hubAddress = () => address('').href.replace(/\/$/, '');

/** Texts of the pages by their names, with the address of the reader's hub. @returns {Promise<Record<string, string>>} */
export function pages() {
  reading ??= read().catch(error => ((reading = undefined), Promise.reject(error)));
  return reading;
}

async function read() {
  const answer = await fetch(FILE);
  if (!answer.ok) throw new Error('The documents cannot be read: the hub has another version now');
  return JSON.parse((await answer.text()).replaceAll(HUB, hubAddress()));
}

/** Anchors of the headings of a page, as GitHub makes them. @returns {(heading: string) => string} */
export function slugs() {
  /** @type {Map<string, number>} */
  const taken = new Map();
  return heading => {
    const slug = heading.toLowerCase().replace(/[^\w\- ]/g, '').replaceAll(' ', '-');
    const before = taken.get(slug) ?? 0;
    taken.set(slug, before + 1);
    return before ? `${slug}-${before}` : slug;
  };
}

/** Text of Markdown without its marks. @param {string} markdown */
export const plain = markdown => markdown.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/^\|[-:| ]+\|$/gm, '').replace(/[`|]|\*\*|^```\w*$/gm, ' ');

/** @param {Record<string, string>} texts @returns {Section[]} */
function split(texts) {
  return Object.entries(texts).flatMap(([page, text]) => {
    const slug = slugs();
    let isCode = false;
    /** @type {{heading: string, lines: string[]}[]} */
    const parts = [];
    for (const each of text.split('\n')) {
      if (each.startsWith('```')) isCode = !isCode;
      const heading = isCode ? null : /^#+ (.*)$/.exec(each);
      if (heading) parts.push({ heading: heading[1], lines: [] });
      else parts.at(-1)?.lines.push(each);
    }
    return parts.map(({ heading, lines }) => {
      const body = plain(lines.join('\n')).replace(/\s+/g, ' ');
      return { page, title: plain(parts[0].heading), heading: plain(heading), slug: slug(heading), text: body, lower: `${heading}\n${body}`.toLowerCase() };
    });
  });
}

/** Sections that have all words, those with a word in the heading first. @param {string} words @returns {Promise<Found[]>} */
export async function find(words) {
  sections ??= split(await pages());
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (!wanted.length) return [];
  const score = (/** @type {Section} */ each) => wanted.reduce((sum, word) => sum + (each.heading.toLowerCase().includes(word) ? 4 : 0) + (each.title.toLowerCase().includes(word) ? 2 : 0), 0);
  return sections.filter(each => wanted.every(word => each.lower.includes(word))).map(each => ({ each, rank: score(each) })).sort((a, b) => b.rank - a.rank).slice(0, 40).map(({ each }) => {
    const at = Math.max(0, each.text.toLowerCase().indexOf(wanted[0]) - 60);
    return { ...each, excerpt: (at ? '…' : '') + each.text.slice(at, at + 240) };
  });
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
