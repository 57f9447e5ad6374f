// JupyterLab's one-letter commands (d d deletes a cell, a and b add some) stay out of a box of the class bugzoo-keys.
// Those with Ctrl or Cmd, such as saving, go on working in it.
if (!window.bugzooKeys) {
  window.bugzooKeys = true; // once a page, whatever number of cells is run
  // At the window, before the notebook sees the key: the mark is there when it asks, however late the box was made. It
  // stands on what has the focus: on the box it is not seen, as the notebook's commands are meant for what has the focus.
  window.addEventListener("keydown", (event) => {
    const inside = event.target.closest?.(".bugzoo-keys");
    if (inside) event.target.toggleAttribute("data-lm-suppress-shortcuts", !(event.ctrlKey || event.metaKey));
  }, true);
  // A press may overtake what was chosen in the blink before it: ipywidgets holds a control's later changes back while the
  // kernel has not answered to an earlier one, and ipykernel may handle the button's message in another thread. So the button
  // sends nothing of its own. Its press is a change of a hidden control, which carries the whole form and a new number.
  window.addEventListener("click", (event) => {
    const form = event.target.closest?.(".bugzoo-press")?.closest(".bugzoo-form");
    const carried = form?.querySelector(".bugzoo-carried input");
    if (!carried) return;
    event.stopImmediatePropagation();
    window.bugzooPresses = (window.bugzooPresses ?? 0) + 1;
    const seen = { press: `${Date.now()} ${window.bugzooPresses}` };
    for (const box of form.querySelectorAll("[class*=bugzoo-is-]")) {
      const name = box.className.match(/bugzoo-is-(\w+)/)[1];
      const list = box.querySelector("select"), text = box.querySelector("input:not([type=radio]), textarea");
      const chosen = box.querySelector("input[type=radio]:checked"), slider = box.querySelector(".widget-readout");
      seen[name] = list ? list.selectedIndex : text ? text.value : slider ? Number(slider.textContent) : chosen ? Number(chosen.value) : -1;
    }
    carried.value = JSON.stringify(seen);
    carried.dispatchEvent(new Event("input", { bubbles: true }));
    carried.dispatchEvent(new Event("change", { bubbles: true }));
  }, true);
  // JupyterLab forgets the heading of a link if it has still to open the notebook: go there once the heading is drawn.
  window.addEventListener("click", (event) => {
    const place = event.target.closest?.(".jp-RenderedMarkdown a")?.href.match(/\.ipynb[^#]*#(?!cell-id)(.+)$/)?.[1];
    let waits = place ? 60 : 0;
    const timer = setInterval(() => {
      const heading = waits && document.querySelector(
        `.jp-NotebookPanel:not(.lm-mod-hidden) [data-jupyter-id="${CSS.escape(decodeURIComponent(place))}"]`);
      heading?.scrollIntoView?.();
      waits = heading ? Math.min(waits, 4) - 1 : waits - 1; // a few times more: the notebook is still being drawn
      if (waits <= 0) clearInterval(timer);
    }, 250);
  }, true);
  // whether the reader has typed or scrolled since a cell was run: then no run moves the page
  for (const kind of ["keydown", "wheel", "touchmove", "pointerdown", "click"]) {
    window.addEventListener(kind, (event) => {
      window.bugzooBusy = kind !== "click" && !(event.key === "Enter" && (event.shiftKey || event.ctrlKey || event.altKey));
    }, true);
  }
  window.addEventListener("focusin", (event) => {
    if (event.target.matches?.(".bugzoo-number input")) Object.assign(event.target, { type: "number", min: 1 });
    // radio buttons without a name are no group: arrow keys would go on into the next question
    const group = event.target.closest?.(".bugzoo-keys .widget-radio-box");
    if (group && !event.target.name) {
      const name = `bugzoo-${window.bugzooGroups = (window.bugzooGroups ?? 0) + 1}`;
      for (const one of group.querySelectorAll("input[type=radio]")) one.name = name;
    }
  });
}
