// Several small charts over one parameter in one figure: a metric for each value of a further parameter, or several metrics.
import { categoryAxis, longTicks, gridsFor, legendFor, numberAxis, panelTitles, valueAxis } from './axes.js';
import { axisTooltip, comparisonCsv, linesAlike } from './charts.js';
import { formatValue, isShare, labelOf, quantityOf } from './format.js';
import { measureOf, seriesOf } from './series.js';
import { allRows, changes, compare, heldText, matchingRows, varyingParameters } from './selection.js';
import { niceRange, range } from './statistics.js';

const CHART_HEIGHT = 190;
const MOST_PANELS = 12;

// A chart of each { title, selection }: the option and height of all, and the CSV rows of each.
function panelsOption({ table, rows, panels, width, sharedY }) {
  const measured = panels.map(({ title, selection, line }) => {
    const given = compare(table, rows, selection);
    const comparison = { ...given, series: given.series.map((one) => ({ ...one, name: formatValue(one.name, selection.series) })) };
    return { title, selection, comparison, line, measure: measureOf(comparison, selection) };
  });
  const made = sharedY ? onOneScale(measured) : measured;
  const inOrder = made.flatMap(({ comparison, measure }) => measure.shown(comparison.series)).sort((a, b) => a.index - b.index);
  const names = [...new Set(inOrder.map(({ name }) => name))];
  const legend = legendFor(names, width, {}, panels[0].selection.series);
  const { grids, height } = gridsFor(panels.length, width, legend.height, CHART_HEIGHT);
  const shared = sharedY ? sharedAxis(made) : () => ({});
  const option = {
    title: panelTitles(grids, made.map(({ title }) => title)),
    legend: legend.option,
    grid: grids,
    tooltip: axisTooltipOf(made),
    xAxis: made.map((one, i) => xAxisOf(one, i, grids[i].width)),
    yAxis: made.map(({ selection, measure }, i) => valueAxis(selection.metric, { log: measure.log, label: '' }, {
      ...measure.axis, gridIndex: i, nameGap: 0, ...daysOf(made[i]), ...shared(measure), ...reaching(boundOf(made[i].comparison, made[i].line)) })),
    series: made.flatMap(({ comparison, selection, measure, line }, i) => withBound(seriesOf(comparison, selection, measure, { xAxisIndex: i, yAxisIndex: i }), boundOf(comparison, line), selection.metric)),
  };
  return { option, height, made };
}

// Plain times that reach days are told in days.
const daysOf = ({ comparison, selection, measure }) => (comparison.normalised || isShare(selection.metric) ? {}
  : longTicks(selection.metric, measure.shown(comparison.series).flatMap(({ points }) => points.map((point) => measure.of(point.mean))), measure.log));

const FARTHEST = 4;  // times the highest value: a bound beyond it would flatten the lines

// The bound of a metric where it can be drawn beside the values.
function boundOf({ series }, line) {
  const { high } = range(series.flatMap(({ points }) => points.map((point) => point.mean)));
  return line !== undefined && high > 0 && line <= FARTHEST * high ? line : undefined;
}

// An axis that goes up to the bound.
const reaching = (bound) => (bound === undefined ? {} : { max: ({ max }) => Math.max(max, bound * 1.1) });

// The bound as a line across the chart.
function withBound(series, bound, metric) {
  if (bound === undefined || series.length === 0) return series;
  const markLine = { silent: true, symbol: 'none', lineStyle: { color: '#c1121f', type: 'dashed', width: 1.4 },
    label: { formatter: `SLO ${formatValue(bound, metric)}`, color: '#c1121f', position: 'insideStartTop' }, data: [{ yAxis: bound }] };
  return [{ ...series[0], markLine }, ...series.slice(1)];
}

// Which lines coincide in which of the charts.
function alikeIn(made) {
  const texts = made.flatMap(({ title, comparison, measure, selection }) => {
    const same = comparison.numeric ? linesAlike(measure.shown(comparison.series), measure, selection.series) : [];
    return same.length > 0 ? [`${same.join('; ')} in “${title}”`] : [];
  });
  return texts.length > 0 ? `Lines that coincide: ${texts.join(', ')}.` : '';
}

// Charts that are compared with each other are all logarithmic, or none is.
function onOneScale(made) {
  const logs = made.filter(({ measure }) => measure.log).length;
  if (logs === 0 || logs === made.length) return made;
  return made.map((one) => ({ ...one, measure: measureOf({ ...one.comparison, logY: false }, { ...one.selection, logY: false }) }));
}

// The same vertical axis for all charts.
function sharedAxis(made) {
  const values = made.flatMap(({ comparison, measure }) => measure.shown(comparison.series).flatMap(({ points }) => points.map((point) => measure.of(point.mean))));
  const extent = range(values);
  const { low, high, step } = niceRange(Math.min(0, extent.low), Math.max(0, extent.high));
  const positive = range(values.filter((value) => value > 0));
  const decades = { min: 10 ** Math.floor(Math.log10(positive.low)), max: 10 ** Math.ceil(Math.log10(positive.high)) };
  return (measure) => (values.length === 0 || (measure.log && !(positive.low > 0)) ? {}
    : measure.log ? { ...decades, min: Math.max(decades.min, measure.floor) } : { min: low, max: high, interval: step });
}

