// What a comparison shows of a metric (itself, or how much more than a baseline it is), and its lines or bars.
import { formatShare, formatValue, labelOf, quantityOf } from './format.js';
import { lookOf, withMarks } from './looks.js';
import { FASTEST, isTime } from './selection.js';
import { range, spansDecades } from './statistics.js';

const FLOOR = 1e-3;    // of overheads on a logarithmic axis
const FASTER = -0.02;  // what a floor may hide at most

// Where a logarithmic axis of values begins of which some are 0; none where it would not help.
function floorOf(comparison, { logY }) {
  if (comparison.logY || logY === false || !comparison.numeric) return undefined;
  const values = comparison.series.flatMap(({ points }) => points.map((point) => point.mean));
  const positive = values.filter((value) => value > 0);
  if (values.some((value) => value < 0) || !spansDecades(positive)) return undefined;
  const { low, high } = range(positive);
  return 10 ** Math.floor(Math.log10(Math.max(low, high / 1e6)));
}

function plainMeasure(comparison, selection) {
  const label = quantityOf(selection.metric);
  const values = comparison.series.flatMap(({ points }) => points.map((point) => point.mean));
  const floor = floorOf(comparison, selection);
  const text = (value) => formatValue(value, selection.metric, 3);
  const floored = { min: floor, axisLabel: { formatter: (value) => (value <= floor * 1.0001 ? `≤ ${text(value)}` : text(value)), hideOverlap: true } };
  return {
    title: label, label, column: label, values, log: comparison.logY || floor !== undefined, floor: floor ?? -Infinity, note: '', axis: floor === undefined ? {} : floored,
    of: (value) => value, shown: (series) => series,
    format: (value) => formatValue(value, selection.metric),
  };
}

// A metric over that of the baseline.
function ratioMeasure(comparison, base, label, log) {
  return {
    title: `${label} relative to ${base},`, label: `${label}, × ${base}`, column: `${label}, against ${base}`, log, floor: -Infinity, note: '',
    axis: { axisLabel: { formatter: (value) => `${Number(value.toPrecision(3))} ×` } },
    of: (value) => value, shown: (series) => series,
    format: (value) => `${Number(value.toPrecision(4))} ×`,
  };
}

/**
 * { title, label, column, log, floor, note, axis, of(value), shown(series), format(value) }: `of` maps a value of the comparison
 * to what is drawn, `column` names what the CSV has: values, or with a baseline ratios to it.
 */
export function measureOf(comparison, selection) {
  if (!comparison.normalised) return plainMeasure(comparison, selection);
  const label = quantityOf(selection.metric);
  const fastest = selection.baseline === FASTEST;
  const base = fastest ? 'the fastest' : formatValue(selection.baseline, selection.series || selection.x);
  const others = (series) => (fastest || selection.series === '') ? series : series.filter(({ name }) => name !== base);
  const overheads = others(comparison.series).flatMap(({ points }) => points.filter(({ x }) => x !== selection.baseline).map((point) => point.mean - 1));
  const { low, high } = range(overheads);
  if (!isTime(selection.metric)) return ratioMeasure(comparison, base, label, comparison.logY);
  const wide = (comparison.numeric || fastest) && high > 1 && spansDecades(overheads.map((value) => Math.max(value, FLOOR)));
  if (wide && low < FASTER && selection.logY !== false) return ratioMeasure(comparison, base, label, true);
  const log = (selection.logY ?? wide) && high > FLOOR;
  const percent = (share) => formatShare(share);
  return {
    title: `${label}: overhead over ${base}`, label: `overhead over ${base}`, column: `${label}, against ${base}`,
    log, floor: log ? FLOOR : -Infinity,
    note: `${base} is at 0 %.` + (log && low < FLOOR ? ` On this axis ${percent(FLOOR)} is the least: what is lower${fastest ? '' : `, or faster than ${base},`} is drawn there.` : ''),
    axis: { min: log ? FLOOR : undefined, scale: false,
      axisLabel: { formatter: (share) => (log && share <= FLOOR * 1.0001 && low < FLOOR ? `≤ ${percent(share)}` : percent(share)), hideOverlap: true } },
    of: (ratio) => ratio - 1, shown: others, format: percent,
  };
}

