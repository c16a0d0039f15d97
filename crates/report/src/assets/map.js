// The map of a file: lanes from the file to its pages, bytes to scale from left to right.

function mapOf(file, lanes, view) {
  const laneHeight = 34;
  const gap = 6;
  let left = 0;
  let right = Math.max(1, file.size);
  const top = (lane) => 8 + lane * (laneHeight + gap);

  const { canvas, redraw } = canvasOf({
    class: 'map', tabindex: '0', role: 'img',
    'aria-label': `Map of ${count(file.size)} bytes. Arrow keys move between parts, Enter zooms in, 0 shows the whole file; what is chosen is told below.`,
  }, (context, width, height) => {
    const scale = width / (right - left);
    lanes.forEach((lane, number) => {
      let i = spanAt(lane, left);
      while (i < lane.start.length && lane.start[i] < right) {
        const x = (lane.start[i] - left) * scale;
        const end = (lane.end[i] - left) * scale;
        if (end - x >= 1) {
          draw(context, lane, i, x, end - x, top(number), width);
          i++;
          continue;
        }
        // What is below a pixel: the largest of all that begin in it stands for them.
        let largest = i;
        const until = left + (Math.floor(x) + 1) / scale;
        while (i < lane.start.length && lane.start[i] < until && (lane.end[i] - lane.start[i]) * scale < 1) {
          if (lane.end[i] - lane.start[i] > lane.end[largest] - lane.start[largest]) largest = i;
          i++;
        }
        context.fillStyle = view.meaning.color(lane, largest);
        context.fillRect(Math.floor(x), top(number), 1, laneHeight);
      }
    });
    if (view.chosen) {
      const lane = lanes[view.chosen.lane];
      const x = (lane.start[view.chosen.i] - left) * scale;
      const w = Math.max(2, (lane.end[view.chosen.i] - lane.start[view.chosen.i]) * scale);
      context.strokeStyle = colors().accent;
      context.lineWidth = 3;
      context.strokeRect(Math.max(-3, x), top(view.chosen.lane) - 1.5, Math.min(w, width + 6), laneHeight + 3);
    }
  });

  function draw(context, lane, i, x, w, y, width) {
    const from = Math.max(x, 0);
    const visible = Math.min(x + w, width) - from;
    if (visible <= 0) return;
    context.fillStyle = view.meaning.color(lane, i);
    context.fillRect(from, y, visible, laneHeight);
    if (!lane.what && file.parts.header[i] !== UNKNOWN) {
      const header = file.parts.header[i] / (lane.end[i] - lane.start[i]) * w;
      context.fillStyle = colors().ink;
      if (header >= 1) context.fillRect(from, y + laneHeight - 5, Math.max(0, Math.min(header - (from - x), visible)), 5);
    }
    if (w > 3) { context.fillStyle = colors().ground; context.fillRect(x + w - 1, y, 1, laneHeight); }
    if (visible > 60) {
      const text = nameOf(file, lanes, lanes.indexOf(lane), i, true);
      context.font = '12px system-ui, sans-serif';
      const textWidth = context.measureText(text).width;
      if (textWidth + 12 < visible) {
        // On ground of its own, so that it can be read on every colour.
        context.fillStyle = colors().ground;
        context.fillRect(from + 4, y + 8, textWidth + 8, 18);
        context.fillStyle = colors().ink;
        context.fillText(text, from + 8, y + 21);
      }
    }
  }

  function show(from, to) {
    const least = Math.min(64, file.size);
    let width = Math.min(Math.max(to - from, least), Math.max(1, file.size));
    left = Math.max(0, Math.min(from, file.size - width));
    right = left + Math.max(1, width);
    redraw();
  }
  function zoom(factor, at = (left + right) / 2) {
    show(at - (at - left) * factor, at + (right - at) * factor);
  }
  function showSpan(lane, i) {
    const start = lanes[lane].start[i];
    const end = lanes[lane].end[i];
    const margin = (end - start) * 0.03;
    show(start - margin, end + margin);
  }
  // Into view, without another scale than needed.
  function reveal() {
    const { lane, i } = view.chosen;
    const start = lanes[lane].start[i];
    const end = lanes[lane].end[i];
    if (start >= left && end <= right && (end - start) * canvas.clientWidth / (right - left) >= 2) redraw();
    else showSpan(lane, i);
  }

  const byteAt = (event) => left + (event.clientX - canvas.getBoundingClientRect().left) / canvas.clientWidth * (right - left);
  const laneAt = (event) => Math.max(0, Math.min(lanes.length - 1,
    Math.floor((event.clientY - canvas.getBoundingClientRect().top - 8) / (laneHeight + gap))));
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = (event.deltaX || event.deltaY) / canvas.clientWidth * (right - left);
      show(left + by, right + by);
    } else zoom(event.deltaY > 0 ? 1.25 : 0.8, byteAt(event));
  }, { passive: false });
  let drag = null;
  canvas.addEventListener('pointerdown', (event) => {
    drag = { x: event.clientX, left, right, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!drag) return;
    const by = (drag.x - event.clientX) / canvas.clientWidth * (drag.right - drag.left);
    drag.moved = drag.moved || Math.abs(drag.x - event.clientX) > 3;
    if (drag.moved) show(drag.left + by, drag.right + by);
  });
  canvas.addEventListener('pointerup', (event) => {
    if (drag && !drag.moved) view.choose(laneAt(event), spanAt(lanes[laneAt(event)], byteAt(event)));
    drag = null;
  });
  canvas.addEventListener('dblclick', (event) => showSpan(laneAt(event), spanAt(lanes[laneAt(event)], byteAt(event))));
  canvas.addEventListener('keydown', (event) => {
    const { lane, i } = view.chosen;
    const moves = {
      ArrowLeft: () => view.choose(lane, Math.max(0, i - 1)),
      ArrowRight: () => view.choose(lane, Math.min(lanes[lane].start.length - 1, i + 1)),
      ArrowUp: () => lane > 0 && view.choose(lane - 1, spanAt(lanes[lane - 1], lanes[lane].start[i])),
      ArrowDown: () => lane + 1 < lanes.length && view.choose(lane + 1, spanAt(lanes[lane + 1], lanes[lane].start[i])),
      Home: () => view.choose(lane, 0),
      End: () => view.choose(lane, lanes[lane].start.length - 1),
      Enter: () => showSpan(lane, i),
      '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), 0: () => show(0, file.size),
    };
    if (moves[event.key]) { event.preventDefault(); moves[event.key](); }
  });
  return { canvas, redraw, reveal, zoom, showSpan, all: () => show(0, file.size) };
}

// What a span is called.
function nameOf(file, lanes, lane, i, isShort = false) {
  const { parts } = file;
  if (lane === 0) return 'the file';
  const what = lanes[lane].what ? lanes[lane].what[i] : null;
  const kind = file.kinds[what ? what.kind : parts.kind[i]];
  const group = what ? what.group : parts.group[i];
  const column = what ? what.column : parts.column[i];
  if (lane === 1) {
    if (what.pages) return `row group ${group}`;
    return what.last > what.first ? `${kind}, ${count(what.last - what.first + 1)} of them` : kind;
  }
  const where = group === UNKNOWN ? '' : isShort ? file.columns[column].name : `${file.columns[column].name}, row group ${group}`;
  if (lane === 2) return what.pages ? where || kind : where ? `${kind} of ${where}` : kind;
  const page = parts.page[i] === UNKNOWN ? '' : ` ${parts.page[i]}`;
  return isShort || !where ? `${kind}${page}` : `${kind}${page} of ${where}`;
}
