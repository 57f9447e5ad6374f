// Says that it listens, and when a cell of the program is first seen open. A hidden field in each notebook carries what it says.
(() => {
  const told = new WeakMap(); // field -> what it has said, as several notebooks may be open in one page
  const say = (field, what) => {
    const said = told.get(field) ?? told.set(field, new Map()).get(field);
    if (said.has(what)) return;
    said.set(what, Date.now() / 1000);
    field.value = JSON.stringify([...said].map(([name, at]) => ({ what: name, at })));
    for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
  };
  const look = (field) => {
    const page = field.closest(".jp-Notebook");
    if (!page) return;
    say(field, "listening");
    for (const editor of page.querySelectorAll(".cm-content")) {
      const name = editor.querySelector(".cm-line")?.textContent.match(/^%%program (\w+)/)?.[1];
      if (name && editor.getClientRects().length) say(field, name);
    }
  };
  clearInterval(window.bugzooObserver); // one timer a page, however often the cell is run
  window.bugzooObserver = setInterval(() => document.querySelectorAll(".bugzoo-observer input").forEach(look), 400);
})();
