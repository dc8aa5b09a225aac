// The answer that the page opens with: which design is best where designs differ most, by how much, what it costs and what binds it.
import { stretchesBelow } from './break_even.js';
import { namedValue, waitCauses } from './charts.js';
import { cellOf, element } from './dom.js';
import { formatShare, formatValue, isShare, quantityOf, unitOf } from './format.js';
import { allRows, compare, FASTEST, heldText, isLessBetter, isTime, isYield, mainMetricOf, matchingRows, stepTimeOf } from './selection.js';
import { mean } from './statistics.js';
import { judgedWhole, largestParts, wholesOf } from './workloads.js';

const MOST_ROWS = 10;
const SAME = 1e-4;      // designs that differ by less are equally good
const MET = 1.01;       // times the baseline, up to which its time counts as met

const BINDING = [['per_rank_mean_s.compute', 'compute'], ['per_rank_mean_s.reconfiguration_wait', 'circuits'],
  ['per_rank_mean_s.peer_wait', 'peers'],
  ...['tp', 'cp', 'ep', 'dp', 'pp', 'other'].map((name) => [`communication.${name}.exposed_s`, `${name} exposed`])];

const meanOf = (table, name, rows) => {
  const values = Array.from(rows, (row) => table.get(name)?.values[row] ?? NaN).filter((value) => !Number.isNaN(value));
  return values.length > 0 ? mean(values) : NaN;
};

const share = ({ label, share: of }) => `${label} ${formatShare(of, 2).replace(' ', '\u00a0')}`;

/** What takes most of the time of a rank (of served requests: of the time to the first token; of reinforcement learning: of a step), mean of these rows: "compute 71 %, dp exposed 20 %"; '' where that is not known. */
export function bindingOf(table, rows) {
  const whole = judgedWhole(table);
  return whole ? largestParts(table, rows, whole).slice(0, 2).filter((part) => part.share > 0.005).map(share).join(', ') : bindingOfRanks(table, rows);
}

// Whether parts of the whole run beside each other, so that their shares come to more than all of it.
const hasOverlap = (table, rows) => rows.some((row) => largestParts(table, [row], judgedWhole(table)).reduce((sum, part) => sum + part.share, 0) > 1.001);

// The cause of most of the waits for peers is named where it is known: "peers (pipeline bubble)".
function peersLabel(table, rows) {
  const causes = waitCauses(table).map(({ cause, column }) => ({ cause, seconds: meanOf(table, column.name, rows) })).filter(({ seconds }) => seconds > 0);
  return causes.length === 0 ? 'peers' : `peers (${causes.reduce((most, one) => (one.seconds > most.seconds ? one : most)).cause})`;
}

function bindingOfRanks(table, rows) {
  const parts = BINDING.map(([name, label]) => ({ label: label === 'peers' ? peersLabel(table, rows) : label, seconds: meanOf(table, name, rows) })).filter(({ seconds }) => seconds > 0);
  const whole = ['compute', 'exposed_communication', 'reconfiguration_wait', 'peer_wait', 'detection', 'idle']
    .map((part) => meanOf(table, `per_rank_mean_s.${part}`, rows)).filter((seconds) => seconds > 0).reduce((sum, seconds) => sum + seconds, 0);
  if (whole === 0) return '';
  const largest = parts.sort((a, b) => b.seconds - a.seconds).slice(0, 2).filter(({ seconds }) => seconds > 0.005 * whole);
  return largest.map(({ label, seconds }) => share({ label, share: seconds / whole })).join(', ');
}

// The value along the axis at which the designs lie furthest apart, and whether they lie apart anywhere.
function whereTheyDiffer({ series, xs }) {
  const apart = xs.map((x) => {
    const values = series.flatMap(({ points }) => points.filter((point) => point.x === x).map((point) => point.mean));
    return values.length < 2 ? 0 : (Math.max(...values) - Math.min(...values)) / Math.max(Math.abs(Math.min(...values)), 1e-300);
  });
  const most = Math.max(...apart);
  return { at: xs[apart.indexOf(most)], differ: most > SAME };
}

