// Furo's menus: headings have a level, and each menu has a name, for those who hear the page.
for (const heading of document.querySelectorAll('.caption[role=heading]')) heading.setAttribute('aria-level', '2');
document.querySelector('.sidebar-drawer')?.setAttribute('aria-label', 'all pages');
document.querySelector('.toc-drawer')?.setAttribute('aria-label', 'this page');

// The table of records: choices above it, headings that sort, and a picture of time against bound.
(() => {
  const table = document.querySelector('table.records');
  if (!table) return;
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const column = (name) => heads.findIndex((head) => head.dataset.name === name);
  const value = (row, i) => ('value' in row.cells[i].dataset ? Number(row.cells[i].dataset.value) : NaN);
  const made = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const filters = made('div', { className: 'filters' });
  const count = made('p', { className: 'count' });
  count.setAttribute('role', 'status');
  const plot = made('div', { className: 'plot' });
  table.parentElement.before(filters, plot, count);

  heads.forEach((head, i) => {
    head.dataset.name = head.textContent;
    const button = made('button', { type: 'button', textContent: head.textContent, onclick: () => sort(i) });
    head.replaceChildren(button);
  });
  const choices = heads.flatMap((head, i) => {
    if (!('choice' in head.dataset)) return [];
    const select = made('select', { onchange: show });
    filters.append(made('label', {}, head.dataset.name, select));
    return [{ i, select, chosen: new URLSearchParams(location.hash.slice(1)).get(head.dataset.name) ?? '' }];
  });

  function sort(i) {
    const rising = heads[i].getAttribute('aria-sort') !== 'ascending';
    heads.forEach((head) => head.removeAttribute('aria-sort'));
    heads[i].setAttribute('aria-sort', rising ? 'ascending' : 'descending');
    const numbers = 'number' in heads[i].dataset;
    const words = new Intl.Collator('en', { numeric: true });
    const order = (a, b) => (numbers
      ? value(a, i) - value(b, i)
      : words.compare(a.cells[i].textContent, b.cells[i].textContent)) * (rising ? 1 : -1);
    const empty = (row) => numbers && Number.isNaN(value(row, i));
    const known = rows.filter((row) => !empty(row)).sort(order);
    body.append(...known, ...rows.filter(empty));  // what is unknown comes last, whichever way one sorts
  }

  // Each choice offers what the others leave.
  function show() {
    choices.forEach((choice) => { if (choice.select.options.length) choice.chosen = choice.select.value; });
    const fits = (row, apart) => choices.every((c) => c === apart || !c.chosen || row.cells[c.i].textContent === c.chosen);
    for (const choice of choices) {
      const there = [...new Set(rows.filter((row) => fits(row, choice)).map((row) => row.cells[choice.i].textContent))];
      const options = there.filter(Boolean).map((text) => made('option', { textContent: text, value: text }));
      choice.select.replaceChildren(made('option', { textContent: 'all', value: '' }), ...options);
      choice.select.value = choice.chosen;
    }
    const shown = rows.filter((row) => { row.hidden = !fits(row); return !row.hidden; });
    const [some, all] = [shown.length, rows.length].map((many) => many.toLocaleString('en'));
    count.textContent = `${some} of ${all} measurements`;
    draw(shown);
    const words = choices.filter((c) => c.chosen).map((c) => [heads[c.i].dataset.name, c.chosen]);
    history.replaceState(null, '', words.length ? `#${new URLSearchParams(words)}` : location.pathname + location.search);
  }

  function draw(shown) {
    const [time, bound, device] = ['time', 'bound', 'device'].map(column);
    const points = shown.filter((row) => value(row, bound) > 0);
    const all = points.flatMap((row) => [value(row, time), value(row, bound)]).map(Math.log10);
    const low = Math.floor(Math.min(...all)), high = Math.ceil(Math.max(...all));
    plot.hidden = !points.length;
    if (plot.hidden) return;
    const x = (s) => 70 + 620 * (Math.log10(s) - low) / (high - low || 1);
    const y = (s) => 330 - 310 * (Math.log10(s) - low) / (high - low || 1);
    const unit = (e) => (e >= 0 ? `${10 ** e} s` : e >= -3 ? `${10 ** (e + 3)} ms` : e >= -6 ? `${10 ** (e + 6)} µs` : `${10 ** (e + 9)} ns`);
    const devices = [...new Set(rows.map((row) => row.cells[device].textContent))];
    const decades = Array.from({ length: high - low + 1 }, (_, i) => low + i);
    const grid = decades.map((e, i) => `<line x1="${x(10 ** e)}" x2="${x(10 ** e)}" y1="20" y2="330"/>
      <line x1="70" x2="690" y1="${y(10 ** e)}" y2="${y(10 ** e)}"/>
      <text class="every-${i % 2 + 1}" x="${x(10 ** e)}" y="358" text-anchor="middle">${unit(e)}</text>
      <text class="every-${i % 2 + 1}" x="62" y="${y(10 ** e) + 4}" text-anchor="end">${unit(e)}</text>`).join('');
    const dots = points.map((row) => {
      const name = [...row.cells].map((cell) => cell.textContent).join(' · ').replace(/[<&]/g, (c) => ({ '<': '&lt;', '&': '&amp;' })[c]);
      const which = devices.indexOf(row.cells[device].textContent);
      return `<circle class="device-${which}" r="4" cx="${x(value(row, bound))}" cy="${y(value(row, time))}"><title>${name}</title></circle>`;
    }).join('');
    const there = devices.filter((name) => points.some((row) => row.cells[device].textContent === name));
    const legend = there.map((name, i) => `<circle class="device-${devices.indexOf(name)}" r="6" cx="86" cy="${38 + 26 * i}"/>
      <text x="100" y="${43 + 26 * i}">${name}</text>`).join('');
    plot.innerHTML = `<svg viewBox="-30 -8 752 408" role="img" aria-label="Time against bound of ${points.length} measurements: each lies above the dashed line by as much as it takes longer than its bound.">
      ${grid}<line class="bound" x1="70" y1="330" x2="690" y2="20"/><g class="dots">${dots}</g>${legend}
      <text x="380" y="388" text-anchor="middle">bound: what a copy needs for the same bytes</text>
      <text x="76" y="14">time</text></svg>`;
  }

  const ratio = column('time / bound');
  for (const row of rows) {
    const cell = row.cells[ratio];
    if (!('value' in cell.dataset)) continue;
    cell.classList.add('bar');
    cell.style.setProperty('--share', `${Math.min(100, 100 / value(row, ratio))}%`);
  }
  show();
})();

// The page of the search, opened without a question, says where to ask one.
(() => {
  const results = document.getElementById('search-results');
  if (!results || new URLSearchParams(location.search).get('q')) return;
  const heading = Object.assign(document.createElement('h1'), { textContent: 'Search' });
  const sentence = Object.assign(document.createElement('p'), { textContent: 'Write a word into the field “Search” of the menu, and press Enter.' });
  results.append(heading, sentence);
})();
