// Served requests and reinforcement learning over the rows of the table: what sweeps of them show.
import { groupsOf } from './charts.js';
import { RL_PHASES, shareAxis, stackedBars, TTFT_PARTS } from './details.js';
import { formatShare, quantityOf } from './format.js';
import { metricsFigure } from './panels.js';
import { allRows, heldText } from './selection.js';
import { distinct, mean } from './statistics.js';

const differing = (table, found) => found.filter(([name]) => {
  const column = table.get(name);
  return column?.numeric && column.values.some((value) => !Number.isNaN(value) && value !== 0);
}).map(([name, title]) => ({ name, title }));

/** The metrics of served requests that the table has: [{ name, title, line }]; `line`: the bound of the SLO, where all rows have one. */
export function servingMetrics(table) {
  const found = differing(table, [['serving.ttft_s.p50', 'TTFT, median'], ['serving.ttft_s.p99', 'TTFT, 99th percentile'], ['serving.tpot_s.p50', 'TPOT, median'],
    ['serving.tpot_s.p99', 'TPOT, 99th percentile'], ['serving.slo.share', 'requests within the SLO'], ['serving.slo.goodput_per_s', 'goodput, requests per second'],
    ['serving.output_tokens_per_s', 'output tokens per second'], ['serving.transfers.time_s.mean', 'KV transfer, mean'], ['serving.requests.unfinished', 'unfinished requests']]);
  const slo = (name) => {
    const values = distinct(table.get(`serving.slo.${name}`)?.values ?? []);
    return values.length === 1 ? values[0] : undefined;
  };
  return found.map((metric) => ({ ...metric, line: /ttft/.test(metric.name) ? slo('ttft_s') : /tpot/.test(metric.name) ? slo('tpot_s') : undefined }));
}

/** The metrics of steps of reinforcement learning that the table has. */
export function rlMetrics(table) {
  return differing(table, [...RL_PHASES.map(([key, name]) => [`rl.mean.${key}_s`, name]), ['rl.mean.tail_s', 'last tenth of a rollout'],
    ['rl.mean.response_tokens_per_s_gpu', 'response tokens per second and GPU'], ...RL_PHASES.map(([key, name]) => [`rl.mean.${key}_tokens_per_s_gpu`, `tokens/s and GPU, ${name}`]), ['rl.mean.slot_use', 'use of the slots of engines'],
    ['rl.mean.staleness', 'staleness, versions'], ['rl.tools.hit_share', 'tool calls from the cache']]);
}

/** The metrics of slices of a pod that the table has. */
export function slicesMetrics(table) {
  return differing(table, [['utilisation', 'utilisation of the pod'], ['mean_waiting_s', 'mean wait of a job'], ['mean_completion_s', 'mean time of a job'],
    ['blocked_for_resource_s', 'blocked for accelerators'], ['blocked_for_shape_s', 'blocked for shape'], ['stranded_share', 'stranded accelerators'],
    ['bandwidth_share', 'bandwidth of slices'], ['refused_share', 'refused requests'], ['refused_for_shape_share', 'refused for shape'], ['fits_share', 'chance that the slice fits']]);
}

const columnsOf = (parts, prefix, suffix) => parts.map(([key, name, color]) => ({ column: `${prefix}${key}${suffix}`, name, color }));
const PARTS_OF = [
  { id: 'ttft-means', whole: 'serving.ttft_s.mean', title: 'Parts of the mean time to the first token', parts: columnsOf(TTFT_PARTS, 'serving.ttft_parts_s.', '.mean') },
  { id: 'goodput-means', whole: 'goodput.ettr_share', shares: true, title: 'Where the time of the job goes, mean of histories',
    parts: columnsOf([['ettr', 'productive', '#5b7fb5'], ['checkpoint', 'checkpoints', '#56b4e9'], ['lost', 'lost work', '#d55e00'], ['detecting', 'detecting', '#cc79a7'],
      ['recovering', 'recovering', '#0072b2'], ['waiting', 'waiting for spares or repair', '#222222'], ['degraded', 'slower than healthy', '#e6a23c'], ['planned', 'planned', '#009e73']], 'goodput.', '_share') },
  { id: 'rl-means', whole: 'rl.mean.step_s', title: 'Phases of a step, mean of its middle steps', parts: columnsOf(RL_PHASES, 'rl.mean.', '_s') }];

