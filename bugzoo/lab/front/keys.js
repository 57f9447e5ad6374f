// JupyterLab's one-letter commands (d d deletes a cell, a and b add some) stay out of a box of the class bugzoo-keys.
// Those with Ctrl or Cmd, such as saving, go on working in it.
if (!window.bugzooKeys) {
  window.bugzooKeys = true; // once a page, whatever number of cells is run
  // at the window, before the notebook sees the key: the mark is there when it asks, however late the box was made
  window.addEventListener("keydown", (event) => {
    const box = event.target.closest?.(".bugzoo-keys");
    if (box) box.toggleAttribute("data-lm-suppress-shortcuts", !(event.ctrlKey || event.metaKey));
  }, true);
  window.addEventListener("focusin", (event) => {
    if (event.target.matches?.(".bugzoo-number input")) Object.assign(event.target, { type: "number", min: 1 });
  });
}
