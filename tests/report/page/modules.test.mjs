// The arithmetic of the page, without a browser: node --test tests/report/page/modules.test.mjs
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const page = new URL('../../../src/report/page/', import.meta.url);
const { decodeDocument, shortener } = await import(new URL('decode.js', page));
const { axisUnit, counted, formatValue, labelOf, toCsv } = await import(new URL('format.js', page));
const { cumulative, deviation, distinct, mean, paretoFront, spansDecades } = await import(new URL('statistics.js', page));
const { compare, defaultSelection, fixOthers, pointsOf, stepTimeOf } = await import(new URL('selection.js', page));
const { filterRows, predicateOf, sortRows } = await import(new URL('table_filter.js', page));
const { COLOURS, chooseTracks, defaultTracks, faultSpans, spanAt, visibleSpans } = await import(new URL('spans.js', page));

const { topologyFigure } = await import(new URL('topology.js', page));

const NONE = NaN;

/** A table of columns { name: [role, values] }. */
function tableOf(columns) {
  const list = Object.entries(columns).map(([name, [role, values]]) => {
    const numeric = values.every((value) => typeof value === 'number');
    return { name, role, numeric, values: numeric ? Float64Array.from(values) : values };
  });
  return { rows: list[0].values.length, columns: list, get: (name) => list.find((column) => column.name === name) };
}

test('both ends of a logarithmic axis are short', () => {
  const ends = (...values) => { const unit = axisUnit('reconfiguration_s', values, true); return [unit.text, ...values.map((value) => unit.of(value))]; };
  assert.deepEqual(ends(1e-6, 1), ['ms', '0.001', '1000']);
  assert.deepEqual(ends(1e-3, 1), ['s', '0.001', '1']);
  assert.equal(axisUnit('reconfiguration_s', [1e-6, 1], false).text, 's');
});

test('long texts become short ones, different ones differently', () => {
  const short = shortener();
  const long = (middle) => `${'a'.repeat(90)}${middle}${'b'.repeat(90)}`;
  assert.equal(short('two words'), 'two words');
  assert.equal(short(7), 7);
  assert.equal(short(long('x')).length, 100);
  assert.equal(short(long('x')), short(long('x')));
  assert.notEqual(short(long('x')), short(long('y')));
});

test('names are short, sentences are whole', async () => {
  const long = 'a'.repeat(300);
  const column = (name, role) => ({ name, role, data: { encoding: 'constant', value: long } });
  const document = { table: { rows: 1, columns: [column('name', 'info'), column('design', 'parameter'), column('error', 'info')] },
    windows: { rows: 0, columns: [] }, traces: [], choices: {} };
  const { table } = await decodeDocument(document);
  assert.deepEqual(['name', 'design', 'error'].map((name) => table.get(name).values[0].length), [100, 100, 300]);
});

test('values have four digits and the prefix of their unit', () => {
  assert.equal(formatValue(0.015, 'makespan_s'), '15 ms');
  assert.equal(formatValue(950, 'serving.ttft_s.count'), '950');  // not seconds
  assert.equal(formatValue(15, '/cluster/rail/switch/reconfiguration_ms'), '15 ms');
  assert.equal(formatValue(0.001, 'reconfiguration_ms'), '1 µs');
  assert.equal(formatValue(0.99999, 's'), '1 s');  // rounds up into the next unit
  assert.equal(formatValue(7199, 's'), '7199 s');
  assert.equal(formatValue(41661, 'mean_waiting_s'), '11.57 h');
  assert.equal(formatValue(400000, 'mean_waiting_s'), '4.63 d');
  assert.equal(formatValue(50, 'port_gb_per_s'), '50 GB/s');
  assert.equal(formatValue(640000, 'tokens_per_s'), '640 k/s');
  assert.equal(formatValue(128496959488, 'communication.dp.bytes'), '128.5 GB');
  assert.equal(formatValue(1234567, 'cost.usd'), '$1.235M');
  assert.equal(formatValue(52780, 'cost.power_w'), '52.78 kW');
  assert.equal(formatValue(-0.002, 'x_s'), '-2 ms');
  assert.equal(formatValue(0, 'makespan_s'), '0 s');
  assert.equal(formatValue(6.7582, 'reconfigurations.blocking.loss_db'), '6.758 dB');
  assert.equal(formatValue(NONE, 'makespan_s'), '–');
  assert.equal(formatValue(1999, 'engine.events'), '1999');
  assert.equal(formatValue(1 / 3, 'reconfigurations.hidden_share'), '33.33 %');
  assert.equal(formatValue(NONE, 'reconfigurations.hidden_share'), '–');
  assert.equal(formatValue(1 / 3, 'ratio'), '0.3333');
  assert.equal(formatValue('a text', 'name'), 'a text');
  assert.equal(formatValue('{"at_once":4,"mode":"on_demand","name":"opus"}', 'controller'), 'at_once 4 on_demand opus');
  assert.equal(formatValue('[0,16]', 'servers'), '0 16');
  assert.equal(formatValue('{no JSON', 'name'), '{no JSON');
});

