// What single runs show beside the table: served requests and steps of reinforcement learning.
import { axis, gridsFor, legendFor, panelTitles } from './axes.js';
import { sideAxis } from './charts.js';
import { lines } from './dom.js';
import { formatShare, formatValue } from './format.js';
import { lookOf } from './looks.js';
import { range, spansDecades } from './statistics.js';

const SPLIT = { lineStyle: { color: '#e8ebef' } };
const MOST_RUNS = 6;
export const shareAxis = (more) => ({ type: 'value', min: 0, max: 1, axisLabel: { formatter: (share) => `${Math.round(100 * share)} %` }, splitLine: SPLIT, ...more });
const timeAxis = (more) => ({ type: 'value', axisLabel: { formatter: (seconds) => formatValue(seconds, 's', 3), hideOverlap: true }, splitLine: SPLIT, ...more });

/** The parts of the time to the first token, as results name them: [key, name, colour]. */
export const TTFT_PARTS = [['queue', 'waiting for an engine', '#c9ced6'], ['prefill', 'prefill', '#5b7fb5'], ['block_wait', 'waiting for KV blocks', '#7b2d8b'],
  ['circuit_wait', 'waiting for circuits and links', '#c1121f'], ['transfer', 'KV transfer', '#e6a23c'], ['decode_queue', 'waiting for a decode step', '#8fb8a8'],
  ['first_decode', 'first decode step', '#009e73']];
/** The phases of a step of reinforcement learning: [key without its unit, name, colour]. */
export const RL_PHASES = [['generation', 'generation', '#5b7fb5'], ['log_probabilities', 'log-probabilities', '#8fb8a8'], ['training', 'training', '#009e73'], ['refit', 'refit', '#c1121f'], ['offload', 'to hosts', '#b8a26a'], ['reload', 'back from hosts', '#8a7440']];

/** Stacked bars down the side: `parts`: [{ name, color, values }], each with a value a bar; `marks`: further series. */
export function stackedBars({ bars, parts, width, marks = [], markNames = [], format = (value) => formatValue(value, 's'), x = timeAxis() }) {
  const shown = parts.filter(({ values }) => values.some((value) => value > 0));
  const legend = legendFor([...shown.map(({ name }) => name), ...markNames], width);
  return {
    height: Math.max(Math.min(bars.length, 20) * 26 + legend.height + 44, 150),
    option: {
      grid: { left: 12, right: 32, top: legend.height + 4, bottom: 8, containLabel: true },
      legend: legend.option,
      tooltip: { trigger: 'axis', confine: true, axisPointer: { type: 'shadow' }, valueFormatter: format },
      xAxis: x,
      yAxis: sideAxis(bars, width),
      dataZoom: bars.length <= 20 ? [] : [{ type: 'slider', yAxisIndex: 0, right: 4, width: 16, startValue: 0, endValue: 19, showDetail: false, showDataShadow: false }],
      series: [...shown.map(({ name, color, values }) => ({ type: 'bar', stack: 'parts', name, color, barMaxWidth: 40, data: values })), ...marks],
    },
  };
}

// ---- served requests ----

const CURVES = [['ttft_s', 'time to the first token (TTFT)'], ['tpot_s', 'time per output token (TPOT)'], ['e2e_s', 'whole request']];
const served = (details) => details.filter(({ kind }) => kind === 'serving');
const withCurves = (details) => served(details).filter(({ curves }) => curves?.ttft_s?.length > 1);
const sloLine = (value) => ({ silent: true, symbol: 'none', lineStyle: { color: '#c1121f', type: 'dashed', width: 1.4 },
  label: { formatter: `SLO ${formatValue(value, 's')}`, color: '#c1121f', position: 'insideEndTop' }, data: [{ xAxis: value }] });

