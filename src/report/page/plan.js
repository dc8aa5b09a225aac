// What a plan found: the answer, how sure it is, its ladder and map, and what cannot be.
import { axis, categoryAxis, textWidth } from './axes.js';
import { cellOf, element, lines } from './dom.js';
import { counted, formatShare, formatValue } from './format.js';
import { PALETTE } from './looks.js';

// Names whose ends have the units of what the objectives of a plan are.
const NAMES = {
  step: 'step_s', days: 'days', usd: 'usd', power_w: 'power_w', usd_per_trillion_tokens: 'usd', usd_per_million_tokens: 'usd',
  gpu_seconds_per_token: 'gpu_s', gpu_seconds_per_request: 'gpu_s',
};
const WORDS = {
  step: 'step time', days: 'days', usd: 'cost of the network', power_w: 'power of the network', usd_per_trillion_tokens: 'cost of 10^12 tokens',
  usd_per_million_tokens: 'cost of 10^6 tokens', gpu_seconds_per_token: 'GPU time of a token', gpu_seconds_per_request: 'GPU time of a request',
};
const MOST_ROWS = 10;
const MOST_TIES = 3;  // that the answer names
const SHADES = ['#eef6ee', '#c6dbef', '#6baed6', '#2171b5', '#08306b'];

export const objectiveText = (objective, value) => (value === null || value === undefined ? 'cannot run' : `${formatValue(value, NAMES[objective])}${objective === 'days' ? ' days' : ''}`);
const labelOf = ({ candidate }) => candidate.join('; ');
const moreText = (value, best) => (value === best ? 'best' : `+${formatShare(value / best - 1, 3)}`);

// What takes the place of which choice in candidates that are as good as the first.
function tiesText([best, ...others]) {
  const ties = others.filter(({ objectives }) => objectives[0] === best.objectives[0]);
  const names = ties.slice(0, MOST_TIES).map(({ candidate }) => `“${candidate.filter((part, i) => part !== best.candidate[i]).join('; ')}”`);
  return names.join(', ') + (ties.length > MOST_TIES ? ` and ${ties.length - MOST_TIES} more` : '');
}

/** { title, certainty } in sentences. */
export function planAnswer(plan) {
  const [objective] = plan.objectives;
  const [best, next] = plan.best;
  const certainty = plan.open === 0 ? 'Proven: no other candidate is better.'
    : `Not proven: ${counted(plan.open, 'candidate')} ${plan.open === 1 ? 'is' : 'are'} open, of which one may be up to ${formatShare(plan.gap, 3)} better.`;
  if (best === undefined) return { title: plan.nearest ? `Nothing can run; the nearest is ${plan.nearest}.` : 'No candidate was run.', certainty };
  if (plan.objectives.length > 1) return { title: `${counted(plan.best.length, 'candidate')}, of which none is better than another in ${plan.objectives.map((name) => WORDS[name]).join(' and ')}.`, certainty };
  const value = best.objectives[0];
  const behind = next === undefined ? '' : next.objectives[0] === value ? `; as good: ${tiesText(plan.best)}` : `; the next, ${labelOf(next)}, has ${formatShare(next.objectives[0] / value - 1, 3)} more`;
  return { title: `${labelOf(best)} is best: ${WORDS[objective]} ${objectiveText(objective, value)}${behind}.`, certainty };
}

/** From the base to the best candidate, one group of choices after the other. */
export function ladderFigure({ plan, width = 900 }) {
  if (plan.objectives.length > 1 || (plan.ladder ?? []).length < 2) return undefined;
  const [objective] = plan.objectives;
  const names = plan.ladder.map(({ change }) => change);
  const values = plan.ladder.map((rung) => rung.objective);
  const left = Math.min(Math.max(...names.map(textWidth)) + 18, width * 0.45);
  return {
    id: 'plan-ladder', title: 'From the base to the best', height: 40 * names.length + 70,
    note: values.includes(null) ? 'A rung without a bar cannot run.' : '',
    option: {
      grid: { left, right: 90, top: 10, bottom: 50 },
      tooltip: { trigger: 'item', confine: true, formatter: ({ dataIndex }) => lines(names[dataIndex], objectiveText(objective, values[dataIndex])) },
      xAxis: axis(NAMES[objective], WORDS[objective], { type: 'value', min: 0 }, values.filter((value) => value !== null)),
      yAxis: { type: 'category', inverse: true, data: names, axisLabel: { width: left - 14, overflow: 'break', lineHeight: 13 } },
      series: [{ type: 'bar', barMaxWidth: 22, data: values, itemStyle: { color: PALETTE[0] },
        label: { show: true, position: 'right', formatter: ({ dataIndex }) => objectiveText(objective, values[dataIndex]) } }],
    },
    csv: [['change', objective], ...names.map((name, i) => [name, values[i] ?? NaN])],
  };
}

