// How names and numbers read. Units are told by the end of a name, as everywhere in the project: `makespan_s`.

const PREFIXES = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n'], [1e-12, 'p']];

// End of a name -> symbol, and how much of the symbol's unit one is.
const UNITS = {
  s: ['s', 1], ms: ['s', 1e-3], us: ['s', 1e-6], ns: ['s', 1e-9], ps: ['s', 1e-12],
  bytes: ['B', 1], mb: ['B', 1e6], gb: ['B', 1e9], gb_per_s: ['B/s', 1e9], per_s: ['/s', 1],
  usd: ['$', 1], w: ['W', 1], j: ['J', 1], db: ['dB', 1],
};

const HOUR = 3600;  // s
const DAY = 24 * HOUR;

const ENDS = Object.keys(UNITS).sort((a, b) => b.length - a.length);  // "gb_per_s" before "s"

/** "1 rank", "2 ranks"; `text`: how the number reads. */
export const counted = (count, thing, text = `${count}`) => `${text} ${thing}${count === 1 ? '' : 's'}`;

/** The unit of a name, or undefined: { symbol, scale }. */
export function unitOf(name) {
  if (name.endsWith('.count')) return undefined;  // of times: "ttft_s.count"
  for (const segment of name.split(/[./]/).reverse()) {
    const end = ENDS.find((unit) => segment === unit || segment.endsWith(`_${unit}`));
    if (end) return { symbol: UNITS[end][0], scale: UNITS[end][1] };
  }
  return undefined;
}

/** A name for people: "/cluster/nic/port_gb_per_s" -> "port", "per_rank_mean_s.compute" -> "per rank mean: compute". */
export function labelOf(name) {
  const segments = name.startsWith('/') ? name.split('/').slice(-1) : name.split('.');
  const plain = segments.filter((segment) => segments.length === 1 || !(segment in UNITS)).map((segment) => {
    const end = ENDS.find((unit) => segment.endsWith(`_${unit}`));
    return (end && end !== 'per_s' ? segment.slice(0, -end.length - 1) : segment).replaceAll('_', ' ');
  });
  return plain.join(': ');
}

// Quantities that names alone do not say.
const QUANTITIES = { steady_iteration_s: 'step time', iteration_s: 'step time', 'iteration_s.0': 'first step',
  reconfiguration_ms: 'OCS reconfiguration delay', reconfiguration_us: 'OCS reconfiguration delay', port_gb_per_s: 'rate of a NIC port',
  'goodput.share': 'goodput', 'goodput.ettr_share': 'productive time', mfu: 'model FLOPs utilisation', 'goodput.steps_per_day': 'steps a day', 'serving.rate_search.greatest.per_s': 'greatest rate within the SLO', per_s: 'arrival rate',
  'cost.kwh_per_million_output_tokens': 'energy of 10⁶ output tokens, kWh', 'serving.steady_output_tokens_per_s': 'output tokens per second while requests come', engines: 'generation engines' };

/** A quantity for people: "/cluster/rail/reconfiguration_ms" is "OCS reconfiguration delay"; else labelOf(). */
export function quantityOf(name) {
  const [, time, of] = /^serving\.(ttft|tpot|itl|e2e)_s\.(p\d+|mean|most)$/.exec(name) ?? [];
  if (time) return of === 'mean' ? `mean ${time.toUpperCase()}` : `${time.toUpperCase()}, ${of}`;
  if (name.startsWith('rl.mean.')) return name === 'rl.mean.step_s' ? 'RL step' : labelOf(name.slice('rl.mean.'.length));
  return QUANTITIES[name] ?? QUANTITIES[name.split('/').at(-1)] ?? labelOf(name);
}

/** What times of hours and more are told in: { text: "h" or "d", seconds }; undefined for shorter ones and other quantities. */
export function longUnit(name, values) {
  const unit = unitOf(name);
  if (unit?.symbol !== 's') return undefined;
  const most = Math.max(0, ...values.filter(Number.isFinite).map(Math.abs)) * unit.scale;
  return most >= 2 * DAY ? { text: 'd', seconds: DAY } : most >= 2 * HOUR ? { text: 'h', seconds: HOUR } : undefined;
}

