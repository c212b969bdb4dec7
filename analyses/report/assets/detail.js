// One query opened: its contexts, answers and traces.
Object.assign(assay, (() => {
  const { make, said, number, counted, grade, fields, own } = assay;
  const WORD = /[\p{L}\p{M}\p{Nd}]+/gu;
  const LETTER = /[\p{L}\p{N}]/u;

  function documentText(collection, id, ownText) {
    if (ownText) return make('div', 'text', ownText);
    const found = fields(collection, id);
    if (!found.length) return make('p', 'note', 'Neither the recording nor the catalog holds its text.');
    return make('dl', 'fields', ...found.flatMap(([name, value]) => [make('dt', '', said(name)), make('dd', 'text', value)]));
  }

  function title(collection, id, ownText) {
    const first = ownText ?? (fields(collection, id)[0] ?? [])[1];
    if (!first) return null;
    const whole = [...first.replace(/\s+/g, ' ')];
    return said(whole.length > 90 ? `${whole.slice(0, 90).join('')}…` : whole.join(''));
  }

  // A list of documents in its order: place, ID, first words, what people judged it, whether it is cited.
  function documents(collection, list, cited, names) {
    return make('ol', 'documents', ...list.map(([rank, id, letter, value, passage, text]) => {
      const summary = make(
        'summary', '', make('span', 'place', `${rank}`), ' ', make('b', '', said(id)), ' ',
        passage ? make('span', 'note', ' passage ', said(passage), ' ') : null,
        grade(collection, letter, value), cited.has(id) ? make('span', 'badge cited', '✓ ', names) : null, ' ', title(collection, id, text));
      const item = make('li', cited.has(id) ? 'is-cited' : '', make('details', '', summary));
      item.firstElementChild.addEventListener('toggle', (event) => {
        if (event.target.open && event.target.children.length === 1) event.target.append(documentText(collection, id, text));
      });
      return item;
    }));
  }

  // Where a text names documents: in the form that the prompt asked for, else the bare ID with no letter or digit touching it. A text
  // that names none may name passages instead, as [1].
  function named(text, context, ids, form) {
    const found = places(text, new Map([...ids].map((id) => [form ? form.replaceAll('{id}', id) : id, id])), Boolean(form));
    const passages = context.filter(([, , , , passage]) => passage !== null).map(([, id, , , passage]) => [`[${passage}]`, id]);
    return found.length ? found : places(text, new Map(passages), true);
  }

  function places(text, names, isWhole) {
    const taken = new Uint8Array(text.length);
    const found = [];
    for (const [wanted, id] of [...names].sort((a, b) => b[0].length - a[0].length)) {
      if (!wanted) continue;
      for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
        const end = at + wanted.length;
        const before = [...text.slice(Math.max(0, at - 2), at)].pop() ?? '';
        const after = [...text.slice(end, end + 2)][0] ?? '';
        if (!isWhole && (LETTER.test(before) || LETTER.test(after))) continue;
        if (taken.subarray(at, end).some(Boolean)) continue;
        taken.fill(1, at, end);
        found.push([at, end, id]);
      }
    }
    return found.sort((a, b) => a[0] - b[0]);
  }

  function answerText(collection, item, form) {
    const letters = new Map(item.context.map(([, id, letter, value]) => [id, [letter, value]]));
    const cited = new Map(item.cited.filter((c) => c[1] !== null).map((c) => [c[1], c]));
    for (const [id, c] of cited) if (!letters.has(id)) letters.set(id, [c[3], c[4]]);
    const box = make('div', 'text answer');
    box.dir = 'auto';
    let last = 0;
    for (const [start, end, id] of named(item.answer, item.context, letters.keys(), form)) {
      const [letter, value] = letters.get(id);
      box.append(item.answer.slice(last, start), make('mark', assay.CLASSES[letter][0], said(item.answer.slice(start, end)), ' ', grade(collection, letter, value)));
      if (!cited.has(id)) box.lastChild.append(make('span', 'badge none', 'named, not cited'));
      last = end;
    }
    box.append(item.answer.slice(last));
    return box;
  }

  const CITED = {
    in_context: null, outside_context: 'outside its context', unknown_id: 'the catalog lacks it', malformed: 'no ID',
  };

  function citations(collection, list) {
    if (!list.length) return make('p', '', 'Cites nothing.');
    return make('ol', 'cited-list', ...list.map(([shown, id, kind, letter, value, rank]) => make(
      'li', '', make('b', '', shown === null ? 'null' : said(shown)), ' ',
      kind === 'malformed' ? null : grade(collection, letter, value), ' ',
      rank !== null ? `place ${rank} of the context` : make('span', 'badge bad', `✗ ${CITED[kind] ?? kind}`), ' ', rank === null && id !== null ? title(collection, id, null) : null)));
  }

  function support(list) {
    if (!list.length) return [];
    const looks = { supported: ['good', '●'], partly: ['part', '◐'], unsupported: ['bad', '○'] };
    return [
      make('h6', '', 'Claims, and whether the cited text backs them'),
      make('p', 'note', 'These labels rest on no judgment of relevance.'),
      make('ul', 'claims', ...list.map(([claim, judge, label, score, ids]) => make(
        'li', '', make('span', `badge ${(looks[label] ?? ['none'])[0]}`, (looks[label] ?? ['', '·'])[1], ' ', said(label ?? `score ${score}`)), ' ',
        make('span', 'note', 'by ', said(judge)), ' ', said(claim ?? '(the whole answer)'),
        ids.length ? make('span', 'note', ' of ', said(ids.join(', '))) : make('span', 'note', ' without a source')))),
    ];
  }

  function head(item, measure) {
    return [
      make('h5', '', said(item.retriever), item.trial > 1 ? ` (trial ${item.trial})` : ''),
      make('p', 'means', `${measure} `, make('b', '', number(item.value)),
        item.n_cited && item.value !== null ? ` = ${item.n_exact} of ${item.n_cited}` : '',
        item.high !== undefined && item.high !== null && item.high !== item.value ? `; ${number(item.high)} with the unjudged as exact` : ''),
    ];
  }

  const searchedAs = (item, query) => (item.searched_as && item.searched_as !== query ? make('p', '', 'Searched as: ', said(item.searched_as)) : null);

  function context(collection, item, cited, names) {
    if (!item.known) return [make('p', 'note', 'Nobody recorded which documents it held.')];
    const more = item.places > item.context.length && item.context.length ? ` (${item.context.length} of ${item.places} places)` : '';
    return [
      make('h6', '', `Context, in the order read${more}`),
      item.context.length ? documents(collection, item.context, cited, names) : make('p', '', 'It holds nothing.'),
    ];
  }

  function answer(recording, item, query) {
    const { collection, form } = recording;
    const cited = new Set(item.cited.map((c) => c[1]).filter((id) => id !== null));
    if (item.missing) return make('article', 'item', ...head(item, recording.measure), make('p', '', make('span', 'badge bad', '✗ missing'), ' The query was asked, and no answer was recorded.'));
    return make(
      'article', 'item', ...head(item, recording.measure),
      make('p', '', make('span', `badge ${item.cell === 'answered, exact held' ? 'good' : 'none'}`, item.cell), ...item.breaks.flatMap((b) => [' ', make('span', 'badge bad', `✗ ${b}`)])),
      item.broken ? make('p', '', make('span', 'badge bad', '✗ broken'), ' No usable list of citations.') : null,
      item.error ? make('p', '', 'Error: ', said(item.error)) : null,
      searchedAs(item, query),
      make('h6', '', 'Answer'),
      item.answer === null ? make('p', 'note', 'Nobody kept its text.') : answerText(collection, item, form),
      make('h6', '', 'Cited, in its own order'), citations(collection, item.cited),
      ...context(collection, item, cited, 'cited'), ...support(item.support));
  }

  function list(recording, item, query) {
    if (item.missing) return make('article', 'item', ...head(item, recording.measure), make('p', '', make('span', 'badge bad', '✗ missing'), ' The query was asked, and no list was recorded.'));
    return make('article', 'item', ...head(item, recording.measure), searchedAs(item, query), ...context(recording.collection, item, new Set(), ''));
  }

  const ORIGINS = { shown: 'shown before', new: 'shown nowhere before', undecidable: 'undecidable: not all that was read is known' };

  // A search's text with each word that it adds marked, and its source below.
  function searchText(step) {
    if (step.query === null) return make('p', 'note', 'Its words are unknown.');
    const box = make('p', 'text search');
    box.dir = 'auto';
    let last = 0;
    for (const found of step.query.matchAll(WORD)) {
      const word = own(step.words, found[0].normalize('NFC').toLowerCase());
      if (!word || !step.later) continue;
      box.append(step.query.slice(last, found.index), make('mark', `word-${word[0]}`, found[0]));
      last = found.index + found[0].length;
    }
    box.append(step.query.slice(last));
    return box;
  }

  function source(word, [origin, by, search, id, field]) {
    const from = by === 'result' ? [` by search ${search}, document `, said(id), ', field ', said(field)]
      : by === 'open' ? [' in the opened document ', said(id), ', field ', said(field)] : by === 'feedback' ? [' by feedback'] : [];
    return make('li', '', make('mark', `word-${origin}`, said(word)), ` ${ORIGINS[origin] ?? origin}`, ...from);
  }

  function step(collection, found, picked, isOpen) {
    const failed = found.error ? make('p', '', make('span', 'badge bad', '✗ error'), ' ', said(found.error)) : null;
    if (found.what !== 'search') {
      return make('li', '', make('b', '', said(found.what)), found.doc === null ? null : make('span', '', ' ', said(found.doc), ' ', title(collection, found.doc, null)),
        found.text === null ? null : make('div', 'text', found.text), failed);
    }
    const words = found.later ? Object.entries(found.words) : [];
    return make(
      'li', '', make('b', '', `Search ${found.search}`), found.attempts > 1 ? ` (${found.attempts} attempts)` : '',
      found.refused ? make('span', 'badge bad', '✗ refused') : null, searchText(found), failed,
      words.length ? make('ul', 'sources', ...words.map(([word, from]) => source(word, from))) : found.later ? make('p', 'note', 'It adds no word.') : null,
      !found.known ? make('p', 'note', 'What it returned was not recorded.')
        : found.results.length ? results(collection, found, picked, isOpen) : make('p', 'note', 'It returned nothing.'));
  }

  // What a search returned, folded where the task has many searches.
  function results(collection, found, picked, isOpen) {
    const counts = Object.entries(assay.CLASSES).map(([letter, [, sign, word]]) => [sign, word, found.results.filter((r) => r[2] === letter).length]);
    const cut = found.n > found.results.length ? `The first ${found.results.length} of ${found.n} results` : counted(found.n, 'result');
    const box = make('details', '', make('summary', 'note', `${cut}: `, counts.filter(([, , n]) => n).map(([sign, word, n]) => `${n} ${sign} ${word}`).join(', ')),
      documents(collection, found.results, picked, 'picked'));
    box.open = isOpen;
    return box;
  }

  const PICKED = { never_returned: 'no search returned it', malformed: 'no ID', unknown_id: 'the catalog lacks it', undecidable: 'some results are unknown' };

  function task(recording, item) {
    const { collection } = recording;
    const picked = new Set(item.picks.map((p) => p[1]).filter((id) => id !== null));
    if (item.missing) return make('article', 'item', ...head(item, recording.measure), make('p', '', make('span', 'badge bad', '✗ missing'), ' The query was asked, and no task was recorded.'));
    const picks = item.picks.map(([shown, id, kind, letter, value, search, rank, counts]) => make(
      'li', counts ? '' : 'note', make('b', '', shown === null ? 'null' : said(shown)), ' ', kind === 'malformed' ? null : grade(collection, letter, value), ' ',
      kind === 'returned' ? `search ${search}, place ${rank}` : make('span', 'badge bad', `✗ ${PICKED[kind] ?? kind}`), counts ? '' : ' (not counted)', ' ', id === null ? null : title(collection, id, null)));
    return make(
      'article', 'item', ...head(item, recording.measure),
      item.own === null ? null : make('p', '', `The tool's own first places: ${number(item.own)}`),
      item.broken ? make('p', '', make('span', 'badge bad', '✗ broken')) : null, item.error ? make('p', '', 'Error: ', said(item.error)) : null,
      make('h6', '', `Steps${item.n_steps > item.steps.length ? ` (the first ${item.steps.length} of ${item.n_steps})` : ''}`),
      item.known ? make('ol', 'steps', ...item.steps.map((found) => step(collection, found, picked, item.steps.length <= 6))) : make('p', 'note', 'It is not known what was searched.'),
      make('h6', '', 'Picked'),
      item.finished ? (picks.length ? make('ol', 'cited-list', ...picks) : make('p', '', 'It picked nothing.')) : make('p', '', make('span', 'badge bad', '✗ unfinished'), ' It never picked.'));
  }

  // Everything about one query of one recording.
  function detail(recording, query) {
    const about = own(assay.data.queries[recording.collection], query.id) ?? { text: null, turns: [], judged: 0 };
    const show = { answers: answer, contexts: list, traces: task }[recording.kind];
    const judged = about.judged ? `People judged ${counted(about.judged, 'document')} for it: ${about.exact} exact, ${about.partial} partial, ${about.irrelevant} irrelevant${about.reachable < about.exact ? `; the catalog holds ${about.reachable} of the exact ones` : ''}.` : 'Nobody judged documents for it.';
    const others = assay.data.recordings.filter((r) => r !== recording && r.collection === recording.collection && r.queries.some((q) => q.id === query.id));
    const links = others.map((r) => {
      const link = make('a', '', said(r.id));
      link.href = `#${r.key}/${encodeURIComponent(query.id)}`;
      return link;
    });
    return make(
      'div', 'detail',
      about.turns.length ? make('div', '', make('h5', '', 'Earlier turns'), make('ol', '', ...about.turns.map((turn) => make('li', '', said(turn))))) : null,
      make('p', '', judged),
      links.length ? make('p', '', 'The same query in ', ...links.flatMap((link, i) => (i ? [', ', link] : [link])), '.') : null,
      query.items.length ? make('div', 'items', ...[...query.items].sort((a, b) => recording.floors.includes(a.retriever) - recording.floors.includes(b.retriever)).map((item) => show(recording, item, about.text))) : make('p', '', 'Nothing was recorded for it.'));
  }

  return { detail };
})());
