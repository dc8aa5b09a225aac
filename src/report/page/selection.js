// Which rows and columns of the table a chart shows, and what it makes of them.
import { formatValue } from './format.js';
import { distinct, deviation, mean, spansDecades } from './statistics.js';

// The first that every row has is the step time, as RunResult::step_time() has it of one run.
const STEP_TIMES = ['steady_iteration_s', 'iteration_s.0', 'iteration_s', 'makespan_s'];
const MOST_SERIES = 12;

export const allRows = (table) => Uint32Array.from({ length: table.rows }, (_, i) => i);

export function metricsOf(table) {
  return table.columns.filter((column) => column.role === 'metric' && column.numeric);
}

export function stepTimeOf(table) {
  const complete = (name) => table.get(name)?.values.every((value) => !Number.isNaN(value));
  return STEP_TIMES.find(complete) ?? STEP_TIMES.findLast((name) => table.get(name)) ?? metricsOf(table)[0]?.name;
}

/** Parameters with more than one value: [{ column, values }]. Seeds and repetitions are replicates, not parameters. */
export function varyingParameters(table) {
  return table.columns
    .filter((column) => column.role === 'parameter')
    .map((column) => ({ column, values: distinct(column.values) }))
    .filter(({ values }) => values.length > 1);
}

// Whether the columns together leave `column` one value for each of their combinations.
function follows(column, columns, rows) {
  const seen = new Map();
  for (const row of rows) {
    const value = column.values[row];
    if (Number.isNaN(value)) continue;
    const key = columns.map((other) => other.values[row]).join('\u0000');
    if (!seen.has(key)) seen.set(key, value);
    else if (seen.get(key) !== value) return false;
  }
  return true;
}

/** The name of a point, with the seed and the repetition where they differ. */
export function pointName(table, row) {
  const replicates = table.columns.filter(({ role, values }) => role === 'replicate' && values.some((value) => value !== values[0]));
  return [table.get('name').values[row], ...replicates.map(({ name, values }) => `${name} ${values[row]}`)].join(', ');
}

// A series that tells apart what x does not; of names rather than of numbers, and of few.
function defaultSeries(table, varying, x) {
  const partly = table.get(x).values.some((value) => Number.isNaN(value));  // another parameter tells who has it
  const open = varying.filter(({ column, values }) =>
    column.name !== x && values.length <= MOST_SERIES && (partly || !follows(column, [table.get(x)], allRows(table))));
  return (open.find(({ column }) => !column.numeric) ?? open[0])?.column.name ?? '';
}

/**
 * What to show first: { metric, x, series, baseline, fixed: { parameter: value } }; `wanted` has the last word. A baseline is a
 * value of the series, of x where that alone is wanted or there is no other, else the parameter that has it becomes the series.
 */
export function defaultSelection(table, wanted = {}) {
  const varying = varyingParameters(table);
  const numeric = varying.filter(({ column }) => column.numeric).sort((a, b) => b.values.length - a.values.length);
  const isBaseline = (value) => String(value) === wanted.baseline || value === Number(wanted.baseline);
  let { x, series } = wanted;
  if (wanted.baseline !== undefined && series === undefined) {
    series = x === undefined && varying.length > 1 ? varying.find(({ values }) => values.some(isBaseline))?.column.name : '';
  }
  x ??= [...numeric, ...varying].find(({ column }) => column.name !== series)?.column.name
    ?? table.columns.find((column) => column.role === 'parameter')?.name ?? 'name';
  series ??= table.get(x) ? defaultSeries(table, varying, x) : '';
  const bases = varying.find(({ column }) => column.name === (series || x))?.values ?? [];
  const selection = { metric: wanted.metric ?? stepTimeOf(table), x, series, baseline: bases.find(isBaseline) ?? '', fixed: {} };
  return { ...selection, fixed: fixOthers(table, selection) };
}

/** The parameters that x and series leave open, each with a value, so that no point of a chart mixes several. */
export function fixOthers(table, { x, series, fixed = {} }) {
  const shown = [x, series].filter(Boolean).map((name) => table.get(name)).filter(Boolean);
  const result = {};
  for (const { column, values } of varyingParameters(table)) {
    if (shown.includes(column)) continue;
    const rows = matchingRows(table, allRows(table), result);
    if (follows(column, shown, rows)) continue;
    const there = distinct(Array.from(rows, (row) => column.values[row]));
    result[column.name] = there.includes(fixed[column.name]) ? fixed[column.name] : there[0] ?? values[0];
  }
  return result;
}

