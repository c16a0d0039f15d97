// Elements, and numbers for people. Texts of the file are only ever text.

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const count = (number) => (number === UNKNOWN || number === null || number === undefined ? '' : number.toLocaleString('en-US'));

function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  let unit = -1;
  while (bytes >= 1024 && unit < 5) { bytes /= 1024; unit++; }
  return `${bytes.toFixed(bytes < 10 ? 1 : 0)} ${units[unit]}`;
}

const percent = (part) => `${(part * 100).toFixed(part < 0.1 ? 2 : 1)} %`;

// A canvas as large as it is shown, in the pixels of the screen; drawn again when its size or the colours change.
function canvasOf(properties, draw) {
  const canvas = element('canvas', properties);
  const context = canvas.getContext('2d');
  const redraw = () => {
    const box = canvas.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(box.width * ratio));
    const height = Math.max(1, Math.round(box.height * ratio));
    if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, box.width, box.height);
    draw(context, box.width, box.height);
  };
  let pending = false;
  const later = () => {
    if (!pending) { pending = true; requestAnimationFrame(() => { pending = false; redraw(); }); }
  };
  new ResizeObserver(later).observe(canvas);
  onColorsChanged(later);
  return { canvas, redraw: later };
}
