// What the figures of the page show, without a browser: node --test tests/report/page/figures.test.mjs
import assert from 'node:assert/strict';
import { test } from 'node:test';

const page = new URL('../../../src/report/page/', import.meta.url);
const { answerOf, bindingOf } = await import(new URL('answer.js', page));
const { longTicks } = await import(new URL('axes.js', page));
const { breakEvenFigure, stretchesBelow } = await import(new URL('break_even.js', page));
const { breakdownFigure, comparisonFigure } = await import(new URL('charts.js', page));
const { heatmapAxis, heatmapFigure } = await import(new URL('heatmap.js', page));
const { lookOf, withMarks } = await import(new URL('looks.js', page));
const { exposureMetrics, facetsOf, metricsFigure, multiplesFigure } = await import(new URL('panels.js', page));
const { paretoFigure } = await import(new URL('pareto.js', page));
const { allRows, defaultSelection } = await import(new URL('selection.js', page));
const { hasSpread, spreadFigure } = await import(new URL('spread.js', page));
const { digitsFor, doubles, niceRange } = await import(new URL('statistics.js', page));

const NONE = NaN;
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

/** A table of rows { name: value }; `roles` of columns that are no metrics. */
function tableOf(rows, roles) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = names.map((name) => {
    const values = rows.map((row) => row[name] ?? NONE);
    const numeric = values.every((value) => typeof value === 'number');
    return { name, role: roles[name] ?? 'metric', numeric, values: numeric ? Float64Array.from(values) : values };
  });
  return { rows: rows.length, columns, get: (name) => columns.find((column) => column.name === name) };
}

/** Every combination of the values of the parameters, with what `make` says of it. */
function sweepOf(parameters, make) {
  let points = [{}];
  for (const [name, values] of Object.entries(parameters)) {
    points = points.flatMap((point) => values.map((value) => ({ ...point, [name]: value })));
  }
  const rows = points.map((point) => ({ name: JSON.stringify(point), ...point, ...make(point) }));
  return tableOf(rows, { name: 'info', ...Object.fromEntries(Object.keys(parameters).map((name) => [name, 'parameter'])) });
}

const show = (figure, table, wanted, more = {}) => figure({ table, rows: allRows(table), selection: defaultSelection(table, wanted), width: 900, ...more });
const linesOf = ({ option }) => option.series.filter(({ type }) => type === 'line' || type === 'bar');
const valueOf = (item) => item.value ?? item;

// The README's sweep: electrical rails without a delay and fifteen policies over seven delays.
const DELAYS = [0.001, 0.01, 0.1, 1, 10, 100, 1000];
const policies = (count) => ['electrical', ...Array.from({ length: count - 1 }, (_, i) => `policy ${i}`)];
function readme(count = 16, delays = DELAYS) {
  const rows = policies(count).flatMap((controller, i) => (controller === 'electrical' ? [NONE] : delays).map((delay) =>
    ({ name: 'p', controller, reconfiguration_ms: delay, makespan_s: 6 + (Number.isNaN(delay) ? 0 : (delay / 1000) * (i + 1)) })));
  return tableOf(rows, { name: 'info', controller: 'parameter', reconfiguration_ms: 'parameter' });
}

// Lines of 0, 1 and 2 mean nothing to a reader without the name of what is counted; names and values with a unit say it.
test('a legend of numbers says of what they are', () => {
  const text = ({ option }) => option.legend.data.map(option.legend.formatter);
  const table = sweepOf({ reconfiguration_ms: [1, 10, 100], per_rack: [0, 1, 2] },
    ({ per_rack: spares, reconfiguration_ms: delay }) => ({ makespan_s: 1 + spares + delay, 'goodput.share': 0.9 - 0.1 * spares, 'cost.usd': 1e6 * (1 + spares) }));
  const wanted = { x: 'reconfiguration_ms', series: 'per_rack' };
  const expected = ['per rack 0', 'per rack 1', 'per rack 2'];
  assert.deepEqual(text(show(comparisonFigure, table, wanted)), expected);
  const metrics = [['goodput.share', 'goodput'], ['makespan_s', 'time']].map(([name, title]) => ({ name, title }));
  assert.deepEqual(text(show(metricsFigure, table, wanted, { id: 'g', title: 'g', metrics })), expected);
  assert.deepEqual(text(show(paretoFigure, table, wanted, { metric: { id: 'cost', name: 'cost.usd' } })), ['Pareto front', ...expected]);
  assert.ok(text(show(comparisonFigure, readme())).every((name) => name.startsWith('policy ')));
  const delays = show(comparisonFigure, table, { x: 'per_rack', series: 'reconfiguration_ms' });
  assert.deepEqual(text(delays), ['1 ms', '10 ms', '100 ms']);
});

