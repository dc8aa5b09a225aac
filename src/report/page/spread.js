// How far the ranks of a run lie apart: least, median and most of each part of their time.
import { legendFor } from './axes.js';
import { groupsOf, PARTS, sideAxis, sideZoom } from './charts.js';
import { lines } from './dom.js';
import { formatValue } from './format.js';
import { allRows, heldText } from './selection.js';
import { mean } from './statistics.js';

const ENDS = ['least', 'median', 'most'];
const ROW_HEIGHT = 44;
const MOST_ROWS = 16;
const columnOf = (table, part, end) => table.get(`per_rank_spread_s.${part}.${end}`);

/** Whether the ranks of some point differ. */
export function hasSpread(table) {
  return PARTS.every(([part]) => ENDS.every((end) => columnOf(table, part, end)))
    && PARTS.some(([part]) => columnOf(table, part, 'most').values.some((most, row) => most > columnOf(table, part, 'least').values[row]));
}

// Of each group the least of the least, the mean of the medians and the most of the most.
function extentOf(table, part, rows) {
  const [least, median, most] = ENDS.map((end) => rows.map((row) => columnOf(table, part, end).values[row]));
  return [Math.min(...least), mean(median), Math.max(...most)];
}

function rangeSeries([, name, colour], place, data) {
  return {
    type: 'custom', name, color: colour, data, encode: { x: [0, 1, 2], y: 3 },
    renderItem(_, api) {
      const at = (i) => api.coord([api.value(i), api.value(3)]);
      const [left, middle] = at(0);
      const y = middle + ((place - 1.5) / PARTS.length) * Math.min(api.size([0, 1])[1] * 0.8, ROW_HEIGHT);
      const line = (x1, y1, x2, y2, lineWidth) => ({ type: 'line', shape: { x1, y1, x2, y2 }, style: { stroke: colour, lineWidth } });
      const median = at(1)[0];
      return { type: 'group', children: [line(left, y, Math.max(at(2)[0], left + 1), y, 4), line(median, y - 5, median, y + 5, 2.5)] };
    },
  };
}

/** The spread over the ranks, a row a point of the comparison. */
export function spreadFigure({ table, rows = allRows(table), selection, width = 900 }) {
  const groups = groupsOf(table, rows, selection);
  const names = [...groups.keys()];
  const extents = PARTS.map(([part]) => names.map((name) => extentOf(table, part, groups.get(name))));
  const legend = legendFor(PARTS.map(([, name]) => name), width);
  return {
    id: 'spread',
    title: 'Spread over the ranks: least, median and most of each part of their time',
    held: heldText(selection.fixed),
    note: 'A bar goes from the rank with the least to that with the most; the stroke is the median rank.',
    height: Math.max(Math.min(names.length, MOST_ROWS) * ROW_HEIGHT, 110) + legend.height + 44,
    option: {
      grid: { left: 12, right: 32, top: legend.height + 4, bottom: 8, containLabel: true },
      legend: legend.option,
      tooltip: { trigger: 'item', confine: true, formatter: ({ seriesName, value }) => lines(names[value[3]], seriesName,
        `${formatValue(value[0], 's')} to ${formatValue(value[2], 's')}, median ${formatValue(value[1], 's')}`) },
      xAxis: { type: 'value', axisLabel: { formatter: (seconds) => formatValue(seconds, 's', 3), hideOverlap: true }, splitLine: { lineStyle: { color: '#e8ebef' } } },
      yAxis: { ...sideAxis(names, width), splitArea: { show: true, areaStyle: { color: ['#f7f8fa', '#ffffff'] } } },
      dataZoom: sideZoom(names.length),
      series: PARTS.map((part, place) => rangeSeries(part, place, extents[place].map((extent, i) => [...extent, i]))),
    },
    csv: [['point', 'part', 'least_s', 'median_s', 'most_s'],
      ...PARTS.flatMap(([part], place) => names.map((name, i) => [name, part, ...extents[place][i]]))],
  };
}
