// Figures of served requests, reinforcement learning, goodput and slices, and few lines for a paper, without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';

const page = new URL('../../../src/report/page/', import.meta.url);
const { answerOf, bindingOf } = await import(new URL('answer.js', page));
const { detailFigures, latencyCurvesFigure, rlPhasesFigure, rlStalenessFigure, rlTailFigure, ttftPartsFigure, engineTimeFigure } = await import(new URL('details.js', page));
const { hasBreakEven } = await import(new URL('break_even.js', page));
const { quantityOf } = await import(new URL('format.js', page));
const { paperRows } = await import(new URL('paper.js', page));
const { allRows, defaultSelection } = await import(new URL('selection.js', page));
const { servingMetrics, wholeFigure, wholesOf, workloadFigures } = await import(new URL('workloads.js', page));

function tableOf(rows, roles) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = names.map((name) => {
    const values = rows.map((row) => row[name] ?? NaN);
    const numeric = values.every((value) => typeof value === 'number');
    return { name, role: roles[name] ?? 'metric', numeric, values: numeric ? Float64Array.from(values) : values };
  });
  return { rows: rows.length, columns, get: (name) => columns.find((column) => column.name === name) };
}
const drawn = (table, id) => {
  const selection = defaultSelection(table);
  const figure = workloadFigures(table).find((one) => one.id === id);
  return figure?.there(selection) ? figure.make({ table, rows: allRows(table), selection, view: {}, width: 900 }) : undefined;
};

// Two kinds of rails over three delays; a TTFT of 100 ms and, on optical rails, twice the delay.
function servingSweep() {
  const points = [['electrical', NaN], ...[0.001, 0.01, 0.1].map((delay) => ['optical', delay * 1e3])];
  return tableOf(points.map(([rails, delay]) => {
    const wait = Number.isNaN(delay) ? 0 : 2e-3 * delay;
    return { name: 'p', rails, reconfiguration_ms: delay, makespan_s: 50, 'serving.ttft_s.mean': 0.1 + wait, 'serving.ttft_s.p50': 0.09 + wait,
      'serving.ttft_s.p99': 0.2 + wait, 'serving.slo.ttft_s': 0.3, 'serving.ttft_parts_s.prefill.mean': 0.1, 'serving.ttft_parts_s.circuit_wait.mean': wait };
  }), { name: 'info', rails: 'parameter', reconfiguration_ms: 'parameter' });
}

test('of served requests the time to the first token is what designs are judged by', () => {
  const table = servingSweep();
  const selection = defaultSelection(table);
  assert.equal(selection.metric, 'serving.ttft_s.mean');
  assert.equal(selection.x, 'reconfiguration_ms');
  assert.equal(selection.baseline, 'electrical');
  // At 100 ms the mean is 0.1 + 0.2 s: three times the electrical one, and two thirds of it wait for circuits.
  const answer = answerOf({ table, selection });
  assert.match(answer.title, /electrical is best at OCS reconfiguration delay 100 ms: mean TTFT 100 ms; the next, optical, has 200 % more/);
  assert.equal(bindingOf(table, [3]), 'waiting for circuits and links 67\u00a0%, prefill 33\u00a0%');
  assert.ok(hasBreakEven(table, selection));
});

test('the bound of the SLO is drawn where it is near the values, and the axis reaches it', () => {
  const table = servingSweep();
  assert.deepEqual(servingMetrics(table).map(({ name, line }) => [name, line]), [['serving.ttft_s.p50', 0.3], ['serving.ttft_s.p99', 0.3]]);
  const { option } = drawn(table, 'serving');
  const [first, second] = option.series.filter(({ markLine }) => markLine);
  assert.equal(first.markLine.data[0].yAxis, 0.3);
  assert.equal(second.markLine.label.formatter, 'SLO 300 ms');
  assert.equal(option.yAxis[0].max({ max: 0.29 }).toFixed(3), '0.330');
});