/** The best with each tensor-parallel size and number of stages: what was simulated, or the bound of what was not. */
export function mapFigure({ plan, width = 900 }) {
  const map = plan.map ?? [];
  const sorted = (key) => [...new Set(map.map((cell) => cell[key]))].sort((a, b) => a - b);
  const [xs, ys] = [sorted('pp'), sorted('tp')];
  if (plan.best.length === 0 || map.length < 2) return undefined;
  const best = plan.best[0].objectives[0];
  const shade = (value) => Math.asinh(Math.max(value / best - 1, 0) / 0.05);
  const most = Math.max(...map.map(({ objective }) => shade(objective)), 1e-9);
  const across = categoryAxis('pp', xs, width - 130);
  const text = ({ objective, simulated }) => (simulated ? moreText(objective, best) : objective > best ? `≥ +${formatShare(objective / best - 1, 2)}` : '?');
  const data = map.map((cell) => {
    const dark = shade(cell.objective) / most > 0.35;
    return { value: [xs.indexOf(cell.pp), ys.indexOf(cell.tp), shade(cell.objective)], cell,
      label: dark ? { color: '#ffffff', textBorderWidth: 0 } : { color: '#1f2630', textBorderColor: '#ffffff', textBorderWidth: 2 } };
  });
  return {
    id: 'plan-map', title: `The best ${WORDS[plan.objectives[0]]} with each tensor-parallel size and number of stages`, height: ys.length * 38 + across.bottom + 40,
    note: 'Over the best of all; "≥": not simulated, since no candidate there can be better than that.',
    option: {
      grid: { left: 80, right: 20, top: 14, bottom: across.bottom },
      tooltip: { trigger: 'item', confine: true, formatter: ({ data: { cell } }) => lines(`tp ${cell.tp}, pp ${cell.pp}`, `${cell.simulated ? '' : 'at least '}${objectiveText(plan.objectives[0], cell.objective)}`) },
      xAxis: { ...across.axis, name: 'pipeline stages', splitLine: { show: false } },
      yAxis: { type: 'category', data: ys.map(String), name: 'tensor parallel', nameLocation: 'middle', nameGap: 44 },
      visualMap: { show: false, type: 'continuous', min: 0, max: most, dimension: 2, inRange: { color: SHADES } },
      series: [{ type: 'heatmap', data, itemStyle: { borderColor: '#ffffff', borderWidth: 1 }, emphasis: { disabled: true }, label: { show: true, fontSize: 11, formatter: ({ data: { cell } }) => text(cell) } }],
    },
    csv: [['tp', 'pp', plan.objectives[0], 'simulated'], ...map.map(({ tp, pp, objective, simulated }) => [tp, pp, objective, simulated ? 1 : 0])],
  };
}

/** What no candidate beats in two objectives. */
export function frontFigure({ plan }) {
  if (plan.objectives.length < 2 || plan.best.length === 0) return undefined;
  const [x, y] = plan.objectives;
  const points = plan.best.map((run) => ({ value: [run.objectives[0], run.objectives[1]], name: labelOf(run), run }));
  return {
    id: 'plan-front', title: `The front: ${WORDS[x]} and ${WORDS[y]}`, height: 380,
    note: plan.objectives.length > 2 ? `It has a third objective, ${WORDS[plan.objectives[2]]}, which is not drawn.` : '',
    option: {
      grid: { left: 90, right: 30, top: 20, bottom: 60 },
      tooltip: { trigger: 'item', confine: true, formatter: ({ data: { name, run } }) => lines(name, ...plan.objectives.map((objective, i) => `${WORDS[objective]} ${objectiveText(objective, run.objectives[i])}`)) },
      xAxis: axis(NAMES[x], WORDS[x], { type: 'value', scale: true }, points.map(({ value }) => value[0])),
      yAxis: axis(NAMES[y], WORDS[y], { type: 'value', scale: true, nameGap: 62 }, points.map(({ value }) => value[1])),
      series: [{ type: 'line', step: plan.objectives.length === 2 ? 'end' : false, symbolSize: 9, data: points, lineStyle: { color: PALETTE[0], width: plan.objectives.length === 2 ? 1.5 : 0 }, itemStyle: { color: PALETTE[0] } }],
    },
    csv: [['candidate', ...plan.objectives], ...plan.best.map((run) => [labelOf(run), ...run.objectives])],
  };
}

/** The figures of a plan in order: [{ id, make(shown) }]. */
export const PLAN_FIGURES = [{ id: 'plan-front', make: frontFigure }, { id: 'plan-map', make: mapFigure }, { id: 'plan-ladder', make: ladderFigure }];

