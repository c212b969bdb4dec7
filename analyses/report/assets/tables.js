// Sorts a table by the column whose header is pressed; undefined values stay last.
(() => {
  function key(row, column) {
    const cell = row.cells[column];
    if (cell === undefined) return { empty: true };
    if (cell.dataset.sort !== undefined) {
      return cell.dataset.sort === '' ? { empty: true } : { number: Number(cell.dataset.sort) };
    }
    const text = cell.textContent.trim();
    return text === '' || text === '–' ? { empty: true } : { text };
  }

  function compare(a, b, sign) {
    if (a.empty || b.empty) return (a.empty ? 1 : 0) - (b.empty ? 1 : 0);
    if (a.number !== undefined && b.number !== undefined) return sign * (a.number - b.number);
    return sign * String(a.text ?? a.number).localeCompare(String(b.text ?? b.number), undefined, { numeric: true });
  }

  for (const table of document.querySelectorAll('table.sortable')) {
    const headers = [...table.tHead.rows[0].cells];
    headers.forEach((header, column) => {
      header.firstElementChild.addEventListener('click', () => {
        const up = header.getAttribute('aria-sort') !== 'ascending';
        for (const other of headers) other.setAttribute('aria-sort', 'none');
        header.setAttribute('aria-sort', up ? 'ascending' : 'descending');
        const rows = [...table.tBodies[0].rows].map((row) => [key(row, column), row]);
        rows.sort((a, b) => compare(a[0], b[0], up ? 1 : -1));
        table.tBodies[0].append(...rows.map((pair) => pair[1]));
      });
    });
  }
})();
