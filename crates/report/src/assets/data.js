// The data of a file: inflated, its lists of numbers put together again.

function bytesOfBase64(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const WIDTHS = { u8: 1, u16: 2, u32: 4, u64: 8 };

// The first bytes of all numbers, then the second bytes of all, and so on.
function plane(bytes, at, width, length) {
  const numbers = width === 1 ? new Uint8Array(length) : width === 8 ? new Float64Array(length)
    : width === 4 ? new Uint32Array(length) : new Uint16Array(length);
  let factor = 1;
  for (let byte = 0; byte < width; byte++, factor *= 256) {
    const from = at + byte * length;
    for (let i = 0; i < length; i++) numbers[i] += bytes[from + i] * factor;
  }
  return numbers;
}

async function fileOf(script) {
  const bytes = await inflated(bytesOfBase64(script.textContent));
  const jsonLength = new DataView(bytes.buffer).getUint32(0, true);
  const file = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + jsonLength)));
  let at = 4 + jsonLength;
  const lists = {};
  for (const [name, type, length] of file.planes) {
    lists[name] = plane(bytes, at, WIDTHS[type], length);
    at += WIDTHS[type] * length;
  }
  file.parts = lists;
  return file;
}

const UNKNOWN = 0xffffffff;

// Lanes, each finer than the one above it: the file, its row groups and what is between them, column chunks, pages.
// Each has spans in the order of the file.
function lanesOf(file) {
  const { parts } = file;
  const count = parts.start.length;
  const group = { start: [], end: [], what: [] };
  const chunk = { start: [], end: [], what: [] };
  const open = (lane, what, i) => { lane.start.push(parts.start[i]); lane.end.push(parts.end[i]); lane.what.push(what); };
  const ofChunks = new Set(['dictionary page', 'data page', 'pages', 'unread']);
  const isPages = (i) => ofChunks.has(file.kinds[parts.kind[i]]);
  for (let i = 0; i < count; i++) {
    const pages = isPages(i);
    const what = { kind: parts.kind[i], pages, group: parts.group[i], column: parts.column[i], first: i, last: i, bytes: 0, raw: 0 };
    const lastChunk = chunk.what[chunk.what.length - 1];
    if (pages && lastChunk && lastChunk.pages && lastChunk.group === what.group && lastChunk.column === what.column) {
      lastChunk.last = i;
      chunk.end[chunk.end.length - 1] = Math.max(chunk.end[chunk.end.length - 1], parts.end[i]);
    } else open(chunk, what, i);
    const mine = chunk.what[chunk.what.length - 1];
    mine.bytes += parts.end[i] - parts.start[i];
    mine.raw += parts.uncompressed[i] === UNKNOWN ? parts.end[i] - parts.start[i] : parts.uncompressed[i] + parts.header[i];
    // Row groups, and runs of parts that are alike.
    const last = group.what[group.what.length - 1];
    const same = last && last.pages === pages && (pages ? last.group === what.group : last.kind === what.kind);
    if (same) {
      last.last = i;
      group.end[group.end.length - 1] = Math.max(group.end[group.end.length - 1], parts.end[i]);
    } else open(group, { ...what, column: UNKNOWN, bytes: 0 }, i);
    group.what[group.what.length - 1].bytes += parts.end[i] - parts.start[i];
  }
  return [
    { name: 'file', start: [0], end: [file.size], what: [{ first: 0, last: count - 1, group: UNKNOWN, column: UNKNOWN, bytes: file.size }] },
    { name: 'row group', ...group },
    { name: 'column chunk', ...chunk },
    { name: 'page', start: parts.start, end: parts.end, what: null },
  ];
}

// The last span that begins at or before a byte.
function spanAt(lane, byte) {
  let low = 0;
  let high = lane.start.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (lane.start[middle] <= byte) low = middle; else high = middle;
  }
  return low;
}

// Which part of rows that a predicate leaves: 1 all, 0 none, null not known.
function keptShare(kept, first, rows) {
  if (!kept || first === UNKNOWN || rows === UNKNOWN) return null;
  let sum = 0;
  for (const [start, end] of kept) sum += Math.max(0, Math.min(end, first + rows) - Math.max(start, first));
  return rows > 0 ? sum / rows : 0;
}
