/** Sections of Markdown: their anchors, and search in them. Without the network and the page, because the site of a release has the same. */

/** @typedef {{page: string, title: string, heading: string, slug: string, text: string, lower: string}} Section {@code title}: of the page */

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

/** Text of Markdown without its marks. @param {string} markdown */
export const plain = markdown => markdown.replace(LINK, '$1').replace(/^```\w*$|^\|[-:| ]+\|$|`|\*\*/gm, '').replaceAll('|', ' ');

/** Sections of a page; lines of code are no headings. @param {[string, string]} page its name and text @returns {Section[]} */
export function split([page, markdown]) {
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

/** Sections that have all words, those with a word in the heading first. @param {Section[]} sections @param {string} words @returns {(Section & {excerpt: string})[]} */
export function search(sections, words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = (/** @type {Section} */ each) => wanted.reduce((sum, word) => sum + (each.heading.toLowerCase().includes(word) ? 4 : 0) + (each.title.toLowerCase().includes(word) ? 2 : 0), 0);
  const ranked = sections.filter(each => wanted.length && wanted.every(word => each.lower.includes(word))).map(each => ({ each, rank: rank(each) })).sort((a, b) => b.rank - a.rank);
  return ranked.slice(0, 40).map(({ each }) => {
    const at = Math.max(0, each.text.toLowerCase().indexOf(wanted[0]) - 60);
    const excerpt = (at ? each.text.slice(at).replace(/^\S*/, '…') : each.text).slice(0, 240);
    return { ...each, excerpt: excerpt.length < 240 ? excerpt : excerpt.replace(/\s\S*$/, ' …') };
  });
}