/** The share of requests that are at least as fast, a line a run, for each of the times that a client sees. */
export function latencyCurvesFigure({ details, width = 900 }) {
  const runs = withCurves(details).slice(0, MOST_RUNS);
  if (runs.length === 0) return undefined;
  const panels = CURVES.filter(([key]) => runs.some(({ curves }) => curves[key]?.length > 1));
  const legend = legendFor(runs.length > 1 ? runs.map(({ name }) => name) : [''], width);
  const { grids, height } = gridsFor(panels.length, width, legend.height, 210, 60);
  const corners = (values) => values.map((value, i) => [value, i / (values.length - 1)]);
  return {
    id: 'latency', title: `How long requests take: shares of requests${runs.length === 1 ? `, ${runs[0].name}` : ''}`, wide: true, height: height - 40,
    note: withCurves(details).length > runs.length ? `The first ${runs.length} of ${withCurves(details).length} runs.` : '',
    option: {
      title: panelTitles(grids, panels.map(([, name]) => name)), legend: legend.option, grid: grids,
      tooltip: { trigger: 'item', confine: true, formatter: ({ seriesName, value }) => lines(seriesName, `${formatShare(value[1])} take at most ${formatValue(value[0], 's')}`) },
      xAxis: panels.map(([key], i) => {
        const { low, high } = range(runs.flatMap(({ curves }) => curves[key] ?? []));
        return axis('s', '', { type: spansDecades([Math.max(low, high * 1e-4), high]) ? 'log' : 'value', gridIndex: i, scale: true, splitNumber: 4 }, []);
      }),
      yAxis: panels.map((_, i) => shareAxis({ gridIndex: i })),
      series: panels.flatMap(([key], i) => runs.map(({ name, curves, result }, place) => {
        const { low, high } = range(runs.flatMap((run) => run.curves[key] ?? []));
        const slo = result.slo?.[key];
        return { type: 'line', name, showSymbol: false, color: lookOf(place).color, lineStyle: { width: 2, type: lookOf(place).stroke }, xAxisIndex: i, yAxisIndex: i,
          data: corners(curves[key] ?? []), markLine: place === 0 && slo > low && slo < high ? sloLine(slo) : undefined };
      })),
    },
    csv: [['run', 'time', 'share', 'seconds'], ...runs.flatMap(({ name, curves }) => panels.flatMap(([key]) => corners(curves[key] ?? []).map(([value, share]) => [name, key, share, value])))],
  };
}

const bandName = ({ from, to }) => (from === 0 ? `fastest ${formatShare(to)}` : to === 1 ? `slowest ${formatShare(1 - from, 2)}` : `${formatShare(from)} to ${formatShare(to)}`).replaceAll(' ', '\u00a0');

/** Which part of the time to the first token grows for slow requests: a bar for each band of requests. */
export function ttftPartsFigure({ detail, width = 900 }) {
  if (!(detail?.bands?.length > 0)) return undefined;
  const bars = detail.bands.map(bandName);
  const parts = TTFT_PARTS.map(([key, name, color]) => ({ name, color, values: detail.bands.map(({ parts_s: means }) => means[detail.parts.indexOf(key)] ?? 0) }));
  return {
    id: 'ttft-parts', title: `Parts of the time to the first token: ${detail.name}`,
    note: 'Requests in order of their time to the first token; each bar is the mean of its share of them.',
    ...stackedBars({ bars, parts, width }),
    csv: [['requests', 'from', 'to', ...detail.parts.map((part) => `${part}_s`)], ...detail.bands.map((band) => [band.requests, band.from, band.to, ...band.parts_s])],
  };
}

const ENGINE_CLASSES = [['prefill', 'prefill alone', '#5b7fb5'], ['mixed', 'prefill and decode', '#e6a23c'], ['decode', 'decode alone', '#009e73'], ['waiting', 'waiting for KV or blocks', '#c1121f'], ['off', 'failed, or being started', '#7b2d8b'], ['idle', 'idle', '#eef0f3']];
const engineNames = (engines) => engines.map(({ pool }, i) => `${pool} ${i - engines.findIndex((one) => one.pool === pool)}`);

/** Where the time of each engine goes. */
export function enginesFigure({ detail, width = 900 }) {
  const engines = detail?.result.engines ?? [];
  if (engines.length === 0) return undefined;
  const parts = ENGINE_CLASSES.map(([key, name, color]) => ({ name, color, values: engines.map(({ time_s: times }) => times?.[key] ?? 0) }));
  return {
    id: 'engines', title: `Where the time of engines goes: ${detail.name}`,
    ...stackedBars({ bars: engineNames(engines), parts, width }),
    csv: [['engine', ...ENGINE_CLASSES.map(([key]) => `${key}_s`), 'mean batch', 'preemptions'],
      ...engines.map((engine, i) => [engineNames(engines)[i], ...ENGINE_CLASSES.map(([key]) => engine.time_s?.[key]), engine.mean_batch, engine.preemptions])],
  };
}

