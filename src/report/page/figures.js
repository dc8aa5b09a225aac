// All figures of a document, as files: what `photonrail report --format` writes.
import { breakdownFigure, comparisonFigure, costMetrics, hasBreakdown, paretoFigure, windowsFigure } from './charts.js';
import { toSvg } from './echarts.js';
import { toCsv } from './format.js';
import { defaultSelection, matchingRows, allRows } from './selection.js';
import { timelineFigure } from './timeline.js';
import { topologyFigure } from './topology.js';

/** The point whose windows are shown first: the last of the selection that has some, or undefined. */
export function pointWithWindows({ table, windows }, selection) {
  return matchingRows(table, allRows(table), selection.fixed).findLast((row) => windows.ranges.has(row));
}

export function allFigures(model) {
  const { table, windows, traces, choices } = model;
  const selection = defaultSelection(table, choices);
  const figures = table.rows > 0 && selection.metric ? [comparisonFigure({ table, selection })] : [];
  if (hasBreakdown(table)) figures.push(breakdownFigure({ table, selection }));
  for (const metric of costMetrics(table)) figures.push(paretoFigure({ table, selection, metric }));
  const row = pointWithWindows(model, selection);
  if (row !== undefined) figures.push(windowsFigure({ table, windows, row }));
  const trace = traces.at(-1);
  if (trace) figures.push(timelineFigure({ trace }), topologyFigure({ trace }));
  return figures;
}

/** [{ name, text }] for every figure: format "svg" or "csv". */
export function figureFiles(model, format) {
  const text = ({ option, height, csv }) => (format === 'csv' ? toCsv([...csv]) : toSvg(option, 900, height));
  return allFigures(model).map((figure) => ({ name: `${figure.id}.${format}`, text: text(figure) }));
}
