// The figures over the rows of the table: each function gives { id, title, held, option, csv, height, note }, and draws nothing.
import { axis, categoryAxis, emptyOption, legendFor, numberAxis, textWidth, valueAxis, zoomFor } from './axes.js';
import { lines } from './dom.js';
import { formatValue, labelOf, quantityOf, unitOf } from './format.js';
import { PALETTE } from './looks.js';
import { measureOf, seriesOf } from './series.js';
import { allRows, compare, heldText, matchingRows, pointName } from './selection.js';
import { cumulative, mean, niceRange, range, spansDecades } from './statistics.js';

const MOST_BARS = 20;  // in sight at once
const LEFT = 86;

const HIDDEN = 1 / 250;  // of the height of a chart: less than a line is wide

// What lies between two values on the axis, as a share of its height.
function distanceOn(series, log, drawn) {
  const means = series.flatMap(({ points }) => points.map((point) => drawn(point.mean)));
  const { low, high } = range(log ? means.filter((value) => value > 0) : means);
  const height = log ? Math.log(high / low) : high - low;
  if (!(height > 0)) return () => 0;
  const place = (value) => (log ? Math.log(Math.max(drawn(value), low)) : drawn(value));
  return (a, b) => Math.abs(place(a) - place(b)) / height;
}

const samePoints = (a, b, same) => a.length === b.length && a.length > 0 && a.every(({ x, mean: value }, i) => b[i].x === x && same(value, b[i].mean));

/**
 * The names of lines that hide each other, as they are the same at every point, or nearer than a line is wide: ["a = b ≈ c"].
 * Numbers alone, as values of the parameter `of` are, say of what they are. `measure`: how the axis draws a value.
 */
export function linesAlike(series, measure = {}, of = '') {
  const { log = false, floor = -Infinity, of: valueOf = (value) => value } = measure;
  const distance = distanceOn(series, log, (value) => Math.max(valueOf(value), floor));
  const groups = [];
  for (const { name, points } of series) {
    const equal = groups.find((group) => samePoints(points, group.points, (a, b) => a.toPrecision(4) === b.toPrecision(4)));
    const near = equal ?? groups.find((group) => samePoints(points, group.points, (a, b) => distance(a, b) < HIDDEN));
    if (near) (equal ? near.equal : near.close).push(name);
    else groups.push({ points, equal: [name], close: [] });
  }
  const counted = (name) => (of !== '' && name !== '' && Number.isFinite(Number(name)) ? `${labelOf(of)} ` : '');
  return groups.filter(({ equal, close }) => equal.length + close.length > 1)
    .map(({ equal, close }) => counted(equal[0]) + [equal.join(' = '), ...close].join(' ≈ '));
}

function sameLines(series, measure, of) {
  const alike = linesAlike(series, measure, of);
  return alike.length > 0 ? `Lines that coincide: ${alike.join('; ')}. ` : '';
}

function comparisonNote(comparison, measure, selection) {
  const replicated = comparison.series.some(({ points }) => points.some((point) => point.deviation > 0));
  return (measure.note ? `${measure.note} ` : '') + (comparison.numeric ? sameLines(comparison.series, measure, selection.series) : '')
    + (replicated ? 'Points are means over seeds and repetitions, error bars one sample standard deviation.' : '');
}

/** The rows of a comparison's CSV, with what is held in columns of its own. */
export function comparisonCsv(comparison, selection, label) {
  const held = Object.entries(selection.fixed);
  const numbers = (point) => [point.mean, point.deviation, point.count, point.low, point.high];
  return [[selection.x, selection.series || 'series', label, 'standard deviation', 'replicates', 'least', 'most', ...held.map(([name]) => name)],
    ...comparison.series.flatMap(({ name, points }) => points.map((point) => [point.x, name, ...numbers(point), ...held.map(([, value]) => value)]))];
}

/** The tooltip of a chart over numbers or names: a line a series. */
export function axisTooltip(numeric, selection, measure) {
  return {
    trigger: 'axis', confine: true, axisPointer: { type: numeric ? 'line' : 'shadow' },
    formatter: (items) => {
      const shown = [items].flat().filter(({ seriesType }) => seriesType === 'line' || seriesType === 'bar');
      if (shown.length === 0) return '';
      const head = `${labelOf(selection.x)} ${numeric ? formatValue(shown[0].axisValue, selection.x) : shown[0].axisValueLabel}`;
      return lines(head, ...shown.map(({ seriesName, data }) => `${seriesName === '' ? '' : `${seriesName}: `}${measure.format((data.value ?? data)[2] ?? (data.value ?? data)[1])}`));
    },
  };
}