test('names read without units and paths', () => {
  assert.equal(labelOf('/cluster/nic/port_gb_per_s'), 'port');
  assert.equal(labelOf('tokens_per_s'), 'tokens per s');
  assert.equal(labelOf('per_rank_mean_s.exposed_communication'), 'per rank mean: exposed communication');
  assert.equal(labelOf('cost.usd'), 'cost');
  assert.equal(labelOf('seed'), 'seed');
  assert.equal(counted(1, 'rank'), '1 rank');
  assert.equal(counted(1024, 'rank'), '1024 ranks');
  assert.equal(counted(1024, 'point', '1,024'), '1,024 points');
});

test('CSV quotes what would be read as something else', () => {
  assert.equal(toCsv([['a, b', 'say "c"', 1.5, NONE]]), '"a, b","say ""c""",1.5,\n');
});

test('CSV has no cell that a spreadsheet would evaluate, and numbers stay numbers', () => {
  assert.equal(toCsv([['=1+1', '+a', '-a', '@a', '\ta', 'a=1']]), "'=1+1,'+a,'-a,'@a,'\ta,a=1\n");
  assert.equal(toCsv([[-1.5, '-1.5', '+2e3', '-']]), "-1.5,-1.5,+2e3,'-\n");
});

test('no module makes elements of texts', () => {
  for (const file of readdirSync(page).filter((name) => name.endsWith('.js'))) {
    assert.doesNotMatch(readFileSync(new URL(file, page), 'utf8'), /innerHTML|outerHTML|insertAdjacentHTML|document\.write|<br/, file);
  }
});

test('means, deviations and distributions', () => {
  assert.equal(mean([1, 2, 6]), 3);
  assert.equal(deviation([1, 3]), Math.SQRT2);  // ((1 - 2)^2 + (3 - 2)^2) / (2 - 1) = 2
  assert.equal(deviation([5]), 0);
  assert.deepEqual(distinct([3, NONE, 1, 3]), [1, 3]);
  assert.deepEqual(distinct(['b', 'a', 'b']), ['b', 'a']);
  // Two of five are 0, one more is at most 2, all are at most 7.
  assert.deepEqual(cumulative([0, 2, 7], [2, 1, 2]), [[0, 0.4], [2, 0.6], [7, 1]]);
  assert.equal(spansDecades([1, 100]), true);
  assert.equal(spansDecades([1, 99]), false);
  assert.equal(spansDecades([0, 100]), false);  // a logarithmic axis has no zero
});

test('the Pareto front is what nothing else beats in both', () => {
  // (2, 5) and (3, 3) and (6, 1) are on it; (4, 4) is beaten by (3, 3); (6, 2) by (6, 1); (2, 5) twice counts once.
  const points = [{ x: 6, y: 2 }, { x: 2, y: 5 }, { x: 4, y: 4 }, { x: 3, y: 3 }, { x: 6, y: 1 }, { x: 2, y: 5 }];
  assert.deepEqual(paretoFront(points), [1, 3, 4]);
});

