// Theme, versions and search of the site. Nothing is loaded from another host, and pages work without a server.
(() => {
  const root = document.documentElement;
  const { up, version } = root.dataset;
  let theme = '';
  try {
    theme = localStorage.getItem('parley-theme') ?? '';
  } catch {
    // The browser keeps nothing for these pages.
  }
  if (theme) root.dataset.theme = theme;

  /** Loads the search and its index once. */
  let loading;
  const index = () => (loading ??= new Promise((done, fail) => {
    const script = Object.assign(document.createElement('script'), { src: `${up}/search.js`, onload: done, onerror: fail });
    document.head.append(script);
  }));

  function show(found) {
    const list = document.createElement('ul');
    for (const { page, slug, heading, title, excerpt } of found) {
      const item = document.createElement('li');
      const link = Object.assign(document.createElement('a'), { href: `${up}/${page}#${slug}`, textContent: heading });
      const text = Object.assign(document.createElement('p'), { textContent: excerpt });
      item.append(link, heading === title ? '' : ` – ${title}`, text);
      list.append(item);
    }
    return found.length ? list : 'No section has these words.';
  }

  async function search(words, place, article) {
    const wanted = words.trim();
    if (wanted) await index();
    place.hidden = !wanted;
    article.hidden = !!wanted;
    if (wanted) place.replaceChildren(show(globalThis.parleySearch(wanted)));
  }

  addEventListener('DOMContentLoaded', () => {
    const by = id => document.getElementById(id);
    by('theme').value = theme;
    by('theme').addEventListener('change', ({ target }) => {
      if (target.value) root.dataset.theme = target.value;
      else delete root.dataset.theme;
      try {
        localStorage.setItem('parley-theme', target.value);
      } catch {
        // The choice holds for this page.
      }
    });
    // versions.js is beside the directories of all versions; a directory on its own has none.
    const versions = globalThis.parleyVersions ?? [version];
    by('versions').replaceChildren(...versions.map(each => new Option(each, each, each === version, each === version)));
    by('versions').addEventListener('change', ({ target }) => location.assign(`${up}/../${target.value}/index.html`));
    const field = by('search');
    const run = () => search(field.value, by('found'), document.querySelector('article'));
    field.addEventListener('input', run);
    by('found').addEventListener('click', event => {
      if (event.target.closest('a')) (field.value = ''), run(); // a link within this page leaves the page open
    });
  });
})();
