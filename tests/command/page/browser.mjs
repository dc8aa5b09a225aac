// Opens the pages that the command line names, joined by ':', in one headless Chromium, and keeps what each complains about.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import assert from 'node:assert/strict';

const { chromium } = createRequire(join(process.env.NODE_PATH, 'none.js'))('playwright-core');

const PATIENCE = 300_000;  // ms: ends what hangs, on a busy machine too

// The shell is Chromium without its window: it starts in half the time.
const EXECUTABLE = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((file) => existsSync(file));

/** Runs `check(page)` on each page; fails when a page loaded anything, or said anything on its console. */
export async function onPage(check) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? EXECUTABLE, args: ['--no-sandbox'], timeout: PATIENCE });
  try {
    for (const file of process.argv[2].split(':')) await look(browser, file, check);
  } finally {
    await browser.close();
  }
}

async function look(browser, file, check) {
  const context = await browser.newContext({ offline: true, viewport: { width: 1240, height: 900 }, acceptDownloads: true });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(error.stack));
  page.on('request', (request) => /^(file|data|blob):/.test(request.url()) || complaints.push(`asked for ${request.url()}`));
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector('body[data-state=ready]', { timeout: PATIENCE });
  await check(page);
  assert.deepEqual(complaints, [], file);
  await context.close();
}

/** How many of the pixels of a figure are not white. */
export function inked(page, id) {
  return page.$eval(`#${id} canvas`, (canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) count += data[i + 3] > 0 && data[i] + data[i + 1] + data[i + 2] < 720 ? 1 : 0;
    return count;
  });
}

/** What a chart was told: its option. */
export const option = (page, id) => page.$eval(`#${id} .chart`, (element) => element.chart.getOption());

export const texts = (page, selector) => page.$$eval(selector, (found) => found.map((element) => element.textContent));

/** The text of the file that a button gives. */
export async function saved(page, id, format) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(`#${id} .files button:text-is("${format}")`)]);
  const chunks = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  return Buffer.concat(chunks);
}
