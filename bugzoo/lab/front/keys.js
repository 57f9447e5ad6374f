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
