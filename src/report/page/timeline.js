// The spans of a run's trace on their tracks: which tracks, which spans of a stretch of time, and the figure of them.
import { graphic } from 'echarts/core';
import { formatValue } from './format.js';

export const COLOURS = {
  compute: '#b8c4d6', host: '#94a3b8', tp: '#7fb069', dp: '#3d7ea6', pp: '#e08e45', ep: '#9467bd', cp: '#c9a227',
  'waiting for circuits': '#c1121f', 'waiting for peers': '#e3e6ea', switching: '#c1121f', circuit: '#888888',
};
const URGENT = new Set(['switching', 'waiting for circuits']);  // never dropped, however short
const MOST_TRACKS = 200;
export const ROW_HEIGHT = 18;

/** Where the spans of each track begin; spans are in order of track and start. One more than there are tracks. */
function offsetsOf(trace) {
  if (trace.offsets) return trace.offsets;
  const offsets = new Uint32Array(trace.tracks.length + 1);
  for (const track of trace.spans.get('track').values) ++offsets[track + 1];
  for (let i = 0; i < trace.tracks.length; ++i) offsets[i + 1] += offsets[i];
  return (trace.offsets = offsets);
}

/** Two ranks, of different pipeline stages if there are some, and the switch ports of the first rail: "rank 0, rank 8, rail 0". */
export function defaultTracks(trace) {
  const ranks = trace.tracks.filter((track) => track.rank !== undefined).map((track) => track.rank);
  const count = ranks.length === 0 ? 0 : Math.max(...ranks) + 1;
  const shown = [...new Set([0, Math.floor(count / 2)])].filter((rank) => ranks.includes(rank));
  const rails = trace.tracks.some((track) => track.rail === 0) ? ['rail 0'] : [];
  return [...shown.map((rank) => `rank ${rank}`), ...rails].join(', ');
}

/** The tracks whose names begin with one of the wanted words, separated by commas; "all" is all. At most 200. */
export function chooseTracks(trace, wanted) {
  const words = wanted.split(',').map((word) => word.trim()).filter(Boolean);
  const fits = (name) => words.some((word) => word === 'all' || name === word || name.startsWith(`${word} `));
  const found = trace.tracks.map((track, index) => ({ ...track, index })).filter(({ name }) => fits(name));
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
  tracks.forEach(({ index }, row) => {
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
  });
  return drawn;
}

function bar(params, api) {
  const [x, y] = api.coord([api.value(0), api.value(2)]);
  const right = api.coord([api.value(1), api.value(2)])[0];
  const height = Math.min(api.size([0, 1])[1] - 3, ROW_HEIGHT);
  const shape = { x, y: y - height / 2, width: Math.max(right - x, 0.6), height };
  const clipped = graphic.clipRectByRect(shape, params.coordSys);
  return clipped && { type: 'rect', shape: clipped, style: { fill: api.visual('color') } };
}

function describe(trace, bars, item) {
  const { span, count, from, to, kind } = bars[item.dataIndex];
  const [name, detail] = ['name', 'detail'].map((column) => trace.spans.get(column).values[span]);
  const times = `${formatValue(to - from, 's')} from ${formatValue(from, 's', 7)}`;
  if (count > 1) return `${count} spans, ${kind}<br>${times}<br>zoom in to tell them apart`;
  return [name, detail, times].filter((line) => typeof line === 'string' && line !== '').join('<br>');
}

/** The series of a stretch of time, alone: what a zoom replaces. */
export function timelineSeries(trace, tracks, from, to, pixels) {
  const bars = visibleSpans(trace, tracks, from, to, pixels);
  return {
    id: 'spans', type: 'custom', renderItem: bar, encode: { x: [0, 1], y: 2 },
    tooltip: { formatter: (item) => describe(trace, bars, item) },
    data: bars.map(({ row, from: begin, to: end, kind }) =>
      ({ value: [begin, end, row], itemStyle: { color: COLOURS[kind] ?? COLOURS.circuit } })),
  };
}

/** A timeline of the wanted tracks; `from` and `to` in seconds. */
export function timelineFigure({ trace, wanted = defaultTracks(trace), from = 0, to = trace.end_s, pixels = 1000 }) {
  const { tracks, left } = chooseTracks(trace, wanted);
  const kinds = Object.keys(COLOURS).filter((kind) => kind !== 'circuit' && kind !== 'switching' && trace.kinds.includes(kind));
  return {
    id: 'timeline',
    title: `Timeline: ${trace.name}`,
    note: left > 0 ? `${left} more tracks have these names: the first ${tracks.length} are shown.` : trace.note,
    height: Math.max(tracks.length, 1) * (ROW_HEIGHT + 3) + 110,
    tracks,
    option: {
      grid: { left: 8, right: 24, top: 34, bottom: 62, containLabel: true },
      legend: { top: 4, left: 86, itemGap: 14, itemWidth: 14, selectedMode: false },
      tooltip: { trigger: 'item', confine: true },
      xAxis: { type: 'value', min: 0, max: trace.end_s, position: 'bottom', splitLine: { lineStyle: { color: '#eef0f3' } },
        axisLabel: { formatter: (seconds) => formatValue(seconds, 's', 6), hideOverlap: true } },
      yAxis: { type: 'category', inverse: true, data: tracks.map(({ name }) => name), axisTick: { show: false },
        axisLabel: { interval: 0, fontSize: 11 }, splitArea: { show: true, areaStyle: { color: ['#f7f8fa', '#ffffff'] } } },
      dataZoom: [{ type: 'inside', filterMode: 'none', minValueSpan: 1e-9 },
        { type: 'slider', filterMode: 'none', bottom: 10, height: 20, labelFormatter: (seconds) => formatValue(seconds, 's') }],
      series: [timelineSeries(trace, tracks, from, to, pixels),
        ...kinds.map((kind) => ({ type: 'bar', name: kind === 'waiting for circuits' ? 'switching, or waiting for it' : kind, color: COLOURS[kind], data: [] }))],
    },
    csv: [['track', 'name', 'kind', 'start_s', 'duration_s'], ...csvRows(trace, tracks)],
  };
}

function* csvRows(trace, tracks) {
  const [start, duration, kind, name] = ['start_s', 'duration_s', 'kind', 'name'].map((column) => trace.spans.get(column).values);
  const offsets = offsetsOf(trace);
  for (const track of tracks) {
    for (let i = offsets[track.index]; i < offsets[track.index + 1]; ++i) yield [track.name, name[i], kind[i], start[i], duration[i]];
  }
}

/** The span of a track at an instant, as its index, or -1. */
export function spanAt(trace, index, at) {
  const [start, duration] = ['start_s', 'duration_s'].map((name) => trace.spans.get(name).values);
  const offsets = offsetsOf(trace);
  const i = firstVisible({ start, duration }, offsets[index], offsets[index + 1], at);
  return i < offsets[index + 1] && start[i] <= at ? i : -1;
}
