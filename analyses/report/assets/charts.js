'use strict';
// Draws each chart from its own block of JSON, without evaluating code, and says what a mark holds in a tip of plain text.
(() => {
  const tip = document.getElementById('tip');

  function showTip(handler, event, item, value) {
    tip.replaceChildren();
    tip.hidden = value === null || value === undefined || value === '';
    if (tip.hidden) return;
    const pairs = typeof value === 'object' ? Object.entries(value) : [['', value]];
    for (const [name, shown] of pairs) {
      const line = document.createElement('div');
      line.append(name ? `${name}: ` : '', document.createElement('b'));
      line.lastChild.append(String(shown));
      tip.append(line);
    }
    const x = Math.min(event.clientX + 12, window.innerWidth - tip.offsetWidth - 8);
    const y = Math.min(event.clientY + 12, window.innerHeight - tip.offsetHeight - 8);
    tip.style.left = `${Math.max(4, x)}px`;
    tip.style.top = `${Math.max(4, y)}px`;
  }

  const options = { mode: 'vega', ast: true, renderer: 'svg', actions: false, defaultStyle: false, tooltip: showTip };
  const plots = [...document.querySelectorAll('.plot[data-spec]')];

  async function draw() {
    for (const plot of plots) {
      try {
        const spec = JSON.parse(document.getElementById(plot.dataset.spec).textContent);
        await window.vegaEmbed(plot, spec, options);
      } catch (error) {
        console.error(error);
        plot.textContent = 'This chart could not be drawn; its table holds the same.';
      }
    }
    document.documentElement.dataset.charts = 'drawn';
  }
  draw();
})();
