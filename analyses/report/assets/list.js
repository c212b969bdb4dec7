// What the list of queries and its details share: elements made of text nodes alone, so that no text can become markup.
const assay = (() => {
  const block = document.getElementById('queries-data');
  const data = block ? JSON.parse(block.textContent) : { recordings: [], queries: {}, documents: {}, grades: {} };
  const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

  function make(tag, className, ...children) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...children.filter((child) => child !== null && child !== undefined && child !== ''));
    return element;
  }

  // A text from a recording, kept from changing the direction of what stands around it.
  const said = (text) => make('bdi', '', String(text));
  const number = (value) => (value === null || value === undefined ? '–' : value.toFixed(3));
  const counted = (n, one, many) => `${n.toLocaleString('en')} ${n === 1 ? one : many ?? `${one}s`}`;

  const CLASSES = {
    e: ['good', '●', 'exact'], p: ['part', '◐', 'partial'], i: ['bad', '○', 'irrelevant'], u: ['none', '?', 'unjudged'],
    r: ['none', '↺', 'repeated'],
  };

  // What people judged a document to be: a sign and a word beside the colour.
  function grade(collection, letter, value) {
    const [look, sign, word] = CLASSES[letter];
    const label = value === null || value === undefined ? null : own(data.grades[collection], String(value));
    const badge = make('span', `badge ${look}`, `${sign} `, label && label !== word ? said(label) : word);
    if (value !== null && value !== undefined) badge.title = `grade ${value}: ${word}`;
    return badge;
  }

  function fields(collection, id) {
    return own(own(data.documents, collection), id) ?? [];
  }

  return { data, own, make, said, number, counted, grade, fields, CLASSES };
})();
