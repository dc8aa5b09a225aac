// The page: reads the document that it carries and shows its figures and its table.
import { Answer, answerOf } from './answer.js';
import { Card } from './card.js';
import { windowsFigure } from './charts.js';
import { decodeDocument } from './decode.js';
import { detailFigures, picturesOf } from './details.js';
import { choice, download, element, finder } from './dom.js';
import { assumeWideTexts } from './echarts.js';
import { facetOf, figureFiles, named, pointWithWindows, tableFigures } from './figures.js';
import { formatValue, labelOf } from './format.js';
import { heatmapAxis, heatmapSeries } from './heatmap.js';
import { facetsOf } from './panels.js';
import { addPlanAnswer, addRejected, PLAN_FIGURES } from './plan.js';
import { allRows, defaultSelection, FASTEST, fixOthers, metricsOf, pointName, varyingParameters } from './selection.js';
import { chooseTracks, defaultTracks, LANES } from './spans.js';
import { TableView } from './table_view.js';
import { timelineFigure, timelineSeries } from './timeline.js';
import { topologyFigure } from './topology.js';

const STEPS = 2000;  // of the slider of time
const SCALES = [[undefined, 'automatic'], [false, 'linear'], [true, 'logarithmic']];
const asOption = (name) => [name, labelOf(name) === name ? name : `${labelOf(name)} (${name})`];

class Page {
  constructor(model, main) {
    this.model = model;
    this.main = main;
    this.selection = defaultSelection(model.table, model.choices);
    this.rows = allRows(model.table);
    this.view = {};
    if (model.plan) this.addPlan();
    this.answer = model.plan ? { update() {} } : new Answer(main, () => answerOf({ table: model.table, rows: this.rows, selection: this.selection }));
    this.addExplanations();
    const single = model.table.rows < 2;
    if (single) this.addDetails();
    this.overTheTable = tableFigures(model.table, model.plan).map((figure) => this.tableCard(figure));
    if (!single) this.addDetails();
    this.addPictures();
    this.row = pointWithWindows(model, this.selection);
    if (this.row !== undefined) this.addWindows();
    if (model.traces.length > 0) this.addTraces();
    this.addTable();
    this.addFacts();
  }

  // A plan has an answer of its own, of all candidates and not of those alone that ran.
  addPlan() {
    const { plan } = this.model;
    addPlanAnswer(this.main, plan);
    for (const { id, make } of PLAN_FIGURES) this.card(id, (width) => make({ plan, width }));
    addRejected(this.main, plan);
  }

  card(id, make, controls) {
    const { choices, where } = this.model;
    return new Card(this.main, id, make, { controls, name: (figure) => named(figure, choices, where) });
  }

  tableCard({ id, there, make }) {
    const { table } = this.model;
    const figure = (width) => (there(this.selection) ? make({ table, rows: this.rows, selection: this.selection, view: this.view, width }) : undefined);
    const controls = { comparison: () => this.selectionControls(), heatmap: () => this.heatmapControls(), multiples: () => this.facetControls() };
    return this.card(id, figure, controls[id]);
  }

  select(change) {
    const selection = { ...this.selection, ...change };
    if ('x' in change && change.x === selection.series) selection.series = '';
    if ('x' in change || 'series' in change) selection.baseline = '';
    this.selection = { ...selection, fixed: fixOthers(this.model.table, selection) };
    this.answer.update();
    for (const card of this.overTheTable) card.update();
  }

  look(change) {
    this.view = { ...this.view, ...change };
    for (const card of this.overTheTable) card.update();
  }

