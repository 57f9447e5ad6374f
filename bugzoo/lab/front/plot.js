// Plotly's widget is five megabytes of code. Anywidget waits two seconds for a widget's code; one that takes longer, as on a
// busy machine, is drawn when it comes and never hears a message again: bare axes for good. So this little one stands
// for it, and loads plotly's after that, once a page. What was sent before plotly listened is asked for again.
const load = (text) => import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));

async function plotly(model) {
  const code = await model.widget_manager.get_model(model.get("_code").replace("IPY_MODEL_", ""));
  window.bugzooPlotly ??= load(code.get("text"));
  return (await window.bugzooPlotly).default();
}

// A plot comes into view: one scroll, where the reader ran this cell last and has neither typed nor scrolled since (keys.js).
function come(el) {
  const cell = el.closest(".jp-Cell"), ran = [cell, cell?.nextElementSibling];
  if (!window.bugzooBusy && ran.some((one) => one?.classList.contains("jp-mod-active"))) {
    el.closest(".bugzoo-live")?.scrollIntoView({ block: "nearest" });
  }
}

export default {
  render({ model, el }) {
    let gone = false, watch = null, close = () => {}, drop = () => {};
    plotly(model).then(async (widget) => {
      if (gone) return;
      widget.initialize({ model });
      close = widget.render({ el });
      model.send({ ready: true });
      come(el);
      // a run starts when half of its plot is on the screen: Shift-Enter scrolls past it
      watch = new IntersectionObserver((found) => {
        if (!found.some((one) => one.isIntersecting)) return;
        watch.disconnect();
        model.send({ seen: true });
      }, { threshold: 0.5 });
      watch.observe(el);
      if (model.get("_drag")) drop = await (await load(model.get("_drag"))).default(model, el);
      if (gone) drop();
    });
    return () => { gone = true; watch?.disconnect(); drop(); close(); };
  },
};
