// Pages of the site: documents of a release, rendered with the library and the anchors of the console. bin/release calls it by Node.
//
// Arguments: directory of the documents, of the files of the console, file of marked, output directory, version, names of the libraries with
// Javadoc, separated by commas. A link to a page or an anchor that is missing ends it with its name.
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [docs, ui, library, out, version, artifacts] = process.argv.slice(2);
const { Marked } = await import(pathToFileURL(library));
const { plain, slugs, split } = await import(`data:text/javascript,${encodeURIComponent(readFileSync(join(ui, 'sections.js'), 'utf8'))}`);
const here = dirname(fileURLToPath(import.meta.url));

const escaped = text => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
const markdown = folder => readdirSync(join(docs, folder)).filter(name => name.endsWith('.md')).sort().map(name => posix.join(folder, name));
const texts = new Map([...markdown(''), ...markdown('adr')].map(name => [name, readFileSync(join(docs, name), 'utf8')]));
const titleOf = name => plain(texts.get(name).match(/^# (.*)/m)?.[1] ?? name);
texts.set('adr/README.md', `# Decisions\n\n${markdown('adr').map(name => `- [${titleOf(name)}](${posix.basename(name)})`).join('\n')}\n`);
const addressOf = name => name.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html');

/** Links of all pages, and the anchors that each page has: compared at the end. */
const links = [];
const anchors = new Map();
const copied = new Set();

/** The address of a link of a page; undefined for files of the repository that the site has not. */
function resolve(page, href) {
  if (/^https?:/.test(href)) return href;
  const [file, anchor] = href.split('#');
  let name = file ? posix.normalize(posix.join(posix.dirname(page), file)) : page;
  if (name === 'adr') name = 'adr/README.md';
  if (!texts.has(name)) {
    if (name.endsWith('.md') && !name.startsWith('..')) links.push({ page, name, anchor });
    if (name.startsWith('..') || !/^(images\/)?[\w-]+\.(png|json|yaml)$/.test(name)) return undefined;
    copied.add(name);
    return posix.relative(posix.dirname(page), name);
  }
  links.push({ page, name, anchor });
  return (file ? posix.relative(posix.dirname(page), addressOf(name)) : '') + (anchor ? `#${anchor}` : '');
}

/** The article of a page, and its contents. */
function render(page) {
  const slug = slugs();
  const contents = [];
  const renderer = {
    html: ({ text }) => escaped(text),
    heading({ text, depth }) {
      const [id, title] = [slug(text), plain(text)];
      contents.push({ id, title, depth });
      return `<h${depth} id="${escaped(id)}">${escaped(title)}<a class="anchor" href="#${escaped(id)}" aria-label="Link to ${escaped(title)}">#</a></h${depth}>\n`;
    },
    link({ href, tokens }) {
      const address = resolve(page, href);
      const text = this.parser.parseInline(tokens);
      return address === undefined ? text : `<a href="${escaped(address)}">${text}</a>`;
    },
    image({ href, text }) {
      const address = resolve(page, href);
      return address === undefined ? escaped(text) : `<img src="${escaped(address)}" alt="${escaped(text)}" loading="lazy">`;
    },
  };
  const article = new Marked({ gfm: true, async: false, renderer }).parse(texts.get(page))
    .replaceAll('<table>', '<div class="md-table" tabindex="0"><table>').replaceAll('</table>', '</table></div>');
  anchors.set(page, new Set(contents.map(({ id }) => id)));
  return { article, contents };
}

/** Groups of pages with their links, as the first page lists them. */
function navigation() {
  const groups = [];
  const linksIn = tokens => tokens.flatMap(token => (token.type === 'link' ? [token] : linksIn(token.tokens ?? [])));
  for (const token of new Marked().lexer(texts.get('README.md'))) {
    if (token.type !== 'table') continue;
    groups.push({ title: token.header[0].text, pages: token.rows.flatMap(([first]) => linksIn(first.tokens)).map(({ href, text }) => ({ name: href === 'adr' ? 'adr/README.md' : href, text: plain(text) })) });
  }
  return groups;
}

const groups = navigation();

function navigationOf(page) {
  const up = posix.relative(posix.dirname(page), '.') || '.';
  const list = groups.map(({ title, pages }) => `<h2>${escaped(title[0].toUpperCase() + title.slice(1))}</h2><ul>${pages.map(({ name, text }) =>
    `<li><a href="${up}/${addressOf(name)}"${name === page ? ' aria-current="page"' : ''}>${escaped(text)}</a></li>`).join('')}</ul>`);
  return `${list.join('')}<h2>Interfaces</h2><ul><li><a href="${up}/api/index.html">Java</a></li><li><a href="${up}/openapi.json">REST: openapi.json</a></li></ul>`;
}

function write(page, title, { article, contents }) {
  const up = posix.relative(posix.dirname(page), '.') || '.';
  const toc = contents.filter(({ depth }) => depth === 2 || depth === 3)
    .map(({ id, title: text, depth }) => `<a class="depth-${depth}" href="#${escaped(id)}">${escaped(text)}</a>`).join('');
  const file = join(out, addressOf(page));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `<!doctype html>
<html lang="en" data-up="${up}" data-version="${escaped(version)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} – Parley ${escaped(version)}</title>
<link rel="icon" href="${up}/icon.svg">
<link rel="stylesheet" href="${up}/site.css">
<script src="${up}/site.js"></script>
<script src="${up}/../versions.js" defer></script>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header><a class="brand" href="${up}/index.html">Parley</a><label>Version <select id="versions"><option>${escaped(version)}</option></select></label>
<input id="search" type="search" aria-label="Search the documentation" placeholder="Search the documentation" autocomplete="off">
<label>Theme <select id="theme"><option value="">of the system</option><option value="light">light</option><option value="dark">dark</option></select></label></header>
<div class="page"><nav aria-label="Pages">${navigationOf(page)}</nav>
<main id="content"><section id="found" aria-live="polite" hidden></section><article class="md">${article}</article></main>
<aside>${toc ? `<nav aria-label="On this page"><h2>On this page</h2>${toc}</nav>` : ''}</aside></div>
</body>
</html>
`);
}

for (const page of [...texts.keys()].sort()) write(page, titleOf(page), render(page));
const libraries = artifacts.split(',').map(name => `<li><a href="${name}/index.html"><code>${name}</code></a></li>`).join('\n');
write('api/README.md', 'Java API', { article: `<h1>Java API</h1><p>Exported packages of each library.</p><ul>${libraries}</ul>`, contents: [] });

for (const name of copied) cpSync(join(docs, name), join(out, name));
const broken = links.filter(({ name, anchor }) => !texts.has(name) || (anchor && !anchors.get(name).has(anchor)))
  .map(({ page, name, anchor }) => `page "${page}": no ${name}${anchor ? `#${anchor}` : ''}`);
if (broken.length) {
  console.error(broken.join('\n'));
  process.exit(1);
}

// As scripts that are no modules: pages of a directory are read without a server, too.
const sections = markdown('').map(name => [name.slice(0, -3), texts.get(name)]).flatMap(split)
  .map(({ page, title, heading, slug, text }) => ({ page: addressOf(`${page}.md`), title, heading, slug, text }));
const search = readFileSync(join(ui, 'sections.js'), 'utf8').replace(/^export /gm, '');
writeFileSync(join(out, 'search.js'), `globalThis.parleySearch = (() => {
${search}
const all = ${JSON.stringify(sections)};
for (const each of all) each.lower = (each.heading + '\\n' + each.text).toLowerCase();
return words => search(all, words);
})();
`);
writeFileSync(join(out, 'site.css'), readFileSync(join(ui, 'style/tokens.css'), 'utf8') + readFileSync(join(here, 'site.css'), 'utf8'));
cpSync(join(here, 'site.js'), join(out, 'site.js'));
cpSync(join(ui, 'icon.svg'), join(out, 'icon.svg'));
