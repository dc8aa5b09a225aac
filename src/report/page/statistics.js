// Plain arithmetic on lists of numbers.

export function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Sample standard deviation; 0 of a single value. */
export function deviation(values) {
  if (values.length < 2) return 0;
  const middle = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1));
}

/** { low, high } */
export function range(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return { low, high };
}

/** A step of 1, 2 or 5 times a power of ten, and the multiples of it around the values: { low, high, step }. */
export function niceRange(low, high, parts = 5) {
  const span = high > low ? high - low : Math.abs(high) || 1;
  const power = 10 ** Math.floor(Math.log10(span / parts));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power * parts >= span * 0.999);
  return { low: Math.floor(low / step + 1e-9) * step, high: Math.ceil(high / step - 1e-9) * step, step };
}

/** How many digits tell the values of an axis apart: three, or more where they lie close together. */
export function digitsFor(values) {
  const { low, high } = range(values.filter((value) => Number.isFinite(value)));
  const most = Math.max(Math.abs(low), Math.abs(high));
  return high > low ? Math.min(9, Math.max(3, 2 + Math.ceil(Math.log10(most / (high - low))))) : 4;
}

/** The distinct values without those that are absent (NaN): numbers ascending, texts in the order in which they come. */
export function distinct(values) {
  const found = [...new Set(values)].filter((value) => !Number.isNaN(value));
  return found.every((value) => typeof value === 'number') ? found.sort((a, b) => a - b) : found;
}

/** Whether an axis should be logarithmic: all positive, and over two decades (or another `ratio`) or more. */
export function spansDecades(values, ratio = 100) {
  const { low, high } = range(values);
  return low > 0 && high / low >= ratio && high < Infinity;
}

/** Whether values double: whole powers of two, four of them or more. */
export const doubles = (values) => values.length >= 4 && values.every((value) => value >= 1 && Number.isInteger(Math.log2(value)));

/** The indices of the points that no other beats: less x and less y is better. By ascending x. */
export function paretoFront(points) {
  const order = points.map((_, i) => i).sort((a, b) => points[a].x - points[b].x || points[a].y - points[b].y);
  let best = Infinity;
  return order.filter((i) => {
    if (points[i].y >= best) return false;
    best = points[i].y;
    return true;
  });
}

/** Corners of the cumulative distribution: [[value, share that is at most this]]; `values` ascend, each `counts` times. */
export function cumulative(values, counts) {
  const all = counts.reduce((sum, count) => sum + count, 0);
  const corners = [];
  let seen = 0;
  values.forEach((value, i) => {
    seen += counts[i];
    if (values[i + 1] !== value) corners.push([value, seen / all]);
  });
  return corners;
}