const SHADES = ['#f7fbff', '#c6dbef', '#6baed6', '#2171b5', '#08306b'];

/** Requests in each engine in time. */
export function engineTimeFigure({ detail }) {
  const activity = detail?.activity;
  if (!(activity?.engines?.length > 0)) return undefined;
  const names = engineNames(detail.result.engines ?? []);
  const { bin_s: bin, engines } = activity;
  const data = engines.flatMap((values, row) => values.map((value, i) => [i * bin, (i + 1) * bin, row, value]));
  const { high } = range(data.map(([, , , value]) => value));
  return {
    id: 'engine-time', title: `Requests in each engine in time: ${detail.name}`, wide: true,
    height: Math.max(engines.length * 24, 60) + 92,
    option: {
      grid: { left: 12, right: 32, top: 44, bottom: 34, containLabel: true },
      visualMap: { type: 'continuous', orient: 'horizontal', left: 'center', top: 4, itemWidth: 12, itemHeight: 180, calculable: false, dimension: 3, min: 0, max: high > 0 ? high : 1,
        text: [`${formatValue(high, '', 3)} requests`, '0'], textStyle: { fontSize: 11 }, inRange: { color: SHADES } },
      tooltip: { trigger: 'item', confine: true, formatter: ({ value }) => lines(names[value[2]], `${formatValue(value[3], '', 3)} requests`, `${formatValue(value[0], 's')} to ${formatValue(value[1], 's')}`) },
      xAxis: timeAxis({ max: bin * (engines[0]?.length ?? 1), splitLine: { show: false } }),
      yAxis: { type: 'category', inverse: true, data: names, axisTick: { show: false }, axisLabel: { interval: 0, fontSize: 11.5 } },
      series: [{ type: 'custom', data, encode: { x: [0, 1], y: 2 },
        renderItem(_, api) {
          const [left, y] = api.coord([api.value(0), api.value(2)]);
          const right = api.coord([api.value(1), api.value(2)])[0];
          const height = Math.min(api.size([0, 1])[1] * 0.84, 24);
          return { type: 'rect', shape: { x: left, y: y - height / 2, width: right - left + 0.5, height }, style: { fill: api.visual('color') } };
        } }],
    },
    csv: [['engine', 'from_s', 'to_s', 'requests'], ...data.map(([from, to, row, value]) => [names[row], from, to, value])],
  };
}

// ---- reinforcement learning ----

const stepName = (_, i) => `step ${i + 1}`;

const ratesText = (mean) => {
  const rates = RL_PHASES.map(([key, name]) => [name, mean?.[`${key}_tokens_per_s_gpu`]]).filter(([, rate]) => rate > 0);
  return rates.length === 0 ? '' : `Tokens per second and GPU: ${rates.map(([name, rate]) => `${formatValue(rate, '', 3)} in ${name}`).join(', ')}.`;
};

/** The phases of each step, with the time of the step where phases of several steps overlap. */
export function rlPhasesFigure({ detail, width = 900 }) {
  const steps = detail?.result.steps ?? [];
  if (steps.length === 0) return undefined;
  const parts = RL_PHASES.map(([key, name, color]) => ({ name, color, values: steps.map((step) => step[`${key}_s`] ?? 0) }));
  const overlap = steps.some((step) => RL_PHASES.reduce((sum, [key]) => sum + (step[`${key}_s`] ?? 0), 0) > step.step_s * 1.001);
  const mark = { type: 'scatter', name: 'the whole step', color: '#222222', symbol: 'path://M0 0H2V20H0Z', symbolSize: [3, 22], z: 5, data: steps.map((step, i) => [step.step_s, i]) };
  return {
    id: 'rl-phases', title: `Phases of each step: ${detail.name}`,
    note: [overlap ? 'Phases of neighbouring steps overlap: a bar that is longer than the mark of its step was partly hidden.' : '', ratesText(detail.result.mean)].filter(Boolean).join(' '),
    ...stackedBars({ bars: steps.map(stepName), parts, width, marks: [mark], markNames: [mark.name] }),
    csv: [['step', 'step_s', ...RL_PHASES.map(([key]) => `${key}_s`)], ...steps.map((step, i) => [i + 1, step.step_s, ...RL_PHASES.map(([key]) => step[`${key}_s`])])],
  };
}