// Two controllers at two delays with two seeds; electrical rails have no delay. Each step is 10 plus the delay plus the seed.
const SWEEP = tableOf({
  controller: ['parameter', ['electrical', 'electrical', 'opus', 'opus', 'opus', 'opus']],
  delay_s: ['parameter', [NONE, NONE, 1, 1, 200, 200]],
  seed: ['replicate', [1, 2, 1, 2, 1, 2]],
  makespan_s: ['metric', [11, 12, 12, 13, 211, 212]],
});

test('numbers go along the axis, names become series', () => {
  assert.deepEqual(defaultSelection(SWEEP), { metric: 'makespan_s', x: 'delay_s', series: 'controller', baseline: 'electrical', fixed: {} });
});

test('a baseline makes its parameter the series, or is along the axis that is wanted', () => {
  const chosen = (wanted) => { const { x, series, baseline } = defaultSelection(SWEEP, wanted); return [x, series, baseline]; };
  assert.deepEqual(chosen({ baseline: 'electrical' }), ['delay_s', 'controller', 'electrical']);
  assert.deepEqual(chosen({ baseline: '200' }), ['controller', 'delay_s', 200]);
  assert.deepEqual(chosen({ x: 'delay_s', baseline: '1' }), ['delay_s', '', 1]);
  assert.deepEqual(chosen({ series: 'delay_s' }), ['controller', 'delay_s', 'fastest']);  // 212 is over ten times 11.5
  assert.deepEqual(chosen({ baseline: 'none' }), ['delay_s', 'controller', '']);
  assert.deepEqual(chosen({ x: 'delay_s', series: 'controller', baseline: 'none' }), ['delay_s', 'controller', '']);
});

test('without parameters the points themselves are shown', () => {
  const table = tableOf({ name: ['info', ['base', 'base']], seed: ['replicate', [1, 2]], makespan_s: ['metric', [3, 5]] });
  const selection = defaultSelection(table);
  assert.equal(selection.x, 'name');
  assert.deepEqual(compare(table, Uint32Array.of(0, 1), selection).series[0].points, [{ x: 'base', mean: 4, deviation: Math.SQRT2, count: 2, low: 3, high: 5 }]);
});

test('a point is the mean of its seeds; what has no x is the same at every x', () => {
  const { series, logX, numeric } = compare(SWEEP, Uint32Array.of(0, 1, 2, 3, 4, 5), { ...defaultSelection(SWEEP), baseline: '' });
  assert.equal(numeric && logX, true);
  assert.deepEqual(series.map(({ name }) => name), ['electrical', 'opus']);
  assert.deepEqual(series[0].points.map(({ x, mean: value }) => [x, value]), [[1, 11.5], [200, 11.5]]);
  assert.deepEqual(series[1].points.map(({ x, mean: value }) => [x, value]), [[1, 12.5], [200, 211.5]]);
  assert.ok(Math.abs(series[1].points[0].deviation - Math.SQRT1_2) < 1e-12);
  assert.equal(series[1].points[0].count, 2);
});

test('a baseline divides by the same seed', () => {
  const { series } = compare(SWEEP, Uint32Array.of(0, 1, 2, 3, 4, 5), defaultSelection(SWEEP, { baseline: 'electrical' }));
  assert.deepEqual(series[0].points.map(({ mean: value }) => value), [1, 1]);
  assert.equal(series[1].points[0].mean, (12 / 11 + 13 / 12) / 2);
  // Only seed 2 of the baseline passes a filter: seed 1 is then divided by the mean of what there is, 12.
  const some = compare(SWEEP, Uint32Array.of(1, 2, 3), defaultSelection(SWEEP, { baseline: 'electrical' }));
  assert.equal(some.series[1].points[0].mean, (12 / 12 + 13 / 12) / 2);
});

