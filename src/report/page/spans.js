// The spans of a run's trace on their tracks: which tracks, and which spans of a stretch of time or at an instant.

export const COLOURS = {
  compute: '#b8c4d6', host: '#94a3b8', tp: '#7fb069', dp: '#3d7ea6', pp: '#e08e45', ep: '#9467bd', cp: '#c9a227', kv: '#2a9d8f', refit: '#6a4c93', other: '#8d6e63',
  'waiting for circuits': '#c1121f', 'waiting for peers': '#e3e6ea', switching: '#c1121f', circuit: '#888888',
  storage: '#4d908e', fault: '#5a5a5a', 'failure not detected': '#7b2d8b',
};
const URGENT = new Set(['switching', 'waiting for circuits']);  // never dropped, however short
const MOST_TRACKS = 200;

/** Where the spans of each track begin; spans are in order of track and start. One more than there are tracks. */
export function offsetsOf(trace) {
  if (trace.offsets) return trace.offsets;
  const offsets = new Uint32Array(trace.tracks.length + 1);
  for (const track of trace.spans.get('track').values) ++offsets[track + 1];
  for (let i = 0; i < trace.tracks.length; ++i) offsets[i + 1] += offsets[i];
  return (trace.offsets = offsets);
}

/** The faults, if there are some, two ranks, of different pipeline stages if there are some, and the switch ports of the first rail: "rank 0, rank 8, rail 0". */
export function defaultTracks(trace) {
  const ranks = trace.tracks.filter((track) => track.rank !== undefined).map((track) => track.rank);
  const count = ranks.reduce((most, rank) => Math.max(most, rank + 1), 0);
  const shown = [...new Set([0, Math.floor(count / 2)])].filter((rank) => ranks.includes(rank));
  const rails = trace.tracks.some((track) => track.rail === 0) ? ['rail 0'] : [];
  const faults = faultTracks(trace).length > 0 ? ['faults'] : [];
  return [...faults, ...shown.map((rank) => `rank ${rank}`), ...rails].join(', ');
}

const faultTracks = (trace) => trace.tracks.map((track, index) => ({ ...track, index })).filter(({ name }) => name.startsWith('faults '));

/** What failed when: [{ name, kind, from, to }], in seconds. */
export function faultSpans(trace) {
  const [start, duration, kind] = ['start_s', 'duration_s', 'kind'].map((column) => trace.spans.get(column).values);
  const offsets = offsetsOf(trace);
  return faultTracks(trace).flatMap(({ name, index }) => Array.from({ length: offsets[index + 1] - offsets[index] }, (_, i) => offsets[index] + i)
    .map((i) => ({ name: name.slice('faults '.length), kind: kind[i], from: start[i], to: start[i] + duration[i] })));
}

const LANE = /^(rank \d+ (?:tp|cp|ep|dp|pp|kv|refit|other)) \d+$/;
/** The word that shows the lanes of a dimension, where several of its operations run at once, a row each. */
export const LANES = 'lanes';

// The lanes of a rank and dimension in one row; one that is asked for by its own name stays apart.
function mergedLanes(tracks, words) {
  const rows = new Map();
  for (const track of tracks) {
    const name = words.includes(track.name) ? track.name : track.name.replace(LANE, '$1');
    if (rows.has(name)) rows.get(name).indices.push(track.index);
    else rows.set(name, { ...track, name, indices: [track.index] });
  }
  return [...rows.values()];
}

/**
 * The tracks whose names begin with one of the wanted words, separated by commas; "all" is all. At most 200 rows; lanes are one
 * row a rank and dimension, unless "lanes" is among the words. `indices`: the tracks of a row.
 */
export function chooseTracks(trace, wanted) {
  const words = wanted.split(',').map((word) => word.trim()).filter(Boolean);
  const fits = (name) => words.some((word) => word === 'all' || name === word || name.startsWith(`${word} `));
  const all = trace.tracks.map((track, index) => ({ ...track, index, indices: [index] })).filter(({ name }) => fits(name));
  const found = words.includes(LANES) ? all : mergedLanes(all, words);
  return { tracks: found.slice(0, MOST_TRACKS), left: Math.max(0, found.length - MOST_TRACKS) };
}

// The first span of the track that ends after `from`.
function firstVisible({ start, duration }, low, high, from) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (start[middle] + duration[middle] <= from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * What to draw of the tracks between two instants on so many pixels: [{ row, from, to, kind, span, count }]. Spans below half
 * a pixel become one bar with their neighbours, so that this has at most a few entries a pixel and track.
 */
export function visibleSpans(trace, tracks, from, to, pixels) {
  const [start, duration, kind] = ['start_s', 'duration_s', 'kind'].map((name) => trace.spans.get(name).values);
  const offsets = offsetsOf(trace);
  const small = (to - from) / pixels / 2;
  const drawn = [];
  tracks.forEach(({ index: own, indices = [own] }, row) => indices.forEach((index) => {
    let last;
    const end = offsets[index + 1];
    for (let i = firstVisible({ start, duration }, offsets[index], end, from); i < end && start[i] < to; ++i) {
      const until = start[i] + duration[i];
      const near = last && start[i] - last.to < small;
      const tiny = duration[i] < small;
      const same = near && last.kind === kind[i] && (tiny || last.to - last.from < small);
      if (same || (near && tiny && !URGENT.has(kind[i]))) {
        if (same || !URGENT.has(last.kind)) last.to = Math.max(last.to, until);
        ++last.count;
        continue;
      }
      last = { row, from: start[i], to: until, kind: kind[i], span: i, count: 1 };
      drawn.push(last);
    }
  }));
  return drawn;
}

/** The span of a track at an instant, as its index, or -1. */
export function spanAt(trace, index, at) {
  const [start, duration] = ['start_s', 'duration_s'].map((name) => trace.spans.get(name).values);
  const offsets = offsetsOf(trace);
  const i = firstVisible({ start, duration }, offsets[index], offsets[index + 1], at);
  return i < offsets[index + 1] && start[i] <= at ? i : -1;
}