/** The tail of each rollout: generation until nine tenths of its samples are complete, and from then on; the share of slots that stood empty. */
export function rlTailFigure({ detail, width = 900 }) {
  const steps = detail?.result.steps ?? [];
  if (!steps.some(({ tail_s: tail, generation_s: whole }) => tail > 0 && whole > 0)) return undefined;
  const bars = steps.map((step, i) => `step ${i + 1}: engine ${step.last_engine} last`);
  const parts = [{ name: 'until nine tenths of the responses are complete', color: '#5b7fb5', values: steps.map((step) => Math.max(0, step.generation_s - step.tail_s)) },
    { name: 'the last tenth', color: '#c1121f', values: steps.map((step) => Math.min(step.tail_s, step.generation_s)) }];
  const figure = stackedBars({ bars, parts, width });
  figure.option.series.at(-1).label = { show: true, position: 'inside', color: '#ffffff', fontSize: 11, formatter: ({ dataIndex }) => formatShare(steps[dataIndex].tail_s / steps[dataIndex].generation_s, 2) };
  return {
    id: 'rl-tail', title: `Tail of the rollout: ${detail.name}`,
    note: `Samples fill ${formatShare(steps.reduce((sum, { slot_use: use }) => sum + use, 0) / steps.length, 2)} of the time of their slots; the longest response has ${Math.max(...steps.map(({ longest_response: most }) => most))} tokens.`,
    ...figure,
    csv: [['step', 'generation_s', 'tail_s', 'last_engine', 'slot_use', 'longest_response'], ...steps.map((step, i) => [i + 1, step.generation_s, step.tail_s, step.last_engine, step.slot_use, step.longest_response])],
  };
}

const columns = (id, title, name, names, values, format, label) => ({
  id, title, height: 300,
  option: {
    grid: { left: 86, right: 24, top: 26, bottom: 62 },
    tooltip: { trigger: 'axis', confine: true, axisPointer: { type: 'shadow' }, valueFormatter: format },
    xAxis: { type: 'category', data: names, name, nameLocation: 'middle', nameGap: 34 },
    yAxis: { type: 'value', min: 0, name: label, nameLocation: 'middle', nameGap: 56, axisLabel: { formatter: format }, splitLine: SPLIT },
    series: [{ type: 'bar', name: label, color: '#5b7fb5', barMaxWidth: 64, data: values, label: { show: names.length <= 12, position: 'top', formatter: ({ value }) => format(value) } }],
  },
  csv: [[name, label], ...names.map((at, i) => [at, values[i]])],
});

/** Samples by the number of versions that their weights were behind. */
export function rlStalenessFigure({ detail }) {
  const staleness = detail?.result.staleness ?? [];
  const all = staleness.reduce((sum, count) => sum + count, 0);
  if (!(staleness.slice(1).reduce((sum, count) => sum + count, 0) > 0)) return undefined;
  return columns('rl-staleness', `Staleness of samples: ${detail.name}`, 'versions behind', staleness.map((_, i) => `${i}`), staleness.map((count) => count / all), (share) => formatShare(share), 'share of samples');
}

/** The share of tool calls that the cache answered, by the depth of the call. */
export function rlHitsFigure({ detail }) {
  const hits = detail?.result.tools?.hit_share_by_depth ?? [];
  if (!(detail?.result.tools?.calls > 0) || hits.length === 0) return undefined;
  return columns('rl-hits', `Tool calls from the cache by depth: ${detail.name}`, 'tool call of a rollout', hits.map((_, i) => `${i + 1}`), hits, (share) => formatShare(share), 'share of calls');
}

const FIGURES = [['serving', 'latency', latencyCurvesFigure], ['serving', 'ttft-parts', ttftPartsFigure], ['serving', 'engines', enginesFigure],
  ['serving', 'engine-time', engineTimeFigure], ['rl', 'rl-phases', rlPhasesFigure], ['rl', 'rl-tail', rlTailFigure], ['rl', 'rl-staleness', rlStalenessFigure],
  ['rl', 'rl-hits', rlHitsFigure]];

/** A picture that the command drew: { id, name, svg }. */
export const picturesOf = (details) => details.filter(({ kind }) => kind === 'picture');

/** The figures of single runs, in order: [{ kind, id, make({ details, detail, width }) }]; all but the first show the run `detail`. */
export function detailFigures(details) {
  return FIGURES.map(([kind, id, make]) => ({ kind, id, make })).filter(({ kind }) => details.some((detail) => detail.kind === kind));
}
