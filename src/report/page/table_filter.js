// What a filter lets through, and in which order rows are shown.

const NUMBER = '[-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][-+]?\\d+)?';
const COMPARISON = new RegExp(`^(<=|>=|<|>|=)\\s*(${NUMBER})$`);
const RANGE = new RegExp(`^(${NUMBER})\\s*\\.\\.\\s*(${NUMBER})$`);
const COMPARE = {
  '<': (a, b) => a < b, '<=': (a, b) => a <= b, '>': (a, b) => a > b, '>=': (a, b) => a >= b, '=': (a, b) => a === b,
};

/** value -> whether it passes; undefined when the filter cannot be read. Of numbers: "> 1e-3", "1..2", "= 5" or "5". */
export function predicateOf(column, filter) {
  const text = filter.trim();
  if (text === '') return () => true;
  if (!column.numeric) {
    const wanted = text.toLowerCase();
    return (value) => String(Number.isNaN(value) ? '' : value).toLowerCase().includes(wanted);
  }
  const range = RANGE.exec(text);
  if (range) return (value) => value >= Number(range[1]) && value <= Number(range[2]);
  const [, sign, bound] = COMPARISON.exec(text) ?? COMPARISON.exec(`=${text}`) ?? [];
  return sign && ((value) => COMPARE[sign](value, Number(bound)));
}

/** The rows that pass the filters, { column name: text }; filters that cannot be read let all through. */
export function filterRows(table, filters) {
  const tests = Object.entries(filters).flatMap(([name, text]) => {
    const column = table.get(name);
    const passes = predicateOf(column, text);
    return passes ? [(row) => passes(column.values[row])] : [];
  });
  return Uint32Array.from({ length: table.rows }, (_, i) => i).filter((row) => tests.every((test) => test(row)));
}

/** The rows by a column's values; what is absent comes last, equal ones stay in order. */
export function sortRows(column, rows, descending) {
  const absent = (value) => Number.isNaN(value);
  const sign = descending ? -1 : 1;
  return rows.slice().sort((p, q) => {
    const [a, b] = [column.values[p], column.values[q]];
    if (absent(a) || absent(b)) return Number(absent(a)) - Number(absent(b)) || p - q;
    return sign * (a < b ? -1 : a > b ? 1 : 0) || p - q;
  });
}
