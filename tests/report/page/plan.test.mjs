// What the page says of a plan, without a browser: node --test tests/report/page/plan.test.mjs
import assert from 'node:assert/strict';
import { test } from 'node:test';

const page = new URL('../../../src/report/page/', import.meta.url);
const { frontFigure, ladderFigure, mapFigure, objectiveText, planAnswer, robustLines, worthLines } = await import(new URL('plan.js', page));

const run = (candidate, ...objectives) => ({ candidate, objectives });
const plan = {
  objectives: ['step'], candidates: 100, simulated: 2, excluded: 90, open: 0, gap: 0, rejected: { 'memory of a GPU': 8 },
  best: [run(['tp 2', 'electrical'], 2), run(['tp 4', 'electrical'], 2.5)],
  worth: [{ choice: 'tp', value: '4', objective: 2.5, simulated: true }, { choice: 'tp', value: '2', objective: 2, simulated: true }, { choice: 'tp', value: '8', objective: 3, simulated: false },
    { choice: 'pp', value: '1', objective: 2, simulated: true }],
  map: [{ tp: 2, pp: 1, objective: 2, simulated: true }, { tp: 4, pp: 1, objective: 2.5, simulated: true }, { tp: 4, pp: 2, objective: 3, simulated: false }],
  ladder: [{ change: 'the base as it is', objective: null }, { change: 'tp 2', objective: 2 }],
  robustness: [{ what: 'switching delay', 'at_0.8': 2, 'at_1.2': 2.2, changes_at: 1.1, to: 'tp 4' }],
  break_even: { candidate: 'tp 2', on_electrical_rails: 2, delay_ms: 15 },
};

test('a plan opens with its answer and how sure it is', () => {
  assert.deepEqual(planAnswer(plan), { title: 'tp 2; electrical is best: step time 2 s; the next, tp 4; electrical, has 25 % more.', certainty: 'Proven: no other candidate is better.' });
  assert.equal(planAnswer({ ...plan, open: 3, gap: 0.021 }).certainty, 'Not proven: 3 candidates are open, of which one may be up to 2.1 % better.');
  assert.equal(planAnswer({ ...plan, best: [], nearest: 'tp 8: a GPU would hold 90 GB' }).title, 'Nothing can run; the nearest is tp 8: a GPU would hold 90 GB.');
});

test('an answer names all that are as good, by what differs', () => {
  const rails = ['1 ms, on demand', '15 ms, on demand', '15 ms, provisioned', '25 ms'].map((name) => run(['tp 2', name], 2));
  assert.equal(planAnswer({ ...plan, best: [plan.best[0], ...rails, plan.best[1]] }).title,
    'tp 2; electrical is best: step time 2 s; as good: “1 ms, on demand”, “15 ms, on demand”, “15 ms, provisioned” and 1 more.');
});

test('choices are told by what they cost', () => {
  assert.deepEqual(worthLines(plan), ['tp: 2 best; 4 +25 %; 8 at least +50 %']);
});

test('sentences of what the answer rests on', () => {
  assert.deepEqual(robustLines(plan), ['switching delay, from −20 % to +20 %: 2 s to 2.2 s; from +10 % on it is tp 4.', 'tp 2 is as good up to a delay of 15 ms as on electrical rails (2 s).']);
});

test('the map has a cell for each size, and bounds where nothing was simulated', () => {
  const { option, csv } = mapFigure({ plan });
  const [series] = option.series;
  const label = (i) => series.label.formatter({ data: series.data[i] });
  assert.deepEqual(series.data.map(({ value }) => value.slice(0, 2)), [[0, 0], [0, 1], [1, 1]]);
  assert.deepEqual([label(0), label(1), label(2)], ['best', '+25 %', '≥ +50 %']);
  assert.deepEqual(csv[3], [4, 2, 3, 0]);
});

test('a rung that cannot run has no bar', () => {
  const { option, note } = ladderFigure({ plan });
  assert.deepEqual(option.series[0].data, [null, 2]);
  assert.equal(option.series[0].label.formatter({ dataIndex: 0 }), 'cannot run');
  assert.match(note, /cannot run/);
});

test('a front has two axes, and one objective has none', () => {
  assert.equal(frontFigure({ plan }), undefined);
  const { option } = frontFigure({ plan: { ...plan, objectives: ['step', 'usd'], best: [run(['a'], 2, 900), run(['b'], 3, 500)] } });
  assert.deepEqual(option.series[0].data.map(({ value }) => value), [[2, 900], [3, 500]]);
  assert.equal(objectiveText('usd', 1500000), '$1.5M');
});

test('the page has words for every objective of a plan', async () => {
  const { readFile } = await import('node:fs/promises');
  const keys = await readFile(new URL('../../../docs/reference/plan.md', import.meta.url), 'utf8');
  const row = keys.split('\n').find((line) => line.startsWith('| `objective` |'));
  const names = [...new Set([...row.split('|')[2].matchAll(/"([a-z_]+)"/g)].map(([, name]) => name))];
  assert.ok(names.length >= 8);
  for (const name of names) {
    const { title } = planAnswer({ ...plan, objectives: [name], best: [run(['a'], 2), run(['b'], 3)] });
    assert.ok(!title.includes('undefined'), title);
  }
});
