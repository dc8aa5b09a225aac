// Up to which value of a parameter a metric is at most so much more than the baseline's.
import { legendFor, numberAxis } from './axes.js';
import { sideAxis } from './charts.js';
import { lines } from './dom.js';
import { formatShare, formatValue, quantityOf } from './format.js';
import { allRows, compare, FASTEST, heldText, isTime } from './selection.js';

/** How much more than the baseline is allowed, and the colour of that. */
export const ALLOWED = [[0, '#08519c'], [0.01, '#3182bd'], [0.05, '#6baed6'], [0.1, '#bdd7e7']];
const ROW_HEIGHT = 34;

/**
 * The stretches of x in which the ratio is at most `most`: [[from, to]]. `points`: { x, mean } by ascending x; straight lines are
 * drawn between them, over the logarithm of x where `log`.
 */
export function stretchesBelow(points, most, log) {
  const [map, back] = log ? [Math.log, Math.exp] : [(x) => x, (x) => x];
  const crossing = (a, b) => back(map(a.x) + ((most - a.mean) / (b.mean - a.mean)) * (map(b.x) - map(a.x)));
  const found = [];
  let from;
  points.forEach((point, i) => {
    const below = point.mean <= most * (1 + 1e-9);
    if (below && from === undefined) from = i === 0 ? point.x : crossing(points[i - 1], point);
    if (!below && from !== undefined) {
      found.push([from, Math.max(from, crossing(points[i - 1], point))]);
      from = undefined;
    }
  });
  if (from !== undefined) found.push([from, points.at(-1).x]);
  return found;
}

/** Whether there is something to find: a time over numbers, against a baseline of the series. */
export const hasBreakEven = (table, selection) =>
  selection.series !== '' && selection.baseline !== '' && selection.baseline !== FASTEST && isTime(selection.metric) && table.get(selection.x)?.numeric === true;

function stretchSeries([allowed, colour], level, stretches, base) {
  return {
    type: 'custom', name: allowed === 0 ? `as fast as ${base}` : `at most ${formatShare(allowed)} more`, color: colour, z: 2 + ALLOWED.length - level,
    encode: { x: [0, 1], y: 2 }, data: stretches,
    renderItem(_, api) {
      const [left, y] = api.coord([api.value(0), api.value(2)]);
      const [right] = api.coord([api.value(1), api.value(2)]);
      const height = Math.min(ROW_HEIGHT, api.size([0, 1])[1]) * (0.32 + 0.13 * level);
      return { type: 'rect', shape: { x: left, y: y - height / 2, width: Math.max(right - left, 3), height }, style: { fill: colour } };
    },
  };
}

/** For each series the stretches of x in which it takes at most 0 %, 1 %, 5 % and 10 % more than the baseline; undefined: none. */
export function breakEvenFigure({ table, rows = allRows(table), selection, width = 900 }) {
  const { series, xs, logX } = compare(table, rows, selection);
  const base = formatValue(selection.baseline, selection.series);
  const named = series.map(({ name, points }) => ({ name: formatValue(name, selection.series), points })).filter(({ name, points }) => name !== base && points.length > 0);
  const names = named.map(({ name }) => name);
  const found = ALLOWED.map(([allowed]) => named.flatMap(({ points }, i) => stretchesBelow(points, 1 + allowed, logX).map(([from, to]) => [from, to, i])));
  if (found.every((stretches) => stretches.length === 0)) return undefined;
  const legend = legendFor(ALLOWED.map(([allowed]) => (allowed === 0 ? `as fast as ${base}` : `at most ${formatShare(allowed)} more`)), width);
  const text = ({ seriesName, value }) => lines(`${names[value[2]]}, ${seriesName}`, `${quantityOf(selection.x)} from ${formatValue(value[0], selection.x)} to ${formatValue(value[1], selection.x)}`);
  return {
    id: 'break-even',
    title: `Break-even: where ${quantityOf(selection.metric)} is at most so much more than that of ${base}`,
    held: heldText(selection.fixed),
    note: 'Straight lines between the points of the sweep; a bar that ends at the edge goes on beyond what was run.',
    height: names.length * ROW_HEIGHT + legend.height + 66,
    option: {
      grid: { left: 12, right: 32, top: legend.height + 4, bottom: 46, containLabel: true },
      legend: legend.option,
      tooltip: { trigger: 'item', confine: true, formatter: text },
      xAxis: numberAxis(selection.x, { xs, logX }, { min: xs[0], max: xs.at(-1), nameGap: 28 }),
      yAxis: sideAxis(names, width),
      series: [...ALLOWED.keys()].reverse().map((level) => stretchSeries(ALLOWED[level], level, found[level], base)),
    },
    csv: [[selection.series, `at most ${quantityOf(selection.metric)} over ${base}`, `${selection.x} from`, `${selection.x} to`, ...Object.keys(selection.fixed)],
      ...ALLOWED.flatMap(([allowed], level) => found[level].map(([from, to, i]) => [names[i], 1 + allowed, from, to, ...Object.values(selection.fixed)]))],
  };
}
