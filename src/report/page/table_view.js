// The table of all points: filters, sorting, and only the rows in sight in the document.
import { element } from './dom.js';
import { counted, formatValue } from './format.js';
import { stepTimeOf } from './selection.js';
import { filterRows, predicateOf, sortRows } from './table_filter.js';

const ROW_HEIGHT = 24;
const TALLEST = 520;
const SPARE_ROWS = 10;  // above and below what is in sight
const SHORTEST = 9;
const LONGEST = 34;

// Width in characters: of the name and of the first values.
function widthOf(column) {
  const texts = Array.from(column.values.slice(0, 50), (value) => formatValue(value, column.name).length);
  return Math.min(LONGEST, Math.max(SHORTEST, column.name.length + 2, ...texts));
}

const varies = ({ values }) => values.some((value) => !Object.is(value, values[0]));

// Parameters before metrics, of which the step time is the first.
const place = (column, stepTime) => (column.role !== 'metric' ? 0 : column === stepTime ? 1 : 2);

export class TableView {
  /** `onFilter(rows)` is told when other rows pass; `onChoose(row)` when one is clicked. */
  constructor(parent, table, { onFilter, onChoose }) {
    Object.assign(this, { table, onFilter, onChoose, filters: {}, order: {}, all: table.rows < 2 });
    this.count = element('span', { className: 'count' });
    const all = element('input', { type: 'checkbox', checked: this.all, onchange: () => { this.all = all.checked; this.build(); } });
    parent.append(element('div', { className: 'controls' }, this.count, element('label', {}, all, ' columns that never differ')));
    const height = Math.min(TALLEST, (table.rows + 4) * ROW_HEIGHT);
    this.scroller = element('div', { className: 'table', tabIndex: 0, style: `height:${height}px`, onscroll: () => this.drawRows() });
    parent.append(this.scroller);
    this.build();
  }

  build() {
    const { table } = this;
    const stepTime = table.get(stepTimeOf(table));
    const ranked = [...table.columns].sort((a, b) => place(a, stepTime) - place(b, stepTime));
    this.columns = ranked.filter((column) => this.all || column.name === 'name' || column === stepTime || varies(column));
    const header = this.columns.map((column) => element('th', {
      title: `${column.name}\nclick to sort`, style: `width:${widthOf(column)}ch`, onclick: () => this.sort(column),
    }, element('span', { className: 'arrow', id: `sort-${column.name}` }), column.name));
    const filters = this.columns.map((column) => element('th', {}, element('input', {
      placeholder: column.numeric ? 'filter: > 1' : 'filter', value: this.filters[column.name] ?? '', name: column.name,
      'aria-label': `filter ${column.name}`, oninput: (event) => this.filter(column, event.target),
    })));
    this.body = element('tbody', {});
    this.scroller.replaceChildren(element('table', {},
      element('thead', {}, element('tr', {}, ...header), element('tr', {}, ...filters)), this.body));
    this.refresh();
  }

  filter(column, input) {
    input.classList.toggle('wrong', !predicateOf(column, input.value));
    if (input.value.trim() === '') delete this.filters[column.name];
    else this.filters[column.name] = input.value;
    this.refresh();
    this.onFilter(this.filtered);
  }

  sort(column) {
    const same = this.order.column === column;
    this.order = same && this.order.descending ? {} : { column, descending: same };
    this.refresh();
  }

  refresh() {
    const { table, order } = this;
    this.filtered = filterRows(table, this.filters);
    this.rows = order.column ? sortRows(order.column, this.filtered, order.descending) : this.filtered;
    for (const arrow of this.scroller.querySelectorAll('.arrow')) {
      arrow.textContent = arrow.id === `sort-${order.column?.name}` ? (order.descending ? '▼ ' : '▲ ') : '';
    }
    this.count.textContent = `${this.rows.length.toLocaleString('en')} of ${counted(table.rows, 'point', table.rows.toLocaleString('en'))}`;
    this.scroller.scrollTop = 0;
    this.drawRows();
  }

  drawRows() {
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW_HEIGHT) - SPARE_ROWS);
    const last = Math.min(this.rows.length, first + Math.ceil(this.scroller.clientHeight / ROW_HEIGHT) + 2 * SPARE_ROWS);
    const gap = (rows) => element('tr', { style: `height:${rows * ROW_HEIGHT}px` });
    const lines = Array.from(this.rows.subarray(first, last), (row) => this.line(row));
    this.body.replaceChildren(gap(first), ...lines, gap(this.rows.length - last));
  }

  line(row) {
    return element('tr', { className: 'point', onclick: () => this.onChoose(row) }, ...this.columns.map(({ name, numeric, values }) => {
      const text = formatValue(values[row], name);
      return element('td', { className: numeric ? 'number' : '', title: String(values[row]) }, text);
    }));
  }
}