test('no point mixes values of a parameter that is not shown', () => {
  const table = tableOf({
    dp: ['parameter', [1, 2, 4, 1, 2, 4]],
    servers: ['parameter', [2, 4, 8, 2, 4, 8]],  // follows dp
    rate_gb_per_s: ['parameter', [25, 25, 25, 50, 50, 50]],
    makespan_s: ['metric', [8, 4, 2, 7, 3, 1]],
  });
  const selection = { metric: 'makespan_s', x: 'dp', series: '', baseline: '' };
  assert.deepEqual(fixOthers(table, selection), { rate_gb_per_s: 25 });
  assert.deepEqual(fixOthers(table, { ...selection, fixed: { rate_gb_per_s: 50 } }), { rate_gb_per_s: 50 });
  assert.deepEqual(fixOthers(table, { ...selection, series: 'rate_gb_per_s' }), {});
  assert.deepEqual(pointsOf(table, Uint32Array.of(0, 1, 5), 'dp', 'makespan_s', 'rate_gb_per_s').map(({ x, y, group }) => [x, y, group]),
    [[1, 8, '25 GB/s'], [2, 4, '25 GB/s'], [4, 1, '50 GB/s']]);
});

test('the step time is the steady one where every point has it', () => {
  const both = (steady) => tableOf({ makespan_s: ['metric', [3, 4]], steady_iteration_s: ['metric', steady] });
  assert.equal(stepTimeOf(both([1, 2])), 'steady_iteration_s');
  assert.equal(stepTimeOf(both([1, NONE])), 'makespan_s');
});

test('filters compare numbers and look into texts', () => {
  const passing = (filters) => [...filterRows(SWEEP, filters)];
  assert.deepEqual(passing({ makespan_s: '> 12' }), [3, 4, 5]);
  assert.deepEqual(passing({ makespan_s: '12..13', controller: 'OPUS' }), [2, 3]);
  assert.deepEqual(passing({ makespan_s: '1.2e1' }), [1, 2]);
  assert.deepEqual(passing({ delay_s: '<=1' }), [2, 3]);  // what has no delay does not pass
  assert.deepEqual(passing({ delay_s: 'about 1' }), [0, 1, 2, 3, 4, 5]);
  assert.equal(predicateOf(SWEEP.get('delay_s'), 'about 1'), undefined);
});

test('rows sort both ways, what is absent last', () => {
  const rows = Uint32Array.of(0, 1, 2, 3, 4, 5);
  assert.deepEqual([...sortRows(SWEEP.get('delay_s'), rows, false)], [2, 3, 4, 5, 0, 1]);
  assert.deepEqual([...sortRows(SWEEP.get('delay_s'), rows, true)], [4, 5, 2, 3, 0, 1]);
  assert.deepEqual([...sortRows(SWEEP.get('controller'), rows, true)], [2, 3, 4, 5, 0, 1]);
});

// rank 0 computes 1000 times 1 ms every 2 ms, waits 0.1 ms for circuits in the middle; port 0 is lit from 0.5 s to 1 s.
function made() {
  const spans = Array.from({ length: 1000 }, (_, i) => [0, i * 0.002, 0.001, 'compute', 'f']);
  spans.splice(500, 0, [0, 0.9995, 0.0001, 'waiting for circuits', 'w']);
  spans.push([1, 0.5, 0.5, 'dp', 'lit']);
  const column = (i) => spans.map((span) => span[i]);
  return {
    tracks: [{ name: 'rank 0 compute', rank: 0 }, { name: 'rail 0 OCS port 0', rail: 0, port: 0 }],
    spans: tableOf({ track: ['', column(0)], start_s: ['', column(1)], duration_s: ['', column(2)], kind: ['', column(3)], name: ['', column(4)] }),
  };
}

test('many short spans become few bars, and a wait is never lost', () => {
  const trace = made();
  const { tracks } = chooseTracks(trace, 'all');
  const all = visibleSpans(trace, tracks, 0, 2, 100);  // 20 ms a pixel
  assert.ok(all.length <= 5, String(all.length));
  assert.equal(all.filter(({ kind }) => kind === 'waiting for circuits').length, 1);
  assert.equal(all.filter(({ kind }) => kind === 'compute').reduce((sum, { count }) => sum + count, 0) + all.filter(({ kind }) => kind === 'waiting for circuits')[0].count - 1, 1000);
  assert.equal(all[0].from, 0);
  assert.deepEqual(all.filter(({ row }) => row === 1).map(({ from, to }) => [from, to]), [[0.5, 1]]);
  // Zoomed in, each is itself: the stretch from 0.1 s to 0.11 s touches those that begin at 100, 102, ..., 108 ms.
  const some = visibleSpans(trace, tracks, 0.1, 0.11, 1000);
  assert.deepEqual(some.map(({ from }) => Math.round(from * 1000)), [100, 102, 104, 106, 108]);
});

