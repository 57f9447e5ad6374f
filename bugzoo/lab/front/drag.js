// The points of a drawing are dragged: the nearest one goes where the plot is pressed, and follows. The sliders on this page
// hold the values. So the line is theirs at once, and again after each plot: the kernel's line may be late, or an earlier one.
export default async function drag(model, el) {
  const found = model.get("_sliders").map((name) => model.widget_manager.get_model(name.replace("IPY_MODEL_", "")));
  const sliders = await Promise.all(found);
  const paint = () => {
    if (!el._fullLayout) return; // its cell was removed
    const { xaxis, yaxis } = el._fullLayout;
    const at = sliders.map((slider, place) => [xaxis.d2p(el.data[0].x[place]), yaxis.d2p(slider.get("value"))]);
    el.querySelector(".js-line").setAttribute("d", `M${at.join("L")}`);
    el.querySelectorAll(".point").forEach((point, place) => point.setAttribute("transform", `translate(${at[place]})`));
  };
  let held = null;
  const place = (event) => {
    const { xaxis, yaxis } = el._fullLayout, corner = el.getBoundingClientRect();
    return [[xaxis, event.clientX - corner.left], [yaxis, event.clientY - corner.top]].map(([axis, at]) => at - axis._offset);
  };
  const move = (event) => {
    if (!held || !event.isPrimary || !el.closest(".bugzoo-dragged")) return;
    const base = held.get("base"), [low, high] = ["min", "max"].map((end) => (base ? base ** held.get(end) : held.get(end)));
    held.set("value", Math.min(Math.max(el._fullLayout.yaxis.p2d(place(event)[1]), low), high));
    held.save_changes();
  };
  el.addEventListener("pointerdown", (event) => {
    const [across, down] = place(event), { xaxis, yaxis } = el._fullLayout;
    if (event.button || across < 0 || across > xaxis._length || down < 0 || down > yaxis._length) return;
    const away = [...el.data[0].x].map((x) => Math.abs(xaxis.d2p(x) - across));
    held = sliders[away.indexOf(Math.min(...away))];
    el.setPointerCapture(event.pointerId);
    move(event);
  });
  el.addEventListener("pointermove", move);
  for (const end of ["pointerup", "pointercancel"]) el.addEventListener(end, () => { held = null; });
  el.on("plotly_afterplot", paint);
  for (const slider of sliders) slider.on("change:value", paint);
  paint();
  return () => sliders.forEach((slider) => slider.off("change:value", paint));
}
