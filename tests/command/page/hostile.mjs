// A page whose names are markup: every tooltip is shown, and none of them may become an element or run.
import assert from 'node:assert/strict';
import { onPage, texts } from './browser.mjs';

const wanted = process.argv.slice(3);  // texts that some tooltip must show, as they were written

/** Shows the tooltip of each item of each series of each figure: the texts that were shown. */
const tooltips = (page) => page.evaluate(async () => {
  const shown = new Set();
  for (const element of document.querySelectorAll('.chart')) {
    if (!element.chart) {  // a figure with nothing to show is not shown
      if (element.offsetParent) throw new Error('a figure is shown without its chart');
      continue;
    }
    const { series } = element.chart.getOption();
    for (const [seriesIndex, { data, links }] of series.entries()) {
      const items = [...(data ?? []).map((_, dataIndex) => ({ dataIndex })), ...(links ?? []).map((_, dataIndex) => ({ dataIndex, dataType: 'edge' }))];
      for (const item of items.slice(0, 200)) {
        element.chart.dispatchAction({ type: 'showTip', seriesIndex, ...item });
        await new Promise((resolve) => { requestAnimationFrame(resolve); });
        for (const tip of element.querySelectorAll('div')) shown.add(tip.textContent);
      }
    }
    element.chart.dispatchAction({ type: 'hideTip' });
  }
  return [...shown];
});

/** Moves the mouse over all of a figure, as a reader would. */
async function moveOver(page, chart) {
  await chart.scrollIntoViewIfNeeded();
  const { x, y, width, height } = await chart.boundingBox();
  for (let row = 1; row < 6; ++row) {
    for (let column = 1; column < 12; ++column) await page.mouse.move(x + (width * column) / 12, y + (height * row) / 6);
  }
}

await onPage(async (page) => {
  const shown = await tooltips(page);
  for (const text of wanted) assert.ok(shown.some((tip) => tip.includes(text)), `no tooltip shows ${text}: ${JSON.stringify(shown.slice(0, 20))}`);
  for (const chart of await page.$$('.chart')) if (await chart.isVisible()) await moveOver(page, chart);
  for (const select of await page.$$('select')) await select.click();
  await page.waitForTimeout(200);  // an image that cannot be loaded says so a little later
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.deepEqual(await texts(page, 'img, main script'), []);
});
