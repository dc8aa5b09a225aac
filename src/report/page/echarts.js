// The parts of Apache ECharts that the figures use, and how all figures look.
import { BarChart, CustomChart, GraphChart, LineChart, ScatterChart } from 'echarts/charts';
import { DataZoomComponent, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent } from 'echarts/components';
import { init, setPlatformAPI, use } from 'echarts/core';
import { CanvasRenderer, SVGRenderer } from 'echarts/renderers';

use([BarChart, CustomChart, GraphChart, LineChart, ScatterChart, DataZoomComponent, GridComponent, LegendComponent,
  MarkLineComponent, TooltipComponent, CanvasRenderer, SVGRenderer]);

// Okabe and Ito's colours, that colour-blind readers tell apart, in an order that keeps neighbours different.
export const PALETTE = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#7a5195', '#8c8c00', '#555555'];
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
  new ResizeObserver(() => chart.resize()).observe(element);
  return chart;
}

export function redraw(chart, option) {
  chart.setOption({ ...BASE, ...option }, { notMerge: true });
}

/** The text of an SVG; needs no page. */
export function toSvg(option, width, height) {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  chart.setOption({ ...BASE, ...option, tooltip: undefined, dataZoom: undefined });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg.replaceAll('dominant-baseline="central"', 'dy="0.35em"');  // the same, for converters that do not know it
}

/** Where nothing measures texts, as in Node: the widths of a wide font, so that no other cuts them off. */
export function assumeWideTexts() {
  setPlatformAPI({ measureText: (text, font) => ({ width: 0.61 * text.length * Number(/([\d.]+)px/.exec(font)?.[1] ?? 12) }) });
}
