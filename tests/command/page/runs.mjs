// The page of two runs, the quickstart on electrical rails and under Opus, both with traces.
import assert from 'node:assert/strict';
import { inked, onPage, option, saved, texts } from './browser.mjs';

const range = async (page) => {
  const { startValue, endValue } = (await option(page, 'timeline')).dataZoom[0];
  return [startValue, endValue];
};
const bars = async (page) => (await option(page, 'timeline')).series[0].data.length;

await onPage(async (page) => {
  const [answer, ...headings] = await texts(page, 'section:not([hidden]) h2');
  assert.match(answer, /^electrical is best: makespan 6[.\d]* s; the next, “opus, provisioned”, has [.\d]+ % more\.$/);
  assert.deepEqual(await texts(page, '#answer tr.winner td:first-child'), ['★ electrical']);
  assert.deepEqual(headings, [
    'Why', 'makespan: overhead over electrical against scenario', 'Where the time of a rank goes, mean of ranks',
    'Spread over the ranks: least, median and most of each part of their time',
    'makespan against cost, and the Pareto front', 'makespan against power, and the Pareto front',
    'makespan against energy per step, and the Pareto front', 'Windows between phases: opus, provisioned',
    'Timeline: opus, provisioned', 'Circuits at 3.29457 s: opus, provisioned', 'All points', 'What was simulated']);
  for (const id of ['comparison', 'breakdown', 'windows', 'timeline', 'topology']) {
    assert.ok(await inked(page, id) > 2000, `${id} is blank`);
  }

  // A baseline makes overheads: that of the electrical step over itself is 0.
  assert.deepEqual((await option(page, 'comparison')).xAxis[0].data, ['electrical', 'opus, provisioned']);
  await page.selectOption('#comparison select[name=baseline]', 'electrical');
  const [electrical, opus] = (await option(page, 'comparison')).series[0].data.map(([, value]) => value);
  assert.equal(electrical, 0);
  assert.ok(opus > 0 && opus < 0.05, String(opus));
  await page.selectOption('#comparison select[name=baseline]', 'none');
  assert.ok((await option(page, 'comparison')).series[0].data[0][1] > 6);  // seconds
  await page.selectOption('#comparison select[name=baseline]', 'electrical');

  // The 15 ms of the switch are marked where the windows are shown.
  assert.ok(Math.abs((await option(page, 'windows')).series[0].markLine.data[0].xAxis - 0.015) < 1e-9);

  // The wheel zooms in around the pointer, dragging moves, and more spans of the shorter stretch are told apart.
  const whole = await range(page);
  const before = await bars(page);
  const chart = await (await page.$('#timeline .chart')).boundingBox();
  await page.evaluate((y) => window.scrollTo(0, y - 100), chart.y);
  const box = await (await page.$('#timeline .chart')).boundingBox();
  await page.mouse.move(box.x + box.width * 0.45, box.y + 150);
  for (let i = 0; i < 8; ++i) await page.mouse.wheel(0, -400);
  await page.waitForFunction(() => document.querySelector('#timeline .chart').chart.getOption().dataZoom[0].end < 99);
  await page.waitForTimeout(300);
  const zoomed = await range(page);
  assert.ok(zoomed[1] - zoomed[0] < 0.7 * (whole[1] - whole[0]), `${zoomed} of ${whole}`);
  assert.ok(zoomed[0] > whole[0] && zoomed[1] < whole[1], `${zoomed} of ${whole}`);
  assert.notEqual(await bars(page), before);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.45 - 200, box.y + 150, { steps: 5 });
  await page.mouse.up();
  await page.waitForTimeout(300);
  const moved = await range(page);
  assert.ok(moved[0] > zoomed[0], `${moved} after ${zoomed}`);
  assert.ok(Math.abs(moved[1] - moved[0] - (zoomed[1] - zoomed[0])) < 1e-6);

  // Other tracks, by name.
  await page.fill('#timeline input[name=tracks]', 'rank 3 compute, rail 1');
  await page.press('#timeline input[name=tracks]', 'Enter');
  assert.deepEqual((await option(page, 'timeline')).yAxis[0].data, ['rank 3 compute', ...[0, 1, 2, 3].map((port) => `rail 1 OCS port ${port} (server ${port})`)]);

  // The slider of time: at the very beginning all circuits of the first all-gathers are switching.
  const links = async () => (await option(page, 'topology')).series[0].links;
  assert.ok((await links()).every((link) => link.lineStyle.type === 'solid'));
  await page.$eval('#topology input[name=time]', (slider) => { slider.value = 1; slider.dispatchEvent(new Event('input')); });
  assert.equal((await links()).length, 16);
  assert.ok((await links()).every((link) => link.lineStyle.type === 'dotted'));

  // Electrical rails have a switch, and every GPU a link to it.
  await page.selectOption('#topology select[name=run]', 'electrical');
  assert.equal((await texts(page, '#topology h2'))[0].slice(0, 5), 'Rails');
  assert.equal((await links()).length, 16);
  assert.equal((await texts(page, '#timeline h2'))[0], 'Timeline: electrical');

  const svg = (await saved(page, 'breakdown', 'SVG')).toString();
  assert.match(svg, /^<svg /);
  assert.match(svg, />opus,\s*(<[^]*>)?provisioned</);  // a label of one line or two: the machine's font decides
  assert.equal((await saved(page, 'breakdown', 'PNG')).subarray(1, 4).toString(), 'PNG');
  assert.equal((await saved(page, 'breakdown', 'CSV')).toString().split('\n').length, 4);  // head, two runs, end
});
