window.MathJax = {
  tex: {
    inlineMath: [['$', '$'], ['\\(', '\\)']],
    displayMath: [['$$', '$$'], ['\\[', '\\]']],
    processEscapes: true,
    processEnvironments: true,
    packages: { '[-]': ['noundefined'] },  // an unknown macro is an error, not red text
  },
  options: { enableMenu: false },
  svg: { fontCache: 'none' },  // a slide's formulas must not depend on a definition in another slide
  startup: {
    ready() {
      MathJax.startup.defaultReady();
      // html-manager still speaks MathJax 2: it queues ['Typeset', Hub, element] for widgets' labels.
      let last = MathJax.startup.promise;
      MathJax.Hub = {
        Queue([job, , element]) {
          if (job === 'Typeset') last = last.then(() => MathJax.typesetPromise([element]));
        },
      };
    },
  },
};
