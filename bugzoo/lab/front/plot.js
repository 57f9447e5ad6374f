// Plotly's widget is five megabytes of code. Anywidget waits two seconds for a widget's code; one that takes longer, as on a
// busy machine, is drawn when it comes and never hears a message again: bare axes for good. So this little one stands
// for it, and loads plotly's after that, once a page. What was sent before plotly listened is asked for again.
async function plotly(model) {
  const code = await model.widget_manager.get_model(model.get("_code").replace("IPY_MODEL_", ""));
  window.bugzooPlotly ??= import(URL.createObjectURL(new Blob([code.get("text")], { type: "text/javascript" })));
  return (await window.bugzooPlotly).default();
}

export default {
  render({ model, el }) {
    let gone = false, watch = null, close = () => {};
    plotly(model).then((widget) => {
      if (gone) return;
      widget.initialize({ model });
      close = widget.render({ el });
      model.send({ ready: true });
      // a run starts when half of its plot is on the screen: Shift-Enter scrolls past it
      watch = new IntersectionObserver((found) => {
        if (!found.some((one) => one.isIntersecting)) return;
        watch.disconnect();
        model.send({ seen: true });
      }, { threshold: 0.5 });
      watch.observe(el);
    });
    return () => { gone = true; watch?.disconnect(); close(); };
  },
};