  selectionControls() {
    const { table } = this.model;
    const { selection } = this;
    const varying = varyingParameters(table);
    const valuesOf = (name) => varying.find(({ column }) => column.name === name)?.values ?? [];
    const base = selection.series || selection.x;
    const values = (name) => valuesOf(name).map((value) => [value, formatValue(value, name)]);
    const parameters = varying.map(({ column }) => column.name);
    const controls = [choice('metric', metricsOf(table).map(({ name }) => asOption(name)), selection.metric, (metric) => this.select({ metric }))];
    if (parameters.length > 1) {
      controls.push(choice('against', parameters.map(asOption), selection.x, (x) => this.select({ x })),
        choice('series', [['', '–'], ...parameters.filter((name) => name !== selection.x).map(asOption)], selection.series, (series) => this.select({ series })));
    }
    controls.push(choice('baseline', [['', 'none'], [FASTEST, 'the fastest'], ...values(base)], selection.baseline, (baseline) => this.select({ baseline })));
    for (const [name, value] of Object.entries(selection.fixed)) {
      controls.push(choice(labelOf(name), values(name), value, (chosen) => this.select({ fixed: { ...selection.fixed, [name]: chosen } })));
    }
    controls.push(choice('x axis', SCALES, selection.logX, (logX) => this.select({ logX })), choice('y axis', SCALES, selection.logY, (logY) => this.select({ logY })));
    return controls;
  }

  heatmapControls() {
    const { table } = this.model;
    const values = heatmapSeries(table, this.selection, heatmapAxis(table, this.selection));
    if (values.length < 2) return [];
    return [choice(labelOf(this.selection.series), values.map((value) => [value, formatValue(value, this.selection.series)]),
      values.includes(this.view.shown) ? this.view.shown : values[0], (shown) => this.look({ shown }))];
  }

  facetControls() {
    const { table } = this.model;
    const facets = facetsOf(table, this.selection);
    if (facets.length < 2) return [];
    return [choice('a chart for each', facets.map(asOption), facetOf(table, this.selection, this.view), (facet) => this.look({ facet }))];
  }

  // Figures of single runs; those of a kind of run show the same run.
  addDetails() {
    const { details = [] } = this.model;
    const shown = {};
    const cards = detailFigures(details).map(({ kind, id, make }) => {
      const runs = details.filter((detail) => detail.kind === kind);
      shown[kind] ??= runs.at(-1);
      const choose = (run) => { shown[kind] = run; for (const card of cards) card.update(); };
      const controls = () => (runs.length < 2 || id === 'latency' ? [] : [choice('run', runs.map((run) => [run, run.name]), shown[kind], choose)]);
      return this.card(id, (width) => make({ details, detail: shown[kind], width }), controls);
    });
  }