test('tracks are chosen by the beginning of their names, spans by an instant', () => {
  const trace = made();
  assert.equal(defaultTracks(trace), 'rank 0, rail 0');
  assert.deepEqual(chooseTracks(trace, 'rail 0, rank 00').tracks.map(({ index }) => index), [1]);
  assert.equal(spanAt(trace, 0, 0.0045), 2);
  assert.equal(spanAt(trace, 0, 0.0055), -1);  // between two
  assert.equal(spanAt(trace, 1, 0.75), 1001);
});

test('every kind of span has a colour of its own', () => {
  const kinds = ['compute', 'host', 'tp', 'cp', 'ep', 'dp', 'pp', 'other', 'storage', 'fault', 'failure not detected'];
  for (const kind of kinds) assert.ok(COLOURS[kind], kind);
  assert.equal(new Set(kinds.map((kind) => COLOURS[kind])).size, kinds.length);
});

test('faults are shown first, with what is not known of them apart', () => {
  const trace = {
    tracks: [{ name: 'rank 0 compute', rank: 0 }, { name: 'faults rail 0, server 1: failed' }, { name: 'faults GPU of rank 3: stopped' }],
    spans: tableOf({ track: ['', [0, 1, 1, 2]], start_s: ['', [0, 1, 2, 4]], duration_s: ['', [9, 1, 3, 5]],
      kind: ['', ['compute', 'failure not detected', 'fault', 'fault']], name: ['', ['f', 'a', 'b', 'c']] }),
  };
  assert.equal(defaultTracks(trace), 'faults, rank 0');
  assert.deepEqual(chooseTracks(trace, defaultTracks(trace)).tracks.map(({ index }) => index), [0, 1, 2]);
  assert.deepEqual(faultSpans(trace), [
    { name: 'rail 0, server 1: failed', kind: 'failure not detected', from: 1, to: 2 },
    { name: 'rail 0, server 1: failed', kind: 'fault', from: 2, to: 5 },
    { name: 'GPU of rank 3: stopped', kind: 'fault', from: 4, to: 9 }]);
  assert.deepEqual(faultSpans(made()), []);
});

test('a host of storage among the circuits is no rank', () => {
  const columns = { kind: [], name: [], to: [], start_s: [], duration_s: [], track: [] };
  const trace = {
    name: 'run', end_s: 1, tracks: [], spans: { get: (column) => ({ values: columns[column] }) },
    cluster: { servers: 3, gpus_per_server: 1, ports: 1, optical: true, rank_of_gpu: [0, -1, 1], storage_hosts: [1] },
  };
  const { data } = topologyFigure({ trace }).option.series[0];
  assert.deepEqual(data.slice(0, 3).map(({ name, symbol }) => [name, symbol]), [['rank 0', 'circle'], ['GPU 1', 'circle'], ['storage host 0', 'rect']]);
});

// Two operations of dp at once have two lanes: they share a row, until "lanes" or the name of one is asked for.
test('lanes of a rank and dimension are one row of the timeline', () => {
  const names = ['rank 0 compute', 'rank 0 dp', 'rank 0 dp 2', 'rank 0 pp', 'rank 1 dp'];
  const trace = { tracks: names.map((name) => ({ name, rank: 0 })) };
  const rows = (wanted) => chooseTracks(trace, wanted).tracks.map(({ name, indices }) => `${name}: ${indices}`);
  assert.deepEqual(rows('rank 0'), ['rank 0 compute: 0', 'rank 0 dp: 1,2', 'rank 0 pp: 3']);
  assert.deepEqual(rows('rank 0, lanes'), ['rank 0 compute: 0', 'rank 0 dp: 1', 'rank 0 dp 2: 2', 'rank 0 pp: 3']);
  assert.deepEqual(rows('rank 0 dp, rank 0 dp 2'), ['rank 0 dp: 1', 'rank 0 dp 2: 2']);
});
