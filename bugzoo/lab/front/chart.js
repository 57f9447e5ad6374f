// Loss above, gradient norm below, the healthy twin behind. The model holds whole curves, never changes to them, so that
// a view that comes late, or a message that is lost, costs nothing: what is there is drawn.
const LEFT = 62, RIGHT = 14, HEIGHT = 380;
const PANELS = [["loss (nats)", 26, 200, 1], ["gradient norm", 218, 346, 2]]; // title, top, bottom, column
const RUNS = ["healthy", "broken"];

function rows(view) {
  if (!view || !view.byteLength) return [];
  const flat = new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
  return Array.from({ length: flat.length / 3 }, (_, i) => flat.subarray(3 * i, 3 * i + 3));
}

function number(value) {
  if (Number.isNaN(value)) return "nan";
  return Number.isFinite(value) ? String(Number(value.toPrecision(4))) : value > 0 ? "inf" : "-inf";
}

function ticks(low, high) { // of a logarithmic axis: at most five, decades where there are many
  const found = [];
  if (high - low < 0.5) { // hardly more than a factor of three: as on any ruler
    const [from, to] = [10 ** low, 10 ** high], power = 10 ** Math.floor(Math.log10((to - from) / 2));
    const apart = [1, 2, 5, 10].map((one) => one * power).find((one) => (to - from) / one <= 4.5) || 10 * power;
    for (let value = Math.ceil(from / apart) * apart; value <= to; value += apart) found.push(Math.log10(value));
    return found;
  }
  for (const steps of [[1, 2, 5], [1, 3], [1]]) {
    found.length = 0;
    for (let decade = Math.floor(low); decade <= Math.ceil(high); decade++)
      for (const step of steps) {
        const place = decade + Math.log10(step);
        if (place >= low - 1e-9 && place <= high + 1e-9) found.push(place);
      }
    if (found.length <= 5) return found.length ? found : [low, high];
  }
  return found.filter((_, i) => i % Math.ceil(found.length / 5) === 0);
}

function round(span) { // a readable distance between steps
  const power = 10 ** Math.floor(Math.log10(span / 6 || 1));
  return Math.max(1, [1, 2, 5, 10].map((one) => one * power).find((one) => span / one <= 7) || 10 * power);
}