const tableOf = (head, rows, winner = () => false) => element('div', { className: 'table' }, element('table', {},
  element('thead', {}, element('tr', {}, ...head.map((text) => element('th', {}, text)))),
  element('tbody', {}, ...rows.map((cells, i) => element('tr', { className: winner(i) ? 'winner' : '' }, ...cells.map((cell) => cellOf(cell)))))));

// Where the time of each of the best goes.
function bestTable(plan) {
  const runs = plan.best.slice(0, MOST_ROWS);
  const share = (value) => formatShare(value, 2);
  const known = (value, name) => (value === undefined ? '–' : formatValue(value, name));
  const columns = [['candidate', labelOf],
    ...plan.objectives.map((objective, i) => [WORDS[objective], (run) => objectiveText(objective, run.objectives[i])]),
    ['over the best', (run) => moreText(run.objectives[0], runs[0].objectives[0])],
    ['compute', (run) => share(run.compute)], ['exposed', (run) => share(run.exposed_communication)], ['circuits', (run) => share(run.reconfiguration_wait)], ['peers', (run) => share(run.peer_wait)],
    ...(runs.some(({ served }) => served) ? [['requests/s', (run) => known(run.served?.requests_per_s, 'requests_per_s')]] : []),
    ['memory', (run) => known(run.memory_bytes, 'memory_bytes')], ['network', (run) => known(run.network_usd, 'usd')]];
  return tableOf(columns.map(([name]) => name), runs.map((run) => columns.map(([, of]) => of(run))), (i) => runs[i].objectives[0] === runs[0].objectives[0]);
}

/** What each value of each choice is worth: "tp: 2 best; 8 +8.4 %". */
export function worthLines(plan) {
  if (plan.best.length === 0) return [];
  const best = plan.best[0].objectives[0];
  const choices = [...new Set(plan.worth.map(({ choice }) => choice))];
  return choices.map((choice) => [choice, plan.worth.filter((of) => of.choice === choice).sort((a, b) => a.objective - b.objective)])
    .filter(([, values]) => values.length > 1)
    .map(([choice, values]) => `${choice}: ${values.map(({ value, objective, simulated }) => (simulated ? `${value} ${moreText(objective, best)}` : objective > best ? `${value} at least +${formatShare(objective / best - 1, 2)}` : `${value} not decided`)).join('; ')}`);
}

/** What the answer rests on, in sentences. */
export function robustLines(plan) {
  const [objective] = plan.objectives;
  const text = (value) => objectiveText(objective, value);
  const sentences = (plan.robustness ?? []).map((of) => `${of.what}, from −20 % to +20 %: ${text(of['at_0.8'])} to ${text(of['at_1.2'])}; ${of.changes_at === undefined ? 'the best stays the best' : `from ${of.changes_at > 1 ? '+' : '−'}${formatShare(Math.abs(of.changes_at - 1), 2)} on it is ${of.to}`}.`);
  if (plan.break_even) {
    const { candidate, on_electrical_rails: electrical, delay_ms: delay } = plan.break_even;
    sentences.push(`${candidate} is ${delay === null ? 'at no delay as good' : `as good up to a delay of ${formatValue(delay, 'delay_ms')}`} as on electrical rails (${text(electrical)}).`);
  }
  return sentences;
}

const listOf = (title, items) => (items.length === 0 ? [] : [element('h3', {}, title), element('ul', {}, ...items.map((text) => element('li', {}, text)))]);

/** Opens the page with the answer. */
export function addPlanAnswer(parent, plan) {
  const { title, certainty } = planAnswer(plan);
  parent.append(element('section', { id: 'answer' }, element('header', {}, element('h2', {}, title)), element('p', { className: 'held' }, certainty),
    ...(plan.best.length > 0 ? [bestTable(plan)] : []),
    ...listOf('With one choice fixed and all others free', worthLines(plan)), ...listOf('What the answer rests on', robustLines(plan))));
}

/** What was looked at, and what cannot be, by reason. */
export function addRejected(parent, plan) {
  const reasons = Object.entries(plan.rejected).sort((a, b) => b[1] - a[1]);
  const counts = `Of ${plan.candidates.toLocaleString('en')} candidates ${plan.simulated} were simulated, ${plan.excluded.toLocaleString('en')} excluded by their bounds; ${plan.open} are open.`;
  parent.append(element('section', { id: 'rejected' }, element('header', {}, element('h2', {}, 'What cannot be')), element('p', { className: 'held' }, counts),
    ...(reasons.length === 0 ? [] : [tableOf(['reason', 'candidates', 'as'], reasons.map(([reason, count]) => [reason, count.toLocaleString('en'), plan.examples?.[reason] ?? '']))])));
}
