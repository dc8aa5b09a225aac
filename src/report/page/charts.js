// The figures over the rows of the table: each function gives { id, title, option, csv, height }, and draws nothing.
import { lines } from './dom.js';
import { PALETTE } from './echarts.js';
import { formatValue, labelOf } from './format.js';
import { allRows, compare, matchingRows, pointName, pointsOf, stepTimeOf } from './selection.js';
import { cumulative, mean, paretoFront, spansDecades } from './statistics.js';

const GRID = { left: 86, right: 24, top: 40, bottom: 62 };
const MOST_LABELLED = 40;
const MOST_BARS = 14;  // in sight at once

function axis(name, label, more) {
  return {
    name: label ?? labelOf(name),
    nameLocation: 'middle',
    nameGap: 34,
    axisLabel: { formatter: (value) => formatValue(value, name, 3), hideOverlap: true },
    splitLine: { lineStyle: { color: '#e8ebef' } },
    ...more,
  };
}

function valueAxis(name, log, label, more) {
  return axis(name, label, { type: log ? 'log' : 'value', nameGap: 62, scale: log, ...more });
}

const legend = (count) => (count > 1 ? { type: 'scroll', top: 4, left: 86, right: 24, itemGap: 16 } : undefined);

function zoomFor(count) {
  return count > MOST_LABELLED ? [{ type: 'inside' }, { type: 'slider', bottom: 8, height: 18 }] : [{ type: 'inside', zoomOnMouseWheel: 'ctrl' }];
}