function escape(text) {
  return text.replace(/[&<>"]/g, (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[one]);
}

function render({ model, el }) {
  const says = document.createElement("div"), sheet = document.createElement("div");
  says.className = "bugzoo-says";
  says.setAttribute("aria-live", "polite");
  sheet.className = "bugzoo-chart";
  sheet.tabIndex = 0;
  el.dataset.lmSuppressShortcuts = "true"; // arrow keys move the ruler, and not the notebook
  el.append(says, sheet);
  let zoom = null, ruler = null, pressed = null, x = null, steps = [1, 200];

  function draw() {
    const curves = Object.fromEntries(RUNS.map((name) => [name, rows(model.get(name))]));
    const width = Math.max(320, sheet.clientWidth || 800);
    const all = [...curves.healthy, ...curves.broken];
    const ends = all.length ? [0, all.reduce((most, row) => Math.max(most, row[0]), 2)] : [0, 200];
    steps = zoom || ends;
    x = (step) => LEFT + ((step - steps[0]) / (steps[1] - steps[0])) * (width - LEFT - RIGHT);
    const parts = [];
    for (const [title, top, bottom, column] of PANELS) {
      const seen = all.filter((row) => row[0] >= steps[0] && row[0] <= steps[1] && row[column] > 0 && row[column] < Infinity);
      let low = -1, high = 0.6;
      if (seen.length) {
        low = Math.log10(seen.reduce((least, row) => Math.min(least, row[column]), Infinity));
        high = Math.log10(seen.reduce((most, row) => Math.max(most, row[column]), 0));
        const room = Math.max(0.04, (high - low) * 0.06);
        low -= room;
        high += room;
      }
      const y = (value) => bottom - ((Math.log10(value) - low) / (high - low)) * (bottom - top);
      for (const tick of ticks(low, high)) {
        const place = y(10 ** tick);
        parts.push(`<line class="grid" x1="${LEFT}" x2="${width - RIGHT}" y1="${place}" y2="${place}"/>`,
          `<text x="${LEFT - 6}" y="${place + 4}" text-anchor="end">${number(10 ** tick)}</text>`);
      }
      for (let step = Math.ceil(steps[0] / round(steps[1] - steps[0])) * round(steps[1] - steps[0]); step <= steps[1];
        step += round(steps[1] - steps[0])) {
        parts.push(`<line class="grid" x1="${x(step)}" x2="${x(step)}" y1="${top}" y2="${bottom}"/>`);
        if (column === 2) parts.push(`<text x="${x(step)}" y="${bottom + 15}" text-anchor="middle">${step}</text>`);
      }
      parts.push(`<text transform="translate(13 ${(top + bottom) / 2}) rotate(-90)" text-anchor="middle">${title}</text>`);
      for (const name of RUNS) {
        let path = "", drawn = false, count = 0;
        for (const row of curves[name]) {
          const good = row[column] > 0 && row[column] < Infinity && row[0] >= steps[0] && row[0] <= steps[1];
          if (good) path += `${drawn ? "L" : "M"}${x(row[0]).toFixed(1)} ${y(row[column]).toFixed(1)}`;
          if (good && !drawn) path += "h0.01"; // a point that stands alone is seen as well
          drawn = good;
          count += good;
        }
        parts.push(`<path class="${name}" data-points="${curves[name].length}" data-drawn="${count}" d="${path}"/>`);
      }
    }
    const mark = model.get("mark");
    if (mark && mark.step !== undefined && mark.step >= steps[0] && mark.step <= steps[1]) {
      const place = x(mark.step), right = place < width * 0.6;
      parts.push(`<line class="mark" x1="${place}" x2="${place}" y1="26" y2="346"/>`,
        `<text class="note" x="${place + (right ? 6 : -6)}" y="38" text-anchor="${right ? "start" : "end"}">` +
        `step ${mark.step}: ${escape(mark.text)}</text>`);
    }
    if (ruler !== null && ruler >= steps[0] && ruler <= steps[1])
      parts.push(`<line class="ruler" x1="${x(ruler)}" x2="${x(ruler)}" y1="26" y2="346"/>`);
    if (pressed && pressed.now !== undefined) {
      const [from, to] = [pressed.from, pressed.now].sort((one, other) => one - other);
      parts.push(`<rect class="drag" x="${from}" width="${to - from}" y="26" height="320"/>`);
    }
    const legend = RUNS.filter((name) => curves[name].length).map((name) => [name, name === "broken" ? "this run" : name]);
    legend.forEach(([name, label], i) => parts.push(
      `<line class="${name}" x1="${width - 250 + 120 * i}" x2="${width - 222 + 120 * i}" y1="12" y2="12"/>` +
      `<text x="${width - 216 + 120 * i}" y="16">${label}</text>`));
    parts.push(`<text x="${(LEFT + width) / 2}" y="376" text-anchor="middle">optimiser step</text>`);
    sheet.innerHTML = `<svg width="${width}" height="${HEIGHT}" role="img" aria-label="Loss and gradient norm of the run` +
      `${curves.healthy.length ? ", the healthy run behind" : ""}; arrow keys read them">${parts.join("")}</svg>`;
    const at = (name) => curves[name].find((row) => row[0] === ruler);
    const said = legend.map(([name, label]) => [label, at(name)]).filter(([, row]) => row)
      .map(([label, row]) => `${label} ${number(row[1])}, gradient ${number(row[2])}`);
    says.textContent = ruler === null || !said.length
      ? (all.length ? "Point at a step, or use the arrow keys, to read it; drag to look closer, double-click for all." : "")
      : `step ${ruler}: ${said.join(" · ")}`;
  }

  const stepAt = (event) => {
    const place = event.clientX - sheet.getBoundingClientRect().left;
    const width = Math.max(320, sheet.clientWidth || 800);
    return Math.round(steps[0] + ((place - LEFT) / (width - LEFT - RIGHT)) * (steps[1] - steps[0]));
  };
  const point = (step) => {
    const known = [...rows(model.get("broken")), ...rows(model.get("healthy"))].map((row) => row[0]);
    if (known.length) ruler = known.reduce((best, one) => (Math.abs(one - step) < Math.abs(best - step) ? one : best));
    draw();
  };
  sheet.addEventListener("pointerdown", (event) => {
    pressed = { from: event.clientX - sheet.getBoundingClientRect().left, step: stepAt(event) };
  });
  sheet.addEventListener("pointermove", (event) => {
    if (pressed && event.buttons) pressed.now = event.clientX - sheet.getBoundingClientRect().left;
    point(stepAt(event));
  });
  sheet.addEventListener("pointerup", (event) => {
    const [from, to] = [pressed ? pressed.step : 0, stepAt(event)].sort((one, other) => one - other);
    if (pressed && pressed.now !== undefined && to - from >= 2) zoom = [Math.max(0, from), to];
    pressed = null;
    draw();
  });
  sheet.addEventListener("pointerleave", () => { ruler = pressed = null; draw(); });
  sheet.addEventListener("dblclick", () => { zoom = null; draw(); });
  sheet.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity }[event.key];
    if (move === undefined) return;
    event.preventDefault();
    point(Number.isFinite(move) ? (ruler ?? 0) + move : move < 0 ? 0 : 1e9);
    if (zoom && (ruler < zoom[0] || ruler > zoom[1])) {
      zoom = null;
      draw();
    }
  });

  const names = ["healthy", "broken", "mark"];
  names.forEach((name) => model.on(`change:${name}`, draw));
  const watch = new ResizeObserver(draw);
  watch.observe(sheet);
  draw();
  model.send({ ready: true }); // whatever was sent before somebody listened is sent again
  return () => {
    watch.disconnect();
    names.forEach((name) => model.off(`change:${name}`, draw));
  };
}

export default { render };
