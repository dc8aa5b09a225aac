// Columns as the report packs them: constant, codes into a list, or numbers; the latter two deflated, in base64.
import { heldText } from './selection.js';

async function inflate(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// All first bytes, then all second bytes, ...: back to one number after the other.
function joinBytes(bytes, width) {
  const count = bytes.length / width;
  const joined = new Uint8Array(bytes.length);
  for (let k = 0; k < width; ++k) {
    for (let i = 0, from = k * count; i < count; ++i) joined[i * width + k] = bytes[from + i];
  }
  return joined.buffer;
}

const ARRAYS = { codes8: Uint8Array, codes16: Uint16Array, codes32: Uint32Array, float32: Float32Array, float64: Float64Array };

/** The values of one packed column: a Float64Array when all are numbers (NaN: none), else an array of texts. */
async function decodeValues(packed, rows) {
  if (packed.encoding === 'constant') {
    const value = packed.value ?? NaN;
    return typeof value === 'number' ? new Float64Array(rows).fill(value) : new Array(rows).fill(value);
  }
  const type = ARRAYS[packed.encoding];
  const numbers = new type(joinBytes(await inflate(packed.data), type.BYTES_PER_ELEMENT));
  if (!packed.values) return Float64Array.from(numbers);
  const values = packed.values.map((value) => value ?? NaN);
  if (values.every((value) => typeof value === 'number')) return Float64Array.from(numbers, (code) => values[code]);
  return Array.from(numbers, (code) => values[code]);
}

/** A packed table as { rows, columns: [{ name, role, numeric, values }], get(name) }. */
export async function decodeTable(packed) {
  const columns = await Promise.all(packed.columns.map(async ({ name, role, data }) => {
    const values = await decodeValues(data, packed.rows);
    return { name, role, numeric: values instanceof Float64Array, values };
  }));
  const byName = new Map(columns.map((column) => [column.name, column]));
  return { rows: packed.rows, columns, get: (name) => byName.get(name) };
}

// Where the windows of each point are: Map of row -> [begin, end).
function rangesOf({ rows, get }) {
  const ranges = new Map();
  const points = get('row')?.values ?? [];
  for (let i = 0, begin = 0; i < rows; ++i) {
    if (i + 1 < rows && points[i + 1] === points[i]) continue;
    ranges.set(points[i], [begin, i + 1]);
    begin = i + 1;
  }
  return ranges;
}

// The rows of a table alone for which `keeps(row)`, and the new number of each: { table, numbers }.
function subset(table, keeps) {
  const rows = Array.from({ length: table.rows }, (_, row) => row).filter(keeps);
  const columns = table.columns.map((column) => {
    const values = rows.map((row) => column.values[row]);
    return { ...column, values: column.numeric ? Float64Array.from(values) : values };
  });
  const byName = new Map(columns.map((column) => [column.name, column]));
  return { table: { rows: rows.length, columns, get: (name) => byName.get(name) }, numbers: new Map(rows.map((row, i) => [row, i])) };
}

// The points for which the parameters have one of the wanted values, or are absent; and their windows.
function restricted(table, windows, where) {
  const wanted = Object.entries(where).map(([name, values]) => [table.get(name).values, values]);
  const points = subset(table, (row) => wanted.every(([values, list]) => list.includes(values[row]) || Number.isNaN(values[row])));
  const rows = windows.get('row')?.values;
  const kept = subset(windows, (row) => points.numbers.has(rows[row])).table;
  const column = kept.get('row');
  if (column) column.values = column.values.map((row) => points.numbers.get(row));
  return { table: points.table, windows: kept };
}

// The distinct values of a column that is packed by codes.
const packedValues = (packed, name) => packed.columns.find((column) => column.name === name)?.data.values ?? [];

const LONGEST = 100;  // letters of a name: more has no place in a figure

/** A function that makes long texts short, different ones differently. */
export function shortener() {
  const known = new Map();
  const taken = new Set();
  return (text) => {
    if (typeof text !== 'string' || text.length <= LONGEST) return text;
    if (!known.has(text)) {
      const short = `${text.slice(0, LONGEST - 41)}…${text.slice(-40)}`;
      let unique = short;
      for (let n = 2; taken.has(unique); ++n) unique = `${short} (${n})`;
      taken.add(unique);
      known.set(text, unique);
    }
    return known.get(text);
  };
}

/** The document of a page with its tables unpacked; `where`: what all of its points have in common, by --where; with the lines of --series alone. */
export async function decodeDocument(document) {
  const traces = await Promise.all(document.traces.map(async (trace) => {
    const spans = await decodeTable(trace.spans);
    return { ...trace, spans, kinds: [...new Set(spans.get('kind').values)] };
  }));
  const { series, lines, baseline, where: conditions = {} } = document.choices;
  const where = Object.fromEntries(Object.entries(conditions).map(([name, value]) => [name, [value]]));
  // The baseline stays beside the lines that were asked for.
  const base = packedValues(document.table, series).find((value) => value !== null && String(value) === baseline);
  if (lines) where[series] = base === undefined || lines.includes(base) ? lines : [base, ...lines];
  const whole = { table: await decodeTable(document.table), windows: await decodeTable(document.windows) };
  const { table, windows } = Object.keys(where).length > 0 ? restricted(whole.table, whole.windows, where) : whole;
  const short = shortener();
  // Names alone: what went wrong, and other sentences, are read whole in the table.
  for (const column of table.columns) if (!column.numeric && (column.role === 'parameter' || column.name === 'name')) column.values = column.values.map(short);
  for (const trace of traces) trace.name = short(trace.name);
  const choices = { ...document.choices, baseline: short(baseline) };
  return { ...document, choices, table, windows: { ...windows, ranges: rangesOf(windows) }, traces, where: heldText(conditions) };
}
