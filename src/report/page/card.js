// A figure on the page: heading, controls, what is held, chart, and buttons that give it as a file.
import { download, element } from './dom.js';
import { draw, redraw, toPng, toSvg } from './echarts.js';
import { toCsv } from './format.js';

const RESIZED = 24;  // pixels that are worth a new layout

export class Card {
  /**
   * `make(width)` gives the figure, or undefined where there is none to show; `controls()` the elements above it, made anew at
   * each update; `name(figure)` the figure as its files show it.
   */
  constructor(parent, id, make, { controls = () => [], name = (figure) => figure } = {}) {
    Object.assign(this, { make, controls, name });
    this.heading = element('h2', {});
    this.bar = element('div', { className: 'controls' });
    this.held = element('p', { className: 'held' });
    this.chartElement = element('div', { className: 'chart' });
    this.note = element('p', { className: 'note' });
    const button = (text, act) => element('button', { type: 'button', title: `this figure as ${text}`, onclick: act }, text);
    const buttons = element('div', { className: 'files' }, button('SVG', () => this.save('svg')), button('PNG', () => this.save('png')), button('CSV', () => this.save('csv')));
    this.section = element('section', { id }, element('header', {}, this.heading, buttons), this.bar, this.held, this.chartElement, this.note);
    parent.append(this.section);
    this.update();
    new ResizeObserver(() => this.resized()).observe(this.chartElement);
  }

  resized() {
    const width = this.chartElement.clientWidth;
    if (width === 0 || Math.abs(width - this.width) < RESIZED) return this.chart?.resize();
    return this.update({ keepControls: true });
  }

  /** Draws the figure anew; the controls too, unless one of them is being moved. */
  update({ keepControls = false } = {}) {
    this.section.hidden = false;
    this.width = this.chartElement.clientWidth || 900;
    this.figure = this.make(this.width);
    this.section.hidden = this.figure === undefined;
    if (this.figure === undefined) return;
    this.heading.textContent = this.figure.title;
    this.held.textContent = this.figure.held ? `with ${this.figure.held}` : '';
    this.note.textContent = this.figure.note ?? '';
    if (!keepControls) this.bar.replaceChildren(...this.controls());
    this.section.classList.toggle('wide', this.figure.wide === true);
    const height = `${this.figure.height}px`;
    const resized = this.chartElement.style.height !== height;
    this.chartElement.style.height = height;
    if (!this.chart) this.chart = draw(this.chartElement, this.figure.option);
    else {
      if (resized || this.width !== this.chart.getWidth()) this.chart.resize();
      redraw(this.chart, this.figure.option);
    }
    this.chartElement.chart = this.chart;
  }

  save(format) {
    const figure = this.name(this.figure);
    const name = `${figure.id}.${format}`;
    const width = this.chartElement.clientWidth;
    if (format === 'csv') download(name, toCsv([...figure.csv]), 'text/csv');
    else if (format === 'svg') download(name, toSvg(figure, { width }), 'image/svg+xml');
    else download(name, toPng(figure, width), 'image/png');
  }
}
