// Colours, which are those of the style.

const listeners = [];
function onColorsChanged(listener) { listeners.push(listener); }

let palette = null;
function colors() {
  if (palette) return palette;
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  palette = {
    ground: of('ground'), ink: of('ink'), soft: of('soft'), line: of('line'), accent: of('accent'), raised: of('raised'),
    kinds: {
      magic: of('magic'), 'dictionary page': of('dictionary'), 'data page': of('data'), pages: of('data-2'), unread: of('unread'),
      'column index': of('column-index'), 'offset index': of('offset-index'), 'bloom filter': of('bloom'),
      footer: of('footer'), unreferenced: of('free'),
    },
    data2: of('data-2'), kept: of('kept'), skipped: of('skipped'), low: of('low'), high: of('high'),
    categories: ['data', 'dictionary', 'column-index', 'bloom', 'footer', 'offset-index', 'data-2', 'unread'].map(of),
  };
  return palette;
}

for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)', 'print']) {
  matchMedia(query).addEventListener('change', () => { palette = null; listeners.forEach((listener) => listener()); });
}

function mixed(low, high, share) {
  const channel = (color, i) => parseInt(color.slice(1 + 2 * i, 3 + 2 * i), 16);
  const mix = [0, 1, 2].map((i) => Math.round(channel(low, i) + (channel(high, i) - channel(low, i)) * share));
  return `rgb(${mix.join(',')})`;
}

// What colours can mean: each has a name, a colour for a span, and a legend.
function meaningsOf(file, lanes) {
  const { parts } = file;
  const kindOf = (kind) => colors().kinds[file.kinds[kind]];
  const encodingOf = (first, last) => {
    const bytes = new Map();
    for (let i = first; i <= last; i++) {
      if (parts.encoding[i] !== 255) bytes.set(parts.encoding[i], (bytes.get(parts.encoding[i]) || 0) + parts.end[i] - parts.start[i]);
    }
    return bytes.size ? [...bytes].sort((a, b) => b[1] - a[1])[0][0] : null;
  };
  const once = (compute) => {
    const known = new WeakMap();
    return (what) => { if (!known.has(what)) known.set(what, compute(what)); return known.get(what); };
  };
  const encodingOfChunk = once((what) => encodingOf(what.first, what.last));
  const encoding = (lane, i) => (lane.what ? encodingOfChunk(lane.what[i]) : encodingOf(i, i));
  const ratioOf = (lane, i) => {
    if (lane.what) return lane.what[i].pages && lane.what[i].raw ? lane.what[i].raw / lane.what[i].bytes : null;
    return parts.uncompressed[i] === UNKNOWN ? null : (parts.uncompressed[i] + parts.header[i]) / (parts.end[i] - parts.start[i]);
  };
  const kept = (lane, i) => {
    const group = lane.what ? lane.what[i].group : parts.group[i];
    if (group === UNKNOWN || (lane.what ? !lane.what[i].pages : parts.page[i] === UNKNOWN)) return null;
    const { kept: ranges, rows } = file.groups[group];
    if (lane.what) return keptShare(ranges, 0, rows);
    const whole = keptShare(ranges, 0, rows);
    const share = keptShare(ranges, parts.first_row[i], parts.rows[i]);
    // A dictionary is read if anything is.
    return share === null ? (whole > 0 ? 1 : 0) : share > 0 ? 1 : 0;
  };
  const largest = lanes[2].what.reduce((most, what) => (what.pages ? Math.max(most, what.bytes) : most), 1);
  const meanings = [
    {
      name: 'what it is for',
      color: (lane, i) => {
        if (!lane.what) return kindOf(parts.kind[i]);
        const what = lane.what[i];
        if (what.kind === undefined) return colors().skipped;
        if (!what.pages) return kindOf(what.kind);
        const odd = (lane.name === 'row group' ? what.group : what.column) % 2;
        return odd ? colors().data2 : colors().kinds['data page'];
      },
      legend: () => file.kinds.filter((_, kind) => parts.kind.includes(kind)).map((kind) => [colors().kinds[kind], kind]),
      // All chunks are for data: by columns they are told apart by their size.
      ofChunk: (i) => mixed(colors().low, colors().high, Math.sqrt(lanes[2].what[i].bytes / largest)),
    },
    {
      name: 'encoding',
      color: (lane, i) => {
        const found = lane.what && lane.name !== 'column chunk' ? null : encoding(lane, i);
        return found === null ? colors().skipped : colors().categories[found % colors().categories.length];
      },
      text: (lane, i) => { const found = encoding(lane, i); return found === null ? '' : file.encodings[found]; },
      legend: () => file.encodings.map((name, i) => [colors().categories[i % colors().categories.length], name]),
    },
    {
      name: 'how far it is compressed',
      color: (lane, i) => {
        const ratio = ratioOf(lane, i);
        return ratio === null ? colors().raised : mixed(colors().low, colors().high, Math.min(1, Math.max(0, Math.log2(ratio) / 4)));
      },
      text: (lane, i) => { const ratio = ratioOf(lane, i); return ratio === null ? '' : `${ratio.toFixed(2)} to 1`; },
      legend: () => [0, 1, 2, 3, 4].map((power) => [mixed(colors().low, colors().high, power / 4), `${2 ** power} to 1${power === 4 ? ' and more' : ''}`]),
    },
  ];
  if (file.predicate) {
    meanings.push({
      name: 'what the predicate leaves',
      color: (lane, i) => {
        const share = kept(lane, i);
        return share === null ? colors().raised : share === 0 ? colors().skipped : share === 1 ? colors().kept : colors().data2;
      },
      text: (lane, i) => { const share = kept(lane, i); return share === null ? '' : share === 0 ? 'skipped' : `${percent(share)} of rows left`; },
      legend: () => [[colors().kept, 'read'], [colors().data2, 'read in part'], [colors().skipped, 'skipped']],
    });
  }
  return meanings;
}