test('a sweep of sixteen controllers opens with all of them over the delay', () => {
  const table = readme();
  const selection = defaultSelection(table);
  assert.deepEqual([selection.x, selection.series, selection.baseline, selection.fixed], ['reconfiguration_ms', 'controller', 'electrical', {}]);
  const figure = show(comparisonFigure, table);
  assert.equal(linesOf(figure).length, 15);  // electrical is the axis
  for (const line of linesOf(figure)) assert.equal(line.data.length, 7);
  assert.equal(figure.csv.length, 1 + 16 * 7);
  assert.match(figure.title, /overhead over electrical/);
});

test('of three axes none leaves the figure blank, whatever is held', () => {
  const splits = ['tp8 pp2', 'tp4 pp4', 'tp2 pp8'];
  const rows = splits.flatMap((split, s) => ['electrical', ...Array.from({ length: 30 }, (_, i) => `p${i}`)].flatMap((controller) =>
    (controller === 'electrical' ? [NONE] : DELAYS).map((delay) => ({ split, controller, reconfiguration_ms: delay, makespan_s: 5 + s + (delay || 0) / 1000 }))));
  const table = tableOf(rows, { split: 'parameter', controller: 'parameter', reconfiguration_ms: 'parameter' });
  const figure = show(comparisonFigure, table, { series: 'split' });
  assert.ok(linesOf(figure).length > 0 && linesOf(figure)[0].data.length === 7, JSON.stringify(figure.held));
  // With the controller held at electrical there is no delay: one bar a split, not nothing.
  const selection = { metric: 'makespan_s', x: 'reconfiguration_ms', series: 'split', baseline: '', fixed: { controller: 'electrical' } };
  const held = comparisonFigure({ table, selection });
  assert.deepEqual(held.option.xAxis.data, ['no reconfiguration']);
  assert.equal(linesOf(held).filter(({ data }) => data.length === 1).length, 3);
});

test('a series of numbers keeps the points that have none', () => {
  const figure = show(comparisonFigure, readme(3), { x: 'controller', series: 'reconfiguration_ms', baseline: 'none' });
  const absent = linesOf(figure).find(({ name }) => name === 'no reconfiguration');
  assert.deepEqual(absent.data.map((item) => valueOf(item)[1]), [6, ]);
});

test('no two of 72 series look alike', () => {
  const looks = Array.from({ length: 72 }, (_, i) => lookOf(i));
  assert.equal(new Set(looks.map(({ color, stroke, symbol }) => JSON.stringify([color, stroke, symbol]))).size, 72);
  // Bars have no strokes and marks: their border and filling differ up to 36.
  assert.equal(new Set(looks.slice(0, 36).map(({ color, fill }) => `${color} ${fill}`)).size, 36);
});

test('twenty lines of a thousand points each keep their marks, at places of their own', () => {
  const table = readme(21, Array.from({ length: 1000 }, (_, i) => 1 + i));
  const figure = show(comparisonFigure, table);
  assert.equal(linesOf(figure).length, 20);
  for (const { data } of linesOf(figure)) {
    const marks = data.filter((item) => item.symbol !== 'none').length;
    assert.ok(data.length === 1000 && marks >= 10 && marks <= 15, `${marks} marks`);
  }
  const first = (i) => withMarks(Array.from({ length: 1000 }, (_, x) => [x, 0]), i, 'circle').findIndex(({ symbol }) => symbol === 'circle');
  assert.notEqual(first(1), first(2));
  // Three rows of names and more, none of them cut off: the chart begins below.
  assert.ok(figure.option.grid.top > 60 && figure.option.legend.type === 'plain');
});

