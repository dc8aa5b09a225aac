// A metric over two parameters of numbers: a cell for each pair, coloured.
import { categoryAxis, emptyOption } from './axes.js';
import { lines } from './dom.js';
import { formatValue, labelOf } from './format.js';
import { measureOf } from './series.js';
import { allRows, compare, fixOthers, heldText, varyingParameters } from './selection.js';
import { range, spansDecades } from './statistics.js';

const MOST_LABELLED = 150;  // cells
const SEQUENTIAL = ['#f7fbff', '#c6dbef', '#6baed6', '#2171b5', '#08306b'];
const DIVERGING = ['#2166ac', '#92c5de', '#f7f7f7', '#f4a582', '#b2182b'];  // faster than the baseline, as fast, slower

/** The second parameter of numbers, that x and the series leave open, or undefined. */
export function heatmapAxis(table, selection) {
  const x = table.get(selection.x);
  if (!x?.numeric) return undefined;
  const numeric = varyingParameters(table).filter(({ column }) => column.numeric && column !== x);
  return numeric.find(({ column }) => column.name in selection.fixed)?.column.name
    ?? numeric.find(({ column }) => column.name === selection.series)?.column.name;
}

/** The values of the series of which one is in the heat map; none where there is no series. */
export function heatmapSeries(table, selection, y) {
  if (!selection.series || selection.series === y) return [];
  const values = varyingParameters(table).find(({ column }) => column.name === selection.series)?.values ?? [];
  return values.filter((value) => value !== selection.baseline);
}

// The cells: [x index, y index, value, drawn].
function cellsOf({ table, rows, selection, y, shown }) {
  const ys = varyingParameters(table).find(({ column }) => column.name === y).values;
  const series = selection.series === y ? '' : selection.series;
  const baseline = series === selection.series ? selection.baseline : '';
  const others = fixOthers(table, { ...selection, series, fixed: { ...selection.fixed, [y]: undefined } });
  const cells = [];
  let measure;
  let xs = [];
  const list = ys.map((value) => {
    const comparison = compare(table, rows, { ...selection, series, baseline, fixed: { ...others, [y]: value } });
    return { ...comparison, series: comparison.series.map((one) => ({ ...one, name: formatValue(one.name, series) })) };
  });
  xs = [...new Set(list.flatMap((comparison) => comparison.xs))].sort((a, b) => a - b);
  list.forEach((comparison, row) => {
    const own = comparison.series.find(({ name }) => series === '' || name === formatValue(shown, series));
    for (const point of own?.points ?? []) cells.push([xs.indexOf(point.x), row, point.mean]);
  });
  const wanted = { ...selection, series, baseline };
  measure = measureOf({ ...list[0], normalised: baseline !== '', numeric: true }, { ...wanted, logY: false });
  return { cells: cells.map(([a, b, value]) => [a, b, measure.of(value), value]), xs, ys, measure, held: Object.fromEntries(Object.entries(others).filter(([name]) => name !== y)), series };
}

// The cells with the number that is coloured; the numbers on dark cells are white.
function labelledCells(cells, shade, baseline) {
  const shades = cells.map(([, , value]) => shade(value)).filter(Number.isFinite);
  const [low, high] = baseline ? [0, Math.max(...shades.map(Math.abs))] : [Math.min(...shades), Math.max(...shades)];
  return cells.map(([a, b, value]) => {
    const part = high > low ? ((baseline ? Math.abs(shade(value)) : shade(value)) - low) / (high - low) : 0;
    const label = part > 0.65 ? { color: '#ffffff', textBorderWidth: 0 } : { color: '#1f2630', textBorderColor: '#ffffff', textBorderWidth: 2 };
    return { value: [a, b, shade(value), value], label };
  });
}

function colouring(values, baseline, measure, shade) {
  const { low, high } = range(values);
  const common = { type: 'continuous', orient: 'horizontal', left: 'center', top: 0, itemWidth: 12, itemHeight: 180, calculable: false, dimension: 2,
    formatter: () => '', textStyle: { fontSize: 11 } };
  if (!baseline) return { ...common, min: shade(low), max: high > low ? shade(high) : shade(low) + 1, text: [measure.format(high), measure.format(low)], inRange: { color: SEQUENTIAL } };
  const most = Math.max(Math.abs(low), Math.abs(high), 1e-12);  // of a time, nothing is more than 100 % faster
  return { ...common, min: -shade(most), max: shade(most), text: [`${measure.format(most)} slower`, `${measure.format(Math.min(most, 1))} faster`], inRange: { color: DIVERGING } };
}

/** The heat map over x and `y`, of the series' value `shown`. */
export function heatmapFigure({ table, rows = allRows(table), selection, y, shown, width = 900 }) {
  const { cells, xs, ys, measure, held, series } = cellsOf({ table, rows, selection, y, shown });
  const baseline = selection.baseline !== '' && series === selection.series;
  const log = !baseline && spansDecades(cells.map(([, , value]) => value));
  // The number that is coloured: small differences from the baseline are to be seen beside large ones.
  const shade = baseline ? (value) => Math.asinh(value / 0.05) : log ? Math.log10 : (value) => value;
  const drawn = labelledCells(cells, shade, baseline);
  const across = categoryAxis(selection.x, xs, width - 130);
  const labelled = cells.length <= MOST_LABELLED && (width - 130) / Math.max(xs.length, 1) > 46;
  const map = colouring(cells.map(([, , value]) => value), baseline, measure, shade);
  const of = series === '' ? '' : `${formatValue(shown, series)}: `;
  return {
    id: 'heatmap',
    title: `${of}${measure.title} over ${labelOf(selection.x)} and ${labelOf(y)}`,
    held: heldText(held),
    height: Math.max(Math.min(ys.length, 40) * 30, 120) + across.bottom + 60,
    option: cells.length === 0 ? emptyOption('No point that is left has this metric for what is chosen.') : {
      grid: { left: 110, right: 20, top: 52, bottom: across.bottom },
      tooltip: { trigger: 'item', confine: true, formatter: ({ value }) => lines(`${labelOf(selection.x)} ${formatValue(xs[value[0]], selection.x)}, ${labelOf(y)} ${formatValue(ys[value[1]], y)}`, measure.format(value[3])) },
      xAxis: { ...across.axis, splitLine: { show: false } },
      yAxis: { type: 'category', data: ys.map((value) => formatValue(value, y)), name: labelOf(y), nameLocation: 'middle', nameGap: 78, axisLabel: { interval: 'auto' } },
      visualMap: map,
      series: [{ type: 'heatmap', data: drawn, itemStyle: { borderColor: '#ffffff', borderWidth: 1 }, emphasis: { disabled: true },
        label: { show: labelled, fontSize: 10.5, formatter: ({ value }) => measure.format(value[3]) } }],
    },
    csv: [[selection.x, y, series || 'series', measure.column, ...Object.keys(held)],
      ...cells.map(([a, b, , value]) => [xs[a], ys[b], series === '' ? '' : shown, value, ...Object.values(held)])],
  };
}
