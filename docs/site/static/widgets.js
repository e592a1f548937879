(() => {
  // html-manager looks for its icon font where require.js would look for these modules
  const assets = new URL('../slides/assets', document.currentScript.src).href;
  // Sphinx marks words that were searched for; in the text of a script, marks would make the state of widgets unreadable.
  document.querySelectorAll('script').forEach((script) => script.classList.add('nohighlight'));
  require.config({ paths: { '@jupyter-widgets': assets, '@jupyter-widgets/html-manager/dist': assets } });
})();
