// The parts of Apache ECharts that the figures use, and how all figures look.
import { BarChart, CustomChart, GraphChart, HeatmapChart, LineChart, ScatterChart } from 'echarts/charts';
import { DataZoomComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent, TitleComponent, TooltipComponent,
  VisualMapContinuousComponent } from 'echarts/components';
import { init, setPlatformAPI, use } from 'echarts/core';
import { CanvasRenderer, SVGRenderer } from 'echarts/renderers';
import { PALETTE } from './looks.js';

use([BarChart, CustomChart, GraphChart, HeatmapChart, LineChart, ScatterChart, DataZoomComponent, GridComponent, LegendComponent,
  MarkAreaComponent, MarkLineComponent, TitleComponent, TooltipComponent, VisualMapContinuousComponent, CanvasRenderer, SVGRenderer]);

const INK = '#3c4450';

const BASE = {
  color: PALETTE,
  animation: false,
  textStyle: { fontFamily: 'Helvetica, Arial, sans-serif', color: INK },
  backgroundColor: '#ffffff',
};

/** A chart in `element`, as wide as it is. */
export function draw(element, option) {
  const chart = init(element, null, { renderer: 'canvas' });
  chart.setOption({ ...BASE, ...option });
  return chart;
}

export function redraw(chart, option) {
  chart.setOption({ ...BASE, ...option }, { notMerge: true });
}

// Moves all parts of an option that are placed from above down by so many pixels.
function lowered(option, by) {
  const moved = (part) => (typeof part?.top === 'number' ? { ...part, top: part.top + by } : part);
  const list = (parts) => (Array.isArray(parts) ? parts.map(moved) : moved(parts));
  const changed = { ...option };
  for (const part of ['grid', 'legend', 'visualMap', 'title']) if (option[part]) changed[part] = list(option[part]);
  changed.series = option.series?.map((series) => (series.type === 'graph' ? moved(series) : series));
  return changed;
}

// As many letters a line as the width holds, broken between words.
function wrapped(text, width) {
  const lines = [];
  for (const word of text.split(' ')) {
    if (lines.length > 0 && 6.2 * (lines.at(-1).length + word.length + 1) <= width) lines[lines.length - 1] += ` ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** A figure as a file shows it: under its title and what is held, with nothing to be moved. { option, height } */
export function titled({ option, height, title, held = '', coincide = '' }, width) {
  const heading = wrapped(title, (width - 24) / 1.25);
  const holds = [held, coincide].filter(Boolean).flatMap((text) => wrapped(text, width - 24));
  const room = 20 * heading.length + 16 * holds.length + 14;
  const own = { text: heading.join('\n'), subtext: holds.join('\n'), left: 12, top: 8, padding: 0, itemGap: 4,
    textStyle: { fontSize: 15, lineHeight: 20, color: INK }, subtextStyle: { fontSize: 12, lineHeight: 16, color: '#5d6773' } };
  const below = lowered(option, room);
  return { option: { ...below, title: [own, ...[below.title ?? []].flat()], tooltip: undefined, dataZoom: undefined }, height: height + room };
}

/** The text of an SVG of `figure`; needs no page. `size`: { width, height, font }, in pixels; `font` is that of the axes. */
export function toSvg(figure, { width = 900, height, font = 12 } = {}) {
  const scale = font / 12;
  const inner = width / scale;
  const made = titled(figure, inner);
  const tall = height === undefined ? made.height : height / scale;
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: inner, height: tall });
  chart.setOption({ ...BASE, ...made.option });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '?')  // XML has no such characters
    .replaceAll('dominant-baseline="central"', 'dy="0.35em"')  // the same, for converters that do not know it
    .replace(/<svg width="[\d.]+" height="[\d.]+"/, `<svg width="${width}" height="${Math.round(tall * scale)}"`);
}

/** A PNG of `figure`, as a URL. */
export function toPng(figure, width) {
  const { option, height } = titled(figure, width);
  const element = document.createElement('div');
  const chart = init(element, null, { renderer: 'canvas', width, height });
  chart.setOption({ ...BASE, ...option });
  const url = chart.getDataURL({ pixelRatio: 2, backgroundColor: '#ffffff' });
  chart.dispose();
  return url;
}

/** Where nothing measures texts, as in Node: the widths of a wide font, so that no other cuts them off. */
export function assumeWideTexts() {
  setPlatformAPI({ measureText: (text, font) => ({ width: 0.61 * text.length * Number(/([\d.]+)px/.exec(font)?.[1] ?? 12) }) });
}
