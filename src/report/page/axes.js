// Axes, legends and the places of charts, as all figures have them.
import { axisUnit, formatValue, labelOf, longUnit, quantityOf, unitOf } from './format.js';
import { digitsFor, doubles, niceRange } from './statistics.js';

const SPLIT = { lineStyle: { color: '#e8ebef' } };
const LETTER = 6.6;  // the width of an average letter of 12 pixels
const ITEM = 46;     // of a legend: its mark and the gap to the next
const ROW = 21;

export const textWidth = (text) => LETTER * [...String(text)].length;

/** An axis is named by its quantity and, where `values` choose one, its unit, which its numbers then leave out. */
export function axis(name, label, more, values = [], digits = 3) {
  const unit = axisUnit(name, values, more?.type === 'log');
  return {
    name: (label ?? quantityOf(name)) + (unit && label !== '' ? `, ${unit.text}` : ''),
    nameLocation: 'middle',
    nameGap: 34,
    axisLabel: { formatter: (value) => (unit && label !== '' ? unit.of(value, digits) : formatValue(value, name, digits)), hideOverlap: true },
    splitLine: SPLIT,
    ...more,
  };
}

/** The horizontal axis over the numbers of a comparison. */
export function numberAxis(name, { xs, logX }, more) {
  const two = logX && doubles(xs);
  return axis(name, undefined, { type: logX ? 'log' : 'value', scale: true, ...(two ? { logBase: 2, min: xs[0], max: xs.at(-1) } : {}), ...more }, xs);
}

/** The vertical axis of a metric; its labels tell `values` apart. */
export function valueAxis(name, { log, label, values = [] }, more) {
  const digits = digitsFor(values);
  const { axisLabel, ...whole } = log || more?.axisLabel ? {} : longTicks(name, values);
  return axis(name, label, { ...whole, type: log ? 'log' : 'value', nameGap: 62, scale: log, ...more }, more?.axisLabel ? [] : values, digits);
}

/** Ticks of an axis of seconds that reaches hours or days, all in one unit: whole ones, and seconds on a logarithmic axis; {} where it does not. */
export function longTicks(name, values, log = false) {
  const long = longUnit(name, values);
  if (!long) return {};
  const { scale } = unitOf(name);
  if (log) return { axisLabel: { formatter: (value) => `${Number((value * scale).toPrecision(4))} s`, hideOverlap: true } };
  const inName = long.seconds / scale;
  const { high, step } = niceRange(0, Math.max(0, ...values.filter(Number.isFinite)) / inName);
  return { min: 0, max: high * inName, interval: step * inName, axisLabel: { formatter: (value) => `${Number((value / inName).toPrecision(4))} ${long.text}`, hideOverlap: true } };
}

/** Names of categories at a horizontal axis, turned and broken so that none is cut off. */
export function categoryAxis(name, values, width) {
  const texts = values.map((value) => formatValue(value, name));
  const room = width / Math.max(texts.length, 1);
  const widest = Math.max(0, ...texts.map(textWidth));
  // Texts break between words only: where a word is too wide, all are turned.
  const turned = Math.max(0, ...texts.flatMap((text) => text.split(' ').map(textWidth))) > room - 6 || widest > 3 * room;
  return {
    axis: axis(name, undefined, {
      type: 'category', data: texts, nameGap: turned ? Math.min(widest, 150) * 0.7 + 26 : widest > room - 8 ? 50 : 34,
      axisLabel: turned ? { rotate: 40, lineHeight: 13, interval: texts.length > 60 ? 'auto' : 0, width: 150, overflow: 'break' }
        : { width: Math.max(room - 6, 30), lineHeight: 14, overflow: 'break', interval: texts.length > 60 ? 'auto' : 0 },
    }),
    bottom: turned ? Math.min(widest, 150) * 0.7 + 54 : widest > room - 8 ? 78 : 62,
  };
}

/**
 * A legend in as many rows as its names need: { option, height }; none where the only one has no name. Numbers alone, as values
 * of the parameter `of` are, say of what they are.
 */
export function legendFor(names, width, more = {}, of = '') {
  if (names.every((name) => name === '')) return { option: undefined, height: 22 };
  const text = (name) => (of !== '' && name !== '' && Number.isFinite(Number(name)) ? `${labelOf(of)} ${name}` : name);
  const room = width - 24;
  let rows = 1;
  let used = 0;
  for (const name of names) {
    const item = Math.min(textWidth(text(name)) + ITEM, room);
    if (used + item > room) {
      ++rows;
      used = 0;
    }
    used += item;
  }
  return { option: { type: 'plain', top: 2, left: 12, right: 12, itemGap: 12, itemWidth: 28, data: names, formatter: text, ...more }, height: rows * ROW + 12 };
}

/** Places of `count` charts of one height, side by side as far as the width goes: { grids, columns, height }. */
export function gridsFor(count, width, top, chartHeight, left = 84) {
  const columns = Math.max(1, Math.min(count, Math.floor(width / 340), 3));
  const cell = width / columns;
  const grids = Array.from({ length: count }, (_, i) => ({
    left: (i % columns) * cell + left, width: cell - left - 22,
    top: top + Math.floor(i / columns) * (chartHeight + 92) + 30, height: chartHeight,
  }));
  return { grids, columns, height: top + Math.ceil(count / columns) * (chartHeight + 92) + 8 };
}

/** A text over each of the charts of a figure. */
export function panelTitles(grids, titles) {
  return grids.map(({ left, top, width }, i) => ({
    text: titles[i], left: left - 4, top: top - 27, padding: 0,
    textStyle: { fontSize: 12.5, fontWeight: 'bold', color: '#3c4450', width: width + 10, overflow: 'truncate' },
  }));
}

/** What stands in place of a figure that has nothing to show. */
export const emptyOption = (text) => ({ title: [{ text, left: 'center', top: 'middle', textStyle: { fontSize: 13, fontWeight: 'normal', color: '#5d6773' } }] });

export function zoomFor(count) {
  return count > 40 ? [{ type: 'inside' }, { type: 'slider', bottom: 8, height: 18 }] : [{ type: 'inside', zoomOnMouseWheel: 'ctrl' }];
}
