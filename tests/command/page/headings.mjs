// Prints the headings of pages that have few of them.
import { onPage, texts } from './browser.mjs';

await onPage(async (page) => console.log((await texts(page, 'section:not([hidden]) h2')).join('\n')));
