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

/** The distinct values without those that are absent (NaN): numbers ascending, texts in the order in which they come. */
export function distinct(values) {
  const found = [...new Set(values)].filter((value) => !Number.isNaN(value));
  return found.every((value) => typeof value === 'number') ? found.sort((a, b) => a - b) : found;
}

/** Whether an axis should be logarithmic: all positive, and over two decades or more. */
export function spansDecades(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low > 0 && high / low >= 100 && high < Infinity;
}

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
