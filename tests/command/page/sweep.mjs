// The page of the sweep that report_test.cpp makes up: two controllers, five delays, three seeds, one failed point.
import assert from 'node:assert/strict';
import { inked, onPage, option, texts } from './browser.mjs';

await onPage(async (page) => {
  const [answer, ...headings] = await texts(page, 'section:not([hidden]) h2');
  assert.match(answer, /electrical|controller/);
  assert.ok((await texts(page, '#answer tbody tr')).length >= 2);
  assert.deepEqual(headings, [
    'makespan: overhead over electrical against OCS reconfiguration delay', 'Break-even: where makespan is at most so much more than that of electrical',
    'Where the time of a rank goes, mean of ranks', 'Hidden reconfigurations and exposed communication against OCS reconfiguration delay',
    'makespan against cost, and the Pareto front', 'makespan against power, and the Pareto front', 'Windows between phases: point 17, seed 3', 'All points']);
  assert.match((await texts(page, '.top p'))[0], /^to have one · 19 points · photonrail /);
  assert.deepEqual(await texts(page, '.warning'), ['1 of 19 points failed; point 18: rank 3 <waits> for rank 4']);
  for (const id of ['comparison', 'break-even', 'breakdown', 'exposure', 'pareto-cost', 'pareto-power', 'windows']) assert.ok(await inked(page, id) > 1500, `${id} is blank`);

  // Delays are numbers over four decades: lines over a logarithmic axis, a line per controller, whiskers over the seeds.
  await page.selectOption('#comparison select[name=baseline]', 'none');
  const chart = await option(page, 'comparison');
  assert.equal(chart.xAxis[0].type, 'log');
  const lines = chart.series.filter(({ type }) => type === 'line');
  assert.deepEqual(lines.map(({ name }) => name), ['electrical', 'opus']);
  assert.deepEqual(lines[1].data.map(([x]) => x), [1, 10, 100, 1000, 10000]);
  // Mean of 1.01, 1.02, 1.03 and four times 0.1 s; deviation of three numbers 0.01 apart.
  assert.ok(Math.abs(lines[1].data[2][1] - 1.42) < 1e-9);
  const [, low, high] = chart.series.filter(({ type }) => type === 'custom')[1].data[2];
  assert.ok(Math.abs(low - 1.41) < 1e-9 && Math.abs(high - 1.43) < 1e-9, `${low} ${high}`);

  // Controllers are categories: bars.
  await page.selectOption('#comparison select[name=against]', { label: 'controller' });
  assert.equal((await option(page, 'comparison')).xAxis[0].type, 'category');
  assert.ok((await option(page, 'comparison')).series.some(({ type }) => type === 'bar'));
  await page.selectOption('#comparison select[name=against]', { label: 'reconfiguration (reconfiguration_ms)' });

  // Opus at 1 ms is cheaper but slower than electrical (1.024 s, 1.02 s): both are on the front, and nothing else is.
  const front = (await option(page, 'pareto-cost')).series.find(({ name }) => name === 'Pareto front').data;
  assert.deepEqual(front.map(([cost, step]) => [cost, Number(step.toFixed(6))]), [[1e6, 1.024], [2e6, 1.024], [2e6, 1.02]]);

  // Filter and sort; charts follow the filter.
  const names = () => texts(page, '.table tr.point td:first-child');
  const header = (name) => page.click(`.table th:has(.arrow):text("${name}")`);
  assert.equal((await names()).length, 19);
  await page.fill('input[aria-label="filter controller"]', 'opus');
  assert.equal((await texts(page, '.count'))[0], '16 of 19 points');
  await page.fill('input[aria-label="filter reconfiguration_ms"]', '>= 100');
  assert.equal((await texts(page, '.count'))[0], '10 of 19 points');
  assert.deepEqual((await option(page, 'comparison')).series.filter(({ type }) => type === 'line').map(({ data }) => data.map(([x]) => x)), [[100, 1000, 10000]]);
  await header('makespan_s');
  assert.deepEqual((await names()).slice(0, 4), ['point 9', 'point 10', 'point 11', 'point 12']);
  await header('makespan_s');
  assert.deepEqual((await names()).slice(0, 2), ['point 17', 'point 16']);
  assert.equal((await names()).at(-1), 'point 18');  // it has no makespan
  await page.fill('input[aria-label="filter reconfiguration_ms"]', 'about 100');
  assert.equal(await page.$eval('input[aria-label="filter reconfiguration_ms"]', (input) => input.className), 'wrong');

  // A click on a point shows its windows: half of those of point 12 have no length, and its delay of 1 s is marked.
  await page.fill('input[aria-label="filter reconfiguration_ms"]', '1000');
  await page.click('.table tr.point >> nth=0');
  const windows = await option(page, 'windows');
  assert.equal(windows.series[0].markLine.data[0].xAxis, 1);
  assert.equal(windows.series[0].data[1][1], 0.5);
});