// Of decades so many that their ends would have four zeros in the greatest unit: the prefix in which both ends are short.
function shortest(usable, values) {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  const [low, high] = [Math.min(...positive), Math.max(...positive)];
  if (!(high / low >= 1e5)) return undefined;
  const zeros = ([size]) => Math.max(Math.log10(high / size), -Math.log10(low / size));
  return usable.reduce((best, one) => (zeros(one) < zeros(best) - 1e-9 ? one : best));
}

/** The prefix and the unit in which values of a name are short: { text: "ms", of(value): text }; undefined without a unit. */
export function axisUnit(name, values, log = false) {
  const unit = unitOf(name);
  const long = log ? undefined : longUnit(name, values);
  if (long) return { text: long.text, of: (value, digitsOfAxis = 3) => digits((value * unit.scale) / long.seconds, digitsOfAxis) };
  const most = Math.max(...values.filter(Number.isFinite).map(Math.abs)) * (unit?.scale ?? 1);
  if (!unit || isShare(name) || unit.symbol === '$' || unit.symbol === 'dB' || !(most > 0) || most === Infinity) return undefined;
  const small = unit.symbol === 's' || unit.symbol === 'J' || unit.symbol === 'W';
  const usable = PREFIXES.filter(([size]) => (unit.symbol !== 's' || size <= 1) && (small || size >= 1));
  const wide = log ? shortest(usable, values.map((value) => Math.abs(value) * unit.scale)) : undefined;
  const [size, prefix] = wide ?? usable.find(([s]) => most >= s) ?? usable.at(-1);
  return { text: `${prefix}${unit.symbol}`, of: (value, digitsOfAxis = 3) => digits((value * unit.scale) / size, digitsOfAxis) };
}

/** Whether a name is of a part of a whole, from 0 to 1: "reconfigurations.hidden_share", "mfu". */
export const isShare = (name) => /(^|[._])(share|mfu|utilisation|utilization|slot_use|host_availability)$/.test(name);

function digits(value, most) {
  return Number(value.toPrecision(most)).toString();
}

// The words of a value with members, as a sweep may set one: {"mode": "on_demand", "name": "opus"} is "on_demand opus".
const leaves = (value, key = '') => (value === null || typeof value !== 'object'
  ? (typeof value === 'string' || key === '' ? String(value) : `${key} ${value}`)
  : Object.entries(value).map(([name, inner]) => leaves(inner, Array.isArray(value) ? '' : name)).join(' '));

function plainText(text) {
  if (!/^[{[]/.test(text)) return text;
  try {
    return leaves(JSON.parse(text));
  } catch {
    return text;
  }
}

/** Four significant digits and a unit: formatValue(0.015, 'makespan_s') is "15 ms". */
export function formatValue(value, name = '', most = 4) {
  if (typeof value === 'string') return plainText(value);
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (isShare(name)) return formatShare(value, most);
  const unit = unitOf(name);
  if (!unit) return Math.abs(value) < 1e7 && Number.isInteger(value) ? String(value) : digits(value, most);
  const scaled = value * unit.scale;
  const long = longUnit(name, [value]);
  if (long) return `${digits(scaled / long.seconds, most)} ${long.text}`;
  const dollar = unit.symbol === '$';
  if (unit.symbol === 'dB') return `${digits(value, most)} dB`;
  const rounded = Math.abs(Number(scaled.toPrecision(most)));
  const usable = PREFIXES.filter(([size]) => (dollar || unit.symbol.startsWith('B') || unit.symbol === '/s' ? size >= 1 : true) && (unit.symbol !== 's' || size <= 1));
  const [size, prefix] = scaled === 0 ? [1, ''] : usable.find(([s]) => rounded >= s) ?? usable.at(-1);
  return dollar ? `$${digits(scaled / size, most)}${prefix}` : `${digits(scaled / size, most)} ${prefix}${unit.symbol}`;
}

/** A share as a percentage of three digits: 0.0123 is "1.23 %". */
export function formatShare(share, most = 3) {
  if (share === null || share === undefined || Number.isNaN(share)) return '–';
  return `${digits(100 * share, most)} %`;
}

// A text that a spreadsheet would take for a formula gets an apostrophe before it; numbers stay as they are.
const inert = (text) => (/^[=+\-@\t\r\n]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text);

/** Rows of cells as CSV. */
export function toCsv(rows) {
  const cell = (value) => {
    const text = value === null || value === undefined || Number.isNaN(value) ? '' : inert(String(value));
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(',')).join('\n') + '\n';
}
