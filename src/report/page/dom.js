// Making elements, and giving files to the reader.

/** element('a', { href: '#' }, 'text', child): properties, or attributes where the name has a dash. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-') || name === 'style') made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

/** What a tooltip shows: a line for each text. Names come from files of others, so that none of them may be read as markup. */
export function lines(...texts) {
  return element('div', {}, ...texts.filter((text) => typeof text === 'string' && text !== '').map((text) => element('div', {}, text)));
}

/** A labelled choice; `options`: [[value, text]]. */
export function choice(label, options, chosen, onChange) {
  const select = element('select', { name: label, onchange: () => onChange(options[select.selectedIndex][0]) },
    ...options.map(([value, text]) => element('option', { selected: value === chosen }, text)));
  return element('label', {}, `${label} `, select);
}

const MOST_FOUND = 200;  // names that a finder lists at once

/**
 * A choice among `count` things by their names, of any number: a field whose list has those that fit what is typed, and
 * buttons to the one before and after. `nameOf(i)`; `chosen` is shown; `onChange(i)`.
 */
export function finder(label, count, nameOf, chosen, onChange) {
  const list = element('datalist', { id: `list-${label}` });
  const find = (text) => {
    const wanted = text.toLowerCase();
    const found = [];
    for (let i = 0; i < count && found.length < MOST_FOUND; ++i) if (nameOf(i).toLowerCase().includes(wanted)) found.push(i);
    return found;
  };
  const refresh = (text) => list.replaceChildren(...find(text).map((i) => element('option', { value: nameOf(i) })));
  const input = element('input', {
    name: label, value: nameOf(chosen), autocomplete: 'off', title: 'type a part of a name', onfocus: () => { refresh(''); input.select(); }, oninput: () => refresh(input.value),
    onchange: () => {
      const found = find(input.value);
      const exact = found.find((i) => nameOf(i) === input.value);
      onChange(exact ?? found[0] ?? chosen);
    },
  });
  input.setAttribute('list', list.id);
  const step = (text, by) => element('button', { type: 'button', disabled: chosen + by < 0 || chosen + by >= count, title: by < 0 ? 'the one before' : 'the next', onclick: () => onChange(chosen + by) }, text);
  return element('label', { className: 'finder' }, `${label} `, input, list, step('‹', -1), step('›', 1), ` ${chosen + 1} of ${count}`);
}

export function download(name, content, type) {
  const url = typeof content === 'string' && content.startsWith('data:') ? content : URL.createObjectURL(new Blob([content], { type }));
  element('a', { href: url, download: name }).click();
}

/** A cell of a table; a number with its unit is not broken. */
export const cellOf = (text, shown = text) => element('td', { className: /^[−+≥$]?[\d.]+ ?\S*$/.test(text) ? 'value' : '' }, shown);