// Up to which value along the axis the design meets the baseline.
function breakEvenOf(table, rows, selection, name) {
  const delays = table.get(selection.x)?.numeric && unitOf(selection.x)?.symbol === 's';
  if (selection.baseline === '' || selection.baseline === FASTEST || !delays || selection.series === '') return undefined;
  const { series, logX } = compare(table, rows, selection);
  const points = series.find((one) => one.name === name)?.points ?? [];
  const [first] = points.length > 1 ? stretchesBelow(points, MET, logX) : [];
  if (first === undefined || first[0] > points[0].x) return { text: 'never' };
  return { text: first[1] >= points.at(-1).x ? `all of ${formatValue(points.at(-1).x, selection.x)}` : formatValue(first[1], selection.x, 3) };
}

/** The designs of a comparison at one value of its axis: [{ name, value, rows }]; that value, if there is an axis, and whether they differ anywhere. */
export function designsOf(table, rows, selection) {
  const own = { ...selection, baseline: '' };
  const comparison = compare(table, rows, own);
  const shown = matchingRows(table, rows, selection.fixed);
  if (selection.series === '') {
    const column = table.get(selection.x);
    const points = comparison.series[0]?.points ?? [];
    return { designs: points.map(({ x, mean: value }) => ({ name: x, value, rows: shown.filter((row) => column.values[row] === x) })), at: undefined };
  }
  const [names, axis] = [table.get(selection.series).values, table.get(selection.x).values];
  // Along names there is no place to compare at: each pair is a design.
  if (!comparison.numeric && !names.includes(selection.baseline)) {
    const pairs = comparison.series.flatMap(({ name, points }) => points.map(({ x, mean: value }) => ({
      name: `${namedValue(selection.series, name)}, ${namedValue(selection.x, x)}`, value, rows: shown.filter((row) => names[row] === name && axis[row] === x) })));
    return { designs: pairs, at: undefined };
  }
  const { at, differ } = whereTheyDiffer(comparison);
  const designs = comparison.series.flatMap(({ name, points }) => {
    const point = points.find(({ x }) => x === at);
    if (point === undefined) return [];
    const own = shown.filter((row) => (names[row] === name || (Number.isNaN(names[row]) && typeof name === 'string' && !names.includes(name)))
      && (axis[row] === at || Number.isNaN(axis[row])));
    return [{ name, value: point.mean, rows: own }];
  });
  return { designs, at, differ };
}

