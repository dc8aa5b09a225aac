// Windows of a thousand points: the figure is that of the point that the field names, of any of them.
import assert from 'node:assert/strict';
import { onPage, option, texts } from './browser.mjs';

await onPage(async (page) => {
  const field = '#windows input[name=point]';
  const agree = async (name) => {
    assert.equal(await page.inputValue(field), name);
    assert.equal((await texts(page, '#windows h2'))[0], `Windows between phases: ${name}`);
  };
  await agree('point 999');
  await page.fill(field, 'point 700');
  await page.press(field, 'Enter');
  await agree('point 700');
  assert.equal((await option(page, 'windows')).series[0].data.at(-1)[0], 0.7);  // its longest window is 0.7 s
  await page.click('#windows button:text-is("›")');
  await agree('point 701');
  // A part of a name lists what fits, from all points.
  await page.fill(field, 'point 99');
  assert.equal((await page.$$('#windows datalist option')).length, 11);  // 99, and 990 to 999
});
