// How the lines, bars and points of a figure look, so that no two of up to 72 series are alike: a colour, and a kind of
// stroke and a mark that stay different where colours come again.

// Okabe and Ito's colours, that colour-blind readers tell apart, in an order that keeps neighbours different.
export const PALETTE = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#7a5195', '#8c8c00', '#555555'];

const STROKES = ['solid', [8, 4], [2, 3], [10, 3, 2, 3]];
// Outlines, of which ECharts has `circle`, `rect`, `triangle` and `diamond`; the others are paths.
const MARKS = ['circle', 'rect', 'triangle', 'diamond', 'path://M0 0L4 8L8 0Z', 'path://M3 0H5V3H8V5H5V8H3V5H0V3H3Z',
  'path://M1 0L4 3L7 0L8 1L5 4L8 7L7 8L4 5L1 8L0 7L3 4L0 1Z', 'path://M4 0L5 3H8L5.6 4.8L6.5 8L4 6L1.5 8L2.4 4.8L0 3H3Z'];

// A colour as far from white as `strength` says, of 1 for the colour itself.
function tint(colour, strength) {
  const part = (at) => Math.round(255 - strength * (255 - Number.parseInt(colour.slice(at, at + 2), 16)));
  return `#${[1, 3, 5].map((at) => part(at).toString(16).padStart(2, '0')).join('')}`;
}

/** The look of series `index`: { color, stroke, symbol, fill }; `fill` is of a bar, whose border is `color`. */
export function lookOf(index) {
  const color = PALETTE[index % PALETTE.length];
  const round = Math.floor(index / PALETTE.length) % STROKES.length;
  return { color, stroke: STROKES[round], symbol: MARKS[index % MARKS.length], fill: tint(color, [1, 0, 0.45, 0.2][round]) };
}

const MOST_MARKS = 14;  // of a line: more become a band

/** Points of a line with a mark at some of them only, at others for each series, where they are many. */
export function withMarks(data, index, symbol) {
  const every = Math.ceil(data.length / MOST_MARKS);
  if (every === 1) return data;
  return data.map((value, i) => (i % every === (index * 3) % every ? { value, symbol } : { value, symbol: 'none' }));
}
