// Few lines a figure: a reader of a paper tells no more of them apart.
import { formatValue, labelOf } from './format.js';
import { allRows, compare, isLessBetter } from './selection.js';
import { mean } from './statistics.js';

const MOST_LINES = 6;
const alike = (points) => points.map((point) => `${point.x}:${point.mean.toPrecision(4)}`).join(' ');

/**
 * The rows of at most six lines: { rows, left }. Of lines that coincide one stays, of the others those that are best on average;
 * `left` names the rest, '' where all are drawn. The baseline stays, and no other figure than one of lines over numbers needs it.
 */
export function paperRows(table, selection, most = MOST_LINES) {
  const rows = allRows(table);
  if (selection.series === '' || selection.metric === undefined) return { rows, left: '' };
  const { series, numeric } = compare(table, rows, { ...selection, baseline: '' });
  const others = series.filter(({ name, points }) => name !== selection.baseline && points.length > 0);
  if (!numeric || others.length <= most) return { rows, left: '' };
  const sign = isLessBetter(selection.metric) ? 1 : -1;
  const ranked = [...others].sort((a, b) => sign * (mean(a.points.map((point) => point.mean)) - mean(b.points.map((point) => point.mean))));
  const first = new Map();
  for (const line of ranked) if (!first.has(alike(line.points))) first.set(alike(line.points), line);
  const kept = new Set([...first.values()].slice(0, most).map(({ name }) => name));
  const text = (name) => formatValue(name, selection.series);
  const named = others.filter(({ name }) => !kept.has(name)).map(({ name, points }) => {
    const twin = first.get(alike(points)).name;
    return kept.has(twin) ? `${text(name)} (as ${text(twin)})` : text(name);
  });
  const column = table.get(selection.series).values;
  const left = new Set(others.filter(({ name }) => !kept.has(name)).map(({ name }) => name));
  return { rows: rows.filter((row) => !left.has(column[row])), left: `Not drawn, by ${labelOf(selection.series)}: ${named.join('; ')}.` };
}
