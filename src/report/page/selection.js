// Which rows and columns of the table a chart shows, and what it makes of them.
import { formatValue, labelOf, unitOf } from './format.js';
import { distinct, deviation, doubles, mean, range, spansDecades } from './statistics.js';

// The first that every row has is the time that designs are judged by: of a training job the step time, as
// RunResult::step_time() has it of one run, of served requests the time to the first token.
const STEP_TIMES = ['serving.ttft_s.mean', 'rl.mean.step_s', 'steady_iteration_s', 'iteration_s.0', 'iteration_s', 'makespan_s'];
const MOST_SERIES = 24;  // as many as can be told apart
const BASELINE = /(^|[^a-z])(electrical|baseline|reference)([^a-z]|$)/i;

/** As a baseline: the least of all values shown. */
export const FASTEST = 'fastest';

export const allRows = (table) => Uint32Array.from({ length: table.rows }, (_, i) => i);

export function metricsOf(table) {
  return table.columns.filter((column) => column.role === 'metric' && column.numeric && !column.name.startsWith('note.'));
}

export function stepTimeOf(table) {
  const complete = (name) => table.get(name)?.values.every((value) => !Number.isNaN(value));
  return STEP_TIMES.find(complete) ?? STEP_TIMES.findLast((name) => table.get(name)) ?? metricsOf(table)[0]?.name;
}

const isBaselineName = (value) => typeof value === 'string' && BASELINE.test(value);
const isAbsent = (value) => typeof value === 'number' && Number.isNaN(value);

/** Parameters with more than one value: [{ column, values }]. Seeds and repetitions are replicates, not parameters. */
export function varyingParameters(table) {
  table.varying ??= table.columns
    .filter((column) => column.role === 'parameter')
    .map((column) => ({ column, values: distinct(column.values) }))
    .filter(({ values }) => values.length > 1);
  return table.varying;
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
  const names = open.filter(({ column }) => !column.numeric);
  return (names.find(({ values }) => values.some(isBaselineName)) ?? names[0] ?? open[0])?.column.name ?? '';
}

// The parameters that may be along the axis, the best first: numbers before names, of many values before of few.
function candidatesForX(varying, wanted, series) {
  if (wanted.x !== undefined) return [wanted.x];
  const numeric = varying.filter(({ column }) => column.numeric).sort((a, b) => b.values.length - a.values.length);
  const names = [...numeric, ...varying].map(({ column }) => column.name).filter((name) => name !== series);
  return [...new Set(names)];
}

/** Whether a metric is a time: "makespan_s", "iteration_s.0". */
export const isTime = (metric) => unitOf(metric ?? '')?.symbol === 's';
/** Whether less of a metric is better: of a time, and of what is wasted, refused or stranded. */
export const isLessBetter = (metric) => isTime(metric) || /(^|[._])(wasted|refused|stranded|lost|blocked)/.test(metric ?? '');

const STEPS_A_DAY = 'goodput.steps_per_day';
const GREATEST_RATE = 'serving.rate_search.greatest.per_s';  // that meets the SLO: other numbers are then those at this rate
/** Whether a metric is an amount that more of is better, and that designs are judged by. */
export const isYield = (metric) => metric === STEPS_A_DAY || metric === GREATEST_RATE;

// Of months of jobs whose steps take other times the share of productive time says little: steps a day do.
function hasOtherSteps(table) {
  const { low, high } = range([...(table.get('goodput.step_s')?.values ?? [])].filter((value) => !Number.isNaN(value)));
  return table.get(STEPS_A_DAY)?.role === 'metric' && high > 1.001 * low;
}

/** The metric that is shown first: goodput (steps a day where steps take other times), the greatest rate of requests or utilisation where the table has them, else the time that designs are judged by. */
export const mainMetricOf = (table) => (hasOtherSteps(table) ? STEPS_A_DAY : undefined) ?? [GREATEST_RATE, 'goodput.share', 'utilisation', 'goodput_share', 'refused_share', 'wasted_share'].find((name) => table.get(name)?.role === 'metric') ?? stepTimeOf(table);

// The value that the others are compared with where none was asked for: one that says so by its name, else, over a numeric
// axis of times, as delays are, the first of two names.
function defaultBaseline(table, { metric, x, series }) {
  if (!isTime(metric)) return '';
  const column = table.get(series || x);
  if (!column || column.numeric || column.role !== 'parameter') return '';
  const names = distinct(column.values).filter((value) => typeof value === 'string');
  const named = names.find(isBaselineName);
  if (named !== undefined) return names.length > 1 ? named : '';
  return series && names.length === 2 && table.get(x)?.numeric && isTime(x) ? names[0] : '';
}

