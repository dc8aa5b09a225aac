// The cluster at an instant: the GPUs of each rail and what they do, and the circuits of its optical switch or the links to
// its electrical one.
import { lines } from './dom.js';
import { formatValue } from './format.js';
import { COLOURS, spanAt } from './spans.js';

const MOST_RAILS = 16;
const MOST_LABELS = 24;  // of a rail: more overlap
const NARROW = 850;     // pixels, in which four rails beside each other overlap
const IDLE = '#ffffff';

// What a rank does: computation hides communication; a wait counts when there is nothing else.
const RANKING = ['waiting for peers', 'waiting for circuits', 'storage', 'other', 'kv', 'refit', 'tp', 'ep', 'cp', 'pp', 'dp', 'host', 'compute'];

/** rank -> { kind, name } at the instant, for ranks that do something. */
export function activityAt(trace, at) {
  const [kinds, names] = ['kind', 'name'].map((column) => trace.spans.get(column).values);
  const busy = new Map();
  trace.tracks.forEach(({ rank }, index) => {
    if (rank === undefined) return;
    const span = spanAt(trace, index, at);
    if (span < 0) return;
    const before = busy.get(rank);
    if (!before || RANKING.indexOf(kinds[span]) > RANKING.indexOf(before.kind)) busy.set(rank, { kind: kinds[span], name: names[span] });
  });
  return busy;
}

/** The circuits at the instant: [{ rail, from, to, kind, lit, name }]. */
export function circuitsAt(trace, at) {
  const [kinds, names, targets] = ['kind', 'name', 'to'].map((column) => trace.spans.get(column).values);
  return trace.tracks.flatMap(({ rail, port }, index) => {
    if (rail === undefined) return [];
    const span = spanAt(trace, index, at);
    if (span < 0) return [];
    return [{ rail, from: port, to: targets[span], kind: kinds[span], lit: kinds[span] !== 'switching', name: names[span] }];
  });
}

// ECharts aligns straight lines to halves of a unit, so a unit must be small.
const RADIUS = 100;
const centreOf = (rail, columns) => ({ x: (rail % columns) * 4.4 * RADIUS, y: Math.floor(rail / columns) * 3.2 * RADIUS });

// Ports on a circle around the middle of the rail's cell, their labels outside of it.
function placeOf(rail, index, count, columns) {
  const angle = (2 * Math.PI * index) / count - Math.PI / 2;
  const [right, down] = [Math.cos(angle), Math.sin(angle)];
  const { x, y } = centreOf(rail, columns);
  const side = Math.abs(down) > 0.9 ? (down < 0 ? 'top' : 'bottom') : right < 0 ? 'left' : 'right';
  return { place: { x: x + RADIUS * right, y: y + RADIUS * down }, side };
}

function portNodes(trace, rail, columns, activity) {
  const { servers, gpus_per_server: perServer, ports, rank_of_gpu: rankOfGpu, storage_hosts: hosts = [] } = trace.cluster;
  const count = servers * ports;
  return Array.from({ length: count }, (_, port) => {
    const server = Math.floor(port / ports);
    const gpu = server * perServer + rail;
    const rank = rankOfGpu[gpu];
    const doing = activity.get(rank);
    const { place, side } = placeOf(rail, port, count, columns);
    const host = hosts.includes(rank);
    const title = host ? `storage host ${hosts.indexOf(rank)}` : rank < 0 ? `GPU ${gpu}` : `rank ${rank}`;
    return {
      id: `${rail}:${port}`, ...place,
      name: ports > 1 ? `${title}, port ${port % ports}` : title,
      value: `server ${server}, rail ${rail}`,
      doing: doing ? `${doing.kind}: ${doing.name}` : 'idle',
      symbol: host ? 'rect' : 'circle',
      symbolSize: Math.min(18, Math.max(3, 320 / count)),
      itemStyle: { color: doing ? COLOURS[doing.kind] ?? COLOURS.compute : IDLE, borderColor: '#3c4450', borderWidth: count > 32 ? 0.5 : 1 },
      label: { show: count <= MOST_LABELS, position: side, fontSize: 10, formatter: count <= 8 || rank < 0 ? '{b}' : host ? `host ${hosts.indexOf(rank)}` : String(rank) },
    };
  });
}