/** The rows that have these values, or do not have these parameters: of an electrical rail, any reconfiguration time. */
export function matchingRows(table, rows, fixed) {
  const wanted = Object.entries(fixed).map(([name, value]) => [table.get(name).values, value]);
  return rows.filter((row) => wanted.every(([values, value]) => values[row] === value || Number.isNaN(values[row])));
}

// What tells replicates of one point apart.
function replicateKey(table) {
  const columns = table.columns.filter((column) => column.role === 'replicate');
  return (row) => columns.map((column) => column.values[row]).join('\u0000');
}

// Rows by (series, x): Map of Map of lists. What has no x, as an electrical rail has no reconfiguration time, is at NaN.
function grouped(rows, x, series) {
  const groups = new Map();
  for (const row of rows) {
    const name = series ? series.values[row] : '';
    if (!groups.has(name)) groups.set(name, new Map());
    const group = groups.get(name);
    const at = x.values[row];
    if (!group.has(at)) group.set(at, []);
    group.get(at).push(row);
  }
  return groups;
}

// row -> what its value is divided by. The same seed of the baseline where there is one, else the baseline's mean.
function normaliser(table, values, groups, selection) {
  if (selection.baseline === '') return () => () => 1;
  const key = replicateKey(table);
  const bySeries = selection.series !== '';
  return (at, name) => {
    const group = groups.get(bySeries ? selection.baseline : name);
    const base = group?.get(bySeries ? at : selection.baseline) ?? (bySeries ? group?.get(NaN) : undefined);
    if (!base) return () => NaN;
    const paired = new Map(base.map((row) => [key(row), values[row]]));
    const middle = mean(base.map((row) => values[row]));
    return (row) => paired.get(key(row)) ?? middle;
  };
}

/**
 * The metric against x, a line or bar per series, over the given rows:
 * { x, series: [{ name, points: [{ x, mean, deviation, count }] }], xs, numeric, logX, logY, normalised }.
 * A series without x is the same at every x.
 */
export function compare(table, rows, selection) {
  const x = table.get(selection.x);
  const { values } = table.get(selection.metric);
  const shown = matchingRows(table, rows, selection.fixed).filter((row) => !Number.isNaN(values[row]));
  const groups = grouped(shown, x, selection.series && table.get(selection.series));
  const xs = distinct([...groups.values()].flatMap((group) => [...group.keys()]));
  const divisorAt = normaliser(table, values, groups, selection);
  const pointAt = (name, at) => {
    const group = groups.get(name);
    const divisor = divisorAt(at, name);
    const list = (group.get(at) ?? group.get(NaN)).map((row) => values[row] / divisor(row)).filter((value) => !Number.isNaN(value));
    return { x: at, mean: mean(list), deviation: deviation(list), count: list.length };
  };
  const series = distinct([...groups.keys()]).map((name) => {
    const flat = groups.get(name).has(NaN);
    const points = xs.filter((at) => flat || groups.get(name).has(at)).map((at) => pointAt(name, at));
    return { name, points: points.filter((point) => point.count > 0) };
  });
  const numeric = x.numeric && xs.length > 1;
  const means = series.flatMap(({ points }) => points.map((point) => point.mean));
  return { series, xs, numeric, logX: numeric && spansDecades(xs), logY: numeric && spansDecades(means), normalised: selection.baseline !== '' };
}

/** Each point of the sweep once, replicates averaged: [{ x, y, name, group }]; those without x or y left out. */
export function pointsOf(table, rows, xMetric, yMetric, groupBy) {
  const parameters = varyingParameters(table).map(({ column }) => column);
  const points = new Map();
  const [xs, ys] = [table.get(xMetric).values, table.get(yMetric).values];
  for (const row of rows) {
    if (Number.isNaN(xs[row]) || Number.isNaN(ys[row])) continue;
    const key = parameters.map((column) => column.values[row]).join('\u0000');
    if (!points.has(key)) points.set(key, []);
    points.get(key).push(row);
  }
  const group = groupBy && table.get(groupBy);
  return [...points.values()].map((list) => ({
    x: mean(list.map((row) => xs[row])),
    y: mean(list.map((row) => ys[row])),
    row: list[0],
    group: group ? formatValue(group.values[list[0]], groupBy) : '',
  }));
}