test('a stacked bar a point has the parts of the mean TTFT', () => {
  const table = servingSweep();
  const [whole] = wholesOf(table);
  const { option, csv } = wholeFigure({ table, selection: defaultSelection(table), whole });
  assert.deepEqual(option.series.map(({ name }) => name), ['prefill', 'waiting for circuits and links']);  // what never happens has no bar
  assert.equal(csv.length, 5);
  for (const row of csv.slice(1)) assert.ok(Math.abs(row[1] - row.slice(2).reduce((sum, value) => sum + value, 0)) < 1e-9, String(row));
});

const served = { kind: 'serving', name: 'run', parts: ['queue', 'prefill', 'block_wait', 'circuit_wait', 'transfer', 'decode_queue', 'first_decode'],
  curves: { ttft_s: [0.01, 0.02, 0.04], tpot_s: [0.001, 0.002, 0.003], e2e_s: [1, 2, 3] },
  bands: [{ from: 0, to: 0.5, requests: 5, parts_s: [0, 0.01, 0, 0, 0.002, 0, 0] }, { from: 0.99, to: 1, requests: 1, parts_s: [0.1, 0.01, 0, 0.03, 0.002, 0, 0] }],
  activity: { bin_s: 0.5, engines: [[0, 2, 4], [1, 1, 0]] },
  result: { slo: { ttft_s: 0.03 }, engines: [{ pool: 'prefill', time_s: { prefill: 1, idle: 2 } }, { pool: 'decode', time_s: { decode: 2, idle: 1 } }] } };

test('requests of one run: shares, parts by band, engines in time', () => {
  const latency = latencyCurvesFigure({ details: [served] });
  assert.deepEqual(latency.option.series[0].data, [[0.01, 0], [0.02, 0.5], [0.04, 1]]);
  assert.equal(latency.option.series[0].markLine.data[0].xAxis, 0.03);
  assert.equal(latency.option.series[1].markLine, undefined);
  const parts = ttftPartsFigure({ detail: served });
  assert.deepEqual(parts.option.yAxis.data, ['fastest\u00a050\u00a0%', 'slowest\u00a01\u00a0%']);
  assert.deepEqual(parts.option.series.map(({ name }) => name), ['waiting for an engine', 'prefill', 'waiting for circuits and links', 'KV transfer']);
  const time = engineTimeFigure({ detail: served });
  assert.deepEqual(time.option.yAxis.data, ['prefill 0', 'decode 0']);
  assert.deepEqual(time.option.series[0].data[2], [1, 1.5, 0, 4]);
  assert.deepEqual(detailFigures([served]).map(({ id }) => id), ['latency', 'ttft-parts', 'engines', 'engine-time']);
  assert.equal(engineTimeFigure({ detail: { ...served, activity: undefined } }), undefined);
});

const step = { step_s: 10, generation_s: 6, log_probabilities_s: 1, training_s: 2.5, refit_s: 0.5, tail_s: 2, last_engine: 3, slot_use: 0.5, longest_response: 900 };
const learned = (steps, staleness = [4]) => ({ kind: 'rl', name: 'job', result: { steps, staleness, tools: { calls: 0, hit_share_by_depth: [] } } });

test('steps of reinforcement learning: a mark where phases overlap, tail, staleness only where there is some', () => {
  // 6 + 1 + 2.5 + 0.5 s are the 10 s of the step; in a step of 7 s something was hidden.
  assert.equal(rlPhasesFigure({ detail: learned([step]) }).note, '');
  assert.match(rlPhasesFigure({ detail: learned([{ ...step, step_s: 7 }]) }).note, /overlap/);
  const rated = learned([step]);
  rated.result.mean = { generation_tokens_per_s_gpu: 1913, training_tokens_per_s_gpu: 0 };
  assert.match(rlPhasesFigure({ detail: rated }).note, /GPU: 1913 in generation\.$/);
  const tail = rlTailFigure({ detail: learned([step]) });
  assert.deepEqual(tail.option.series.map(({ data }) => data[0]), [4, 2]);
  assert.deepEqual(tail.option.yAxis.data, ['step 1: engine 3 last']);
  assert.match(tail.note, /50 % of the time of their slots/);
  assert.equal(rlStalenessFigure({ detail: learned([step]) }), undefined);
  assert.deepEqual(rlStalenessFigure({ detail: learned([step], [1, 3]) }).option.series[0].data, [0.25, 0.75]);
});

