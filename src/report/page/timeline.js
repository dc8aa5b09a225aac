// The timeline of a run's trace: what ranks and switch ports do.
import { graphic } from 'echarts/core';
import { lines } from './dom.js';
import { formatValue } from './format.js';
import { chooseTracks, COLOURS, defaultTracks, faultSpans, offsetsOf, visibleSpans } from './spans.js';

const ROW_HEIGHT = 18;

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
  if (count > 1) return lines(`${count} spans, ${kind}`, times, 'zoom in to tell them apart');
  return lines(name, detail, times);
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

// Behind all tracks, so that one sees what was under way when something failed.
function faultMarks(trace, kind) {
  const spans = faultSpans(trace).filter((span) => span.kind === kind);
  if (spans.length === 0) return {};
  return { markArea: { silent: true, itemStyle: { color: COLOURS[kind], opacity: 0.14 },
    data: spans.map(({ from, to }) => [{ xAxis: from }, { xAxis: to }]) } };
}

/** A timeline of the wanted tracks; `from` and `to` in seconds. */
export function timelineFigure({ trace, wanted = defaultTracks(trace), from = 0, to = trace.end_s, pixels = 1000 }) {
  const { tracks, left } = chooseTracks(trace, wanted);
  const kinds = Object.keys(COLOURS).filter((kind) => kind !== 'circuit' && kind !== 'switching' && trace.kinds.includes(kind));
  return {
    id: 'timeline',
    title: `Timeline: ${trace.name}`,
    note: [tracks.some(({ indices }) => indices.length > 1) ? 'Operations of a dimension that run at once share a row; a click on its name shows them apart.' : '',
      left > 0 ? `${left} more tracks have these names: the first ${tracks.length} are shown.` : trace.note].filter(Boolean).join(' '),
    height: Math.max(tracks.length, 1) * (ROW_HEIGHT + 3) + 110,
    wide: true,
    option: {
      grid: { left: 8, right: 24, top: 34, bottom: 62, containLabel: true },
      legend: { top: 4, left: 86, itemGap: 14, itemWidth: 14, selectedMode: false },
      tooltip: { trigger: 'item', confine: true },
      xAxis: { type: 'value', min: 0, max: trace.end_s, position: 'bottom', splitLine: { lineStyle: { color: '#eef0f3' } },
        axisLabel: { formatter: (seconds) => formatValue(seconds, 's', 6), hideOverlap: true } },
      yAxis: { type: 'category', inverse: true, data: tracks.map(({ name, indices }) => (indices.length > 1 ? `${name} (${indices.length} lanes)` : name)), triggerEvent: true, axisTick: { show: false },
        axisLabel: { interval: 0, fontSize: 11 }, splitArea: { show: true, areaStyle: { color: ['#f7f8fa', '#ffffff'] } } },
      dataZoom: [{ type: 'inside', filterMode: 'none', minValueSpan: 1e-9 },
        { type: 'slider', filterMode: 'none', bottom: 10, height: 20, labelFormatter: (seconds) => formatValue(seconds, 's') }],
      series: [timelineSeries(trace, tracks, from, to, pixels),
        ...kinds.map((kind) => ({ type: 'bar', name: kind === 'waiting for circuits' ? 'switching, or waiting for it' : kind, color: COLOURS[kind], data: [], ...faultMarks(trace, kind) }))],
    },
    csv: [['track', 'name', 'kind', 'start_s', 'duration_s'], ...csvRows(trace, tracks)],
  };
}

function* csvRows(trace, tracks) {
  const [start, duration, kind, name] = ['start_s', 'duration_s', 'kind', 'name'].map((column) => trace.spans.get(column).values);
  const offsets = offsetsOf(trace);
  for (const track of tracks.flatMap(({ name: row, indices }) => indices.map((index) => ({ name: row, index })))) {
    for (let i = offsets[track.index]; i < offsets[track.index + 1]; ++i) yield [track.name, name[i], kind[i], start[i], duration[i]];
  }
}