test('lines that hide each other are named', () => {
  const rows = ['electrical', 'a', 'b', 'c'].flatMap((controller, i) => [1, 2].map((delay) => ({ controller, delay_s: delay, makespan_s: 5 + delay * (i === 3 ? 2 : i > 0 ? 1 : 0) })));
  const figure = show(comparisonFigure, tableOf(rows, { controller: 'parameter', delay_s: 'parameter' }));
  assert.match(figure.note, /Lines that coincide: a = b\./);
});

test('an overhead is how much more than the baseline, drawn from 0.1 % on where it spans decades', () => {
  // 6 s on electrical rails. Policy 0 has 6 s + delay x 2: 0.002 / 6 = 0.033 % at 1 ms, 33.3 % at 1 s; policy 14 16/6 at 1 s.
  const [line] = linesOf(show(comparisonFigure, readme()));
  const [, drawn, exact] = valueOf(line.data[3]);
  assert.equal(drawn, 1e-3);
  near(exact, 0.002 / 6);
  near(valueOf(line.data[6])[1], 2 / 6);
});

test('bars of which some are ten times as high are compared with the fastest', () => {
  const table = sweepOf({ switch: ['laser', 'mems', 'robot'] }, (point) => ({ makespan_s: { laser: 2, mems: 2.1, robot: 200 }[point.switch] }));
  const figure = show(comparisonFigure, table);
  assert.match(figure.title, /overhead over the fastest/);
  const [{ data }] = linesOf(figure);
  near(data[1][2], 0.05);
  near(data[2][2], 99);
});

test('runs side by side are compared with the electrical one', () => {
  const table = tableOf([{ scenario: 'electrical', makespan_s: 2 }, { scenario: 'opus, provisioned', makespan_s: 2.1 }], { scenario: 'parameter' });
  const figure = show(comparisonFigure, table);
  assert.equal(figure.title, 'makespan: overhead over electrical against scenario');
  near(linesOf(figure)[0].data[1][1], 0.05);
});

test('what is held is in the figure and in its CSV', () => {
  const table = sweepOf({ controller: ['a', 'b', 'c'], delay_ms: [1, 2, 3], rate_gb_per_s: [25, 50] }, ({ delay_ms: d, rate_gb_per_s: r }) => ({ makespan_s: d / r }));
  const figure = show(comparisonFigure, table);
  assert.equal(figure.held, 'rate = 25 GB/s');
  assert.equal(figure.csv[0].at(-1), 'rate_gb_per_s');
  assert.ok(figure.csv.slice(1).every((row) => row.at(-1) === 25));
});

test('stretches below an overhead end where the straight line crosses it', () => {
  // Ratio 1 at 1 and 10, 1.2 at 100: 1.1 is half way, over the logarithm at sqrt(10 x 100).
  const points = [{ x: 1, mean: 1 }, { x: 10, mean: 1 }, { x: 100, mean: 1.2 }];
  near(stretchesBelow(points, 1.1, true)[0][1], Math.sqrt(1000));
  near(stretchesBelow(points, 1.1, false)[0][1], 55);
  assert.deepEqual(stretchesBelow(points, 1.2, true), [[1, 100]]);
  assert.deepEqual(stretchesBelow(points, 0.9, true), []);
  // From above: StragglAR is worth it from some delay on.
  assert.deepEqual(stretchesBelow([{ x: 0, mean: 1.2 }, { x: 10, mean: 0.8 }], 1, false), [[5, 10]]);
});

test('the break-even delay of each policy', () => {
  const figure = show(breakEvenFigure, readme(3));
  // Policy 0 takes 10 % more, 0.6 s, at 300 ms: between 100 ms (3.33 %) and 1 s (33.3 %) over the logarithm, at
  // exp(ln 100 + (0.1 - 1/30) / (1/3 - 1/30) ln 10).
  const row = figure.csv.find(([name, allowed]) => name === 'policy 0' && allowed === 1.1);
  near(row[3], Math.exp(Math.log(100) + ((0.1 - 1 / 30) / 0.3) * Math.log(10)));
  // Of a baseline that nothing comes near there is no figure.
  const far = tableOf(['electrical', 'opus'].flatMap((controller, i) => [1, 2].map((delay) => ({ controller, delay_s: delay, makespan_s: 1 + i }))), { controller: 'parameter', delay_s: 'parameter' });
  assert.equal(show(breakEvenFigure, far), undefined);
});

