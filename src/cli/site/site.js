// The site's search, its choice of light or dark, and its menu at phone width. The page can be read without.
'use strict';
const root = document.documentElement;
const base = document.currentScript.dataset.base;

const theme = document.getElementById('theme');
const isDark = () => root.dataset.theme
  ? root.dataset.theme === 'dark'
  : matchMedia('(prefers-color-scheme: dark)').matches;
const nameTheme = () => { theme.textContent = isDark() ? 'Light' : 'Dark'; };
theme.hidden = false;
nameTheme();
theme.addEventListener('click', () => {
  root.dataset.theme = isDark() ? 'light' : 'dark';
  try { localStorage.setItem('theme', root.dataset.theme); } catch (_) { /* Not kept. */ }
  nameTheme();
});

const menu = document.getElementById('menu');
menu.hidden = false;
menu.addEventListener('click', () => {
  const open = document.body.classList.toggle('menu');
  menu.setAttribute('aria-expanded', String(open));
});
const current = document.querySelector('nav.contents a[aria-current]');
const contents = document.querySelector('nav.contents');
if (current && contents) contents.scrollTop = Math.max(0, current.offsetTop - 120);

// The sections of all pages, [page, title, heading, anchor, text]; they are loaded at the first search.
const field = document.getElementById('search');
const results = document.getElementById('results');
const layout = document.querySelector('.layout');
let sections = null;
field.hidden = false;
window.receiveSections = found => {
  sections = found.map(section => [...section, (section[2] + ' ' + section[4]).toLowerCase()]);
  search();
};
function load() {
  if (sections !== null) return;
  sections = [];
  const script = document.createElement('script');
  script.src = base + 'sections.js';
  document.head.append(script);
}
function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(word => word !== '');
  results.hidden = words.length === 0;
  layout.hidden = words.length !== 0;
  layout.style.display = words.length === 0 ? '' : 'none';
  if (words.length === 0) return;
  load();
  const hits = [];
  for (const [page, title, heading, anchor, text, all] of sections) {
    let points = 0;
    for (const word of words) {
      const count = Math.min(all.split(word).length - 1, 8);
      if (count === 0) { points = 0; break; }
      points += count + (heading.toLowerCase().includes(word) ? 20 : 0) + (title.toLowerCase().includes(word) ? 5 : 0);
    }
    if (points > 0) hits.push([points, page, title, heading, anchor, text]);
  }
  hits.sort((one, other) => other[0] - one[0]);
  const list = document.createElement('ol');
  for (const [, page, title, heading, anchor, text] of hits.slice(0, 60)) {
    const item = document.createElement('li');
    const link = document.createElement('a');
    link.href = base + page + '.html' + (anchor === '' ? '' : '#' + anchor);
    link.textContent = heading === title ? title : title + ': ' + heading;
    const line = document.createElement('span');
    line.className = 'line';
    const found = text.split('\n').find(one => words.some(word => one.toLowerCase().includes(word)));
    line.textContent = (found || '').slice(0, 200);
    item.append(link, line);
    list.append(item);
  }
  const count = document.createElement('p');
  count.textContent = hits.length === 1 ? '1 section' : hits.length + ' sections';
  results.replaceChildren(count, list);
}
field.addEventListener('input', search);
results.addEventListener('click', event => {
  // A section of this page is in view only without the results.
  if (event.target.closest('a')) { field.value = ''; search(); }
});
document.addEventListener('keydown', event => {
  if (event.key === '/' && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  } else if (event.key === 'Escape' && field.value !== '') {
    field.value = '';
    search();
  }
});