  // Pictures that a command drew, as they are.
  addPictures() {
    for (const { id, name, svg } of picturesOf(this.model.details ?? [])) {
      const button = element('button', { type: 'button', title: 'this picture as SVG', onclick: () => download(`${id}.svg`, svg, 'image/svg+xml') }, 'SVG');
      const image = element('img', { alt: name, loading: 'lazy', src: URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' })) });
      this.main.append(element('section', { id, className: 'wide picture' }, element('header', {}, element('h2', {}, name), element('div', { className: 'files' }, button)), image));
    }
  }

  addWindows() {
    const { table, windows } = this.model;
    const points = [...windows.ranges.keys()];
    const controls = () => [finder('point', points.length, (i) => pointName(table, points[i]), points.indexOf(this.row), (i) => this.chooseRow(points[i]))];
    this.windows = this.card('windows', (width) => windowsFigure({ table, windows, row: this.row, width }), controls);
  }

  chooseRow(row) {
    if (!this.model.windows.ranges.has(row) || !this.windows) return;
    this.row = row;
    this.windows.update();
  }

  addTraces() {
    const { traces } = this.model;
    this.showTrace(traces.at(-1));
    const names = traces.map((trace) => [trace, trace.name]);
    const run = () => choice('run', names, this.trace, (trace) => { this.showTrace(trace); this.timeline.update(); this.topology.update(); });
    this.timeline = this.card('timeline', () => this.timelineNow(), () => [run(), this.tracksInput()]);
    this.timeline.chart.on('datazoom', () => this.zoomed());
    this.timeline.chart.on('click', ({ componentType }) => { if (componentType === 'yAxis') this.toggleLanes(); });
    this.timeline.chart.getZr().on('click', ({ offsetX, offsetY }) => this.timeClicked(offsetX, offsetY));
    this.topology = this.card('topology', (width) => topologyFigure({ trace: this.trace, at: this.at, width }), () => [run(), this.timeSlider()]);
  }

  showTrace(trace) {
    this.trace = trace;
    this.wanted = defaultTracks(trace);
    this.at = trace.end_s / 2;
  }

  toggleLanes() {
    const words = this.wanted.split(',').map((word) => word.trim()).filter(Boolean);
    this.wanted = (words.includes(LANES) ? words.filter((word) => word !== LANES) : [...words, LANES]).join(', ');
    this.timeline.update();
  }

  timelineNow() {
    return timelineFigure({ trace: this.trace, wanted: this.wanted, pixels: this.main.clientWidth });
  }

  tracksInput() {
    const input = element('input', { name: 'tracks', value: this.wanted, size: 48, onchange: () => { this.wanted = input.value; this.timeline.update({ keepControls: true }); } });
    return element('label', { title: 'names or beginnings of names, with commas; all' }, 'tracks ', input);
  }

  // Other spans come into sight: only the series is replaced, so that the zoom stays.
  zoomed() {
    const { chart } = this.timeline;
    const { startValue, endValue } = chart.getOption().dataZoom[0];
    const { tracks } = chooseTracks(this.trace, this.wanted);
    chart.setOption({ series: [timelineSeries(this.trace, tracks, startValue, endValue, this.main.clientWidth)] });
  }

  timeClicked(x, y) {
    const { chart } = this.timeline;
    if (!chart.containPixel('grid', [x, y])) return;
    this.at = chart.convertFromPixel('grid', [x, y])[0];
    this.topology.update();
  }

  timeSlider() {
    const { trace } = this;
    const slider = element('input', { type: 'range', min: 0, max: STEPS, value: Math.round((this.at / trace.end_s) * STEPS), name: 'time',
      oninput: () => { this.at = (slider.value / STEPS) * trace.end_s; this.topology.update({ keepControls: true }); } });
    return element('label', { className: 'slider', title: 'or click into the timeline' }, 'time ', slider);
  }

  addTable() {
    const section = element('section', { id: 'table' }, element('header', {}, element('h2', {}, 'All points')));
    this.main.append(section);
    const onFilter = (rows) => { this.rows = rows; this.answer.update(); for (const card of this.overTheTable) card.update(); };
    new TableView(section, this.model.table, { onFilter, onChoose: (row) => this.chooseRow(row) });
  }

  // Why numbers are what they are, as the results say it.
  addExplanations() {
    const { explanations = [] } = this.model;
    if (explanations.length === 0) return;
    this.main.append(element('section', { id: 'notes' }, element('header', {}, element('h2', {}, 'Why')),
      element('ul', {}, ...explanations.map((text) => element('li', {}, text)))));
  }

  // What was simulated: as the results say it, by topic.
  addFacts() {
    const facts = this.model.about ?? [];
    if (facts.length === 0) return;
    const row = ({ topic, text }) => element('tr', {}, element('th', {}, topic), element('td', {}, text));
    this.main.append(element('section', { id: 'about' }, element('header', {}, element('h2', {}, 'What was simulated')),
      element('table', { className: 'facts' }, element('tbody', {}, ...facts.map(row)))));
  }
}

/** Shows the page. */
export async function start() {
  const main = document.querySelector('main');
  try {
    const model = await decodeDocument(JSON.parse(document.getElementById('document').textContent));
    const notes = model.where === '' ? model.notes : [`Only points with ${model.where}.`, ...model.notes];
    main.replaceChildren(...notes.map((text) => element('p', { className: 'warning' }, text)));
    new Page(model, main);
    document.body.dataset.state = 'ready';
  } catch (error) {
    main.replaceChildren(element('p', { className: 'warning' }, `This page cannot be shown: ${error.message}`));
    throw error;
  }
}

/** For Node: the figures of a document as [{ name, text }]. */
export async function files(document, format) {
  assumeWideTexts();
  return figureFiles(await decodeDocument(document), format);
}
