// The page of as many points as the second argument says, a multiple of 100: how long it takes, and that only rows in sight are drawn.
import assert from 'node:assert/strict';
import { inked, onPage, texts } from './browser.mjs';

const points = Number(process.argv[3]);
const grouped = (count) => count.toLocaleString('en-US');
const opened = Date.now();
await onPage(async (page) => {
  console.log(`shown after ${Date.now() - opened} ms`);
  assert.ok(await inked(page, 'comparison') > 1500);
  assert.equal((await texts(page, '.count'))[0], `${grouped(points)} of ${grouped(points)} points`);
  const rows = () => texts(page, '.table tr.point td:first-child');
  assert.ok((await rows()).length < 60, `${(await rows()).length} rows drawn`);
  await page.$eval('#table .table', (table) => { table.scrollTop = table.scrollHeight; });
  await page.waitForFunction((last) => [...document.querySelectorAll('.table tr.point td:first-child')].at(-1)?.textContent === last, `point ${points - 1}`);
  assert.equal((await rows()).at(-1), `point ${points - 1}`);
  const before = Date.now();
  await page.fill('input[aria-label="filter delay_ms"]', '= 7');
  assert.equal((await texts(page, '.count'))[0], `${grouped(points / 100)} of ${grouped(points)} points`);
  await page.click('.table th:has(.arrow):text("makespan_s")');
  console.log(`filtered and sorted after ${Date.now() - before} ms`);
});
