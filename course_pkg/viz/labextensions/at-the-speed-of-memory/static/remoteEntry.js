// An extension of JupyterLab, written by hand as the container that its loader expects; it needs no build.
(() => {
  const folder = new URL('.', document.currentScript.src);
  const NARROW = 1000;
  const MISSING = /^Error (displaying|creating) widget/;

  function load() {
    const script = document.createElement('script');
    script.src = new URL('accessible.js', folder);
    const style = document.createElement('link');
    style.rel = 'stylesheet';
    style.href = new URL('notebook.css', folder);
    document.head.append(script, style);
  }

  // Without the metadata that JupyterLab adds when the kernel starts.
  const content = (model) => {
    const all = model.toJSON();
    delete all.metadata.language_info;
    return JSON.stringify(all);
  };

  // A lecture that was only opened has nothing to be saved.
  function leaveClean(panel) {
    void panel.context.ready.then(() => {
      const model = panel.context.model, opened = content(model);
      const changed = (_, { name, newValue }) => {
        if (name !== 'dirty' || !newValue) return;
        if (content(model) === opened) model.dirty = false;
        else model.stateChanged.disconnect(changed);  // from the first edit on, only a save makes it clean
      };
      model.stateChanged.connect(changed);
      if (model.dirty) changed(model, { name: 'dirty', newValue: true });
    });
  }

  // Widgets of an earlier session are gone with its kernel: their output holds a picture, too.
  function fallBack(panel) {
    for (const cell of panel.content.widgets) {
      const area = cell.outputArea;
      for (let i = 0; area && i < area.widgets.length; i += 1) {
        const shown = [...area.widgets[i].node.querySelectorAll('.jupyter-widgets')]
          .find((node) => MISSING.test(node.textContent));
        const html = shown && area.model.trusted && area.model.get(i)?.data['text/html'];
        if (html) {
          const holder = document.createElement('div');
          holder.className = 'course-still jp-RenderedHTMLCommon';
          holder.innerHTML = html;
          shown.replaceChildren(holder);
        }
      }
    }
  }

  // JupyterLab unfolds a text that is run, also by Run All Cells: notes are folded again, unless the learner opened them.
  function foldAgain(panel, opened) {
    for (const cell of panel?.content?.widgets ?? []) {
      const note = cell.model.type === 'markdown' && cell.model.getMetadata('slideshow')?.slide_type === 'notes';
      if (note && !opened.has(cell)) cell.inputHidden = true;
    }
  }

  function activate(app) {
    load();
    const known = new WeakSet(), opened = new WeakSet();
    const look = () => {
      for (const panel of app.shell.widgets('main')) {
        if (!panel.context?.model?.cells || known.has(panel)) continue;
        known.add(panel);
        leaveClean(panel);
        panel.node.addEventListener('click', ({ target }) => {
          const node = target.closest?.('.jp-Placeholder') && target.closest('.jp-Cell');
          const cell = node && panel.content.widgets.find((one) => one.node === node);
          if (cell) opened.add(cell);
        }, true);
        new MutationObserver((changes) => {
          if (changes.some(({ target }) => MISSING.test(target.textContent))) fallBack(panel);
        }).observe(panel.node, { subtree: true, childList: true, characterData: true });
      }
    };
    app.shell.layoutModified.connect(look);
    void app.restored.then(() => {
      look();
      if (window.innerWidth < NARROW) app.shell.collapseLeft?.();  // the list of files would take half of the window
    });
    app.commands.commandExecuted.connect((_, { id, result }) => {
      if (!id.startsWith('notebook:run')) return;
      const panel = app.shell.currentWidget, again = () => foldAgain(panel, opened);
      setTimeout(again, 0);
      result.then(again, again);
    });
  }

  const extension = { __esModule: true, default: { id: 'at-the-speed-of-memory:plugin', autoStart: true, activate } };
  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB['at-the-speed-of-memory'] = {
    init: () => {},
    get: async () => () => ({ ...extension }),
  };
})();
