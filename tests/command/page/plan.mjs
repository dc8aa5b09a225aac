// The page of a plan: the answer first, then its figures.
import assert from 'node:assert/strict';
import { inked, onPage, option, texts } from './browser.mjs';

await onPage(async (page) => {
  const sections = await page.$$eval('main > section:not([hidden])', (found) => found.map(({ id }) => id));
  assert.deepEqual(sections.slice(0, 4), ['answer', 'plan-map', 'plan-ladder', 'rejected']);
  assert.match((await texts(page, '#answer h2'))[0], /is best: step time/);
  assert.match((await texts(page, '#answer .held'))[0], /^Proven/);
  for (const id of ['plan-map', 'plan-ladder']) assert.ok((await inked(page, id)) > 1000, id);
  const [map] = (await option(page, 'plan-map')).series;
  assert.ok(map.data.length > 3);
  assert.match((await texts(page, '#rejected td'))[0], /memory of a GPU/);
});
