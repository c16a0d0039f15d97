// Puts the drawn part of each file's article together, one after the other, when the browser has time.

async function drawFile(article, script) {
  const file = await fileOf(script);
  const lanes = lanesOf(file);
  const meanings = meaningsOf(file, lanes);
  const view = { chosen: { lane: 0, i: 0 }, meaning: file.predicate ? meanings[meanings.length - 1] : meanings[0] };
  const map = mapOf(file, lanes, view);
  const matrix = matrixOf(file, lanes, view);
  const chosen = chosenPanel(file, lanes, view);
  view.choose = (lane, i) => { view.chosen = { lane, i }; chosen.show(); map.reveal(); matrix.redraw(); };

  const legend = element('ul', { class: 'legend' });
  const showLegend = () => legend.replaceChildren(...view.meaning.legend().map(([color, text]) => {
    const key = element('i', { 'aria-hidden': 'true' });
    key.style.background = color;
    return element('li', {}, key, text);
  }));
  const select = element('select', {}, ...meanings.map((meaning) => element('option', {}, meaning.name)));
  select.value = view.meaning.name;
  select.addEventListener('change', () => {
    view.meaning = meanings[select.selectedIndex];
    showLegend(); map.redraw(); matrix.redraw(); chosen.show();
  });
  onColorsChanged(showLegend);
  const button = (text, onclick) => element('button', { type: 'button', onclick }, text);
  const tools = element('div', { class: 'tools' },
    element('label', {}, 'Colours: ', select),
    button('Zoom in', () => map.zoom(0.5)), button('Zoom out', () => map.zoom(2)),
    button('To what is chosen', () => map.showSpan(view.chosen.lane, view.chosen.i)), button('The whole file', () => map.all()));
  article.querySelector('.drawn').replaceChildren(
    element('section', {}, element('h3', {}, 'Map'),
      element('p', { class: 'hint' }, 'To scale: the file, its row groups, their columns, their pages. Wheel and drag, or the arrow keys, Enter, +, - and 0; a double click fills the map with a part. The dark foot of a page is its header.'),
      tools, map.canvas, legend, chosen.status, chosen.panel),
    file.groups.length > 0 && file.columns.length > 0
      ? element('section', {}, element('h3', {}, 'Row groups by columns'),
        element('p', { class: 'hint' }, 'A cell for each column chunk, in the chosen colours; where these tell what parts are for, the darker or lighter, the larger.'), matrix.canvas) : '',
    columnsTable(file, lanes, view, matrix),
    groupsTable(file, lanes, view));
  for (const finding of article.querySelectorAll('li[data-offset]')) {
    finding.append(' ', element('button', {
      type: 'button', class: 'link',
      onclick: () => { view.choose(3, spanAt(lanes[3], Number(finding.dataset.offset))); map.canvas.scrollIntoView({ block: 'center' }); map.canvas.focus(); },
    }, 'on the map'));
  }
  showLegend();
  chosen.show();
}

const whenIdle = window.requestIdleCallback || ((work) => setTimeout(work, 1));
const articles = [...document.querySelectorAll('article')];
const scripts = [...document.querySelectorAll('script[type="application/octet-stream"]')];
function drawNext(i) {
  if (i >= articles.length) { document.documentElement.dataset.drawn = 'all'; return; }
  whenIdle(async () => {
    try {
      await drawFile(articles[i], scripts[i]);
    } catch (error) {
      articles[i].querySelector('.drawn').textContent = `This browser cannot draw the map: ${error.message}`;
    }
    drawNext(i + 1);
  });
}
drawNext(0);
