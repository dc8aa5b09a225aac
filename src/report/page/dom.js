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

export function download(name, content, type) {
  const url = typeof content === 'string' && content.startsWith('data:') ? content : URL.createObjectURL(new Blob([content], { type }));
  element('a', { href: url, download: name }).click();
}
