/** Documents of the product: Markdown of the repository, which the hub serves with the files of the page. Searched here, without the network. */
import { address } from './api.js';
import { webLink } from './format.js';
import { link } from './route.js';

const HUB = 'http://127.0.0.1:7420'; // the address of a hub in the documents

/** @typedef {{page: string, title: string, heading: string, slug: string, text: string, lower: string}} Section {@code title}: of the page */

/** @type {Promise<Record<string, string>> | undefined} */
let reading;
/** @type {Section[] | undefined} */
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

const LINK = /!?\[([^\]]*)\]\([^)]*\)/g;

/** Gives the headings of a page their anchors in order, as GitHub makes them: repeated ones have a number. @returns {(heading: string) => string} */
export function slugs() {
  const seen = /** @type {Map<string, number>} */ (new Map());
  return heading => {
    const slug = heading.replace(LINK, '$1').toLowerCase().replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '').replaceAll(' ', '-');
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return before ? `${slug}-${before}` : slug;
  };
}

/** The anchor of the address; a lone percent sign, which it may have, stays. */
export const anchor = () => new URLSearchParams(`at=${location.hash.slice(1)}`).get('at') ?? '';

/** Text of Markdown without its marks. @param {string} markdown */
export const plain = markdown => markdown.replace(LINK, '$1').replace(/^```\w*$|^\|[-:| ]+\|$|`|\*\*/gm, '').replaceAll('|', ' ');

/** Sections of a page; lines of code are no headings. @param {[string, string]} page its name and text @returns {Section[]} */
function split([page, markdown]) {
  const parts = markdown.split(/(?:^|\n)#+ (.*)(?=\n|$)/).slice(1);
  for (let i = 2; i < parts.length; i += 2) {
    if ((parts[i - 1].match(/^```/gm)?.length ?? 0) % 2) parts.splice(i - 1, 3, `${parts[i - 1]}\n${parts[i]}\n${parts[i + 1]}`), (i -= 2);
  }
  const slug = slugs();
  return parts.flatMap((heading, i) => {
    const text = plain(parts[i + 1] ?? '').replace(/\s+/g, ' ').trim();
    return i % 2 ? [] : [{ page, title: plain(parts[0]), heading: plain(heading), slug: slug(heading), text, lower: `${heading}\n${text}`.toLowerCase() }];
  });
}

/** Sections that have all words, those with a word in the heading first. @param {string} words @returns {Promise<(Section & {excerpt: string})[]>} */
export async function find(words) {
  sections ??= Object.entries(await pages()).flatMap(split);
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = (/** @type {Section} */ each) => wanted.reduce((sum, word) => sum + (each.heading.toLowerCase().includes(word) ? 4 : 0) + (each.title.toLowerCase().includes(word) ? 2 : 0), 0);
  const ranked = sections.filter(each => wanted.length && wanted.every(word => each.lower.includes(word))).map(each => ({ each, rank: rank(each) })).sort((a, b) => b.rank - a.rank);
  return ranked.slice(0, 40).map(({ each }) => {
    const at = Math.max(0, each.text.toLowerCase().indexOf(wanted[0]) - 60);
    const excerpt = (at ? each.text.slice(at).replace(/^\S*/, '…') : each.text).slice(0, 240);
    return { ...each, excerpt: excerpt.length < 240 ? excerpt : excerpt.replace(/\s\S*$/, ' …') };
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