test('of utilisation more is better, of waste less', () => {
  const study = (metric) => tableOf([{ name: 'a', policy: 'first', [metric]: 0.9 }, { name: 'b', policy: 'second', [metric]: 0.6 }], { name: 'info', policy: 'parameter' });
  const title = (table) => answerOf({ table, selection: defaultSelection(table) }).title;
  assert.match(title(study('utilisation')), /^first is best/);
  assert.match(title(study('wasted_share')), /^second is best/);
});

test('uses of the time of a job with failures are bars that add up to all of it', () => {
  const table = tableOf([{ name: 'a', spares: 0, 'goodput.share': 0.8, 'goodput.ettr_share': 0.8, 'goodput.lost_share': 0.2 },
    { name: 'b', spares: 4, 'goodput.share': 0.85, 'goodput.ettr_share': 0.9, 'goodput.lost_share': 0.1 }], { name: 'info', spares: 'parameter' });
  const figure = drawn(table, 'goodput-means');
  assert.deepEqual(figure.option.series.map(({ name, data }) => [name, data]), [['productive', [0.8, 0.9]], ['lost work', [0.2, 0.1]]]);
  assert.equal(figure.note, '');
});

test('a figure for a paper has six lines beside the baseline, and names the others', () => {
  const delays = [1, 10, 100];
  const rows = ['electrical', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].flatMap((controller, i) => delays.map((delay) =>
    ({ name: 'p', controller, reconfiguration_ms: delay, makespan_s: controller === 'h' ? 1 + delay : 1 + i * delay })));
  const table = tableOf(rows, { name: 'info', controller: 'parameter', reconfiguration_ms: 'parameter' });
  const { rows: kept, left } = paperRows(table, defaultSelection(table));
  // h coincides with a; the best of the others are a to f.
  assert.equal(kept.length, 7 * delays.length);
  assert.equal(left, 'Not drawn, by controller: g; h (as a).');
  assert.equal(paperRows(table, defaultSelection(table), 8).left, '');
});

test('quantities of served requests have the names of the field', () => {
  assert.equal(quantityOf('serving.ttft_s.p99'), 'TTFT, p99');
  assert.equal(quantityOf('serving.tpot_s.mean'), 'mean TPOT');
  assert.equal(quantityOf('rl.mean.generation_s'), 'generation');
});

// 4 % of the time of the job are not productive: 3 % degraded, 0.7 % waiting, the rest checkpoints. Its GPUs with spares: 77 %.
test('months of one job open with their goodput and what takes the rest', () => {
  const table = tableOf([{ name: 'job', 'goodput.share': 0.77, 'goodput.ettr_share': 0.96, 'goodput.degraded_share': 0.03, 'goodput.waiting_share': 0.007,
    'goodput.checkpoint_share': 0.003, 'goodput.steps_per_day': 1000 }], { name: 'info' });
  const answer = answerOf({ table, rows: allRows(table), selection: defaultSelection(table, {}) });
  assert.equal(answer.title, 'job: goodput 77 %.');
  assert.deepEqual(answer.head, ['job', 'goodput', 'productive time', 'steps a day', 'most of the rest']);
  assert.match(answer.rows[0].cells.at(-1), /^slower than healthy 3\u00a0%, waiting for spares or repair 0\.7\u00a0%$/);
  const [months] = workloadFigures(table).filter(({ id }) => id === 'goodput-means');
  assert.ok(months.there());
});

// At the greatest rate that a design can serve its times say nothing: the slower switch serves fewer requests, sooner.
test('designs whose greatest rate was searched for are judged by it', () => {
  const table = tableOf([{ name: 'a', delay_ms: 1, 'serving.ttft_s.mean': 0.1, 'serving.rate_search.greatest.per_s': 90 },
    { name: 'b', delay_ms: 20, 'serving.ttft_s.mean': 0.08, 'serving.rate_search.greatest.per_s': 45 }], { name: 'info', delay_ms: 'parameter' });
  const answer = answerOf({ table, rows: allRows(table), selection: defaultSelection(table, {}) });
  assert.match(answer.title, /^delay 1 ms is best: greatest rate within the SLO 90 .*50 % less\.$/);
});
