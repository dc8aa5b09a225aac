// The page of 100,000 points: how long it takes, and that only rows in sight are drawn.
import assert from 'node:assert/strict';
import { inked, onPage, texts } from './browser.mjs';

const opened = Date.now();
await onPage(async (page) => {
  console.log(`shown after ${Date.now() - opened} ms`);
  assert.ok(await inked(page, 'comparison') > 1500);
  assert.equal((await texts(page, '.count'))[0], '100,000 of 100,000 points');
  const rows = () => texts(page, '.table tr.point td:first-child');
  assert.ok((await rows()).length < 60, `${(await rows()).length} rows drawn`);
  await page.$eval('.table', (table) => { table.scrollTop = table.scrollHeight; });
  await page.waitForFunction(() => document.querySelector('.table tr.point:last-of-type, .table tr.point')?.textContent.startsWith('point 999'));
  assert.equal((await rows()).at(-1), 'point 99999');
  const before = Date.now();
  await page.fill('input[aria-label="filter delay_ms"]', '= 7');
  assert.equal((await texts(page, '.count'))[0], '1,000 of 100,000 points');
  await page.click('.table th:has(.arrow):text("makespan_s")');
  console.log(`filtered and sorted after ${Date.now() - before} ms`);
});