/** A metric against a parameter: lines over numbers, bars over categories; of a time, how much more than the baseline's. */
export function comparisonFigure({ table, rows = allRows(table), selection, width = 900 }) {
  const given = compare(table, rows, selection);
  const comparison = { ...given, series: given.series.map((one) => ({ ...one, name: formatValue(one.name, selection.series) })) };
  const measure = measureOf(comparison, selection);
  const { numeric, xs } = comparison;
  const shown = measure.shown(comparison.series);
  const legend = legendFor(shown.map(({ name }) => name), width, {}, selection.series);
  const across = categoryAxis(selection.x, xs, width - LEFT - 24);
  const empty = !shown.some(({ points }) => points.length > 0);
  return {
    id: 'comparison',
    title: `${measure.title} against ${quantityOf(selection.x)}`,
    held: heldText(selection.fixed),
    coincide: empty || !numeric ? '' : sameLines(shown, measure, selection.series).trim(),
    note: empty ? '' : comparisonNote({ ...comparison, series: shown }, measure, selection),
    height: 300 + legend.height + (numeric ? 0 : across.bottom - 62),
    option: empty ? emptyOption('No point that is left has this metric for what is chosen.') : {
      grid: { left: LEFT, right: 24, top: legend.height + 10, bottom: numeric || xs.length > 40 ? 62 : across.bottom },
      legend: legend.option,
      tooltip: axisTooltip(numeric, selection, measure),
      xAxis: numeric ? numberAxis(selection.x, comparison) : across.axis,
      yAxis: valueAxis(selection.metric, { log: measure.log, label: measure.label, values: measure.values ?? [] }, measure.axis),
      dataZoom: zoomFor(numeric ? 0 : xs.length),
      series: seriesOf({ ...comparison, series: comparison.series }, selection, measure),
    },
    csv: comparisonCsv(comparison, selection, measure.column),
  };
}

export const PARTS = [['compute', 'compute', '#5b7fb5'], ['exposed_communication', 'exposed communication', '#e6a23c'],
  ['reconfiguration_wait', 'reconfiguration wait', '#c1121f'], ['peer_wait', 'waiting for peers', '#c9ced6']];
// Of runs in which failures were not detected at once, and of agents' workloads; others have no such columns.
const RARE_PARTS = [['detection', 'failure not detected', '#7b2d8b'], ['idle', 'idle', '#eef0f3']];
const partColumn = (table, part) => table.get(`per_rank_mean_s.${part}`);
const WAITS = 'critical_path.peer_wait_s.';
const WAIT_COLORS = ['#8d99ae', '#6a8f7b', '#b08968', '#a3779f', '#5f7f8c', '#b5a642'];

/** What ranks wait for their peers for, where the critical path was asked for: [{ cause, column }]. */
export const waitCauses = (table) => table.columns.filter(({ name }) => name.startsWith(WAITS)).map((column) => ({ cause: column.name.slice(WAITS.length), column }));

// The waits of a row by cause, and what of them has none.
function waitsOf(table, row) {
  const known = waitCauses(table).map(({ cause, column }) => [cause, column.values[row] || 0]);
  const rest = partColumn(table, 'peer_wait').values[row] - known.reduce((sum, [, seconds]) => sum + seconds, 0);
  return { ...Object.fromEntries(known), '': Math.max(0, rest) };
}

export const hasBreakdown = (table) => PARTS.every(([part]) => partColumn(table, part));

/** A value as names of points have it: a number without a unit says of what it is. */
export const namedValue = (name, value) => (value !== '' && Number.isFinite(Number(value)) && !unitOf(name) ? `${labelOf(name)} ` : '') + formatValue(value, name);