const sizes = sweepOf({ rails: ['electrical', 'photonic'], bill: ['physical', 'published'], servers: [2, 4] }, ({ rails, bill, servers }) => ({
  'cost.usd': servers * (rails === 'electrical' ? 2 : 1) * (bill === 'physical' ? 1 : 3), makespan_s: (rails === 'electrical' ? 1 : 1.1) / servers, 'folding.ranks': 8 * servers,
}));

test('a Pareto front has clusters of one size and prices of one kind', () => {
  const figure = show(paretoFigure, sizes, {}, { metric: { id: 'cost', name: 'cost.usd' } });
  assert.equal(figure.held, 'bill = physical');
  assert.deepEqual(figure.option.title.map(({ text }) => text), ['16 ranks', '32 ranks']);
  // At each size the dearer rails are faster: both are on the front of their size. Over both sizes only 32 ranks would be.
  assert.deepEqual(figure.csv.slice(1).map((row) => row.at(-1)), [1, 1, 1, 1]);
  assert.deepEqual(figure.csv.slice(1).map(([cost, step]) => [cost, Number(step.toFixed(3))]), [[4, 0.5], [2, 0.55], [8, 0.25], [4, 0.275]]);
  for (const axis of figure.option.xAxis) assert.equal(axis.boundaryGap, undefined);  // it would begin below $0
});

test('a heat map has a cell for each pair of numbers', () => {
  const table = sweepOf({ algorithm: ['ring', 'stragglar'], late_ms: [0, 10, 20], delay_us: [1, 10] },
    ({ algorithm, late_ms: late, delay_us: delay }) => ({ makespan_s: algorithm === 'ring' ? 1 + late / 100 : 1.05 + delay / 100 }));
  const selection = defaultSelection(table);
  assert.deepEqual([selection.x, selection.series, selection.baseline], ['late_ms', 'algorithm', 'ring']);
  assert.equal(heatmapAxis(table, selection), 'delay_us');
  const figure = show(heatmapFigure, table, {}, { y: 'delay_us', shown: 'stragglar' });
  const { data } = figure.option.series[0];
  assert.equal(data.length, 6);
  const cell = (x, y) => data.find(({ value: [a, b] }) => a === x && b === y).value[3];
  near(cell(0, 0), 0.06);           // 1.06 / 1
  near(cell(2, 1), 1.15 / 1.2 - 1);
});

test('small multiples have a chart for each value of what is held, and one vertical axis', () => {
  const table = sweepOf({ controller: ['electrical', 'opus'], delay_ms: [1, 2, 3], rate_gb_per_s: [25, 50] },
    ({ controller, delay_ms: d, rate_gb_per_s: r }) => ({ makespan_s: 1 + (controller === 'opus' ? d / r : 0), 'cost.usd': r }));
  const selection = defaultSelection(table);
  assert.deepEqual(facetsOf(table, selection), ['rate_gb_per_s']);
  const figure = show(multiplesFigure, table, {}, { facet: 'rate_gb_per_s' });
  assert.deepEqual(figure.option.title.map(({ text }) => text), ['rate 25 GB/s', 'rate 50 GB/s']);
  assert.deepEqual(figure.option.series.map(({ xAxisIndex, data }) => [xAxisIndex, data.length]), [[0, 3], [1, 3]]);
  assert.equal(figure.option.yAxis[0].max, figure.option.yAxis[1].max);
  assert.ok(figure.option.yAxis[0].max >= 3 / 25);
});

test('hidden shares leave out rails that reconfigure nothing', () => {
  const table = sweepOf({ controller: ['electrical', 'opus'], delay_ms: [1, 2, 3] }, ({ controller, delay_ms: d }) => ({
    makespan_s: 1, 'reconfigurations.hidden_share': controller === 'opus' ? 1 / d : NONE, 'communication.dp.exposed_s': 0.1 * d, 'communication.tp.exposed_s': 0 }));
  const metrics = exposureMetrics(table);
  assert.deepEqual(metrics.map(({ name }) => name), ['reconfigurations.hidden_share', 'communication.dp.exposed_s']);
  const figure = show(metricsFigure, table, {}, { metrics, id: 'exposure', title: 'x' });
  const inChart = (i) => figure.option.series.filter(({ xAxisIndex }) => xAxisIndex === i);
  assert.deepEqual(inChart(0).map(({ name, data }) => [name, data.length]), [['opus', 3]]);
  assert.equal(inChart(0)[0].color, inChart(1).find(({ name }) => name === 'opus').color);  // one look in all charts
});