/** The wholes that the table has with their parts: each { id, whole, title, parts: [{ column, name, color }] }. */
export const wholesOf = (table) => PARTS_OF.filter(({ whole }) => table.get(whole)?.numeric);

/** The whole that designs are judged by, of whose parts an answer speaks; undefined where there is none. */
export const judgedWhole = (table) => wholesOf(table).find(({ shares }) => !shares);

/** What takes most of such a whole, mean of these rows: [{ label, share }], the largest first. */
export function largestParts(table, rows, { whole, parts, shares }) {
  const meanOf = (name) => {
    const values = Array.from(rows, (row) => table.get(name)?.values[row] ?? NaN).filter((value) => !Number.isNaN(value));
    return values.length > 0 ? mean(values) : 0;
  };
  const all = shares ? 1 : meanOf(whole);
  return parts.map(({ column, name }) => ({ label: name, share: all > 0 ? meanOf(column) / all : 0 })).sort((a, b) => b.share - a.share);
}

/** A stacked bar of the parts of a whole for each point of the comparison. */
export function wholeFigure({ table, rows = allRows(table), selection, whole, width = 900 }) {
  const groups = groupsOf(table, rows, selection, table.get(whole.whole));
  const bars = [...groups.keys()];
  const value = (column, key) => mean(groups.get(key).map((row) => table.get(column)?.values[row] || 0));
  const parts = whole.parts.map(({ column, name, color }) => ({ name, color, values: bars.map((key) => value(column, key)) }));
  const wholes = bars.map((key) => value(whole.whole, key));
  const overlap = !whole.shares && wholes.some((all, i) => parts.reduce((sum, { values }) => sum + values[i], 0) > all * 1.001);
  const mark = { type: 'scatter', name: quantityOf(whole.whole), color: '#222222', symbol: 'path://M0 0H2V20H0Z', symbolSize: [3, 22], z: 5, data: wholes.map((all, i) => [all, i]) };
  return {
    id: whole.id, title: whole.title, held: heldText(selection.fixed),
    note: overlap ? 'A bar that is longer than its mark: its phases overlap.' : '',
    ...stackedBars({ bars, parts, width, marks: overlap ? [mark] : [], markNames: overlap ? [mark.name] : [],
      ...(whole.shares ? { format: (share) => formatShare(share), x: shareAxis() } : {}) }),
    csv: [['point', whole.whole, ...whole.parts.map(({ column }) => column)], ...bars.map((key) => [key, value(whole.whole, key), ...whole.parts.map(({ column }) => value(column, key))])],
  };
}

/** The figures of served requests and of reinforcement learning over the rows, as tableFigures() has them. */
export function workloadFigures(table) {
  const overAxis = (id, title, metrics) => ({ id, there: (selection) => table.get(selection.x)?.numeric === true && metrics.length > 0, make: (shown) => metricsFigure({ ...shown, id, title, metrics }) });
  const slices = slicesMetrics(table);
  return [{ id: 'slices', there: () => slices.length > 1, make: (shown) => metricsFigure({ ...shown, id: 'slices', title: 'Slices of the pod', metrics: slices }) },
    overAxis('serving', 'What clients see', servingMetrics(table)), overAxis('rl', 'Parts of a step', rlMetrics(table)),
    ...wholesOf(table).map((whole) => ({ id: whole.id, there: () => table.rows > 1 || whole.shares === true, make: (shown) => wholeFigure({ ...shown, whole }) }))];
}
