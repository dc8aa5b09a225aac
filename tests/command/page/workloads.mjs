// The page of two runs of served requests and one of reinforcement learning: a run is chosen, a figure zoomed and saved.
import assert from 'node:assert/strict';
import { inked, onPage, option, saved, texts } from './browser.mjs';

const heading = async (page, id) => (await texts(page, `#${id} h2`))[0];

await onPage(async (page) => {
  for (const id of ['latency', 'ttft-parts', 'engines', 'engine-time', 'rl-phases', 'rl-tail']) assert.ok(await inked(page, id) > 1500, `${id} is blank`);

  // Shares of requests: a line for each of the two runs in each of the three charts, from 0 to 1.
  const curves = (await option(page, 'latency')).series;
  assert.equal(curves.length, 6);
  for (const { data } of curves) assert.deepEqual([data[0][1], data.at(-1)[1]], [0, 1]);

  // The other run is chosen once for all figures of its kind.
  assert.match(await heading(page, 'ttft-parts'), /second$/);
  await page.selectOption('#ttft-parts select[name=run]', { label: 'first' });
  for (const id of ['ttft-parts', 'engines', 'engine-time']) assert.match(await heading(page, id), /first$/);
  assert.match(await heading(page, 'rl-phases'), /learns$/);

  // Bands of requests ascend: each bar is at least as long as the one before.
  const { series } = await option(page, 'ttft-parts');
  const bars = series[0].data.map((_, i) => series.reduce((sum, { data }) => sum + data[i], 0));
  assert.equal(bars.length, 4);
  bars.forEach((bar, i) => assert.ok(i === 0 || bar >= bars[i - 1], String(bars)));

  // The metric and the axis of the comparison are chosen.
  await page.selectOption('#comparison select[name=metric]', { label: 'serving: ttft: p99 (serving.ttft_s.p99)' });
  assert.match(await heading(page, 'comparison'), /^TTFT, p99/);

  const csv = (await saved(page, 'engine-time', 'CSV')).toString().split('\n');
  assert.equal(csv[0], 'engine,from_s,to_s,requests');
  assert.equal(csv.length, 2 + 4 * 200);  // head, four engines in 200 stretches, end
  assert.match((await saved(page, 'rl-phases', 'SVG')).toString(), /^<svg /);
  assert.equal((await saved(page, 'latency', 'PNG')).subarray(1, 4).toString(), 'PNG');
});