// A whisker from low to high at each point; `place` of `count` bars in a category.
function errorBars(data, colour, place, count) {
  return {
    type: 'custom',
    silent: true,
    z: 5,
    data,
    encode: { x: 0, y: [1, 2] },
    tooltip: { show: false },
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

function seriesOf(comparison, valueName) {
  const { numeric, xs, logY } = comparison;
  const floor = logY ? Number.MIN_VALUE : -Infinity;
  return comparison.series.flatMap(({ name, points }, index) => {
    const colour = PALETTE[index % PALETTE.length];
    const at = (point) => (numeric ? point.x : xs.indexOf(point.x));
    const drawn = numeric
      ? { type: 'line', symbol: 'circle', symbolSize: 6, lineStyle: { width: 2 } }
      : { type: 'bar', barGap: '10%', barCategoryGap: '30%', barMaxWidth: 64 };
    const main = {
      ...drawn, name, color: colour,
      data: points.map((point) => [at(point), point.mean]),
      tooltip: { valueFormatter: (value) => formatValue(value, valueName) },
    };
    if (!numeric && comparison.series.length === 1 && xs.length <= 8) {
      main.label = { show: true, position: 'top', formatter: ({ value }) => formatValue(value[1], valueName) };
    }
    const spread = points.filter((point) => point.deviation > 0);
    if (spread.length === 0) return [main];
    const whiskers = spread.map((point) =>
      [at(point), Math.max(point.mean - point.deviation, logY ? point.mean / 1e3 : floor), point.mean + point.deviation]);
    return [main, errorBars(whiskers, numeric ? colour : '#222222', index, numeric ? undefined : comparison.series.length)];
  });
}

/** A metric against a parameter: lines over numbers, bars over categories. */
export function comparisonFigure({ table, rows = allRows(table), selection }) {
  const comparison = compare(table, rows, selection);
  const { numeric, xs, logX, logY, normalised, series } = comparison;
  const valueName = normalised ? '' : selection.metric;
  const label = labelOf(selection.metric) + (normalised ? `, against ${formatValue(selection.baseline, selection.series || selection.x)}` : '');
  const replicated = series.some(({ points }) => points.some((point) => point.deviation > 0));
  const named = series.map((one) => ({ ...one, name: formatValue(one.name, selection.series) }));
  return {
    id: 'comparison',
    title: `${labelOf(selection.metric)} against ${labelOf(selection.x)}`,
    note: replicated ? 'Points are means over seeds and repetitions, error bars one sample standard deviation.' : '',
    height: 360,
    option: {
      grid: GRID,
      legend: legend(series.length),
      tooltip: { trigger: 'axis', axisPointer: { type: numeric ? 'line' : 'shadow' } },
      xAxis: numeric
        ? axis(selection.x, undefined, { type: logX ? 'log' : 'value', scale: true })
        : axis(selection.x, undefined, { type: 'category', data: xs.map((x) => formatValue(x, selection.x)) }),
      yAxis: valueAxis(valueName, logY, label),
      dataZoom: zoomFor(numeric ? 0 : xs.length),
      series: seriesOf({ ...comparison, series: named }, valueName),
    },
    csv: [[selection.x, selection.series || 'series', label, 'standard deviation', 'replicates'],
      ...series.flatMap(({ name, points }) => points.map((point) => [point.x, name, point.mean, point.deviation, point.count]))],
  };
}

const PARTS = [['compute', 'compute', '#5b7fb5'], ['exposed_communication', 'exposed communication', '#e6a23c'],
  ['reconfiguration_wait', 'reconfiguration wait', '#c1121f'], ['peer_wait', 'waiting for peers', '#c9ced6']];
const partColumn = (table, part) => table.get(`per_rank_mean_s.${part}`);

export const hasBreakdown = (table) => PARTS.every(([part]) => partColumn(table, part));

/** Where the time of a rank goes: a stacked bar a point of the comparison. */
export function breakdownFigure({ table, rows = allRows(table), selection }) {
  const shown = matchingRows(table, rows, selection.fixed);
  const named = [selection.series, selection.x].filter(Boolean).map((name) => table.get(name));
  const groups = new Map();
  for (const row of shown) {
    if (Number.isNaN(partColumn(table, 'compute').values[row])) continue;
    const key = named.filter((column) => !Number.isNaN(column.values[row])).map((column) => formatValue(column.values[row], column.name)).join(', ');
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const bars = [...groups.keys()];
  const value = (part, key) => mean(groups.get(key).map((row) => partColumn(table, part).values[row]));
  return {
    id: 'breakdown',
    title: 'Where the time of a rank goes, mean of ranks',
    height: Math.max(Math.min(bars.length, MOST_BARS) * 22 + 90, 320),
    option: {
      grid: { left: 8, right: 32, top: 40, bottom: 34, containLabel: true },
      legend: { top: 4, left: 86, itemGap: 16 },
      tooltip: { trigger: 'axis', axisPointer: { type: 'shadow' }, valueFormatter: (seconds) => formatValue(seconds, 's') },
      xAxis: { type: 'value', axisLabel: { formatter: (seconds) => formatValue(seconds, 's', 3) }, splitLine: { lineStyle: { color: '#e8ebef' } } },
      yAxis: { type: 'category', inverse: true, data: bars, axisLabel: { width: 260, overflow: 'truncate' } },
      dataZoom: bars.length > MOST_BARS
        ? [{ type: 'slider', yAxisIndex: 0, right: 4, width: 16, startValue: 0, endValue: MOST_BARS - 1, showDetail: false }, { type: 'inside', yAxisIndex: 0, zoomOnMouseWheel: 'ctrl' }]
        : [],
      series: PARTS.map(([part, name, color]) =>
        ({ type: 'bar', stack: 'time', name, color, barMaxWidth: 40, data: bars.map((key) => value(part, key)) })),
    },
    csv: [['point', ...PARTS.map(([part]) => `${part}_s`)], ...bars.map((key) => [key, ...PARTS.map(([part]) => value(part, key))])],
  };
}

const COSTS = [['cost', /(^|[._])usd$/], ['power', /(^|[._])power_w$/], ['energy', /(^|[._])energy_per_step_j$/]];

/** The metrics to weigh against the step time: those that are there and differ: [{ id, name }]. */
export function costMetrics(table) {
  const differs = (column) => column.numeric && column.values.some((value) => !Number.isNaN(value) && value !== column.values[0]);
  return COSTS.flatMap(([id, pattern]) => {
    const found = table.columns.filter((column) => column.role === 'metric' && pattern.test(column.name) && differs(column))
      .sort((a, b) => a.name.length - b.name.length)[0];
    return found ? [{ id, name: found.name }] : [];
  });
}

/** Step time against a cost, all points, and the line of those that no other beats in both. */
export function paretoFigure({ table, rows = allRows(table), selection, metric }) {
  const stepTime = stepTimeOf(table);
  const points = pointsOf(table, rows, metric.name, stepTime, selection.series || selection.x);
  const front = paretoFront(points).map((i) => points[i]);
  const groups = [...new Set(points.map((point) => point.group))];
  const logX = spansDecades(points.map((point) => point.x));
  const logY = spansDecades(points.map((point) => point.y));
  const corners = front.flatMap((point, i) => (i === 0 ? [[point.x, point.y]] : [[point.x, front[i - 1].y], [point.x, point.y]]));
  const text = ({ value }) => `${formatValue(value[1], stepTime)} at ${formatValue(value[0], metric.name)}`;
  return {
    id: `pareto-${metric.id}`,
    title: `${labelOf(stepTime)} against ${labelOf(metric.name)}, and the Pareto front`,
    note: 'Less of both is better: no point lies left of and below the line.',
    height: 360,
    option: {
      grid: GRID,
      legend: legend(groups.length + 1),
      tooltip: { trigger: 'item', formatter: (item) => lines(item.seriesName, text(item)) },
      xAxis: axis(metric.name, undefined, { type: logX ? 'log' : 'value', scale: true, boundaryGap: ['5%', '5%'] }),
      yAxis: valueAxis(stepTime, logY, undefined, { scale: true, boundaryGap: ['5%', '5%'] }),
      dataZoom: zoomFor(0),
      series: [
        { type: 'line', name: 'Pareto front', color: '#222222', symbol: 'none', lineStyle: { type: 'dashed', width: 1.4 }, data: corners },
        ...groups.map((name, i) => ({ type: 'scatter', name, color: PALETTE[i % PALETTE.length], symbolSize: 8, large: true, largeThreshold: 5000,
          data: points.filter((point) => point.group === name).map((point) => [point.x, point.y]) })),
      ],
    },
    csv: [[metric.name, stepTime, selection.series || selection.x, 'on the front'],
      ...points.map((point) => [point.x, point.y, point.group, front.includes(point) ? 1 : 0])],
  };
}

/** The windows of one point: Map of change -> { lengths, counts }, lengths ascending. */
export function windowsOf(windows, row) {
  const [changes, lengths, counts] = ['change', 'length_s', 'count'].map((name) => windows.get(name).values);
  const [begin, end] = windows.ranges.get(row) ?? [0, 0];
  const found = new Map();
  for (let i = begin; i < end; ++i) {
    if (!found.has(changes[i])) found.set(changes[i], { lengths: [], counts: [] });
    found.get(changes[i]).lengths.push(lengths[i]);
    found.get(changes[i]).counts.push(counts[i]);
  }
  return found;
}

// From the decision until the circuits can be used, the mean of the point's reconfigurations; 0: it had none.
function reconfigurationTime(table, row) {
  const count = table.get('reconfigurations.count')?.values[row];
  return count > 0 ? table.get('reconfigurations.total_s').values[row] / count : 0;
}

const reconfigurationMark = (seconds) => ({
  silent: true, symbol: 'none', precision: 15, lineStyle: { color: '#c1121f', type: 'dashed', width: 1.4 },
  label: { formatter: `reconfiguration ${formatValue(seconds, 's')}`, color: '#c1121f', position: 'insideEndTop' },
  data: [{ xAxis: seconds }],
});

/** The windows of a point, in which a reconfiguration could hide, as cumulative distributions, with how long one takes. */
export function windowsFigure({ table, windows, row }) {
  const kinds = [...windowsOf(windows, row)];
  const delay = reconfigurationTime(table, row);
  const positive = kinds.flatMap(([, { lengths }]) => lengths.filter((length) => length > 0)).concat(delay > 0 ? [delay] : []);
  const log = spansDecades(positive);
  // A logarithmic axis has no zero: the share of the windows of no length is where the curve begins.
  const least = log ? positive.reduce((low, length) => Math.min(low, length)) / 2 : 0;
  const curve = ({ lengths, counts }) =>
    [[least, 0], ...cumulative(lengths, counts).map(([length, share]) => [Math.max(length, least), share])];
  return {
    id: 'windows',
    title: `Windows between phases: ${pointName(table, row)}`,
    note: (delay > 0 ? 'A reconfiguration hides in a window to the right of the red line. ' : '')
      + (log ? 'Windows of no length are where a curve begins.' : ''),
    height: 380,
    option: {
      grid: GRID,
      legend: legend(kinds.length),
      tooltip: { trigger: 'axis', valueFormatter: (share) => `${(100 * share).toFixed(1)} %` },
      xAxis: axis('s', 'length of the window', { type: log ? 'log' : 'value' }),
      yAxis: { type: 'value', min: 0, max: 1, name: 'share of windows', nameLocation: 'middle', nameGap: 48,
        axisLabel: { formatter: (share) => `${Math.round(100 * share)} %` }, splitLine: { lineStyle: { color: '#e8ebef' } } },
      dataZoom: zoomFor(0),
      series: kinds.map(([name, lengths], i) =>
        ({ type: 'line', step: 'end', symbol: 'none', name: name.replace('->', ' → '), color: PALETTE[i % PALETTE.length],
          lineStyle: { width: 2 }, data: curve(lengths), markLine: i === 0 && delay > 0 ? reconfigurationMark(delay) : undefined })),
    },
    csv: [['change', 'length_s', 'share'],
      ...kinds.flatMap(([name, { lengths, counts }]) => cumulative(lengths, counts).map(([length, share]) => [name, length, share]))],
  };
}
