"use strict";
(function () {
  const body = document.body;
  const parts = ["summary", "problems", "jobs", "pages", "job", "timeline", "locks"];
  const dialog = document.getElementById("confirm");
  const texts = {
    paused: (key) => "Pause \"" + key + "\"? No instance runs it from its next call on. What runs goes on.",
    "tick-undone": (key) => "Undo the last tick of \"" + key + "\", which is in the future? Its last tick is the latest completed one before, and instances run the next.",
    forgotten: (key) => "Forget \"" + key + "\", its ticks and its runs? Only if no instance has it any more.",
    cancelled: (key) => "Cancel the run of \"" + key + "\"? The instance that has it tells it that its lock is lost, and interrupts it. Nobody else runs before it has ended.",
    freed: (key) => "Free the lock of \"" + key + "\"? Only if its holder is beyond reach: its connection is ended, and others may run beside it.",
    resumed: (key) => "Resume \"" + key + "\"? Instances run it again from its next call on.",
    running: (key) => "Run \"" + key + "\" now on this instance, whatever its schedule?"
  };
  let asked = null;
  let latest = 0;
  let local = localStorage.getItem("advisory-locks-local-time") === "true";
  document.documentElement.classList.add("live");

  function tell(text) {
    document.getElementById("status").textContent = text;
  }

  function showTimes(root) {
    if (local) {
      root.querySelectorAll("time").forEach((time) => {
        time.title = time.textContent + " UTC";
        time.textContent = new Date(time.dateTime).toLocaleString();
      });
    }
  }

  function focusPath() {
    const element = document.activeElement;
    const row = element && element.closest("[data-key]");
    if (!row || !element.closest("#jobs, #problems")) {
      return null;
    }
    return () => {
      const place = element.closest("#jobs") ? "#jobs" : "#problems";
      const again = [...document.querySelectorAll(place + " [data-key]")].find((other) => other.dataset.id === row.dataset.id);
      const state = element.dataset.state;
      const target = again && (state ? again.querySelector("button[data-state=" + state + "]") || again.querySelector("button") : again.querySelector("a"));
      if (target) {
        target.focus();
      }
    };
  }

  function replace(fresh) {
    const restore = focusPath();
    const open = document.querySelector("#locks details").open;
    showTimes(fresh);
    fresh.querySelector("#locks details").open = open;
    for (const id of parts) {
      const before = document.getElementById(id);
      const after = fresh.getElementById(id);
      if (before && after && before.outerHTML !== after.outerHTML) {
        before.replaceWith(document.importNode(after, true));
      }
    }
    body.dataset.csrfToken = fresh.body.dataset.csrfToken;
    if (restore && !document.querySelector(":focus")) {
      restore();
    }
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
      document.documentElement.classList.remove("stale");
    }
    catch (error) {
      document.documentElement.classList.add("stale");
      tell("Could not refresh: " + error.message);
    }
  }

  function csrf() {
    const cookie = document.cookie.split("; ").find((one) => one.startsWith("XSRF-TOKEN="));
    if (body.dataset.csrfHeader) {
      return { [body.dataset.csrfHeader]: body.dataset.csrfToken };
    }
    return cookie ? { "X-XSRF-TOKEN": decodeURIComponent(cookie.substring(11)) } : {};
  }

  async function act(key, id, state, others, manager) {
    tell("Asking for \"" + key + "\" to be " + state + " ...");
    try {
      const answer = await fetch(body.dataset.endpoint + "/" + encodeURIComponent(id), {
        method: "POST", credentials: "same-origin", body: JSON.stringify({ state: state, others: others, transactionManager: manager || undefined }),
        headers: { "Content-Type": "application/json", "X-Requested-With": "advisorylockspage", ...csrf() }
      });
      const result = await answer.json().catch(() => ({}));
      if (answer.status === 409 && result.others) {
        ask(key, id, state, result.error + ".", result.others, manager);
        tell("\"" + key + "\" was not changed");
      }
      else if (!answer.ok) {
        tell("\"" + key + "\" was not changed: " + (typeof result.error === "string" && (answer.status === 400 || answer.status === 409) ? result.error : "status " + answer.status));
      }
      else if (state === "running") {
        tell("\"" + key + "\" " + (result.outcome ? "ended: " + result.outcome + (result.error ? ", " + result.error : "") : "is running"));
      }
      else if (state === "cancelled") {
        tell("\"" + key + "\" " + (result.outcome ? "has ended" : "was told to end, and still has its lock"));
      }
      else {
        tell("\"" + key + "\" is " + state.replace("-", " "));
      }
    }
    catch (error) {
      tell("\"" + key + "\" was not changed: " + error.message);
    }
    await refresh();
  }

  function ask(key, id, state, text, others, manager) {
    asked = { key: key, id: id, state: state, others: others, manager: manager };
    document.getElementById("confirm-text").textContent = text;
    dialog.showModal();
    document.getElementById("confirm-no").focus();
  }

  function filter() {
    const address = new URL(location.href);
    address.search = new URLSearchParams(new FormData(document.getElementById("filter"))).toString();
    if (document.getElementById("job")) {
      location.assign(address);
    }
    else if (address.href !== location.href) {
      history.pushState(null, "", address);
      refresh();
    }
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-state]");
    if (button) {
      const job = button.closest("[data-id]").dataset;
      ask(job.key, job.id, button.dataset.state, texts[button.dataset.state](job.key), undefined, job.manager);
    }
  });
  document.getElementById("confirm-yes").addEventListener("click", () => {
    dialog.close();
    act(asked.key, asked.id, asked.state, asked.others, asked.manager);
  });
  document.getElementById("confirm-no").addEventListener("click", () => dialog.close());
  document.getElementById("filter").addEventListener("submit", (event) => {
    event.preventDefault();
    filter();
  });
  document.getElementById("filter").addEventListener("change", filter);
  document.getElementById("local").addEventListener("click", () => {
    local = !local;
    localStorage.setItem("advisory-locks-local-time", String(local));
    refresh();
  });
  window.addEventListener("popstate", () => location.reload());
  document.addEventListener("visibilitychange", () => document.hidden || refresh());
  showTimes(document);
  setInterval(() => document.hidden || dialog.open || document.getElementById("paused").checked || refresh(),
      Number(body.dataset.refresh));
})();
