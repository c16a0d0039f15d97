// Row groups from top to bottom, columns from left to right: a cell is a column chunk.

function matrixOf(file, lanes, view) {
  const groups = file.groups.length;
  const columns = file.columns.length;
  const cells = new Int32Array(groups * columns).fill(-1);
  lanes[2].what.forEach((what, i) => { if (what.pages && what.group < groups) cells[what.group * columns + what.column] = i; });
  const rowHeight = Math.max(2, Math.min(20, Math.floor(360 / Math.max(1, groups))));
  const height = Math.min(720, rowHeight * groups);

  const { canvas, redraw } = canvasOf({
    class: 'matrix', role: 'img', 'aria-label': `${count(groups)} row groups by ${count(columns)} columns; the tables below have the same.`,
  }, (context, width, shown) => {
    // No more cells than pixels: of those that share one, the largest is shown.
    const across = Math.min(columns, Math.floor(width));
    const down = Math.min(groups, Math.floor(shown));
    for (let y = 0; y < down; y++) {
      for (let x = 0; x < across; x++) {
        let largest = -1;
        for (let g = Math.floor(y * groups / down); g < Math.floor((y + 1) * groups / down); g++) {
          for (let c = Math.floor(x * columns / across); c < Math.floor((x + 1) * columns / across); c++) {
            const i = cells[g * columns + c];
            if (i >= 0 && (largest < 0 || lanes[2].what[i].bytes > lanes[2].what[largest].bytes)) largest = i;
          }
        }
        if (largest < 0) continue;
        const w = width / across;
        const h = shown / down;
        const { ofChunk, color } = view.meaning;
        context.fillStyle = ofChunk ? ofChunk(largest) : color(lanes[2], largest);
        context.fillRect(x * w, y * h, w > 4 ? w - 1 : w, h > 4 ? h - 1 : h);
        if (view.chosen && view.chosen.lane === 2 && view.chosen.i === largest) {
          context.strokeStyle = colors().accent;
          context.lineWidth = 2;
          context.strokeRect(x * w + 1, y * h + 1, Math.max(1, w - 3), Math.max(1, h - 3));
        }
      }
    }
  });
  canvas.style.height = `${height}px`;
  canvas.addEventListener('click', (event) => {
    const box = canvas.getBoundingClientRect();
    const group = Math.floor((event.clientY - box.top) / box.height * groups);
    const column = Math.floor((event.clientX - box.left) / box.width * columns);
    const i = cells[group * columns + column];
    if (i >= 0) view.choose(2, i);
  });
  return { canvas, redraw, chunk: (group, column) => cells[group * columns + column] };
}
