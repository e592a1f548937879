// html-manager looks for its icon font where require.js would look for these modules.
(() => {
  const assets = new URL('../slides/assets', document.currentScript.src).href;
  require.config({ paths: { '@jupyter-widgets': assets, '@jupyter-widgets/html-manager/dist': assets } });
})();
