// Which figures a document has: the same list for the page and for `photonrail report --format`.
import { breakEvenFigure, hasBreakEven } from './break_even.js';
import { breakdownFigure, comparisonFigure, hasBreakdown, windowsFigure } from './charts.js';
import { toSvg } from './echarts.js';
import { toCsv } from './format.js';
import { heatmapAxis, heatmapFigure, heatmapSeries } from './heatmap.js';
import { achievementMetrics, exposureMetrics, facetsOf, goodputMetrics, metricsFigure, multiplesFigure } from './panels.js';
import { paperRows } from './paper.js';
import { costMetrics, paretoFigure } from './pareto.js';
import { PLAN_FIGURES } from './plan.js';
import { allRows, defaultSelection, matchingRows } from './selection.js';
import { hasSpread, spreadFigure } from './spread.js';
import { detailFigures } from './details.js';
import { timelineFigure } from './timeline.js';
import { topologyFigure } from './topology.js';
import { workloadFigures } from './workloads.js';

/** The point whose windows are shown first: the last of the selection that has some, or undefined. */
export function pointWithWindows({ table, windows }, selection) {
  return matchingRows(table, allRows(table), selection.fixed).findLast((row) => windows.ranges.has(row))
    ?? allRows(table).findLast((row) => windows.ranges.has(row));
}

const heatmapChoice = (table, selection, view) => {
  const y = heatmapAxis(table, selection);
  const values = heatmapSeries(table, selection, y);
  return { y, shown: values.includes(view.shown) ? view.shown : values[0] };
};

export const facetOf = (table, selection, view) => {
  const facets = facetsOf(table, selection);
  return facets.includes(view.facet) ? view.facet : facets[0];
};

/**
 * The figures over the rows of the table, in order: [{ id, there(selection), make(shown) }], where `shown` has { table, rows,
 * selection, view, width } and `view` what menus of single figures chose: { facet, shown }.
 */
export function tableFigures(table, plan) {
  if (table.rows === 0) return [];
  // A plan that serves is judged at a rate of its own for each candidate: its table has the time of a whole run alone.
  if (plan?.best.some(({ served }) => served)) return [];
  const costs = costMetrics(table).map((metric) => ({ id: `pareto-${metric.id}`, there: () => true, make: (shown) => paretoFigure({ ...shown, metric }) }));
  if (plan) return costs;  // the others compare all points of a sweep, of which a plan has run the best alone
  const numeric = (selection) => table.get(selection.x)?.numeric === true;
  return [
    { id: 'comparison', there: (selection) => selection.metric !== undefined && table.rows > 1, make: comparisonFigure },
    { id: 'break-even', there: (selection) => hasBreakEven(table, selection), make: breakEvenFigure },  // none where nothing is met
    { id: 'heatmap', there: (selection) => selection.metric !== undefined && heatmapAxis(table, selection) !== undefined,
      make: (shown) => heatmapFigure({ ...shown, ...heatmapChoice(table, shown.selection, shown.view) }) },
    { id: 'multiples', there: (selection) => selection.metric !== undefined && facetsOf(table, selection).length > 0,
      make: (shown) => multiplesFigure({ ...shown, facet: facetOf(table, shown.selection, shown.view) }) },
    ...workloadFigures(table),
    { id: 'breakdown', there: () => hasBreakdown(table), make: breakdownFigure },
    { id: 'spread', there: () => hasBreakdown(table) && hasSpread(table), make: spreadFigure },
    { id: 'exposure', there: (selection) => numeric(selection) && exposureMetrics(table).length > 0,
      make: (shown) => metricsFigure({ ...shown, id: 'exposure', title: 'Hidden reconfigurations and exposed communication', metrics: exposureMetrics(table) }) },
    { id: 'achievement', there: () => achievementMetrics(table).length > 0,
      make: (shown) => metricsFigure({ ...shown, id: 'achievement', title: 'Throughput, utilisation and memory', metrics: achievementMetrics(table) }) },
    { id: 'goodput', there: () => table.rows > 1 && goodputMetrics(table).length > 0,
      make: (shown) => metricsFigure({ ...shown, id: 'goodput', title: 'Goodput over months, and what takes the rest', metrics: goodputMetrics(table) }) },
    ...costs,
  ];
}

const OF_LINES = ['comparison', 'multiples', 'serving', 'rl', 'exposure', 'achievement', 'goodput'];

/** The figures as files; of `few` lines those over numbers show at most six, and name the others. */
export function allFigures(model, width = 900, wanted = { few: true }) {
  const { table, windows, traces, choices, details = [] } = model;
  const selection = defaultSelection(table, choices);
  const shown = { table, selection, view: {}, width };
  const few = choices.lines || !wanted.few ? { rows: allRows(table), left: '' } : paperRows(table, selection);
  const drawn = ({ id, make }) => {
    if (!OF_LINES.includes(id) || few.left === '') return make(shown);
    const figure = make({ ...shown, rows: few.rows });
    return { ...figure, coincide: [figure.coincide, few.left].filter(Boolean).join(' ') };
  };
  const ofPlan = model.plan ? PLAN_FIGURES.map(({ make }) => make({ plan: model.plan, width })) : [];
  const figures = [...ofPlan, ...tableFigures(table, model.plan).filter(({ there }) => there(selection)).map(drawn)].filter(Boolean);
  for (const { kind, make } of detailFigures(details)) figures.push(make({ details, detail: details.findLast((one) => one.kind === kind), width }));
  const row = pointWithWindows(model, selection);
  if (row !== undefined) figures.push(windowsFigure({ table, windows, row, width }));
  const trace = traces.at(-1);
  if (trace) figures.push(timelineFigure({ trace }), topologyFigure({ trace }));
  return figures.filter(Boolean);
}

/** The figure under the title that was asked for in place of its own, if one was, and with what all points of the document have in common. */
export function named(figure, { title }, where) {
  return { ...figure, title: title || figure.title, held: [where, figure.held].filter(Boolean).join('; ') };
}

/** [{ name, text }] for every figure: format "svg" or "csv". */
export function figureFiles(model, format) {
  const { choices } = model;
  const { width = 900, height, font = 12 } = choices;
  const figures = allFigures(model, (width * 12) / font, { few: format !== 'csv' }).filter(({ id }) => choices.figure === undefined || id === choices.figure);
  if (figures.length === 0) throw new Error(`there is no figure "${choices.figure}": ${allFigures(model).map(({ id }) => id).join(', ')}`);
  const text = (figure) => (format === 'csv' ? toCsv([...figure.csv]) : toSvg(named(figure, choices, model.where), { width, height, font }));
  return figures.map((figure) => ({ name: `${figure.id}.${format}`, text: text(figure) }));
}