// Bars of which some are ten times as high as others are compared with the fastest.
function withFastest(table, selection, wanted) {
  const column = table.get(selection.x);
  if (wanted.baseline !== undefined || selection.baseline !== '' || !column || column.numeric || !isTime(selection.metric)) return selection;
  const means = compare(table, allRows(table), selection).series.flatMap(({ points }) => points.map((point) => point.mean));
  const { low, high } = range(means);
  return low > 0 && high >= 10 * low ? { ...selection, baseline: FASTEST } : selection;
}

/**
 * What to show first: { metric, x, series, baseline, fixed: { parameter: value } }; `wanted` has the last word. A baseline is a
 * value of the series, of x where that alone is wanted or there is no other, else the parameter that has it becomes the series.
 * The first choice that has points to show is taken.
 */
export function defaultSelection(table, wanted = {}) {
  const varying = varyingParameters(table);
  const isBaseline = (value) => String(value) === wanted.baseline || value === Number(wanted.baseline);
  let { series } = wanted;
  if (wanted.baseline !== undefined && series === undefined) {
    series = wanted.x === undefined && varying.length > 1 ? varying.find(({ values }) => values.some(isBaseline))?.column.name : '';
  }
  const metric = wanted.metric ?? mainMetricOf(table);
  const complete = (x) => {
    const chosen = { metric, x, series: series ?? (table.get(x) ? defaultSeries(table, varying, x) : '') };
    const bases = varying.find(({ column }) => column.name === (chosen.series || x))?.values ?? [];
    const baseline = wanted.baseline === undefined ? defaultBaseline(table, chosen) : bases.find(isBaseline) ?? (wanted.baseline === FASTEST ? FASTEST : '');
    const scales = wanted.log === undefined ? {} : { logX: wanted.log.includes('x'), logY: wanted.log.includes('y') };
    const open = { ...chosen, baseline, ...scales, fixed: wanted.fixed ?? {} };
    const selection = { ...open, fixed: fixOthers(table, open) };
    const comparable = baseline === '' || wanted.baseline !== undefined || !table.get(x) || hasOthers(table, selection);
    return withFastest(table, comparable ? selection : { ...selection, baseline: '' }, wanted);
  };
  const single = table.columns.find((column) => column.role === 'parameter')?.name ?? 'name';
  const choices = [...candidatesForX(varying, wanted, series), single].map((x) => () => complete(x));
  for (const choice of choices) {
    const selection = choice();
    if (hasPoints(table, selection)) return selection;
  }
  return choices[0]();
}

// Whether there is something beside the baseline to be compared with it: a line, or without a series a bar.
function hasOthers(table, selection) {
  const lines = compare(table, allRows(table), selection).series.filter(({ points }) => points.length > 0);
  return selection.series === '' ? lines.some(({ points }) => points.length > 1) : lines.length > 1;
}

// Whether some row of the selection has the metric, and a place along the axis.
function hasPoints(table, { metric, x, fixed }) {
  const [values, places] = [table.get(metric)?.values, table.get(x)?.values];
  if (!values || !places) return false;
  return matchingRows(table, allRows(table), fixed).some((row) => !isAbsent(values[row]) && !isAbsent(places[row]));
}

// The value of a parameter that leaves most of x to be shown; of equal ones the first.
function fullest(table, column, values, rows, { metric, x }) {
  const places = table.get(x)?.values;
  const shown = table.get(metric)?.values;
  const seen = new Map(values.map((value) => [value, new Set()]));
  for (const row of rows) {
    if (shown && isAbsent(shown[row])) continue;
    if (places && !isAbsent(places[row])) seen.get(column.values[row])?.add(places[row]);
  }
  return values.reduce((best, value) => (seen.get(value).size > seen.get(best).size ? value : best), values[0]);
}