function xAxisOf({ comparison, selection }, gridIndex, width) {
  const { numeric, xs } = comparison;
  if (numeric) return numberAxis(selection.x, comparison, { gridIndex, nameGap: 28 });
  const { axis: across } = categoryAxis(selection.x, xs, width);
  return { ...across, gridIndex, name: '', axisLabel: { ...across.axisLabel, fontSize: 10, ...(across.axisLabel.rotate ? { width: 80, overflow: 'truncate' } : {}) } };
}

// A line of the tooltip knows its chart by its axis.
function axisTooltipOf(made) {
  const [{ comparison, selection, measure }] = made;
  const tips = made.map((one) => axisTooltip(one.comparison.numeric, one.selection, one.measure).formatter);
  return { ...axisTooltip(comparison.numeric, selection, measure), formatter: (items) => tips[[items].flat()[0]?.axisIndex ?? 0](items) };
}

/** The held parameters that small multiples can show: those that change the metric. */
export function facetsOf(table, selection) {
  return Object.keys(selection.fixed).filter((name) => changes(table, name, selection.metric));
}

/** The metric of the comparison, a chart for each value of the parameter `facet` that the comparison holds. */
export function multiplesFigure({ table, rows = allRows(table), selection, facet, width = 900 }) {
  const values = varyingParameters(table).find(({ column }) => column.name === facet).values;
  const others = Object.fromEntries(Object.entries(selection.fixed).filter(([name]) => name !== facet));
  const title = (value) => `${labelOf(facet)} ${formatValue(value, facet)}`;
  const wanted = values.map((value) => ({ title: title(value), selection: { ...selection, fixed: { ...others, [facet]: value } } }))
    .filter((panel) => matchingRows(table, rows, panel.selection.fixed).length > 0);
  const panels = wanted.slice(0, MOST_PANELS);
  const { option, height, made } = panelsOption({ table, rows, panels, width, sharedY: true });
  const [head] = comparisonCsv(made[0].comparison, made[0].selection, made[0].measure.column);
  return {
    id: 'multiples',
    title: `${made[0].measure.title} against ${quantityOf(selection.x)}, by ${labelOf(facet)}`,
    held: heldText(others),
    coincide: alikeIn(made), note: [made[0].measure.note, alikeIn(made), wanted.length > panels.length ? `The first ${panels.length} of ${wanted.length} values of ${labelOf(facet)}.` : ''].filter(Boolean).join(' '),
    height, wide: true, option,
    csv: [head, ...made.flatMap((one) => comparisonCsv(one.comparison, one.selection, one.measure.column).slice(1))],
  };
}

const differs = (table, rows, name) => {
  const column = table.get(name);
  if (!column?.numeric) return false;
  return rows.some((row) => !Number.isNaN(column.values[row]) && column.values[row] !== 0);
};

/** Metrics of where time goes that the table has: [{ name, title }]. */
export function exposureMetrics(table, rows = allRows(table)) {
  const found = [['reconfigurations.hidden_share', 'hidden share of reconfigurations'],
    ['per_rank_mean_s.reconfiguration_wait', 'waiting for circuits'],
    ...['tp', 'cp', 'ep', 'dp', 'pp', 'other'].map((name) => [`communication.${name}.exposed_s`, `exposed ${name} communication`])];
  return found.filter(([name]) => differs(table, rows, name)).map(([name, title]) => ({ name, title }));
}

/** Metrics of what the job achieves and needs that the table has. */
export function achievementMetrics(table, rows = allRows(table)) {
  const found = [['tokens_per_s', 'tokens per second'], ['mfu', 'model FLOPs utilisation'], ['peak_memory_bytes', 'peak memory of a GPU']];
  return found.filter(([name]) => differs(table, rows, name)).map(([name, title]) => ({ name, title }));
}

/** Metrics of months of failures that the table has. */
export function goodputMetrics(table, rows = allRows(table)) {
  const found = [['goodput.share', 'goodput, GPUs and spares'], ['goodput.ettr_share', 'productive time of the job'],
    ...['checkpoint', 'lost', 'detecting', 'recovering', 'waiting', 'degraded', 'planned'].map((name) => [`goodput.${name}_share`, `${name}, of the job's time`]),
    ['goodput.steps_per_day', 'steps a day']];
  return found.filter(([name]) => differs(table, rows, name)).map(([name, title]) => ({ name, title }));
}

/** A chart for each of the metrics, over the parameter of the comparison; `line` of a metric is a bound that it should keep. */
export function metricsFigure({ table, rows = allRows(table), selection, metrics, id, title, width = 900 }) {
  const panels = metrics.map((metric) => ({ title: metric.title, line: metric.line, selection: { ...selection, metric: metric.name, baseline: '', logY: undefined } }));
  const { option, height, made } = panelsOption({ table, rows, panels, width, sharedY: false });
  const csv = made.flatMap(({ comparison, selection: own }) => comparisonCsv(comparison, own, 'value').slice(1).map((row) => [own.metric, ...row]));
  const [head] = comparisonCsv(made[0].comparison, made[0].selection, 'value');
  return { id, title: `${title} against ${quantityOf(selection.x)}`, held: heldText(selection.fixed), coincide: alikeIn(made), note: alikeIn(made), height, wide: true, option, csv: [['metric', ...head], ...csv] };
}
