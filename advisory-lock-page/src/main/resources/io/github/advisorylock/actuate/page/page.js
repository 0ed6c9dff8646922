"use strict";
(function () {
  const body = document.body;
  const dialog = document.getElementById("confirm");
  const live = document.getElementById("live");
  const zone = document.getElementById("zone");
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone || "local time";
  /* What a button says, what it will do, and what was done. */
  const acts = {
    paused: ["Pause job", "No instance runs it from its next call on, until it is resumed. A run that is under way goes on.", "is paused"],
    resumed: ["Resume job", "Instances run it again from its next call on.", "is resumed"],
    running: ["Run now", "It runs once, now, on the instance that shows this page, whatever its schedule. Others do not run beside it.", "is running"],
    retried: ["Retry tick", "The tick that was tried and not completed is tried again now: by this instance if it has the job, else by one that makes up for it, within half a minute. It is completed once, whoever else tries it.", "has its tick tried again"],
    "all-paused": ["Pause everything", "No instance runs any job of this namespace that the ledger records from its next call on, nor one that comes later, until everything is resumed. Runs that are under way go on, and so do keys that are made from arguments.", "are paused"],
    "all-resumed": ["Resume everything", "Instances run the jobs of this namespace again from their next calls on. Jobs that were paused themselves stay paused.", "are resumed"],
    cancelled: ["Cancel run", "The instance that runs it is told that its lock is lost, and interrupts it. Nobody else runs it before it has ended.", "was told to end, and still has its lock", "danger"],
    "tick-undone": ["Undo tick", "Its last tick, which is in the future, is taken back: instances run the next one.", "runs its next tick"],
    freed: ["Free lock", "Only if its holder is beyond reach: the connection of the holder is ended, and others may run beside it.", "has a free lock", "danger"],
    forgotten: ["Forget job", "Its ticks and its runs are removed from the ledger. Only if no instance has it any more.", "is forgotten", "danger"]
  };
  let asked = null;
  let latest = 0;
  let local = localStorage.getItem("advisory-locks-local-time") === "true";
  document.documentElement.classList.add("live");

  function tell(text) {
    document.getElementById("status").textContent = text;
  }

  /* Tells it in the row of what it is about, else at the edge of the window. */
  function say(id, text, bad) {
    const row = [...document.querySelectorAll("[data-id]")].find((one) => one.dataset.id === id && one.querySelector(".said"));
    if (row) {
      const said = row.querySelector(".said");
      said.textContent = text;
      said.classList.toggle("bad", Boolean(bad));
    }
    tell(row ? "" : text);
  }

  function two(number) {
    return String(number).padStart(2, "0");
  }

  function showTimes(root) {
    document.getElementById("zone-name").textContent = local ? here : "UTC";
    zone.title = "Show times in " + (local ? "UTC" : here);
    if (local) {
      root.querySelectorAll("time").forEach((time) => {
        const at = new Date(time.dateTime);
        const today = at.toDateString() === new Date().toDateString();
        const clock = two(at.getHours()) + ":" + two(at.getMinutes());
        time.textContent = today ? clock + ":" + two(at.getSeconds())
            : at.getFullYear() + "-" + two(at.getMonth() + 1) + "-" + two(at.getDate()) + " " + clock;
      });
      root.querySelectorAll("[data-at]").forEach((mark) => {
        const at = new Date(mark.dataset.at);
        mark.textContent = mark.textContent.includes(":") ? two(at.getHours()) + ":" + two(at.getMinutes())
            : two(at.getMonth() + 1) + "-" + two(at.getDate());
      });
    }
  }

  /* Makes one element like another, and leaves alone what is alike: focus, what is open, and what was said stay. */
  function morph(old, fresh) {
    if (old.isEqualNode(fresh) || (old.classList && old.classList.contains("said"))) {
      return;
    }
    if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || (old.dataset && old.dataset.id !== fresh.dataset.id)) {
      old.replaceWith(document.importNode(fresh, true));
      return;
    }
    if (old.nodeType !== Node.ELEMENT_NODE) {
      old.nodeValue = fresh.nodeValue;
      return;
    }
    [...old.attributes].filter((one) => !fresh.hasAttribute(one.name) && one.name !== "open").forEach((one) => old.removeAttribute(one.name));
    [...fresh.attributes].forEach((one) => old.getAttribute(one.name) === one.value || old.setAttribute(one.name, one.value));
    if (old.nodeName === "INPUT" || old.nodeName === "SELECT") {
      return;
    }
    const known = new Map([...old.children].filter((one) => one.dataset.id).map((one) => [one.dataset.id, one]));
    [...fresh.childNodes].forEach((child, i) => {
      const same = child.dataset && known.get(child.dataset.id);
      if (same && same !== old.childNodes[i]) {
        old.insertBefore(same, old.childNodes[i] || null);
      }
      if (old.childNodes[i]) {
        morph(old.childNodes[i], child);
      }
      else {
        old.append(document.importNode(child, true));
      }
    });
    while (old.childNodes.length > fresh.childNodes.length) {
      old.lastChild.remove();
    }
  }

  function replace(fresh) {
    const focused = document.activeElement;
    const row = focused.closest("[data-id]");
    showTimes(fresh);
    document.title = fresh.title;
    ["views", "about", "view"].forEach((id) => morph(document.getElementById(id), fresh.getElementById(id)));
    if (row && !focused.isConnected) {
      /* The button is gone: the one that takes its place has the focus. */
      const again = row.querySelector("button[data-state]") || row.querySelector("a");
      (again || document.getElementById("main")).focus();
    }
    body.dataset.csrfToken = fresh.body.dataset.csrfToken;
  }

  async function refresh() {
    const mine = ++latest;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, credentials: "same-origin" });
      const text = await answer.text();
      if (mine !== latest) {
        return;
      }
      if (!answer.ok || answer.redirected) {
        throw new Error(answer.redirected ? "logged out" : "status " + answer.status);
      }
      replace(new DOMParser().parseFromString(text, "text/html"));
      if (document.documentElement.classList.contains("stale")) {
        document.documentElement.classList.remove("stale");
        tell("");
      }
    }
    catch (error) {
      document.documentElement.classList.add("stale");
      tell("Could not refresh: " + error.message + ". What is shown is from before.");
    }
  }

  function csrf() {
    const cookie = document.cookie.split("; ").find((one) => one.startsWith("XSRF-TOKEN="));
    if (body.dataset.csrfHeader) {
      return { [body.dataset.csrfHeader]: body.dataset.csrfToken };
    }
    return cookie ? { "X-XSRF-TOKEN": decodeURIComponent(cookie.substring(11)) } : {};
  }

  function done(what, result) {
    if (what.id === "*") {
      return ": " + result.jobs + (result.jobs === 1 ? " job is " : " jobs are ") + result.state;
    }
    if (["running", "retried"].includes(what.state) && result.outcome) {
      return " ended: " + result.outcome + (result.error ? ", " + result.error : "");
    }
    return " " + (what.state === "cancelled" && result.outcome ? "has ended" : acts[what.state][2]);
  }

  async function act(what) {
    const name = "\"" + what.key + "\"";
    say(what.id, "Asking ...");
    try {
      const answer = await fetch(body.dataset.endpoint + (what.id === "*" ? "" : "/" + encodeURIComponent(what.id)), {
        method: "POST", credentials: "same-origin",
        body: JSON.stringify({ state: what.state.replace("all-", ""), others: what.others, reason: what.reason || undefined, transactionManager: what.manager || undefined }),
        headers: { "Content-Type": "application/json", "X-Requested-With": "advisorylockspage", ...csrf() }
      });
      const result = await answer.json().catch(() => ({}));
      if (answer.status === 409 && result.others) {
        ask({ ...what, others: result.others }, result.error + ".");
        say(what.id, name + " was not changed", true);
      }
      else if (!answer.ok) {
        say(what.id, name + " was not changed: " + (typeof result.error === "string" && [400, 409, 503].includes(answer.status) ? result.error : "status " + answer.status), true);
      }
      else {
        say(what.id, name + done(what, result), result.outcome === "FAILED");
      }
    }
    catch (error) {
      say(what.id, name + " was not changed: " + error.message, true);
    }
    await refresh();
  }

  function ask(what, text) {
    const [verb, does, , danger] = acts[what.state];
    const yes = document.getElementById("confirm-yes");
    asked = what;
    document.getElementById("confirm-title").textContent = verb + " \"" + what.key + "\"?";
    document.getElementById("confirm-text").textContent = text || does;
    document.getElementById("confirm-why").hidden = !["paused", "all-paused"].includes(what.state);
    document.getElementById("confirm-reason").value = "";
    yes.textContent = verb;
    yes.className = danger || "";
    dialog.showModal();
    document.getElementById("confirm-no").focus();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-state]");
    if (button) {
      const row = button.closest("[data-id]").dataset;
      ask({ key: row.key, id: row.id, manager: row.manager, state: button.dataset.state });
    }
  });
  dialog.querySelector("form").addEventListener("submit", () => act({ ...asked, reason: document.getElementById("confirm-reason").value.trim() }));
  document.getElementById("confirm-no").addEventListener("click", () => dialog.close());
  document.addEventListener("change", (event) => event.target.closest("form.filter") && event.target.form.requestSubmit());
  live.addEventListener("click", () => live.setAttribute("aria-pressed", String(live.getAttribute("aria-pressed") !== "true")));
  zone.addEventListener("click", () => {
    local = !local;
    localStorage.setItem("advisory-locks-local-time", String(local));
    refresh();
  });
  /* Going back must not bring back what was typed and then left. */
  window.addEventListener("pageshow", (event) => {
    document.querySelectorAll("form.filter").forEach((form) => form.reset());
    if (event.persisted) {
      refresh();
    }
  });
  document.addEventListener("visibilitychange", () => document.hidden || refresh());
  showTimes(document);
  setInterval(() => document.hidden || dialog.open || live.getAttribute("aria-pressed") !== "true" || refresh(), Number(body.dataset.refresh));
})();
