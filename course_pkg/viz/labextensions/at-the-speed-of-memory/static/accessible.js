// What ipywidgets leaves out for those who hear a page or use its keys: a slider has a name and says its value as it
// is shown, an answer says whether it is chosen, and what is wider than its column can be scrolled by the arrows.
// And what browsers and MathJax leave out: no line begins with a unit, or with a comma after a formula. Decks, exported
// pages and JupyterLab load this file.
(() => {
  const set = (element, name, value) => {
    if (value && element.getAttribute(name) !== value) element.setAttribute(name, value);
  };
  const text = (element) => element?.textContent.trim().replace(/\s+/g, ' ') ?? '';

  // The label beside a control, else the question above it.
  function nameOf(control) {
    const own = text(control.querySelector('.widget-label'));
    const question = control.closest('.widget-box')?.querySelector('.course-question');
    return own || text(question) || 'value';
  }

  function describe(root) {
    for (const slider of root.querySelectorAll('.widget-slider')) {
      for (const handle of slider.querySelectorAll('[role=slider]')) {
        set(handle, 'aria-label', nameOf(slider));
        set(handle, 'aria-valuetext', text(slider.querySelector('.widget-readout')));
      }
      // A readout can be edited only where it holds a number; it is a text box without a name all the same.
      for (const readout of slider.querySelectorAll('.widget-readout[contenteditable=true]')) {
        set(readout, 'role', 'textbox');
        set(readout, 'aria-label', `${nameOf(slider)}, value`);
      }
    }
    for (const group of root.querySelectorAll('.widget-toggle-buttons')) {
      set(group, 'role', 'group');
      set(group, 'aria-label', nameOf(group));
      for (const label of group.querySelectorAll('label[title=null]')) label.removeAttribute('title');
      for (const button of group.querySelectorAll('button')) {
        set(button, 'aria-pressed', String(button.classList.contains('mod-active')));
      }
    }
  }

  const WIDE = '.jp-OutputArea-output, .widget-html, .widget-html-content, .course-threads, .course-steps, .highlight pre, table';

  function letScroll(root) {
    for (const element of root.querySelectorAll(WIDE)) {
      const scrolls = element.scrollWidth > element.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(element).overflowX);
      if (scrolls) set(element, 'tabindex', '0');
      else if (element.dataset.scrolls) element.removeAttribute('tabindex');
      if (scrolls) element.dataset.scrolls = 'true';
      else delete element.dataset.scrolls;
    }
  }

  // A browser may break a line on either side of a formula, even before a comma: a formula and the signs that touch it
  // stand in a box without breaks. A hyphen may end a line.
  const FORMULAS = 'mjx-container:not([display=true])', AFTER = /^[^\s([{“‘—-]*-?/, BEFORE = /[([{“‘]*$/;

  function keepWhole(root) {
    for (const formula of root.querySelectorAll(FORMULAS)) {
      if (formula.parentElement.closest('.course-whole, mjx-container')) continue;
      let box = formula;  // on a page of Sphinx, a formula is alone in a span
      while (box.parentElement.matches('a, em, span, strong') && box.parentElement.childNodes.length === 1) box = box.parentElement;
      const [before, after] = [box.previousSibling, box.nextSibling];
      const opens = before?.nodeType === Node.TEXT_NODE ? BEFORE.exec(before.data)[0].length : 0;
      const closes = after?.nodeType === Node.TEXT_NODE ? AFTER.exec(after.data)[0].length : 0;
      if (!opens && !closes) continue;
      const whole = document.createElement('span');
      whole.className = 'course-whole';
      whole.style.whiteSpace = 'nowrap';
      const first = opens ? before.splitText(before.length - opens) : null;
      if (closes) after.splitText(closes);
      box.before(whole);
      whole.append(...[first, box, closes ? after : null].filter(Boolean));
    }
  }

  window.keepFormulasWhole = keepWhole;  // for decks, which are measured as soon as they are drawn

  // A number stands in one line with its unit, its power of ten or its lecture, a name with what it is set to, and what
  // is left out with the word before it. Nor does a line begin with a sign between two words or numbers.
  const UNITS = /(\d) (?=(?:[mµnp]?s|[kKMGT]?i?B(?:\/s)?|[MGT](?:F|FLOP)\/s|[MG]?Hz|GPUs?|bytes?|flops?)(?![\wµ]))/g;
  const SET = /(\]|\b[A-Za-z]) = (?=\w+\[|\d)/g;
  const POWERS = /(\d) · (?=10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹])/g;
  const BEFORE_SIGN = / (?=…|[·=≠≈<>≤≥+−×÷] )/g;
  const NUMBERED = /\b([Ll]ectures?|[Ee]xercise) (?=\d)/g;
  const AS_IT_IS = 'pre, code, svg, math, .math, mjx-container, script, style, aside.notes, .widget-readout, '
    + 'textarea, select, [contenteditable=true], table.records';  // whose cells are compared with what was chosen
  const NOT_YET_DRAWN = /\$|\\[([]/;  // a formula is a box of its own as soon as MathJax has drawn it

  function keepTogether(part) {
    const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      if (NOT_YET_DRAWN.test(text.data)) continue;
      const kept = [UNITS, NUMBERED].reduce((told, found) => told.replace(found, '$1\u00a0'), text.data)
        .replace(SET, '$1\u00a0=\u00a0').replace(POWERS, '$1\u00a0·\u00a0').replace(BEFORE_SIGN, '\u00a0');
      if (kept !== text.data && !text.parentElement.closest(AS_IT_IS)) text.data = kept;
    }
  }

  window.keepTogether = keepTogether;  // for decks, as above
  // where people read: not the menus, and not the cells where they write
  const READ = 'article, .jp-RenderedMarkdown, .jp-OutputArea-output';

  let waiting = false;
  const later = () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      describe(document);
      keepWhole(document);
      document.querySelectorAll(READ).forEach(keepTogether);
      letScroll(document);
    }, 60);
  };
  const watch = () => {
    later();
    addEventListener('resize', later);
    new MutationObserver(later).observe(document.body, {
      subtree: true, childList: true, characterData: true, attributeFilter: ['class', 'aria-valuetext'],
    });
  };
  document.body ? watch() : addEventListener('DOMContentLoaded', watch);
})();
