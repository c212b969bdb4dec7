// The list of queries: choose a recording, search, filter, order, open. Its state stands in the address, so that a query can be linked.
(() => {
  const list = document.getElementById('query-list');
  if (!list) return;
  const { data, make, said, number, counted, own } = assay;
  const PAGE = 25;
  const at = (id) => document.getElementById(id);
  const [pick, find, filter, order] = ['pick-recording', 'find-query', 'pick-filter', 'pick-order'].map(at);
  const more = at('query-more');
  let recording = data.recordings[0];
  let shown = [];
  let drawn = 0;

  function options(select, pairs, chosen) {
    select.replaceChildren(...pairs.map(([value, label]) => {
      const option = make('option', '', label);
      option.value = value;
      option.selected = value === chosen;
      return option;
    }));
  }

  // Floors stand after what they are a floor for.
  const isFloor = (name) => recording.floors.includes(name);
  const inOrder = (names) => [...names].sort((a, b) => isFloor(a) - isFloor(b) || (a < b ? -1 : 1));

  const text = (query) => own(data.queries[recording.collection], query.id)?.text ?? '';
  const defined = (query) => Object.entries(query.values).filter(([, v]) => v !== null);
  const spread = (query) => {
    const values = defined(query).map(([, v]) => v);
    return values.length > 1 ? Math.max(...values) - Math.min(...values) : -1;
  };

  function choose(key) {
    recording = data.recordings.find((r) => r.key === key) ?? recording;
    pick.value = recording.key;
    const flags = new Map();
    for (const query of recording.queries) for (const flag of query.flags) flags.set(flag, (flags.get(flag) ?? 0) + 1);
    options(filter, [['', `all ${recording.queries.length}`], ...[...flags].sort().map(([flag, n]) => [flag, `${flag} (${n})`])], '');
    const retrievers = inOrder([...new Set(recording.queries.flatMap((q) => Object.keys(q.values)))]);
    options(order, [['worst', 'worst first'], ['best', 'best first'], ['spread', 'largest difference first'], ['text', 'by their words'],
      ...retrievers.map((r) => [`low:${r}`, `lowest ${r} first`])], 'worst');
    const whole = recording.total > recording.queries.length
      ? `The worst ${recording.queries.length.toLocaleString('en')} of ${counted(recording.total, 'query', 'queries')} asked are here; ${data.is_full ? 'more would not fit the page, unless --recording limits it to fewer recordings' : 'the command shows more with --queries'}.`
      : `All ${counted(recording.total, 'query', 'queries')} asked are here.`;
    at('query-scope').replaceChildren(
      `${recording.measure} of `, said(recording.id), recording.model ? ', model ' : '', recording.model ? said(recording.model) : '', ', on ', said(recording.collection),
      `. ${whole} Worst: lowest mean ${recording.measure} over the retrievers that are no floor; undefined last. Texts are cut after ${data.text_limit.toLocaleString('en')} characters.`);
    refresh();
  }

  function ordered(queries) {
    const by = order.value;
    if (by === 'worst') return queries;
    if (by === 'best') {
      const known = queries.filter((q) => defined(q).length);
      return [...known.reverse(), ...queries.filter((q) => !defined(q).length)];
    }
    if (by === 'spread') return [...queries].sort((a, b) => spread(b) - spread(a));
    if (by === 'text') return [...queries].sort((a, b) => text(a).localeCompare(text(b)));
    const value = (query) => own(query.values, by.slice(4)) ?? Infinity;
    return [...queries].sort((a, b) => (value(a) === value(b) ? 0 : value(a) - value(b)));
  }

  function entry(query) {
    const values = inOrder(Object.keys(query.values)).flatMap((name) => [' ', make('span', 'value', said(name), ' ', make('b', '', number(query.values[name])))]);
    const summary = make(
      'summary', '', make('span', 'words', said(text(query) || '(no text)')), ' ', make('span', 'note', said(query.id)), make('span', 'values', ...values),
      ...query.flags.filter((f) => f !== 'its values differ').flatMap((f) => [' ', make('span', 'badge none', f)]));
    const box = make('details', '', summary);
    box.addEventListener('toggle', () => {
      if (box.open && box.children.length === 1) box.append(assay.detail(recording, query));
    });
    const item = make('li', '', box);
    item.dataset.query = query.id;
    return item;
  }

  function grow() {
    const next = shown.slice(drawn, drawn + PAGE);
    list.append(...next.map(entry));
    drawn += next.length;
    more.hidden = drawn >= shown.length;
    more.textContent = `Show ${Math.min(PAGE, shown.length - drawn)} more of ${shown.length - drawn}`;
    return next.length > 0;
  }

  function refresh() {
    const wanted = find.value.normalize('NFC').toLowerCase().trim();
    shown = ordered(recording.queries.filter((query) => (!filter.value || query.flags.includes(filter.value))
      && (!wanted || query.id.toLowerCase().includes(wanted) || text(query).normalize('NFC').toLowerCase().includes(wanted))));
    list.replaceChildren();
    drawn = 0;
    grow();
    at('query-status').textContent = shown.length ? `${counted(shown.length, 'query', 'queries')} found.` : 'No query fits. Clear the search or show all.';
  }

  // An address such as #recording-2/58 opens that query.
  function follow() {
    const found = /^#(recording-\d+)\/(.+)$/.exec(window.location.hash);
    if (!found) return;
    let id;
    try {
      id = decodeURIComponent(found[2]);
    } catch {
      return;
    }
    find.value = '';
    choose(found[1]);
    if (recording.key !== found[1]) return;
    const find_item = () => [...list.children].find((item) => item.dataset.query === id);
    while (!find_item() && grow());
    const item = find_item();
    if (!item) {
      at('query-status').textContent = 'That query is not among those that the report holds.';
      at('query-status').scrollIntoView({ block: 'center' });
      return;
    }
    item.firstElementChild.open = true;
    item.scrollIntoView({ block: 'start' });
    item.querySelector('summary').focus({ preventScroll: true });
  }

  options(pick, data.recordings.map((r) => [r.key, `${r.id} (${r.kind})`]), recording.key);
  at('query-controls').addEventListener('submit', (event) => event.preventDefault());
  pick.addEventListener('change', () => { find.value = ''; choose(pick.value); });
  find.addEventListener('input', refresh);
  filter.addEventListener('change', refresh);
  order.addEventListener('change', refresh);
  more.addEventListener('click', () => {
    const first = list.children.length;
    grow();
    list.children[first]?.querySelector('summary').focus();
  });
  window.addEventListener('hashchange', follow);
  choose(recording.key);
  follow();
  document.documentElement.dataset.queries = 'listed';
})();
