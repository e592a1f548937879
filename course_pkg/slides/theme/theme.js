// Light or dark, decided before the first paint: the address (?dark, ?light), else what was chosen with the
// key D, else the system's setting.
(() => {
  const KEY = 'course-theme';
  const system = matchMedia('(prefers-color-scheme: dark)');
  const query = new URLSearchParams(location.search);

  const stored = () => { try { return localStorage.getItem(KEY); } catch { return null; } };
  const store = (theme) => { try { localStorage.setItem(KEY, theme); } catch { /* private window */ } };
  const show = (theme) => { document.documentElement.dataset.theme = theme; };

  const asked = query.has('dark') ? 'dark' : query.has('light') ? 'light' : null;
  const decide = () => show(asked ?? stored() ?? (system.matches ? 'dark' : 'light'));

  decide();
  system.addEventListener('change', decide);
  // The speaker view shows the same deck in other frames: they follow.
  addEventListener('storage', (event) => { if (event.key === KEY && event.newValue) show(event.newValue); });

  window.toggleTheme = () => {
    const theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    store(theme);
    show(theme);
  };
})();
