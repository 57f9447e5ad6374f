// JupyterLab's one-letter commands (d d deletes a cell, a and b add some) stay out of the box that this stands in.
// Those with Ctrl or Cmd, such as saving, go on working in it.
function render({ model, el }) {
  el.style.display = "none";
  let box = null, tries = 0;
  const guard = (event) => {
    if (box && box.contains(event.target)) box.toggleAttribute("data-lm-suppress-shortcuts", !(event.ctrlKey || event.metaKey));
  };
  const find = () => {
    box = el.closest(".bugzoo-keys");
    if (!box) {
      if (tries++ < 600) requestAnimationFrame(find);
      return;
    }
    box.toggleAttribute("data-lm-suppress-shortcuts", true);
    // before the page sees the key, so that the answer is there when it asks
    window.addEventListener("keydown", guard, true);
    for (const input of box.querySelectorAll(".bugzoo-number input")) {
      input.type = "number";
      input.min = 1;
    }
  };
  find();
  model.send({ ready: true });
  return () => window.removeEventListener("keydown", guard, true);
}

export default { render };
