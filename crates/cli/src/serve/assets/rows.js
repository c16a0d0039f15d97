'use strict';
// Asks for some rows at a time, and shows them as they are told: as text.

const table = document.getElementById('rows');
const status = document.getElementById('status');
const first = document.getElementById('first');
const columns = document.getElementById('columns');
const count = Number(table.dataset.count);
const PAGE = 50;
let asked = 0;

function cell(kind, text, name) {
  const made = document.createElement(kind);
  made.textContent = text;
  if (name) made.className = name;
  return made;
}

function show(answer, start) {
  const head = document.createElement('tr');
  const corner = cell('th', 'row');
  corner.scope = 'col';
  head.append(corner);
  for (const column of answer.columns) {
    const heading = cell('th', column.name);
    heading.scope = 'col';
    heading.append(cell('small', column.type));
    head.append(heading);
  }
  const body = document.createElement('tbody');
  answer.rows.forEach((values, i) => {
    const row = document.createElement('tr');
    const number = cell('th', String(start + i));
    number.scope = 'row';
    row.append(number);
    values.forEach((value, column) => {
      row.append(value === null ? cell('td', 'null', 'null') : cell('td', value, answer.columns[column].number ? 'n' : ''));
    });
    body.append(row);
  });
  const top = document.createElement('thead');
  top.append(head);
  table.replaceChildren(top, body);
  const hidden = answer.hidden > 0 ? `; ${answer.hidden} more columns: name those that you want` : '';
  status.textContent = `rows ${start} to ${start + answer.rows.length - 1} of ${count}${hidden}`;
}

async function load(start) {
  const turn = ++asked;
  start = Math.max(0, Math.min(Number.isFinite(start) ? Math.floor(start) : 0, Math.max(0, count - 1)));
  first.value = String(start);
  if (count === 0) { status.textContent = 'no rows'; table.dataset.shown = 'none'; return; }
  status.textContent = 'reading';
  const query = columns.value.trim() === '' ? '' : `?columns=${encodeURIComponent(columns.value)}`;
  try {
    const response = await fetch(table.dataset.from + query, { headers: { Range: `rows=${start}-${start + PAGE - 1}` } });
    const text = await response.text();
    if (turn !== asked) return;
    if (response.status !== 206) throw new Error(text.trim());
    show(JSON.parse(text), start);
  } catch (error) {
    if (turn !== asked) return;
    table.replaceChildren();
    status.textContent = `not read: ${error.message}`;
  }
  table.dataset.shown = String(start);
}

document.querySelector('form').addEventListener('submit', (event) => { event.preventDefault(); load(Number(first.value)); });
document.getElementById('earlier').addEventListener('click', () => load(Number(first.value) - PAGE));
document.getElementById('later').addEventListener('click', () => load(Math.min(Number(first.value) + PAGE, Math.max(0, count - 1))));
load(0);
