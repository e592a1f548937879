(() => {
  const main = document.querySelector('.reveal');
  const footer = document.querySelector('.deck-footer');
  const query = new URLSearchParams(location.search);
  const printing = query.has('print-pdf');
  // A phone shows one column to scroll through; the speaker view's frames, small as they are, show slides.
  const reading = !printing && window.top === window
    && matchMedia('(max-width: 700px), (max-height: 430px)').matches;
  document.documentElement.classList.toggle('reading', reading);

  const inWidget = () => document.activeElement?.closest('.jupyter-widgets, input, select, textarea');
  // Keys that the focused control needs for itself; all others turn slides.
  function takes(key) {
    const element = inWidget() && document.activeElement;
    if (!element) return false;
    if (element.matches('[role=slider], input[type=range]')) return /^(Arrow|Home|End)/.test(key);
    if (element.matches('button')) return key === ' ' || key === 'Enter';
    if (element.matches('input[type=radio], input[type=checkbox]')) return /^Arrow/.test(key) || key === ' ';
    return element.matches('input, select, textarea');
  }
  // After a click on an answer, keys control the deck again: a click of a mouse or a finger leaves no focus on it.
  addEventListener('click', (event) => {
    if (event.detail > 0) event.target.closest?.('.jupyter-widgets')?.querySelector('button:focus, input[type=radio]:focus')?.blur();
  });

  // The browser would print the slide that is shown, cut as the window is: open the pages of the PDF, and print those.
  addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'p' || printing) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    location.assign(`${location.pathname}?print-pdf&light&now`);
  }, true);

  // Paging keys belong to the deck even when a slider has the focus: presenters' remotes send them.
  addEventListener('keydown', (event) => {
    if (!inWidget()) return;
    if (event.key === 'PageDown' || event.key === 'PageUp') {
      event.preventDefault();
      event.stopImmediatePropagation();
      document.activeElement.blur();
      event.key === 'PageDown' ? Reveal.next() : Reveal.prev();
    } else if (event.key === 'Escape') {
      event.stopImmediatePropagation();
      document.activeElement.blur();
    }
  }, true);

  function number(element, slide) {
    const slides = Reveal.getSlides();
    element.textContent = `${slides.indexOf(slide) + 1} / ${slides.length}`;
  }

  // In print every page needs a footer of its own.
  function printFooters() {
    for (const page of document.querySelectorAll('.pdf-page')) {
      const copy = footer.cloneNode(true);
      const slide = page.querySelector('section');
      if (slide.classList.contains('title-slide')) continue;
      page.classList.toggle('predict', slide.classList.contains('predict'));
      number(copy.querySelector('.deck-number'), slide);
      page.append(copy);
    }
    footer.remove();
  }

  // widgets.Image has no alt text (and its tooltip breaks its view): the `alt` of its cell serves.
  function describeWidgetImages() {
    for (const image of document.querySelectorAll('[data-alt] img:not([alt])')) {
      image.alt = image.closest('[data-alt]').dataset.alt;
    }
  }

  // On a slide that is a single sentence, this sentence is the heading.
  for (const sentence of document.querySelectorAll('.statement .markdown p:first-of-type')) {
    if (sentence.closest('section').querySelector('h1, h2, h3, [role=heading]')) continue;
    sentence.setAttribute('role', 'heading');
    sentence.setAttribute('aria-level', '2');
  }

  const holders = [...document.querySelectorAll('div.jp-OutputArea-output.jupyter-widgets')];
  const widgetsReady = () => new Promise((resolve) => {
    const done = () => holders.every((holder) => holder.querySelector('.lm-Widget'));
    if (done()) return resolve();
    const observer = new MutationObserver(() => { if (done()) { observer.disconnect(); resolve(); } });
    holders.forEach((holder) => observer.observe(holder, { childList: true, subtree: true }));
  });

  for (const holder of holders) {
    holder.dataset.preventSwipe = '';  // a finger on a slider moves the slider
    new MutationObserver(() => {
      describeWidgetImages();
      window.keepTogether(holder);
    }).observe(holder, { childList: true, subtree: true });
  }

  Reveal.on('pdf-ready', printFooters);
  const turned = ({ currentSlide }) => {
    main.classList.toggle('on-title', currentSlide.classList.contains('title-slide'));
    number(footer.querySelector('.deck-number'), currentSlide);
  };
  Reveal.on('ready', (event) => {
    main.removeAttribute('role');  // reveal.js calls the deck an application, whose text screen readers do not walk through
    Reveal.addKeyBinding({ keyCode: 68, key: 'D', description: 'Dark or light' }, window.toggleTheme);
    turned(event);
  });
  Reveal.on('slidechanged', turned);

  const start = () => Reveal.initialize({
    width: Number(main.dataset.width),
    height: Number(main.dataset.height),
    margin: 0,
    maxScale: 4,
    center: false,
    hash: true,
    navigationMode: 'linear',
    scrollActivationWidth: null,  // a phone shows the slides as they are, not as a scrolling page
    controlsLayout: 'edges',
    controlsTutorial: false,
    progress: true,
    transition: 'none',
    backgroundTransition: 'none',
    pdfSeparateFragments: false,
    pdfMaxPagesPerSlide: 1,
    keyboardCondition: (event) => !takes(event.key),  // arrows move a focused slider, not the deck
    plugins: [RevealNotes],
  });
  const loaded = new Promise((resolve) => addEventListener('load', resolve));
  const drawn = loaded.then(() => Promise.all([MathJax.startup.promise, widgetsReady()]));
  // For print reveal.js takes the slides out of the document for a moment. Formulas and widgets that are drawn
  // just then would not find their place.
  const printed = new Promise((resolve) => Reveal.on('pdf-ready', resolve));
  const started = reading ? drawn : printing ? drawn.then(start).then(() => printed) : start();

  Promise.all([started, drawn]).then(() => {
    // The speaker view copies the notes without MathJax's style sheet, where this text would show beside the
    // formula.
    document.querySelectorAll('aside.notes mjx-assistive-mml').forEach((element) => element.remove());
    describeWidgetImages();
    document.querySelectorAll('.frame').forEach(window.keepTogether);
    window.keepFormulasWhole(document);
    if (!reading) Reveal.layout();
    document.body.dataset.ready = 'true';  // the check and the PDF wait for this
    if (printing && query.has('now')) {
      addEventListener('afterprint', () => history.back());
      print();
    }
  });
})();
