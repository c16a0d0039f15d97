// Tables of columns and row groups, and what is told of the chosen part.

const ROWS_AT_ONCE = 50;

// A table that grows when asked to.
function growing(head, items, row, properties = {}) {
  const body = element('tbody');
  const table = element('table', properties, element('thead', {}, element('tr', {}, ...head.map(([name, className]) =>
    element('th', { scope: 'col', class: className }, name)))), body);
  const more = element('button', { type: 'button', onclick: () => grow() });
  let shown = 0;
  let list = items;
  const grow = (rows = ROWS_AT_ONCE) => {
    for (const item of list.slice(shown, shown + rows)) body.append(row(item));
    shown = Math.min(list.length, shown + rows);
    more.hidden = shown >= list.length;
    more.textContent = `Show more: ${count(list.length - shown)} are left`;
  };
  const set = (other) => { list = other; shown = 0; body.replaceChildren(); grow(); };
  grow();
  return { nodes: [element('div', { class: 'scroll' }, table), more], set };
}

function columnsTable(file, lanes, view, matrix) {
  const total = file.columns.reduce((sum, column) => sum + column.compressed, 0) || 1;
  const most = file.columns.reduce((greatest, column) => Math.max(greatest, column.compressed), 1);
  const numbered = file.columns.map((column, number) => ({ ...column, number }));
  const bySize = [...numbered].sort((a, b) => b.compressed - a.compressed);
  const orders = { 'largest first': bySize, 'as in the file': numbered };
  const groups = file.groups.length;
  const row = (column) => {
    const bar = element('span', { class: 'bar', 'aria-hidden': 'true' }, element('span'));
    bar.firstChild.style.width = `${column.compressed / most * 100}%`;
    const first = () => { for (let group = 0; group < groups; group++) { const i = matrix.chunk(group, column.number); if (i >= 0) return view.choose(2, i); } };
    return element('tr', {},
      element('th', { scope: 'row' }, element('button', { type: 'button', class: 'link', onclick: first }, column.name)),
      element('td', {}, column.type),
      element('td', { class: 'n' }, size(column.compressed), bar),
      element('td', { class: 'n' }, percent(column.compressed / total)),
      element('td', { class: 'n' }, column.compressed ? (column.uncompressed / column.compressed).toFixed(2) : ''),
      element('td', {}, column.codecs.join(', ')),
      element('td', {}, column.encodings.join(', ')),
      element('td', { class: 'n' }, column.nulls === null ? '' : count(column.nulls)),
      element('td', {}, rangesOf(file, column)));
  };
  const head = [['column'], ['type'], ['bytes', 'n'], ['share', 'n'], ['ratio', 'n'], ['codec'], ['encodings'], ['nulls', 'n'], ['bounds of row groups']];
  const table = growing(head, bySize, row, { class: 'columns' });
  const search = element('input', { type: 'search', placeholder: 'part of a name' });
  const order = element('select', {}, ...Object.keys(orders).map((name) => element('option', {}, name)));
  const change = () => {
    const text = search.value.toLowerCase();
    table.set(orders[order.value].filter((column) => column.name.toLowerCase().includes(text)));
  };
  search.addEventListener('input', change);
  order.addEventListener('change', change);
  return element('section', {}, element('h3', {}, 'Columns'),
    element('div', { class: 'tools' }, element('label', {}, 'Filter ', search), element('label', {}, 'Order ', order)), ...table.nodes);
}

// The bounds of row groups as bars between the least and the greatest: where they overlap, nothing is skipped.
function rangesOf(file, column) {
  const groups = file.groups.length;
  if (column.depth === null) return 'none';
  const said = groups === 1 ? 'one row group'
    : column.ascending ? 'one after the other' : `a value is in ${column.depth.toFixed(1)} of ${count(groups)}`;
  const { canvas } = canvasOf({ role: 'img', 'aria-label': `Bounds of ${count(groups)} row groups: ${said}` }, (context, width, height) => {
    const down = Math.min(groups, Math.floor(height));
    context.fillStyle = colors().raised;
    context.fillRect(0, 0, width, height);
    context.fillStyle = colors().kept;
    for (let y = 0; y < down; y++) {
      const at = column.number * groups + Math.floor(y * groups / down);
      const least = file.parts.least[at];
      const greatest = file.parts.greatest[at];
      if (least === 65535 || greatest === 65535) continue;
      const h = height / down;
      context.fillRect(least / 65534 * (width - 1), y * h, Math.max(1, (greatest - least) / 65534 * width), h > 3 ? h - 1 : h);
    }
  });
  canvas.style.width = '140px';
  canvas.style.height = `${Math.max(8, Math.min(28, groups * 4))}px`;
  return element('div', {}, canvas, element('small', {}, said));
}

