"use strict";
(function () {
  const dialog = document.getElementById("confirm");
  const live = document.getElementById("live");
  const gone = document.getElementById("gone");
  let busy = false;
  document.documentElement.classList.add("live");

  /* Replaces what has changed, and leaves the focus where it is. */
  function replace(part, fresh) {
    const href = part.contains(document.activeElement) && document.activeElement.getAttribute("href");
    if (fresh && part.innerHTML !== fresh.innerHTML) {
      part.replaceChildren(...document.importNode(fresh, true).childNodes);
    }
    if (href) {
      ([...part.querySelectorAll("a")].find((link) => link.getAttribute("href") === href) || document.getElementById("main")).focus();
    }
  }

  async function refresh() {
    if (busy) {
      return;
    }
    busy = true;
    try {
      const answer = await fetch("/", { headers: { Accept: "text/html" }, cache: "no-store" });
      if (!answer.ok) {
        throw new Error("status " + answer.status);
      }
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      document.title = fresh.title;
      document.getElementById("confirm-title").textContent = fresh.getElementById("confirm-title").textContent;
      document.querySelectorAll("[data-live]").forEach((part) => replace(part, fresh.getElementById(part.id)));
      document.documentElement.classList.remove("stale");
      gone.hidden = true;
    }
    catch (error) {
      document.documentElement.classList.add("stale");
      gone.hidden = false;
    }
    finally {
      busy = false;
    }
  }

  function element(name, text, style) {
    const one = document.createElement(name);
    one.textContent = text;
    one.className = style || "";
    return one;
  }

  /* One line for each answer that came: of whom, with which status, and what it says. */
  function list(answers) {
    const all = document.createElement("ol");
    answers.forEach((answer) => {
      const line = document.createElement("li");
      line.append(element("span", answer.status || "no answer", "badge " + (answer.status === 200 ? "EXECUTED" : "ABANDONED")),
          " " + answer.instance + " ", element("small", answer.path), element("code", answer.text));
      all.append(line);
    });
    return all;
  }

  async function post(button, address) {
    const said = button.closest("section").querySelector(".answers");
    if (button.getAttribute("aria-busy") === "true") {
      return;
    }
    button.setAttribute("aria-busy", "true");
    said.textContent = "Asking ...";
    try {
      const answer = await fetch(address, { method: "POST", headers: { "X-Requested-With": "home" } });
      if (!answer.ok) {
        throw new Error("status " + answer.status);
      }
      said.replaceChildren(...(answer.status === 200 ? [list(await answer.json())] : []));
    }
    catch (error) {
      said.textContent = "That did not work: " + error.message;
    }
    button.removeAttribute("aria-busy");
    await refresh();
  }

  document.querySelectorAll("[data-post]").forEach((button) => button.addEventListener("click", () => post(button, button.dataset.post)));
  document.getElementById("kill").addEventListener("click", () => {
    dialog.showModal();
    document.getElementById("confirm-no").focus();
  });
  document.getElementById("confirm-no").addEventListener("click", () => dialog.close());
  dialog.querySelector("form").addEventListener("submit", () => post(document.getElementById("kill"), "/try/kill"));
  live.addEventListener("click", () => live.setAttribute("aria-pressed", String(live.getAttribute("aria-pressed") !== "true")));
  document.addEventListener("visibilitychange", () => document.hidden || refresh());
  setInterval(() => document.hidden || live.getAttribute("aria-pressed") !== "true" || refresh(), Number(document.body.dataset.refresh));
})();
