// The default pages of any sweeps, at two widths: no empty figure, no two lines alike, no text cut off. The second argument: how many sections there are at least.
import assert from 'node:assert/strict';
import { onPage, texts } from './browser.mjs';

/** Of each figure in sight: what it shows, and what is wrong with it. */
const faults = (page) => page.evaluate(() => [...document.querySelectorAll('section:not([hidden])')].filter((section) => section.querySelector('.chart')).flatMap((section) => {
  const { chart } = section.querySelector('.chart');
  const found = [];
  const { series } = chart.getOption();
  if (!series?.some(({ data, links }) => (data?.length ?? 0) + (links?.length ?? 0) > 0)) found.push('is empty');
  const looks = series.filter(({ type, data, lineStyle, name }) => type === 'line' && data.length > 0 && name !== 'Pareto front' && lineStyle?.width > 0)
    .map(({ color, lineStyle, symbol, data, name, xAxisIndex }) => ({ name, look: JSON.stringify([color, lineStyle.type, data.find((item) => item?.symbol)?.symbol ?? symbol, xAxisIndex ?? 0]) }));
  const bars = series.filter(({ type, data }) => type === 'bar' && data.length > 0).map(({ color, itemStyle, name, xAxisIndex }) => ({ name, look: `bar ${color} ${itemStyle?.color} ${xAxisIndex ?? 0}` }));
  for (const list of [looks, bars]) {
    const repeated = list.find(({ look }, i) => list.findIndex((other) => other.look === look) < i);
    if (repeated) found.push(`two series look like ${repeated.name}`);
  }
  for (const shape of chart.getZr().storage.getDisplayList(true)) {
    if (shape.type !== 'tspan' || shape.invisible || shape.ignore) continue;
    const text = shape.style.text;
    const box = shape.getBoundingRect().clone();
    if (shape.transform) box.applyTransform(shape.transform);
    if (/…|\.\.\.$/.test(text)) found.push(`cuts "${text}"`);
    if (box.x < -1 || box.y < -1 || box.x + box.width > chart.getWidth() + 1 || box.y + box.height > chart.getHeight() + 1) found.push(`"${text}" is beyond its edge`);
  }
  return found.map((what) => `${section.id}: ${what}`);
}));

await onPage(async (page) => {
  for (const width of [1400, 800]) {
    await page.setViewportSize({ width, height: 900 });
    await page.waitForTimeout(300);
    const shown = await texts(page, 'section:not([hidden]) h2');
    assert.ok(shown.length >= Number(process.argv[3] ?? 2), shown.join(', '));
    assert.deepEqual(await faults(page), [], `at ${width} pixels`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth + 1), `wider than ${width} pixels`);
  }
  console.log((await texts(page, 'section:not([hidden]) h2'))[0]);
});