test('the spread over ranks goes from the least to the most', () => {
  const spread = (least, median, most) => Object.fromEntries(['compute', 'exposed_communication', 'reconfiguration_wait', 'peer_wait'].flatMap((part) => [
    [`per_rank_mean_s.${part}`, median], [`per_rank_spread_s.${part}.least`, least], [`per_rank_spread_s.${part}.median`, median], [`per_rank_spread_s.${part}.most`, most]]));
  const table = tableOf([{ name: 'a', seed: 1, makespan_s: 3, ...spread(1, 2, 3) }, { name: 'a', seed: 2, makespan_s: 3, ...spread(0.5, 1, 4) }], { name: 'info', seed: 'replicate' });
  assert.equal(hasSpread(table), true);
  const [row] = show(spreadFigure, table).csv.slice(1);
  assert.deepEqual(row.slice(1), ['compute', 0.5, 1.5, 4]);
});

test('the parts of a rank, with the time until failures are detected where there is some, add up', () => {
  const parts = (compute, detection) => ({ makespan_s: 10, 'per_rank_mean_s.compute': compute, 'per_rank_mean_s.exposed_communication': 1,
    'per_rank_mean_s.reconfiguration_wait': 1, 'per_rank_mean_s.peer_wait': 2, ...(detection ? { 'per_rank_mean_s.detection': detection } : {}) });
  const sums = (figure) => figure.csv.slice(1).map(([, ...row]) => row.reduce((sum, value) => sum + value, 0));
  const without = show(breakdownFigure, sweepOf({ kind: ['a', 'b'] }, () => parts(6)));
  assert.deepEqual([without.csv[0].length, sums(without)], [5, [10, 10]]);
  const late = show(breakdownFigure, sweepOf({ kind: ['a', 'b'] }, ({ kind }) => (kind === 'a' ? parts(6) : parts(3, 3))));
  assert.deepEqual([late.csv[0].at(-1), sums(late)], ['detection_s', [10, 10]]);  // a row without it has none of it
});

// Of 3 s of waits 2 s are known to be the bubble's in run a, and all of those of b, which has both causes.
test('waits for peers are shown by cause where the critical path is known', () => {
  const waits = (peer, causes) => ({ makespan_s: 10, 'per_rank_mean_s.compute': 6, 'per_rank_mean_s.exposed_communication': 1, 'per_rank_mean_s.reconfiguration_wait': 0,
    'per_rank_mean_s.peer_wait': peer, ...Object.fromEntries(Object.entries(causes).map(([cause, s]) => [`critical_path.peer_wait_s.${cause}`, s])) });
  const table = sweepOf({ kind: ['a', 'b'] }, ({ kind }) => (kind === 'a' ? waits(3, { 'pipeline bubble': 2 }) : waits(3, { 'pipeline bubble': 1, straggler: 2 })));
  const { csv, option } = show(breakdownFigure, table);
  const column = (name) => csv.slice(1).map((row) => row[csv[0].indexOf(name)]);
  assert.deepEqual([column('peer_wait_s'), column('peer_wait.pipeline bubble_s'), column('peer_wait.straggler_s')], [[1, 0], [2, 1], [0, 2]]);
  assert.ok(option.series.some(({ name }) => name === 'waiting: straggler'));
  assert.match(bindingOf(table, [1]), /peers \(straggler\) /);
  const known = sweepOf({ kind: ['a', 'b'] }, () => waits(3, { straggler: 3 }));
  assert.ok(!show(breakdownFigure, known).csv[0].includes('peer_wait_s'));  // nothing is left without a cause
});

test('axes have ticks at round numbers, and digits that tell them apart', () => {
  assert.deepEqual(niceRange(-0.17, 2.94), { low: -1, high: 3, step: 1 });
  assert.equal(digitsFor([0.33106, 0.3315]), 5);  // 331.06 ms and 331.5 ms: 0.44 ms of 331.5 are 1/753, three digits more than two
  assert.equal(digitsFor([1, 2]), 3);
  assert.equal(doubles([2, 4, 8, 16]), true);
  assert.equal(doubles([12.5, 25, 50, 100]), false);
});