// "a, b and c".
const listed = (names) => (names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`);

// A name in a sentence: one with a comma is in quotation marks.
const inSentence = (text) => (name) => (/,|\band\b/.test(text(name)) ? `“${text(name)}”` : text(name));

// Where another design is best, in words: "ring up to 5 ms, stragglar from 10 ms on"; '' where one is best everywhere.
function winnersAlong({ series, xs, numeric }, selection, text) {
  if (!numeric || xs.length < 2) return '';
  const better = isLessBetter(selection.metric) ? (a, b) => a < b : (a, b) => a > b;
  const stretches = [];
  for (const x of xs) {
    const there = series.flatMap(({ name, points }) => points.filter((point) => point.x === x).map((point) => ({ name, value: point.mean })));
    if (there.length < 2) continue;
    const { value: most } = there.reduce((best, one) => (better(one.value, best.value) ? one : best));
    const winners = there.filter(({ value }) => Math.abs(value - most) <= SAME * Math.abs(most)).map(({ name }) => name);
    const last = stretches.at(-1);
    const held = last?.names.filter((name) => winners.includes(name)) ?? [];
    if (held.length > 0) Object.assign(last, { names: held, to: x });
    else stretches.push({ names: winners, from: x, to: x });
  }
  if (stretches.length < 2) return '';
  if (stretches.length > 3) return `Which is best changes ${stretches.length - 1} times along ${quantityOf(selection.x)}.`;
  const value = (x) => formatValue(x, selection.x);
  const words = stretches.map(({ names, from, to }, i) => `${listed(names.map(text))} ${i === 0 ? `up to ${value(to)}` : i === stretches.length - 1 ? `from ${value(from)} on` : `from ${value(from)} to ${value(to)}`}`);
  return `Which is best depends on ${quantityOf(selection.x)}: ${words.join(', ')}.`;
}


function sentenceOf({ best, others, base, metric, text, where }) {
  const less = isLessBetter(metric);
  const value = `${quantityOf(metric)} ${formatValue(best[0].value, metric)}`;
  const head = best.length > 1 ? `${best.length > 3 ? `${best.length} designs` : listed(best.map(({ name }) => text(name)))} are equally good${where}: ${value}` : `${text(best[0].name)} is best${where}: ${value}`;
  const of = base && !best.includes(base) ? base : undefined;
  if (of) return `${head}, ${formatShare(Math.abs(1 - best[0].value / of.value))} ${less ? 'less' : 'more'} than ${text(of.name)}.`;
  const [next] = others;
  return next === undefined ? `${head}.` : `${head}; the next, ${text(next.name)}, has ${formatShare(Math.abs(next.value / best[0].value - 1))} ${less ? 'more' : 'less'}.`;
}

// Of the months of one job: their goodput, and what takes most of the rest.
function answerOfMonths(table, row, name) {
  const months = wholesOf(table).find(({ shares }) => shares);
  const cell = (column) => [quantityOf(column), formatValue(table.get(column)?.values[row] ?? NaN, column)];
  const lost = largestParts(table, [row], months).filter((part) => part.label !== months.parts[0].name && part.share > 0).slice(0, 2).map(share).join(', ');
  const columns = [['job', name], cell('goodput.share'), cell('goodput.ettr_share'), cell('goodput.steps_per_day'), ['most of the rest', lost]].filter(([, text]) => text !== '' && text !== '–');
  return { title: `${name}: goodput ${columns[1][1]}.`, held: '', note: 'Goodput counts all GPUs, spares too; productive time is that of the job.', head: columns.map(([head]) => head),
    rows: [{ winner: false, cells: columns.map(([, text]) => text) }] };
}

// Of one run: what it is judged by, and what takes most of that.
function answerOfOne(table, row) {
  const whole = judgedWhole(table)?.whole;
  const metric = [whole, stepTimeOf(table)].find((name) => Number.isFinite(table.get(name)?.values[row]));
  const name = ['name', 'scenario'].map((column) => table.get(column)?.values[row]).find((text) => typeof text === 'string' && text !== '');
  if (name !== undefined && mainMetricOf(table)?.startsWith('goodput.')) return answerOfMonths(table, row, name);
  if (metric === undefined || name === undefined || !isTime(metric)) return undefined;
  const columns = [['run', name], [quantityOf(metric), formatValue(table.get(metric).values[row], metric)],
    ['cost', formatValue(meanOf(table, 'cost.usd', [row]), 'usd')], ['power', formatValue(meanOf(table, 'cost.power_w', [row]), 'power_w')],
    [whole ? `most of ${quantityOf(whole)}` : 'most of its time', bindingOf(table, [row])]].filter(([, cell]) => cell !== '' && cell !== '–');
  return { title: `${name}: ${quantityOf(metric)} ${columns[1][1]}.`, held: '', note: '', head: columns.map(([head]) => head), rows: [{ winner: false, cells: columns.map(([, cell]) => cell) }] };
}

/** { title, held, note, head, rows: [{ cells, winner }] }; undefined where there are several runs, but not two designs to compare. */
export function answerOf({ table, rows = allRows(table), selection }) {
  const { metric } = selection;
  if (table.rows === 1) return rows.length === 1 ? answerOfOne(table, rows[0]) : undefined;
  if (metric === undefined || !(isTime(metric) || isShare(metric) || isYield(metric))) return undefined;
  if (table.get(selection.series || selection.x)?.role !== 'parameter') return undefined;
  const { designs, at, differ } = designsOf(table, rows, selection);
  if (designs.length < 2) return undefined;
  const parameter = selection.series || selection.x;
  const text = (name) => (typeof name === 'string' ? name : `${quantityOf(parameter)} ${formatValue(name, parameter)}`);
  const order = [...designs].sort((a, b) => (isLessBetter(metric) ? a.value - b.value : b.value - a.value));
  const best = order.filter(({ value }) => Math.abs(value - order[0].value) <= SAME * Math.abs(order[0].value));
  const base = designs.find(({ name }) => name === selection.baseline);
  const shown = order.slice(0, MOST_ROWS);
  if (base && !shown.includes(base)) shown.push(base);
  const against = base ?? order[0];
  const columns = [
    ['design', (design) => text(design.name)],
    [quantityOf(metric), (design) => formatValue(design.value, metric)],
    [`over ${text(against.name)}`, (design) => (design === against ? '–' : `${design.value >= against.value ? '+' : '−'}${formatShare(Math.abs(design.value / against.value - 1))}`)],
    ['within 1 % up to', (design) => (design === base ? '–' : breakEvenOf(table, rows, selection, design.name)?.text ?? '')],
    ['cost', (design) => formatValue(meanOf(table, 'cost.usd', design.rows), 'usd')],
    ['power', (design) => formatValue(meanOf(table, 'cost.power_w', design.rows), 'power_w')],
    [judgedWhole(table) ? `most of ${quantityOf(judgedWhole(table).whole)}${hasOverlap(table, shown.flatMap((design) => design.rows)) ? ' (phases overlap)' : ''}` : 'most of its time', (design) => bindingOf(table, design.rows)],
  ].map(([name, of]) => ({ name, cells: shown.map(of) })).filter(({ cells }) => cells.some((cell) => cell !== '' && cell !== '–'));
  const place = at === undefined ? '' : `${quantityOf(selection.x)} ${formatValue(at, selection.x)}`;
  const where = place === '' ? '' : differ ? ` at ${place}` : ` at each ${quantityOf(selection.x)}, as at ${formatValue(at, selection.x)}`;
  return {
    title: [winnersAlong(compare(table, rows, { ...selection, baseline: '' }), selection, inSentence(text)), sentenceOf({ best, others: order.filter((design) => !best.includes(design)), base, metric, text: inSentence(text), where })].filter(Boolean).join(' '),
    held: heldText(selection.fixed),
    note: [at === undefined ? '' : `Shown at ${place}, ${differ ? 'where the designs differ most' : 'as the designs differ nowhere'}.`, order.length > shown.length ? `${order.length - shown.length} further designs are in the figure below.` : ''].filter(Boolean).join(' '),
    head: columns.map(({ name }) => name),
    rows: shown.map((design, i) => ({ winner: best.includes(design), cells: columns.map(({ cells }) => cells[i]) })),
  };
}

/** The section of the answer; update() makes it anew. */
export class Answer {
  constructor(parent, make) {
    this.make = make;
    this.section = element('section', { id: 'answer' });
    parent.append(this.section);
    this.update();
  }

  update() {
    const answer = this.make();
    this.section.hidden = answer === undefined;
    if (answer === undefined) return;
    const head = element('tr', {}, ...answer.head.map((name) => element('th', {}, name)));
    const row = ({ cells, winner }) => element('tr', { className: winner ? 'winner' : '' }, ...cells.map((cell, i) => cellOf(cell, winner && i === 0 ? `★ ${cell}` : cell)));
    this.section.replaceChildren(element('header', {}, element('h2', {}, answer.title)),
      element('p', { className: 'held' }, answer.held ? `with ${answer.held}` : ''),
      element('div', { className: 'table' }, element('table', {}, element('thead', {}, head), element('tbody', {}, ...answer.rows.map(row)))),
      element('p', { className: 'note' }, answer.note));
  }
}