function circuitLink({ rail, from, to, kind, lit, name }) {
  return {
    source: `${rail}:${from}`, target: `${rail}:${to}`, name, value: name,
    lineStyle: { color: COLOURS[kind] ?? COLOURS.circuit, width: 2, type: lit ? 'solid' : 'dotted', curveness: 0.15 },
  };
}

/** Every link of an electrical rail; in colour where its GPU communicates over the rails. */
function electricalLinks(trace, rail, activity) {
  const { servers, gpus_per_server: perServer, ports, rank_of_gpu: rankOfGpu } = trace.cluster;
  return Array.from({ length: servers * ports }, (_, port) => {
    const doing = activity.get(rankOfGpu[Math.floor(port / ports) * perServer + rail]);
    const sends = doing && ['dp', 'pp', 'cp', 'ep'].includes(doing.kind);
    return { source: `${rail}:${port}`, target: `${rail}:switch`, value: '', symbol: 'none',
      lineStyle: { color: sends ? COLOURS[doing.kind] : '#d5d9df', width: sends ? 2 : 1, curveness: 0 } };
  });
}

/** The figure of one instant; `at` in seconds. */
export function topologyFigure({ trace, at = trace.end_s / 2, width = 900 }) {
  const { gpus_per_server: rails, optical } = trace.cluster;
  const shown = Math.min(rails, MOST_RAILS);
  const columns = shown <= 4 || width < NARROW ? Math.min(shown, 2) : 4;
  const activity = activityAt(trace, at);
  const circuits = circuitsAt(trace, at);
  const indices = Array.from({ length: shown }, (_, rail) => rail);
  const nodes = indices.flatMap((rail) => {
    const centre = { id: `${rail}:switch`, name: `rail ${rail}`, ...centreOf(rail, columns), value: optical ? 'optical circuit switch' : 'electrical switch',
      symbol: 'roundRect', symbolSize: optical ? [1, 1] : [40, 18], itemStyle: { color: optical ? 'transparent' : '#eef0f3', borderColor: '#9aa3ae' },
      label: { show: true, position: 'inside', fontSize: 10, color: optical ? '#9aa3ae' : '#3c4450' } };
    return [...portNodes(trace, rail, columns, activity), centre];
  });
  const links = optical ? circuits.filter(({ rail }) => rail < shown).map(circuitLink) : indices.flatMap((rail) => electricalLinks(trace, rail, activity));
  return {
    id: 'topology',
    title: `${optical ? 'Circuits' : 'Rails'} at ${formatValue(at, 's', 6)}: ${trace.name}`,
    note: `Colours as in the timeline: of a GPU what its rank does, of a ${optical ? 'circuit the group that it serves; dotted ones are switching' : 'link whether its rank communicates'}.`
      + (rails > shown ? ` The first ${shown} of ${rails} rails.` : ''),
    height: Math.ceil(shown / columns) * 220 + 40,
    wide: columns > 2,
    option: {
      tooltip: { trigger: 'item', confine: true, formatter: ({ dataType, data }) => (dataType === 'edge' ? lines(data.value) : lines(data.name, data.value, data.doing)) },
      series: [{ type: 'graph', layout: 'none', preserveAspect: 'contain', left: 60, right: 60, top: 24, bottom: 30, roam: true, scaleLimit: { min: 0.5, max: 20 },
        data: nodes, links, edgeSymbol: ['none', optical ? 'arrow' : 'none'], edgeSymbolSize: 7, label: { color: '#3c4450' }, emphasis: { disabled: true } }],
    },
    csv: [['rail', 'from port', 'to port', 'state', 'circuit'], ...circuits.map(({ rail, from, to, lit, name }) => [rail, from, to, lit ? 'lit' : 'switching', name])],
  };
}