function groupsTable(file, lanes, view) {
  const spans = new Map();
  lanes[1].what.forEach((what, i) => { if (what.pages && !spans.has(what.group)) spans.set(what.group, i); });
  const head = [['row group'], ['rows', 'n'], ['bytes', 'n'], ['from byte', 'n']].concat(file.predicate ? [['the predicate']] : []);
  const row = (number) => {
    const group = file.groups[number];
    const i = spans.get(number);
    const name = `row group ${number}`;
    const share = keptShare(group.kept, 0, group.rows);
    const left = share === null ? '' : share === 0 ? `skipped by ${group.by || 'its bounds'}` : `leaves ${percent(share)}`;
    return element('tr', {},
      element('th', { scope: 'row' }, i === undefined ? name : element('button', { type: 'button', class: 'link', onclick: () => view.choose(1, i) }, name)),
      element('td', { class: 'n' }, count(group.rows)),
      element('td', { class: 'n' }, i === undefined ? '' : size(lanes[1].what[i].bytes)),
      element('td', { class: 'n' }, i === undefined ? '' : count(lanes[1].start[i])),
      file.predicate ? element('td', {}, left) : null);
  };
  const table = growing(head, file.groups.map((_, number) => number), row);
  return element('section', {}, element('h3', {}, 'Row groups'), ...table.nodes);
}

// What is known of the chosen part, and what is in it.
function chosenPanel(file, lanes, view) {
  const panel = element('div', { class: 'chosen' });
  const status = element('p', { class: 'hint', role: 'status' });
  const { parts } = file;
  const show = () => {
    const { lane, i } = view.chosen;
    const what = lanes[lane].what ? lanes[lane].what[i] : null;
    const start = lanes[lane].start[i];
    const end = lanes[lane].end[i];
    const facts = [
      ['bytes', `${count(end - start)} (${size(end - start)}, ${percent((end - start) / Math.max(1, file.size))} of the file)`],
      ['from byte', `${count(start)} to ${count(end)}`],
    ];
    const group = what ? what.group : parts.group[i];
    const column = what ? what.column : parts.column[i];
    if (group !== UNKNOWN) facts.push(['row group', `${group}, ${count(file.groups[group].rows)} rows`]);
    if (column !== UNKNOWN) {
      const of = file.columns[column];
      facts.push(['column', of.name], ['type', of.type === of.physical ? of.type : `${of.type}, stored as ${of.physical}`]);
      if (of.bounds && of.bounds[group]) facts.push(['bounds', `${of.bounds[group][0]} to ${of.bounds[group][1]}`]);
      if (lane === 2) facts.push(['codec', of.codecs.join(', ')]);
    }
    if (lane === 3 && parts.page[i] !== UNKNOWN) {
      const raw = parts.uncompressed[i];
      facts.push(['header', `${count(parts.header[i])} bytes`], ['decompressed', `${count(raw)} bytes`],
        ['values', count(parts.values[i])], ['rows', parts.rows[i] === UNKNOWN ? 'not told' : `${count(parts.rows[i])}, from ${count(parts.first_row[i])} on`],
        ['nulls', parts.nulls[i] === UNKNOWN ? 'not told' : count(parts.nulls[i])],
        ['encoding', parts.encoding[i] === 255 ? '' : file.encodings[parts.encoding[i]]],
        ['version', parts.flags[i] & 1 ? 'V2' : 'V1'], ['checksum', parts.flags[i] & 2 ? 'there is one' : 'none']);
    }
    const meaning = view.meaning.text ? view.meaning.text(lanes[lane], i) : '';
    if (meaning && lane > 1) facts.push([view.meaning.name, meaning]);
    const name = nameOf(file, lanes, lane, i);
    status.textContent = `${name}: ${count(end - start)} bytes`;
    panel.replaceChildren(element('h4', {}, name),
      element('dl', {}, ...facts.filter(([, fact]) => fact !== '').flatMap(([term, fact]) => [element('dt', {}, term), element('dd', {}, fact)])),
      element('div', { class: 'within', tabindex: '0', role: 'region', 'aria-label': 'what is in it' }, ...within(lane, i)));
  };
  const within = (lane, i) => {
    if (lane + 1 >= lanes.length) return [];
    const below = lanes[lane + 1];
    const first = spanAt(below, lanes[lane].start[i]);
    const inside = [];
    for (let j = first; j < below.start.length && below.start[j] < lanes[lane].end[i]; j++) inside.push(j);
    if (inside.length === 1 && below.start[first] === lanes[lane].start[i] && lane === 2 && !lanes[2].what[i].pages) return [];
    const row = (j) => element('tr', {},
      element('th', { scope: 'row' }, element('button', { type: 'button', class: 'link', onclick: () => view.choose(lane + 1, j) }, nameOf(file, lanes, lane + 1, j, true))),
      element('td', { class: 'n' }, count(below.end[j] - below.start[j])),
      element('td', { class: 'n' }, lane === 2 && parts.rows[j] !== UNKNOWN ? count(parts.rows[j]) : ''),
      element('td', {}, lane === 2 && parts.encoding[j] !== 255 ? file.encodings[parts.encoding[j]] : ''));
    return growing([['in it'], ['bytes', 'n'], [lane === 2 ? 'rows' : '', 'n'], [lane === 2 ? 'encoding' : '']], inside, row).nodes;
  };
  return { panel, status, show };
}
