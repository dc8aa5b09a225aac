// Step time against what the cluster costs, and what no other cluster of the same size beats in both.
import { axis, gridsFor, legendFor, panelTitles, valueAxis } from './axes.js';
import { lines } from './dom.js';
import { counted, formatValue, labelOf, quantityOf } from './format.js';
import { lookOf } from './looks.js';
import { allRows, changes, heldText, matchingRows, pointsOf, stepTimeOf, varyingParameters } from './selection.js';
import { distinct, niceRange, paretoFront, range, spansDecades } from './statistics.js';

const COSTS = [['cost', /(^|[._])usd$/], ['power', /(^|[._])power_w$/], ['energy', /(^|[._])energy_per_step_j$/]];
const MOST_PANELS = 9;
// "cost.power_w" is power.
// Of served requests a run has no steps.
const nameOf = ({ name }, table) => labelOf(name).replace(/^cost: /, '').replace(/ per step$/, (text) => (table.get('serving.ttft_s.mean') ? ' of the run' : text));
const CHART_HEIGHT = 230;

/** The metrics to weigh against the step time: those that are there and differ: [{ id, name }]. */
export function costMetrics(table) {
  const differs = (column) => column.numeric && column.values.some((value) => !Number.isNaN(value) && value !== column.values[0]);
  return COSTS.flatMap(([id, pattern]) => {
    const found = table.columns.filter((column) => column.role === 'metric' && pattern.test(column.name) && differs(column))
      .sort((a, b) => a.name.length - b.name.length)[0];
    return found ? [{ id, name: found.name }] : [];
  });
}

// What says how large a cluster is, and how much work a step: only points of one size and work compare.
const SIZES = ['folding.ranks', 'servers', 'gpus_per_server', 'global_batch', 'sequence', 'model'];

/** The columns that tell sizes apart: those that differ between rows of the table. */
export function sizeColumns(table) {
  const differing = SIZES.map((name) => table.get(name)).filter((column) => column && distinct(column.values).length > 1);
  // One that follows from another says nothing more.
  return differing.filter((column, i) => !differing.slice(0, i).some((other) => {
    const seen = new Map();
    return column.values.every((value, row) => (seen.has(other.values[row]) ? Object.is(seen.get(other.values[row]), value) : seen.set(other.values[row], value)));
  }));
}

const sizeText = (columns, row) => columns.map(({ name, values }) => (name === 'folding.ranks' ? counted(values[row], 'rank') : `${labelOf(name)} ${formatValue(values[row], name)}`)).join(', ');

// Corners of a front: a point that is dearer lowers the step time from there on.
const cornersOf = (front) => front.flatMap((point, i) => (i === 0 ? [[point.x, point.y]] : [[point.x, front[i - 1].y], [point.x, point.y]]));

// The series of one size, in the chart `index`.
function seriesOfSize({ points, front, groups, index }) {
  const axes = { xAxisIndex: index, yAxisIndex: index };
  const onFront = { name: 'Pareto front', color: '#222222', silent: true, ...axes };
  return [
    { ...onFront, type: 'line', symbol: 'none', lineStyle: { type: 'dashed', width: 1.4 }, data: cornersOf(front) },
    { ...onFront, type: 'scatter', symbol: 'circle', symbolSize: 17, z: 4, clip: false, data: front.map(({ x, y }) => [x, y]),
      itemStyle: { color: 'rgba(0,0,0,0)', borderColor: '#222222', borderWidth: 1.2 } },
    ...groups.map(({ name, index: look }) => {
      const { color, symbol } = lookOf(look);
      return { type: 'scatter', clip: false, name, color, symbol, symbolSize: 10, itemStyle: { opacity: 0.85 }, large: true, largeThreshold: 5000,
        data: points.filter((point) => point.group === name).map((point) => [point.x, point.y]), ...axes };
    }),
  ];
}

/** Step time against a cost, all points, and for each size of the cluster and of the work the points that no other beats. */
export function paretoFigure({ table, rows = allRows(table), selection, metric, width = 900 }) {
  const stepTime = stepTimeOf(table);
  const groupBy = selection.series || selection.x;
  const columns = sizeColumns(table);
  // What changes prices alone, as the rule of a bill does, is no way of building a cluster.
  const held = Object.fromEntries(Object.entries(selection.fixed).filter(([name]) => !changes(table, name, stepTime)));
  const points = pointsOf(table, matchingRows(table, rows, held), metric.name, stepTime, groupBy).map((point) => ({ ...point, size: sizeText(columns, point.row) }));
  const sizes = [...new Set(points.map(({ size }) => size))];
  const known = (varyingParameters(table).find(({ column }) => column.name === groupBy)?.values ?? []).map((value) => formatValue(value, groupBy));
  const groups = [...new Set(points.map((point) => point.group))].map((name) => ({ name, index: Math.max(0, known.indexOf(name)) }));
  const all = sizes.map((size) => {
    const own = points.filter((point) => point.size === size);
    return { size, points: own, front: paretoFront(own).map((i) => own[i]) };
  });
  const panels = all.slice(0, MOST_PANELS);
  const legend = legendFor(['Pareto front', ...groups.map(({ name }) => name)], width, { itemWidth: 16 }, groupBy);
  const { grids, height } = sizes.length > 1 ? gridsFor(panels.length, width, legend.height, CHART_HEIGHT)
    : { grids: [{ left: 86, right: 24, top: legend.height + 10, bottom: 62 }], height: 320 + legend.height };
  // One scale of times across the charts.
  const times = points.map(({ y }) => y);
  const { low, high } = range(times);
  const even = sizes.length > 1 && !spansDecades(times, 10) && high > low ? niceRange(low, high) : undefined;
  const log = (list) => (spansDecades(list, 10) ? 'log' : 'value');
  const text = ({ value }) => `${formatValue(value[1], stepTime)} at ${formatValue(value[0], metric.name)}`;
  return {
    id: `pareto-${metric.id}`,
    title: `${quantityOf(stepTime)} against ${nameOf(metric, table)}, and the Pareto front`,
    held: heldText(held),
    note: 'Less of both is better: points with a ring are beaten by none, and none lies left of and below the line.'
      + (sizes.length > 1 ? ' Only clusters of one size that do the same work compare: a chart for each.' : '')
      + (sizes.length > panels.length ? ` The first ${panels.length} of ${sizes.length} sizes.` : ''),
    height,
    wide: sizes.length > 1,
    option: {
      title: sizes.length > 1 ? panelTitles(grids, panels.map(({ size }) => size)) : undefined,
      grid: grids,
      legend: legend.option,
      tooltip: { trigger: 'item', confine: true, formatter: (item) => lines(item.seriesName, text(item)) },
      xAxis: panels.map((panel, i) => axis(metric.name, nameOf(metric, table), { type: log(panel.points.map(({ x }) => x)), scale: true, gridIndex: i })),
      yAxis: panels.map((_, i) => valueAxis(stepTime, { log: log(times) === 'log', values: times }, { scale: true, gridIndex: i, ...(even ? { min: even.low, max: even.high, interval: even.step } : {}) })),
      dataZoom: sizes.length > 1 ? [] : [{ type: 'inside', zoomOnMouseWheel: 'ctrl' }],
      series: panels.flatMap((panel, index) => seriesOfSize({ ...panel, groups, index })),
    },
    csv: [[metric.name, stepTime, groupBy, 'size', 'on the front'],
      ...all.flatMap(({ points: own, front }) => own.map((point) => [point.x, point.y, point.group, point.size, front.includes(point) ? 1 : 0]))],
  };
}
