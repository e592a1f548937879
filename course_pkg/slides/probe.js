// Runs in the browser for the slide that is shown, with all its fragments. Returns what is wrong with it:
// [{kind, element, detail}]. Lengths are in px of the 1280 by 720 design.
() => {
  const FOOTER = 46, EDGE = 20, TOLERANCE = 2, LEAST_TEXT = 16;
  const found = [];
  const slide = Reveal.getCurrentSlide();
  const scale = Reveal.getScale();
  const stage = document.querySelector('.reveal .slides').getBoundingClientRect();
  const safe = {
    left: stage.left + EDGE * scale, right: stage.right - EDGE * scale,
    top: stage.top + EDGE * scale, bottom: stage.bottom - FOOTER * scale,
  };

  const name = (element) => {
    const tag = element.tagName.toLowerCase();
    const text = (element.getAttribute('alt') || element.textContent || '').trim().replace(/\s+/g, ' ').slice(0, 40);
    return text ? `<${tag}> “${text}”` : `<${tag}>`;
  };
  const report = (kind, element, detail) => found.push({ kind, element: name(element), detail });

  // What an element shows: its own box, and the lines of its text, which may stand outside that box.
  const boxesOf = (element) => {
    let boxes = [element.getBoundingClientRect()];
    if (!element.matches('img, svg, video, canvas, iframe, table')) {
      const range = document.createRange();
      range.selectNodeContents(element);
      boxes = boxes.concat([...range.getClientRects()]);
    }
    return boxes.filter((box) => box.width > 0 && box.height > 0);
  };

  // Text and pictures, not the boxes around them: a box may be larger than what it shows.
  const shown = [...slide.querySelectorAll('.frame *')].filter((element) => {
    if (element.closest('mjx-assistive-mml, .noUi-target, script, style')) return false;
    if (element.closest('svg') && element.tagName !== 'svg') return false;
    if (!element.matches('img, svg, video, canvas, iframe, table, pre, button, input')
        && ![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) return false;
    return boxesOf(element).length > 0;
  });

  if (!shown.length) report('empty', slide, 'the slide shows nothing');

  if (!slide.querySelector('h1, h2, h3, [role=heading]')) report('heading', slide, 'the slide has no heading');

  const blamed = [];
  for (const element of shown) {
    if (blamed.some((outer) => outer.contains(element))) continue;
    const boxes = boxesOf(element);
    const over = {
      right: Math.max(...boxes.map((b) => b.right)) - safe.right, left: safe.left - Math.min(...boxes.map((b) => b.left)),
      below: Math.max(...boxes.map((b) => b.bottom)) - safe.bottom, above: safe.top - Math.min(...boxes.map((b) => b.top)),
    };
    // A scrolling element hides what does not fit, and nobody scrolls on a slide.
    const hidden = Math.max(element.scrollWidth - element.clientWidth, 0);
    const hiddenBelow = Math.max(element.scrollHeight - element.clientHeight, 0);
    const clips = getComputedStyle(element).overflowX !== 'visible';
    const where = { right: 'to the right', left: 'to the left', below: 'below', above: 'above' };
    const column = element.closest('.column')?.getBoundingClientRect();
    if (column) over.right = Math.max(over.right, Math.max(...boxes.map((b) => b.right)) - column.right);
    const parts = Object.entries(over).filter(([, px]) => px / scale > TOLERANCE)
      .map(([side, px]) => `${Math.round(px / scale)} px too far ${where[side]}`);
    if (clips && hidden > TOLERANCE) parts.splice(0, parts.length, `${hidden} px too wide for its box`);
    if (clips && hiddenBelow > TOLERANCE) parts.push(`${hiddenBelow} px too high for its box`);
    if (parts.length) { report('overflow', element, parts.join(', ')); blamed.push(element); }
  }

  // Cells that overlap lack room, too, although each of them is inside the slide.
  const cells = [...slide.querySelectorAll('.cell')];
  for (const cell of cells) {
    if (cell.querySelector('.course-here')) continue;  // it lies beside the heading
    let next = cell.nextElementSibling;
    while (next?.querySelector('.course-here')) next = next.nextElementSibling;
    if (!next?.matches('.cell')) continue;
    const content = document.createRange();
    content.selectNodeContents(cell);
    const overlap = (content.getBoundingClientRect().bottom - next.getBoundingClientRect().top) / scale;
    if (overlap > TOLERANCE) report('overflow', cell, `runs ${Math.round(overlap)} px into what follows`);
  }

  // A small picture beside the heading leaves it its room.
  for (const here of slide.querySelectorAll('.course-here')) {
    const box = here.getBoundingClientRect();
    for (const heading of slide.querySelectorAll('h1, h2, h3')) {
      const words = document.createRange();
      words.selectNodeContents(heading);  // the heading's own box is as wide as the slide
      const line = [...words.getClientRects()].find((b) => b.right + 8 * scale > box.left && b.left < box.right && b.bottom > box.top && b.top < box.bottom);
      if (line) report('overflow', heading, `runs ${Math.round((line.right - box.left) / scale)} px into the picture beside it`);
    }
  }

  for (const image of slide.querySelectorAll('.frame img')) {
    const box = image.getBoundingClientRect();
    const alt = (image.getAttribute('alt') ?? '').trim();
    const decorative = image.getAttribute('role') === 'presentation';
    if (!decorative && !alt) report('alt', image, 'has no alt text for those who cannot see it');
    if (image.complete && !image.naturalWidth) report('image', image, 'cannot be shown: its source is missing or broken');
    const [w, h] = [box.width / scale, box.height / scale];
    if (image.matches('.course-figure, .widget-image') && w > 0 && image.naturalWidth) {
      // object-fit keeps the shape: the picture itself may be smaller than its box
      const fit = Math.min(w / image.naturalWidth, h / image.naturalHeight);
      const [pw, ph] = [image.naturalWidth * fit, image.naturalHeight * fit];
      if (pw * ph < 0.08 * 1280 * 720) {
        report('overflow', image, `is squeezed to ${Math.round(pw)} × ${Math.round(ph)} px: too small to read`);
      }
    } else if (image.matches('.course-figure') && w * h === 0) {
      report('overflow', image, 'has no room left');
    }
  }

  // The handle of a slider, at whichever end, lies within the slider and beside its value, and has a way to go.
  for (const slider of slide.querySelectorAll('.frame .widget-hslider')) {
    const [box, track, handle] = [slider, slider.querySelector('.slider-container'), slider.querySelector('.noUi-handle')]
      .map((element) => element?.getBoundingClientRect());
    if (!track?.width || !handle) continue;
    const value = slider.querySelector('.widget-readout')?.getBoundingClientRect();
    const [first, last] = [track.left - handle.width / 2, track.right + handle.width / 2];
    if (first < box.left) report('slider', slider, `cuts ${Math.round((box.left - first) / scale)} px of its handle`);
    if (value?.width && (value.left - last) / scale < 6) report('slider', slider, 'has a handle that touches its value');
    if (track.width < 2 * handle.width) report('slider', slider, `has a track of only ${Math.round(track.width / scale)} px`);
  }

  // Find words of a figure that its border cuts, or that overlap each other. The picture of an <img> is laid out in the
  // page for this moment, and so are all frames of a slider.
  const words = (svg) => {
    const frame = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
    const unit = frame.width / view.width;
    return [...svg.querySelectorAll('text')].filter((text) => text.textContent.trim()).map((text) => {
      const box = text.getBoundingClientRect(), size = parseFloat(getComputedStyle(text).fontSize) * unit;
      // a line of text is higher than its letters, above and, where none reaches down, below
      const said = text.textContent.trim(), high = 0.17 * size, low = (/[gjpqy,;()[\]|Q_]/.test(said) ? 0.02 : 0.2) * size;
      const upright = box.height <= box.width || said.length < 3;
      return { said: said.slice(0, 30), size, left: box.left + (upright ? 0 : high), right: box.right - (upright ? 0 : low),
        top: box.top + (upright ? high : 0), bottom: box.bottom - (upright ? low : 0) };
    }).filter((word) => word.right > word.left);
  };
  const examine = (svg, element) => {
    const frame = svg.getBoundingClientRect(), found = words(svg);
    for (const word of found) {
      const over = Math.max(frame.left - word.left, word.right - frame.right, frame.top - word.top, word.bottom - frame.bottom);
      if (over > 0.06 * word.size) report('cut', element, `cuts “${word.said}”`);
    }
    found.forEach((one, i) => found.slice(i + 1).forEach((other) => {
      const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      const least = Math.min(one.size, other.size);
      if (wide > 0.1 * least && high > 0.06 * least) report('collision', element, `writes “${one.said}” over “${other.said}”`);
    }));
  };

  // Words of a figure on what is painted below them, in both themes: on an area 4.5 (WCAG 2.2, 1.4.3), and on the paper,
  // where names have the colours of their lines, 3. A dark deck inverts a figure, turns its hues, and adds its own ground.
  const colour = (text) => (text?.startsWith('rgb') ? text.match(/[\d.]+/g).map(Number) : []);  // not of a pattern
  const solid = (element, svg) => {
    let part = Number(getComputedStyle(element).fillOpacity);
    for (let e = element; e && e !== svg; e = e.parentElement) if (!e.matches('.fragment')) part *= Number(getComputedStyle(e).opacity);
    return part;
  };
  const root = document.documentElement, before = root.dataset.theme;
  root.dataset.theme = 'dark';
  const DARK = getComputedStyle(root).getPropertyValue('--bg').trim().slice(1).match(/../g).map((c) => parseInt(c, 16));
  root.dataset.theme = before;
  const TURNED = [[-0.574, 1.43, 0.144], [0.426, 0.43, 0.144], [0.426, 1.43, -0.856]];
  const within = (value) => Math.min(Math.max(value, 0), 255);
  const inTheDark = (rgb) => TURNED.map((row, i) => {
    const turned = within(row.reduce((sum, factor, k) => sum + factor * (255 - rgb[k]), 0));
    return 255 - (255 - turned) * (255 - DARK[i]) / 255;
  });
  const luminance = (rgb) => rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (...pair) => {
    const [light, dark] = pair.map(luminance).sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const legible = (svg, element) => {
    const areas = [...svg.querySelectorAll('path, rect, circle, ellipse, polygon')]
      .filter((area) => !area.closest('defs, clipPath, pattern, marker, symbol'))
      .map((area) => ({ area, fill: colour(getComputedStyle(area).fill), box: area.getBoundingClientRect() }))
      .filter(({ fill, box }) => fill.length >= 3 && box.width > 2 && box.height > 2)
      .map((found) => ({ ...found, part: solid(found.area, svg) * (found.fill[3] ?? 1) }));
    const told = new Set();  // one word of each colour on each ground
    for (const text of svg.querySelectorAll('text')) {
      const said = text.textContent.trim(), box = text.getBoundingClientRect(), style = getComputedStyle(text);
      const ink = colour(style.fill), [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
      if (!said || ink.length < 3 || !box.width) continue;
      let ground = [255, 255, 255];
      const edge = style.paintOrder.startsWith('stroke') && colour(style.stroke);
      if (edge?.length >= 3) ground = edge.slice(0, 3);
      else {
        for (const { area, fill, part, box: around } of areas) {
          if (x < around.left || x > around.right || y < around.top || y > around.bottom) continue;
          if (!(area.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)) continue;
          if (!area.isPointInFill(new DOMPoint(x, y).matrixTransform(area.getScreenCTM().inverse()))) continue;
          ground = ground.map((below, i) => below * (1 - part) + fill[i] * part);
        }
      }
      const seen = solid(text, svg), shown = ground.map((below, i) => below * (1 - seen) + ink[i] * seen);
      const least = Math.min(...ground) > 250 ? 3 : 4.5;
      for (const [theme, found] of [['light', contrast(shown, ground)], ['dark', contrast(inTheDark(shown), inTheDark(ground))]]) {
        if (found >= least - 0.05 || told.has(`${theme} ${shown} ${ground}`)) continue;
        told.add(`${theme} ${shown} ${ground}`);
        report('contrast', element, `writes “${said.slice(0, 30)}” with a contrast of ${found.toFixed(1)} in the ${theme} theme: fewer than ${least}`);
      }
    }
  };
  // Find words that a line of a figure crosses. Faint lines (a grid) may cross them, and so may lines that an area or a
  // pale edge hides.
  const FAINT = 1.6, STEP = 2; // contrast with white; px between the points of a line
  const crossed = (svg, element) => {
    const shapes = [...svg.querySelectorAll('path, line, rect, circle, ellipse, polygon, polyline')]
      .filter((shape) => !shape.closest('defs, clipPath, pattern, marker, symbol'))
      .map((shape) => ({ shape, box: shape.getBoundingClientRect(), style: getComputedStyle(shape) }));
    const fill = ({ shape, style }) => solid(shape, svg) * (colour(style.fill)[3] ?? Math.min(colour(style.fill).length, 1));
    const lines = shapes.filter(({ style }) => {
      const [r, g, b, part = 1] = colour(style.stroke);
      return b !== undefined && parseFloat(style.strokeWidth) > 0 && part * style.strokeOpacity > 0.3
        && contrast([r, g, b], [255, 255, 255]) > FAINT;
    });
    const pointsOf = (line) => (line.points ??= (() => {
      const onto = line.shape.getScreenCTM(), every = STEP / Math.hypot(onto.a, onto.b);
      const many = Math.ceil(line.shape.getTotalLength() / every);
      return Array.from({ length: many + 1 }, (_, i) => line.shape.getPointAtLength(i * every).matrixTransform(onto));
    })());
    const holds = ({ x, y }, box) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
    const follows = (one, other) => one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
    const covers = ({ shape, box }, point) => holds(point, box)
      && shape.isPointInFill(new DOMPoint(point.x, point.y).matrixTransform(shape.getScreenCTM().inverse()));
    for (const text of svg.querySelectorAll('text')) {
      const style = getComputedStyle(text), box = text.getBoundingClientRect(), said = text.textContent.trim();
      if (!said || !box.width || style.paintOrder.startsWith('stroke') || solid(text, svg) < 0.3) continue;
      const size = parseFloat(style.fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
      const along = (said.length < 3 ? -0.15 : 0.1) * size, across = -0.31 * size;  // a number may fill its cell
      const [wide, high] = box.height <= box.width || said.length < 3 ? [along, across] : [across, along];
      const word = { left: box.left - wide, right: box.right + wide, top: box.top - high, bottom: box.bottom + high };
      const through = lines.some((line) => line.box.right >= word.left && line.box.left <= word.right
        && line.box.bottom >= word.top && line.box.top <= word.bottom && pointsOf(line).some((point) => holds(point, word)
          && !shapes.some((area) => area !== line && follows(line.shape, area.shape) && follows(area.shape, text)
            && fill(area) > 0.8 && covers(area, point))));
      if (through) report('line', element, `draws a line through “${said.slice(0, 30)}”`);
    }
  };
  const table = document.createElement('div');
  table.style.cssText = 'position: fixed; left: 0; top: 0; visibility: hidden; filter: none';
  document.body.append(table);
  const known = new Set();
  for (const image of slide.querySelectorAll('.frame img[src^="data:image/svg+xml;base64,"]')) {
    if (known.has(image.src)) continue;
    known.add(image.src);
    const svg = new TextDecoder().decode(Uint8Array.from(atob(image.src.split(',')[1]), (c) => c.charCodeAt(0)));
    const parsed = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
    if (parsed.tagName !== 'svg' || !parsed.viewBox?.baseVal?.width) continue;
    parsed.setAttribute('width', '1000');
    parsed.removeAttribute('height');
    table.replaceChildren(document.importNode(parsed, true));
    examine(table.firstElementChild, image);
    legible(table.firstElementChild, image);
    crossed(table.firstElementChild, image);
  }
  table.remove();
  for (const svg of slide.querySelectorAll('.frame :is(.course-steps, .course-threads) svg')) {
    if (!svg.getBoundingClientRect().width) continue;
    examine(svg, svg);
    legible(svg, svg);
    crossed(svg, svg);
  }

  // The smallest letters: computed from its size on the slide for a figure, and from the style for other text.
  const small = (element, px) => {
    if (px < LEAST_TEXT - 0.25) report('small', element, `has letters of ${px.toFixed(1)} px: fewer than ${LEAST_TEXT}`);
  };
  const smallest = (svg) => Math.min(...[...svg.matchAll(/<text[^>]*font-size[:=] ?"?([\d.]+)/g)].map((found) => Number(found[1])));
  for (const image of slide.querySelectorAll('.frame img[src^="data:image/svg+xml;base64,"]')) {
    const svg = new TextDecoder().decode(Uint8Array.from(atob(image.src.split(',')[1]), (c) => c.charCodeAt(0)));
    const [, , wide, tall] = (svg.match(/viewBox="([^"]+)"/)?.[1] ?? '0 0 0 0').split(/\s+/).map(Number);
    const box = image.getBoundingClientRect();
    if (wide && box.width) small(image, smallest(svg) * Math.min(box.width / wide, box.height / tall) / scale);
  }
  for (const svg of slide.querySelectorAll('.frame :is(.course-steps, .course-threads) svg')) {
    const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
    if (box.width) small(svg, smallest(svg.outerHTML) * Math.min(box.width / view.width, box.height / view.height) / scale);
  }
  for (const element of shown) {
    if (element.closest('svg, .mjx-container, mjx-container') || element.matches('img, svg')) continue;
    small(element, parseFloat(getComputedStyle(element).fontSize));
  }

  for (const error of slide.querySelectorAll('mjx-merror, [data-mjx-error]')) {
    report('mathematics', error, error.getAttribute('data-mjx-error') || error.title || 'cannot be typeset');
  }
  for (const holder of slide.querySelectorAll('div.jp-OutputArea-output.jupyter-widgets')) {
    if (!holder.querySelector('.lm-Widget') || /Error (displaying|creating) widget/.test(holder.textContent)) {
      report('widget', holder, 'is not drawn');
    }
  }
  return found;
}