// Electrical takes 6 s, policy i 6 s and i + 2 delays: at the longest delay, 1 s, policy 0 takes 8 s. Up to 6.06 s it is within
// 1 %: the line from 6.02 s at 10 ms to 6.2 s at 100 ms, over the logarithm, is there at 10 ms x 10^(0.04 / 0.18) = 16.7 ms.
test('the page opens with the best design where designs differ most', () => {
  const answer = show(answerOf, readme(3));
  assert.equal(answer.title, 'electrical is best at OCS reconfiguration delay 1 s: makespan 6 s; the next, policy 0, has 33.3 % more.');
  assert.deepEqual(answer.head, ['design', 'makespan', 'over electrical', 'within 1 % up to']);
  assert.deepEqual(answer.rows.map(({ cells }) => cells), [['electrical', '6 s', '–', '–'], ['policy 0', '8 s', '+33.3 %', '16.7 ms'], ['policy 1', '9 s', '+50 %', '12.9 ms']]);
  assert.deepEqual(answer.rows.map(({ winner }) => winner), [true, false, false]);
});

test('where another design is best along the axis, the answer says so', () => {
  const table = sweepOf({ late_ms: [0, 10, 20], algorithm: ['ring', 'tree'] }, ({ late_ms: late, algorithm }) => ({ makespan_s: algorithm === 'ring' ? 1 + late / 10 : 2 }));
  assert.match(show(answerOf, table).title, /^Which is best depends on late: ring up to 10 ms, tree from 20 ms on\./);
});

// Rings and trees are alike at 0 ms, from 10 ms on trees alone are best: no other design is best anywhere. Where three take turns,
// those that are equally good share their stretch.
test('designs that are equally good along the axis are all named, and none is best that only shares a place', () => {
  const title = (of) => show(answerOf, sweepOf({ late_ms: [0, 10, 20], algorithm: Object.keys(of) },
    ({ late_ms: late, algorithm }) => ({ makespan_s: of[algorithm][late / 10] }))).title;
  assert.match(title({ ring: [1, 3, 4], tree: [1, 2, 3] }), /^tree is best at late 10 ms: /);
  assert.match(title({ ring: [1, 1, 4], tree: [1, 1, 3], 'mesh, wide': [2, 2, 2], 'mesh, narrow': [2, 2, 2] }),
    /^Which is best depends on late: ring and tree up to 10 ms, “mesh, wide” and “mesh, narrow” from 20 ms on\. ring and tree are equally good at late 0 s: /);
  assert.match(title({ a: [1, 2, 3], b: [1, 2, 3], c: [1, 2, 3] }), /^a, b and c are equally good at each late, as at 0 s: /);
});

// Switches have no order along which designs could be compared at one place: the best of all pairs is named.
test('along names the answer is the best of all pairs', () => {
  const table = sweepOf({ switch: ['mems', 'rotor'], mode: ['ahead', 'late'] }, ({ switch: kind, mode }) => ({ makespan_s: 1 + (kind === 'mems' ? 2 : 0) + (mode === 'late' ? 1 : 0) }));
  const answer = show(answerOf, table, { x: 'switch', series: 'mode' });
  assert.match(answer.title, /^“ahead, rotor” is best: makespan 1 s; the next, “late, rotor”, has 100 % more\./);
  assert.deepEqual(answer.rows.map(({ cells }) => cells[0]), ['ahead, rotor', 'late, rotor', 'ahead, mems', 'late, mems']);
});

// Over an axis from 1 s to 9 s a line is as wide as 8 s / 250 = 32 ms: b is hidden below a, c is not.
test('lines that are nearer than a line is wide are named, and numbers with what they count', () => {
  const late = { a: 0, b: 0.02, c: 0.1 };
  const table = sweepOf({ late_ms: [10, 20, 30], kind: ['a', 'b', 'c'] }, ({ late_ms: x, kind }) => ({ makespan_s: 1 + (x - 10) * 0.395 + late[kind] }));
  assert.match(show(comparisonFigure, table, { x: 'late_ms', series: 'kind' }).coincide, /^Lines that coincide: a ≈ b\.$/);
  const spares = sweepOf({ late_ms: [10, 20, 30], per_rack: [0, 1] }, ({ late_ms: x }) => ({ makespan_s: x }));
  assert.equal(show(comparisonFigure, spares, { x: 'late_ms', series: 'per_rack' }).coincide, 'Lines that coincide: per rack 0 = 1.');
});

