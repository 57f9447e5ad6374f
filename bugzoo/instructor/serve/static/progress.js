// How far the grading is. Without this script the page loads itself again now and then.
"use strict";
const said = document.getElementById("said"), bar = document.getElementById("bar");
let failed = 0;

async function look() {
  try {
    const answer = await fetch("/progress", { headers: { "Accept": "application/json" }, credentials: "same-origin" });
    if (answer.status === 403) { location.assign("/login"); return; }
    if (!answer.ok) throw new Error(String(answer.status));
    const now = await answer.json();
    failed = 0;
    if (now.state !== "running") { end(now.state); return; }
    if (now.total) {
      const text = `${now.done} of ${now.total} graded`;
      if (said.textContent !== text) said.textContent = text;
      bar.max = now.total;
      bar.value = now.done;
    }
  } catch {
    failed += 1;
    if (failed > 2) said.textContent = "The server does not answer. Is it still running?";
  }
  setTimeout(look, document.hidden ? 5000 : 1000);
}

// nobody loses a file that was chosen a moment ago
function end(state) {
  const chosen = [...document.querySelectorAll("input[type=file]")].some(one => one.value);
  if (!chosen) { location.reload(); return; }
  said.textContent = `The grading is ${state}. `;
  const link = document.createElement("a");
  link.href = "/";
  link.textContent = "Show the results";
  said.append(link);
}

look();
