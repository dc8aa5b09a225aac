// A figure on the page: heading, controls, chart, and buttons that give it as a file.
import { download, element } from './dom.js';
import { draw, redraw, toSvg } from './echarts.js';
import { toCsv } from './format.js';

export class Card {
  /** `make()` gives the figure; `controls()` the elements above it, made anew at each update. */
  constructor(parent, id, make, controls = () => []) {
    Object.assign(this, { make, controls });
    this.heading = element('h2', {});
    this.bar = element('div', { className: 'controls' });
    this.chartElement = element('div', { className: 'chart' });
    this.note = element('p', { className: 'note' });
    const button = (text, act) => element('button', { type: 'button', title: `this figure as ${text}`, onclick: act }, text);
    const buttons = element('div', { className: 'files' }, button('SVG', () => this.save('svg')), button('PNG', () => this.save('png')), button('CSV', () => this.save('csv')));
    this.section = element('section', { id }, element('header', {}, this.heading, buttons), this.bar, this.chartElement, this.note);
    parent.append(this.section);
    this.update();
  }

  /** Draws the figure anew; the controls too, unless one of them is being moved. */
  update({ keepControls = false } = {}) {
    this.figure = this.make();
    this.heading.textContent = this.figure.title;
    this.note.textContent = this.figure.note ?? '';
    if (!keepControls) this.bar.replaceChildren(...this.controls());
    this.section.classList.toggle('wide', this.figure.wide === true);
    const height = `${this.figure.height}px`;
    const resized = this.chartElement.style.height !== height;
    this.chartElement.style.height = height;
    if (!this.chart) this.chart = draw(this.chartElement, this.figure.option);
    else {
      if (resized) this.chart.resize();
      redraw(this.chart, this.figure.option);
    }
    this.chartElement.chart = this.chart;
  }

  save(format) {
    const { id, option, height, csv } = this.figure;
    const name = `${id}.${format}`;
    if (format === 'csv') download(name, toCsv([...csv]), 'text/csv');
    else if (format === 'svg') download(name, toSvg(option, this.chartElement.clientWidth, height), 'image/svg+xml');
    else download(name, this.chart.getDataURL({ pixelRatio: 2, backgroundColor: '#ffffff' }), 'image/png');
  }
}