/** The rows of the selection that have `measured`, by what tells them apart: Map of "opus, 10 ms" -> rows. */
export function groupsOf(table, rows, selection, measured = partColumn(table, 'compute')) {
  const named = [selection.series, selection.x].filter(Boolean).map((name) => table.get(name));
  const groups = new Map();
  for (const row of matchingRows(table, rows, selection.fixed)) {
    if (Number.isNaN(measured.values[row])) continue;
    const key = named.filter((column) => !Number.isNaN(column.values[row])).map(({ name, values }) => namedValue(name, values[row])).join(', ');
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return groups;
}

/** The axis of names down the side, as wide as they need but for a third of the figure, and the slider beside many of them. */
export function sideAxis(names, width) {
  return { type: 'category', inverse: true, data: names, axisTick: { show: false },
    axisLabel: { width: Math.min(Math.max(80, ...names.map((name) => 1.15 * textWidth(name))), width / 3), overflow: 'break', lineHeight: 13, fontSize: 11.5 } };
}

export const sideZoom = (count) => (count <= MOST_BARS ? [] : [
  { type: 'slider', yAxisIndex: 0, right: 4, width: 16, startValue: 0, endValue: MOST_BARS - 1, showDetail: false, showDataShadow: false },
  { type: 'inside', yAxisIndex: 0, zoomOnMouseWheel: 'ctrl' }]);

/** Where the time of a rank goes: a stacked bar a point of the comparison. */
export function breakdownFigure({ table, rows = allRows(table), selection, width = 900 }) {
  const groups = groupsOf(table, rows, selection);
  const bars = [...groups.keys()];
  const rare = RARE_PARTS.filter(([part]) => partColumn(table, part));
  const causes = waitCauses(table).map(({ cause }, i) => [`peer_wait.${cause}`, `waiting: ${cause}`, WAIT_COLORS[i % WAIT_COLORS.length], (row) => waitsOf(table, row)[cause]]);
  const shownRows = [...groups.values()].flat();
  const rest = causes.length === 0 || shownRows.some((row) => waitsOf(table, row)[''] > 1e-9 * partColumn(table, 'peer_wait').values[row]);
  const whole = PARTS.map(([part, name, color]) => [part, name, color, part === 'peer_wait' ? (row) => waitsOf(table, row)[''] : (row) => partColumn(table, part).values[row]]);
  const parts = [...whole.filter(([part]) => part !== 'peer_wait' || rest), ...causes,
    ...rare.map(([part, name, color]) => [part, name, color, (row) => partColumn(table, part).values[row] || 0])];
  const value = (seconds, key) => mean(groups.get(key).map(seconds));
  const legend = legendFor(parts.map(([, name]) => name), width);
  return {
    id: 'breakdown',
    title: 'Where the time of a rank goes, mean of ranks',
    held: heldText(selection.fixed),
    height: Math.max(Math.min(bars.length, MOST_BARS) * 26 + legend.height + 44, 150),
    option: {
      grid: { left: 12, right: 32, top: legend.height + 4, bottom: 8, containLabel: true },
      legend: legend.option,
      tooltip: { trigger: 'axis', confine: true, axisPointer: { type: 'shadow' }, valueFormatter: (seconds) => formatValue(seconds, 's') },
      xAxis: { type: 'value', axisLabel: { formatter: (seconds) => formatValue(seconds, 's', 3), hideOverlap: true }, splitLine: { lineStyle: { color: '#e8ebef' } } },
      yAxis: sideAxis(bars, width),
      dataZoom: sideZoom(bars.length),
      series: parts.map(([, name, color, seconds]) =>
        ({ type: 'bar', stack: 'time', name, color, barMaxWidth: 40, data: bars.map((key) => value(seconds, key)) })),
    },
    csv: [['point', ...parts.map(([part]) => `${part}_s`)], ...bars.map((key) => [key, ...parts.map(([, , , seconds]) => value(seconds, key))])],
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
  label: { formatter: `reconfiguration ${formatValue(seconds, 's')}`, color: '#c1121f', position: 'insideEndTop', backgroundColor: 'rgba(255, 255, 255, 0.85)' },
  data: [{ xAxis: seconds }],
});

/** The windows of a point, in which a reconfiguration could hide, as cumulative distributions, with how long one takes. */
export function windowsFigure({ table, windows, row, width = 900 }) {
  const kinds = [...windowsOf(windows, row)];
  const delay = reconfigurationTime(table, row);
  const positive = kinds.flatMap(([, { lengths }]) => lengths.filter((length) => length > 0)).concat(delay > 0 ? [delay] : []);
  const log = spansDecades(positive);
  // A logarithmic axis has no zero: the share of the windows of no length is where the curve begins.
  const least = log ? positive.reduce((low, length) => Math.min(low, length)) / 2 : 0;
  // The axis reaches the delay, so that its mark is in sight.
  const beyond = delay > positive.reduce((high, length) => Math.max(high, length === delay ? 0 : length), 0);
  const most = beyond ? { max: log ? 10 ** Math.ceil(Math.log10(delay)) : niceRange(0, delay).high } : {};
  const curve = ({ lengths, counts }) =>
    [[least, 0], ...cumulative(lengths, counts).map(([length, share]) => [Math.max(length, least), share])];
  const names = kinds.map(([name]) => name.replace('->', ' → '));
  const legend = legendFor(names, width);
  return {
    id: 'windows',
    title: `Windows between phases: ${pointName(table, row)}`,
    note: (delay > 0 ? 'A reconfiguration hides in a window to the right of the red line. ' : '')
      + (log ? 'Windows of no length are where a curve begins.' : ''),
    height: 330 + legend.height,
    option: {
      grid: { left: LEFT, right: 24, top: legend.height + 10, bottom: 62 },
      legend: legend.option,
      tooltip: { trigger: 'axis', confine: true, valueFormatter: (share) => `${(100 * share).toFixed(1)} %` },
      xAxis: axis('s', 'length of the window', { type: log ? 'log' : 'value', ...most }),
      yAxis: { type: 'value', min: 0, max: 1, name: 'share of windows', nameLocation: 'middle', nameGap: 48,
        axisLabel: { formatter: (share) => `${Math.round(100 * share)} %` }, splitLine: { lineStyle: { color: '#e8ebef' } } },
      dataZoom: zoomFor(0),
      series: kinds.map(([, lengths], i) =>
        ({ type: 'line', step: 'end', symbol: 'none', name: names[i], color: PALETTE[i % PALETTE.length],
          lineStyle: { width: 2, type: i < PALETTE.length ? 'solid' : 'dashed' }, data: curve(lengths), markLine: i === 0 && delay > 0 ? reconfigurationMark(delay) : undefined })),
    },
    csv: [['change', 'length_s', 'share'],
      ...kinds.flatMap(([name, { lengths, counts }]) => cumulative(lengths, counts).map(([length, share]) => [name, length, share]))],
  };
}