// Overheads of 7 and 9 % are ratios of 1.07 and 1.09: on an axis of overheads from 0.1 to 1,000 % they lie apart.
test('lines are near where the axis draws them near, and pairs of names and numbers name the numbers', () => {
  const of = { electrical: [1, 1, 1], a: [1, 1.07, 11], b: [1, 1.09, 11], c: [1.0001, 1.07, 11] };
  const table = sweepOf({ reconfiguration_ms: [1, 10, 100], kind: Object.keys(of) }, ({ reconfiguration_ms: x, kind }) => ({ makespan_s: of[kind][Math.log10(x)] }));
  assert.equal(show(comparisonFigure, table, { baseline: 'electrical' }).coincide, 'Lines that coincide: a = c.');
  const names = sweepOf({ rails: ['x', 'y'], per_rack: ['0', '1'] }, ({ rails, per_rack: spares }) => ({ makespan_s: rails === 'x' ? 1 + Number(spares) : 3 + Number(spares) }));
  assert.match(show(answerOf, names).title, /^“(x, per rack 0|per rack 0, x)” is best/);
});

test('lines that coincide in one of several charts are named with the chart', () => {
  const table = sweepOf({ controller: ['electrical', 'opus'], delay_ms: [1, 2] }, ({ controller, delay_ms: d }) => ({
    makespan_s: 1, 'communication.tp.exposed_s': 0.5, 'communication.dp.exposed_s': controller === 'opus' ? d : 1 }));
  const figure = show(metricsFigure, table, {}, { metrics: exposureMetrics(table), id: 'exposure', title: 'x' });
  assert.equal(figure.note, 'Lines that coincide: electrical = opus in “exposed tp communication”.');
});

test('designs that take the same time are equally good', () => {
  const table = sweepOf({ late_ms: [0, 10], algorithm: ['ring', 'tree'] }, ({ late_ms: late }) => ({ makespan_s: 1 + late }));
  assert.match(show(answerOf, table).title, /^ring and tree are equally good at each late, as at 0 s: /);
  assert.equal(show(answerOf, table).note, 'Shown at late 0 s, as the designs differ nowhere.');
  assert.deepEqual(show(answerOf, table).rows.map(({ winner }) => winner), [true, true]);
});

// 6 of 10 s of computation, 3 s of data-parallel exchanges.
test('what takes most of the time of a design is named', () => {
  const part = (name) => `per_rank_mean_s.${name}`;
  const table = tableOf([{ [part('compute')]: 6, [part('exposed_communication')]: 3, [part('reconfiguration_wait')]: 0, [part('peer_wait')]: 1, 'communication.dp.exposed_s': 3 }], {});
  assert.equal(bindingOf(table, [0]), 'compute 60\u00a0%, dp exposed 30\u00a0%');
});

test('the answer of one run says what it is judged by, and what takes most of that', () => {
  const one = tableOf([{ name: 'mine', makespan_s: 8, iteration_s: 2, 'per_rank_mean_s.compute': 6, 'per_rank_mean_s.peer_wait': 2, 'cost.usd': 2000 }], { name: 'info' });
  const answer = show(answerOf, one);
  assert.equal(answer.title, 'mine: step time 2 s.');
  assert.deepEqual(answer.head, ['run', 'step time', 'cost', 'most of its time']);
  assert.deepEqual(answer.rows, [{ winner: false, cells: ['mine', '2 s', '$2k', 'compute\u00a075\u00a0%, peers\u00a025\u00a0%'.replace('compute\u00a0', 'compute ').replace('peers\u00a0', 'peers ')] }]);
});

test('an axis of days has whole days', () => {
  const ticks = longTicks('blocked_s', [400000, 200000]);
  assert.equal(ticks.interval, 86400);
  assert.equal(ticks.max, 5 * 86400);
  assert.equal(ticks.axisLabel.formatter(3 * 86400), '3 d');
  assert.equal(longTicks('blocked_s', [400000], true).axisLabel.formatter(1e6), '1000000 s');
  assert.equal(longTicks('blocked_s', [100000]).axisLabel.formatter(36000), '10 h');
  assert.deepEqual(longTicks('blocked_s', [7000]), {});
  assert.deepEqual(longTicks('share', [400000]), {});
});