// A whisker from low to high at each point; `place` of `count` bars in a category.
function errorBars(data, colour, place, count, axes) {
  return {
    type: 'custom',
    silent: true,
    z: 5,
    data,
    encode: { x: 0, y: [1, 2] },
    tooltip: { show: false },
    ...axes,
    renderItem(_, api) {
      const [x, top] = api.coord([api.value(0), api.value(2)]);
      const bottom = api.coord([api.value(0), api.value(1)])[1];
      const shift = count === undefined ? 0 : api.barLayout({ barGap: '10%', barCategoryGap: '30%', count })[place].offsetCenter;
      const line = (x1, y1, x2, y2) => ({ type: 'line', shape: { x1, y1, x2, y2 }, style: { stroke: colour, lineWidth: 1.2 } });
      const at = x + shift;
      return { type: 'group', children: [line(at, top, at, bottom), line(at - 4, top, at + 4, top), line(at - 4, bottom, at + 4, bottom)] };
    },
  };
}

// A line or bars, or points where bars have no zero to begin from: its kind, and how series `index` of `count` looks.
function drawnAs(numeric, log, index, count) {
  const { color, stroke, symbol, fill } = lookOf(index);
  if (!numeric && log) return { type: 'line', color, symbol, symbolSize: 12, lineStyle: { width: 0, opacity: 0 }, symbolKeepAspect: true };
  return numeric
    ? { type: 'line', color, symbol, symbolSize: 9 - Math.min(5, Math.floor((5 * index) / Math.max(count, 1))), lineStyle: { width: 2, type: stroke }, symbolKeepAspect: true }
    : { type: 'bar', color, barGap: '10%', barCategoryGap: '30%', barMaxWidth: 64, itemStyle: { color: fill, borderColor: color, borderWidth: 1 } };
}

/** The lines or bars of a comparison; `axes`: { xAxisIndex, yAxisIndex } of one of several charts. */
export function seriesOf(comparison, selection, measure, axes = {}) {
  const { numeric, xs } = comparison;
  const shown = new Set(measure.shown(comparison.series));
  const bars = shown.size;
  const at = (point) => (numeric ? point.x : xs.indexOf(point.x));
  const clamped = (value) => Math.max(measure.of(value), measure.floor);
  let place = -1;
  return comparison.series.flatMap((one) => {
    if (!shown.has(one)) return [];
    ++place;
    const { name, index, points } = one;
    const look = drawnAs(numeric, measure.log, index, comparison.series.length);
    // Where a value lies below the axis, the third number has it.
    const data = points.map((point) => [at(point), clamped(point.mean), measure.of(point.mean)]);
    const main = { ...look, ...axes, name, encode: { x: 0, y: 1 }, data: numeric ? withMarks(data, index, look.symbol) : data };
    if (!numeric && bars === 1 && xs.length <= (axes.xAxisIndex === undefined ? 8 : 4)) {
      main.label = { show: true, position: 'top', formatter: ({ value }) => measure.format(value[2]) };
    }
    const spread = points.filter((point) => point.deviation > 0);
    if (spread.length === 0) return [main];
    const low = (point) => (measure.log ? Math.max(clamped(point.mean - point.deviation), clamped(point.mean) / 1e3) : clamped(point.mean - point.deviation));
    const whiskers = spread.map((point) => [at(point), low(point), clamped(point.mean + point.deviation)]);
    return [main, errorBars(whiskers, numeric ? look.color : '#222222', place, look.type === 'bar' ? bars : undefined, axes)];
  });
}