/** The parameters that x and series leave open, each with a value, so that no point of a chart mixes several. */
export function fixOthers(table, { metric, x, series, fixed = {} }) {
  const shown = [x, series].filter(Boolean).map((name) => table.get(name)).filter(Boolean);
  const result = {};
  for (const { column, values } of varyingParameters(table)) {
    if (shown.includes(column) || values.length < 2) continue;
    const rows = matchingRows(table, allRows(table), result);
    if (follows(column, shown, rows)) continue;
    const there = distinct(Array.from(rows, (row) => column.values[row]));
    const kept = there.includes(fixed[column.name]) ? fixed[column.name] : undefined;
    result[column.name] = kept ?? (there.length > 0 ? fullest(table, column, there, rows, { metric, x }) : values[0]);
  }
  return result;
}

/** "controller = opus; rate = 50 GB/s": what a figure holds. */
export function heldText(fixed) {
  return Object.entries(fixed).map(([name, value]) => `${labelOf(name)} = ${formatValue(value, name)}`).join('; ');
}

/** Whether a metric ever differs between points that differ in this parameter, and seeds, alone. */
export function changes(table, name, metric) {
  const keys = table.columns.filter((column) => (column.role === 'parameter' && column.name !== name) || column.role === 'replicate');
  const { values } = table.get(metric);
  const seen = new Map();
  for (let row = 0; row < table.rows; ++row) {
    if (Number.isNaN(values[row])) continue;
    const key = keys.map((column) => column.values[row]).join('\u0000');
    if (!seen.has(key)) seen.set(key, values[row]);
    else if (seen.get(key) !== values[row]) return true;
  }
  return false;
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
  if (selection.baseline === '' || selection.baseline === FASTEST) return () => () => 1;
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

// Values over the least of all.
function overFastest(series) {
  const least = range(series.flatMap(({ points }) => points.map((point) => point.mean))).low;
  const over = (point) => ({ ...point, mean: point.mean / least, deviation: point.deviation / least, low: point.low / least, high: point.high / least });
  return series.map((one) => ({ ...one, points: one.points.map(over) }));
}

/** What is absent, as the delay of electrical rails, in words. */
export const absentText = (name) => `no ${labelOf(name)}`;

function pointOf(at, rows, values, divisor) {
  const list = rows.map((row) => values[row] / divisor(row)).filter((value) => !Number.isNaN(value));
  return { x: at, mean: mean(list), deviation: deviation(list), count: list.length, ...range(list) };
}

/**
 * The metric against x, a line or bar per series, over the given rows:
 * { x, series: [{ name, index, points: [{ x, mean, deviation, count, low, high }] }], xs, numeric, logX, logY, normalised }.
 * A series without x is the same at every x; rows without a value of the series parameter are a series of that name. With a
 * baseline, values are over that of the baseline. `index` is the place of the series among all values of its parameter.
 */
export function compare(table, rows, selection) {
  const x = table.get(selection.x);
  const { values } = table.get(selection.metric);
  const shown = matchingRows(table, rows, selection.fixed).filter((row) => !Number.isNaN(values[row]));
  const groups = grouped(shown, x, selection.series && table.get(selection.series));
  const placed = distinct([...groups.values()].flatMap((group) => [...group.keys()]));
  const xs = placed.length > 0 || groups.size === 0 ? placed : [absentText(selection.x)];
  const divisorAt = normaliser(table, values, groups, selection);
  const names = [...distinct([...groups.keys()]), ...(groups.has(NaN) ? [NaN] : [])];
  const known = selection.series === '' ? [] : varyingParameters(table).find(({ column }) => column.name === selection.series)?.values ?? [];
  const absolute = names.map((name) => {
    const group = groups.get(name);
    const there = xs.filter((at) => group.has(NaN) || group.has(at));
    const points = there.map((at) => pointOf(at, group.get(at) ?? group.get(NaN), values, divisorAt(at, name)));
    const index = isAbsent(name) ? known.length : Math.max(0, known.indexOf(name));
    return { name: isAbsent(name) ? absentText(selection.series) : name, index, points: points.filter((point) => point.count > 0) };
  });
  const series = selection.baseline === FASTEST ? overFastest(absolute) : absolute;
  const numeric = x.numeric && placed.length > 1;
  const means = series.flatMap(({ points }) => points.map((point) => point.mean));
  const log = (wanted, list) => (wanted === undefined ? spansDecades(list) : wanted && list.every((value) => value > 0));
  return { series, xs, numeric, logX: numeric && (log(selection.logX, xs) || (selection.logX === undefined && doubles(xs))), logY: log(selection.logY ?? (numeric ? undefined : false), means),
    normalised: selection.baseline !== '' };
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
