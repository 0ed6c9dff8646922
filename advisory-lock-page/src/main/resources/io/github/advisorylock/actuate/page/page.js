/* Shows what the endpoint advisorylocks says, and decides nothing. */
const settings = document.body.dataset, $ = (id) => document.getElementById(id), yes = $("confirm-yes");
const put = (id, text) => $("confirm-" + id).textContent = text;
const refresh = 5000;
const writable = settings.writable === "true";
/* An answer that takes longer than this is none for now. */
const patience = 2000;
const day = 86400000, mostRuns = 500, mostLanes = 50, failures = ["FAILED", "ABANDONED", "CANCELLED"];

/* What a button says, what it will do, and what was done. */
const acts = {
  paused: ["Pause job", "No instance runs it from its next call on, until it is resumed. A run that is under way goes on.", "is paused"],
  resumed: ["Resume job", "Instances run it again from its next call on.", "is resumed"],
  running: ["Run now", "It runs once, now, on the instance that answers, whatever its schedule. No other instance runs it meanwhile.", "is running"],
  retried: ["Retry tick", "The tick that was tried and not completed is tried again now, by this instance if it has the job, else by one that makes up for it.", "has its tick tried again"],
  rescheduled: ["Change schedule", "It holds on all instances from half a minute on, over restarts and releases, until it is changed again. Nothing stands for the schedule of the annotation.", "has that schedule from"],
  backfilled: ["Backfill", "The ticks of its schedule in this time run on the instance that answers, one after the other, oldest first. A failure ends that, and so does cancelling its run.", "is backfilled"],
  cancelled: ["Cancel run", "The instance that runs it is told that its lock is lost, and interrupts it. No other instance runs it before it has ended.", "was told to end, and still has its lock", "danger"],
  forgotten: ["Forget job", "Its ticks and its runs are removed from the ledger. Only if no instance has it any more.", "is forgotten", "danger"],
  "of-drained": ["Drain", "It begins no guarded run and leads no role any more, until it ends or is resumed. What runs goes on, and requests reach it.", "is drained"],
  "of-resumed": ["Resume", "It begins runs again, and may lead roles.", "is resumed"],
  "all-paused": ["Pause everything", "No instance runs any job of this namespace that the ledger records from its next call on, until everything is resumed. Runs that are under way go on.", "is paused"],
  "all-resumed": ["Resume everything", "Instances run the jobs of this namespace again from their next calls on. Jobs that were paused themselves stay paused.", "is resumed"]
};
const problems = {
  LOST: ["job lost its lock in mid-run", "jobs lost their locks in mid-run"], MAX_RUN: ["job ran for longer than maxRun", "jobs ran for longer than maxRun"],
  FAILED: ["job failed", "jobs failed"], ABANDONED: ["job was abandoned in mid-run", "jobs were abandoned in mid-run"],
  OVERDUE: ["job is overdue", "jobs are overdue"], OVERRUN: ["job runs for longer than its interval", "jobs run for longer than their intervals"],
  PERMITS: ["job may run more often at a time on another instance", "jobs may run more often at a time on other instances"],
  SHARED_KEY: ["job shares its key with another method", "jobs share their keys with other methods"],
  SCHEDULES_DIFFER: ["job has different schedules on two instances", "jobs have different schedules on two instances"],
  MEMBERS_DIFFER: ["group of instances guards something else", "groups of instances guard something else"],
  INSTANCE_VANISHED: ["instance vanished", "instances vanished"], CLOCK_SKEW: ["instance has a wrong clock", "instances have wrong clocks"],
  ANNOTATION_CHANGED: ["job has a new annotation, but the schedule of an operator", "jobs have new annotations, but the schedules of operators"],
  PAUSED: ["job is paused", "jobs are paused"]
};

/* What a state says already. */
const sameAs = { failing: "FAILED", paused: "PAUSED", overdue: "OVERDUE" };

/* Markup is what this file writes; whatever stands between is text. */
class Markup {
  constructor(text) {
    this.text = text;
  }
}

/* Characters that turn or break lines could hide what a key is. */
const clean = (text) => String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "?");

function escape(value) {
  if (value instanceof Markup) {
    return value.text;
  }
  if (Array.isArray(value)) {
    return value.map(escape).join("");
  }
  return value === undefined || value === null || value === false ? "" : clean(value).replace(/[&<>"']/g, (letter) => "&#" + letter.charCodeAt(0) + ";");
}

const html = (parts, ...values) => new Markup(parts.map((part, i) => part + (i < values.length ? escape(values[i]) : "")).join(""));

let answer = null;
let answeredAt = new Date();
let failure = null;
let request = null;
let begun = 0;
let ended = 0;
let said = null;
let asked = null;
/* What the runs of a job were doing when somebody asked last. */
let hanging = null;
let drawn = "";
let local = localStorage.getItem("advisory-locks-local-time") === "true";

const query = () => new URLSearchParams(location.search);
const viewOf = (params) => params.get("key") !== null ? "job" : ["runs", "leaders", "instances"].includes(params.get("view")) ? params.get("view") : "jobs";

const named = (values) => "?" + new URLSearchParams(Object.entries(values).filter(([, value]) => (value ?? "") !== ""));
const link = (values) => named({ manager: query().get("manager"), ...values });
const target = (rest, values) => settings.endpoint + rest + named({ ...values, transactionManager: query().get("manager") });

/* A key that can't stand in the path of an address is sent as its id. */
function path(namespace, key) {
  if (namespace === null) {
    return "/" + encodeURIComponent(key);
  }
  const bytes = new TextEncoder().encode(namespace + "/" + key);
  return "/~" + btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function address() {
  const params = Object.fromEntries(query());
  const view = viewOf(query());
  if (view === "job") {
    return target(path(params.namespace ?? null, params.key));
  }
  if (view === "runs") {
    return target("", runsOf(params.outcome));
  }
  const { q, state, sort, page } = params;
  return target("", view === "jobs" ? { q, state, sort, page, size: 100 } : { size: 1 });
}

const runsOf = (outcome) => ({ outcome, instance: query().get("instance"), from: new Date(Date.now() - day).toISOString(), runs: mostRuns });

/* A run that is meant, and failures, may be older than the latest runs. */
async function complete(body, signal) {
  const more = async (values) => (await send(target("", values), { signal })).body?.runs || [];
  const meant = query().get("run");
  const at = Date.parse(meant);
  if (body.job && at) {
    const isMeant = (run) => run.startedAt === meant && [undefined, body.job.key].includes(run.key);
    body.meant = body.runs.find(isMeant) || (await more({ runs: mostRuns, from: meant, to: new Date(at + 1).toISOString() })).find(isMeant);
  }
  if (!body.job && body.runs?.length === mostRuns) {
    body.since = body.runs[mostRuns - 1].startedAt;
    for (const outcome of query().get("outcome") ? [] : failures) {
      body.runs.push(...(await more(runsOf(outcome))).filter((run) => new Date(run.startedAt) < new Date(body.since)));
    }
    body.runs.sort((a, b) => new Date(b.startedAt) - new Date(a.startedAt));
  }
}

/* Whoever logs in sends a page, or elsewhere to one, and no JSON. */
async function send(target, options) {
  const response = await fetch(target, { credentials: "same-origin", cache: "no-store", redirect: "manual", ...options, headers: { Accept: "application/json", ...options?.headers } });
  if (response.redirected || response.type === "opaqueredirect" || [401, 403].includes(response.status) || (response.ok && (response.headers.get("Content-Type") || "").startsWith("text/html"))) {
    throw new Error("you are logged out");
  }
  return { response, body: await response.json().catch(() => null) };
}

/* There is one question at a time, so that a server in trouble gets no more of them. */
async function load() {
  request?.abort();
  const mine = request = new AbortController();
  begun = Date.now();
  try {
    if (!settings.endpoint) {
      throw new Error("the endpoint advisorylocks is not exposed");
    }
    const { response, body } = await send(address(), { signal: mine.signal });
    if (response.ok && body) {
      await complete(body, mine.signal);
    }
    if (mine !== request) {
      return;
    }
    if (response.ok ? body === null : ![400, 404].includes(response.status)) {
      throw new Error(body?.error || "status " + response.status);
    }
    answer = response.ok ? body : { refused: response.status === 404 ? "There is no such job." : body?.error };
    answeredAt = new Date();
    failure = null;
  }
  catch (error) {
    if (mine !== request) {
      return;
    }
    failure = error.message;
  }
  request = null;
  ended = Date.now();
  render();
}

function tick() {
  if (request && Date.now() - begun > patience && failure === null) {
    failure = "it takes long";
    render();
  }
  if (!request && !document.hidden && $("live").getAttribute("aria-pressed") === "true" && Date.now() - ended >= refresh) {
    load();
  }
}

function go(target) {
  history.pushState(null, "", target);
  answer = null;
  said = null;
  $("status").textContent = "";
  render();
  load();
  scrollTo(0, 0);
}

const count = (number, one, many = one + "s") => number + " " + (number === 1 ? one : many);
const two = (number) => String(number).padStart(2, "0");
const name = (job) => job.namespace + "/" + job.key;
const jobLink = (job, text) => html`<a class="key" href="${link({ view: "job", namespace: job.namespace ?? answer.namespace, key: job.key })}">${text || job.key}</a>`;

function clock(at) {
  const of = (part) => two(local ? at["get" + part]() : at["getUTC" + part]());
  const day = (local ? at.getFullYear() : at.getUTCFullYear()) + "-" + two((local ? at.getMonth() : at.getUTCMonth()) + 1) + "-" + of("Date");
  return { day, time: of("Hours") + ":" + of("Minutes") + ":" + of("Seconds") };
}

function time(text) {
  if (!text) {
    return "";
  }
  const at = clock(new Date(text));
  return html`<time datetime="${text}">${at.day === clock(new Date()).day ? "" : at.day + " "}${at.time}</time>`;
}

function millis(text) {
  const parts = /^(-)?PT(?:(-?[\d.]+)H)?(?:(-?[\d.]+)M)?(?:(-?[\d.]+)S)?$/.exec(text) || [];
  return ((Number(parts[2]) || 0) * 3600 + (Number(parts[3]) || 0) * 60 + (Number(parts[4]) || 0)) * 1000;
}

function span(ms) {
  const seconds = Math.round(ms / 1000);
  return ms > 0 && ms < 1 ? "< 1 ms" : ms < 1000 ? Math.round(ms) + " ms" : ms < 60000 ? (ms / 1000).toFixed(1) + " s"
    : seconds < 3600 ? Math.floor(seconds / 60) + " min " + seconds % 60 + " s"
    : seconds < 172800 ? Math.floor(seconds / 3600) + " h " + Math.floor(seconds % 3600 / 60) + " min" : Math.floor(seconds / 86400) + " days";
}

const since = (text) => text ? html`since ${time(text)} <small>(${span(Math.max(0, new Date(answer.time) - new Date(text)))})</small>` : "";
const badge = (word = "RUNNING") => html`<span class="badge ${word}">${word.toLowerCase().replaceAll("_", " ")}</span>`;
const cell = (label, content, kind) => html`<td data-label="${label}" class="${kind || ""}">${content}</td>`;
const heads = (...titles) => html`<thead><tr>${titles.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>`;
const button = (state) => writable && html`<button type="button" data-state="${state}" class="${acts[state][3] || ""}">${acts[state][0]}</button>`;
const pausedText = (paused) => html`${paused.all ? "with everything, " : ""}${since(paused.since)} by ${paused.by}${paused.reason ? html`: <q>${paused.reason}</q>` : ""}`;
const saidOf = (key) => html`<p class="said ${said && said.bad ? "bad" : ""}">${said && said.key === key ? said.text : ""}</p>`;
const calls = (outcomes) => Object.entries(outcomes || {}).map(([outcome, number], i) => html`${i ? ", " : ""}<span class="count">${number} ${outcome.toLowerCase().replaceAll("_", " ")}</span>`);

function schedule(one) {
  return html`<span class="schedule"><code>${one.expression || one.type}</code>${one.zone ? " " + one.zone : one.interval ? " every " + span(millis(one.interval)) : ""}</span>`;
}

/* What an operator has chosen. */
function chosen(one) {
  return html`${one.cron || one.interval ? schedule({ ...one, expression: one.cron, type: "" }) : "that of the annotation"} from ${time(one.effectiveAt)} on, ${pausedText(one)}`;
}

function jobs() {
  const filter = query();
  const pages = Math.max(1, Math.ceil(answer.matching / answer.size));
  const turn = (text, page) => html`<a href="${link({ ...Object.fromEntries(filter), page })}">${text}</a>`;
  return html`${needed()}
    <section id="all" data-id="*" data-key="${answer.namespace}"><h2>All jobs</h2>${answer.paused ? html`<p class="paused">${answer.goOn ? "All that can be is paused" : "Everything is paused"} ${pausedText({ ...answer.paused, all: false })}</p>
      ${answer.goOn ? html`<p id="goes-on">${count(answer.goOn, "job goes on", "jobs go on")}: runs that are under way, jobs that were resumed since, methods that the ledger does not record, keys with arguments and other namespaces. They are marked <span class="badge goes-on">goes on</span>.</p>` : ""}` : ""}
      <ul class="tiles">${Object.entries(answer.states).map(([state, number]) => html`<li><a class="${state}" href="${link({ view: "jobs", state })}"><b>${number}</b> ${state}</a></li>`)}</ul>
      ${answer.ledger ? html`<div class="buttons">${button(answer.paused ? "all-resumed" : "all-paused")}</div>` : html`<p class="note">The ledger is not in use: nothing is known of runs, and nothing can be paused.</p>`}${saidOf("*")}</section>
    <p id="count">${answer.matching} of ${count(answer.jobCount, "job")}${writable ? "" : ", read-only"}</p>
    ${answer.jobs.length ? html`<table id="jobs"><caption>Jobs</caption>${heads("Job", "State", "Next run", "Last run", "Calls on " + answer.instance)}
      <tbody>${answer.jobs.map(row)}</tbody></table>` : html`<p class="empty">No job is like that.</p>`}
    ${pages > 1 ? html`<p class="pages"><span>Page ${answer.page} of ${pages}</span> ${answer.page > 1 && turn("Previous", answer.page - 1)} ${answer.page < pages && turn("Next", answer.page + 1)}</p>` : ""}`;
}

function needed() {
  if (!answer.problemCount) {
    /* Old news is no reason to be calm. */
    return failure === null ? html`<section id="problems"><p class="fine">Nothing needs you now.</p></section>` : html``;
  }
  return html`<section id="problems"><h2>Needs you${failure === null ? " now" : ""}</h2><ul>${answer.problems.map((group) => html`<li class="problem ${group.problem}" data-problem="${group.problem}"><h3>${count(group.count, ...(problems[group.problem] || [group.problem, group.problem]))}</h3>
    <ul>${group.latest.map((one) => html`<li>${one.key ? jobLink(one) : html`<span class="instance">${one.instance}</span>`}${one.key && one.instance ? html` on <span class="instance">${one.instance}</span>` : ""} ${since(one.since)} ${one.detail && html`<code>${one.detail}</code>`}</li>`)}</ul>
    ${group.count > group.latest.length ? html`<p class="note">and ${group.count - group.latest.length} more</p>` : ""}</li>`)}</ul></section>`;
}

const goesOn = (job) => !job.paused || (job.holders || []).length;

function holderText(job) {
  return (job.holders || []).map((one) => html`<span class="holder">${one.instance ? "on " + one.instance : one.application || "by another program"}, process ${one.pid}, ${since(one.since)}</span>`);
}

function why(job) {
  return html`${holderText(job)}${job.permits ? html` <span class="permits">${(job.holders || []).length} of ${job.permits} at a time</span>` : ""}${job.attempt > 1 && html` <span class="attempt">attempt ${job.attempt}</span>`}${job.paused ? html` <span class="by">${pausedText(job.paused)}</span>` : ""}
    ${job.waiters?.length ? html` <span class="waiters">${count(job.waiters.length, "process waits", "processes wait")}: ${job.waiters.map((one) => one.pid).join(", ")}</span>` : ""}
    ${(job.problems || []).filter((problem) => problem !== sameAs[job.state]).map((problem) => html` ${badge(problem)}`)}${answer.paused && goesOn(job) ? html` <span class="badge goes-on">goes on</span>` : ""}`;
}

function row(job) {
  const run = job.lastRun;
  return html`<tr data-key="${name(job)}" data-state="${job.state}"><th scope="row" class="job">${jobLink(job)}<small class="place">${job.namespace} · ${job.method}</small>${(job.schedules || []).map(schedule)}${job.rescheduled && html` <span class="by">now ${chosen(job.rescheduled)}</span>`}</th>
    ${cell("State", html`${badge(job.state)} ${why(job)}`, "state")}${cell("Next", time(job.next), "next")}
    ${cell("Last", run ? html`${badge(run.outcome)} ${time(run.startedAt)} <small>${run.duration ? span(millis(run.duration)) : ""} on ${run.instance}</small> ${run.error && html`<code class="error">${run.error}</code>`}` : "", "last")}
    ${cell("Calls", calls(job.outcomes), "calls")}</tr>`;
}

function job() {
  const { job: one, runs } = answer;
  const failed = runs.find((run) => run.outcome);
  const hung = runs.find((run) => run.hangStack);
  const statistics = one.statistics || {};
  const key = name(one);
  return html`<section id="job" data-key="${key}" data-state="${one.state}"><h2>Now</h2><div id="now">${badge(one.state)} ${why(one)}
      ${(one.holders || []).map((holder) => html`<dl>${[["Session", holder.application], ["User", holder.user], ["Client", holder.client], ["Connection", holder.state], ["Statement", holder.query]].map(([label, text]) => text && html`<dt>${label}</dt><dd>${text}</dd>`)}
        ${holder.pid ? html`<dt>To end its session</dt><dd><code class="statement">SELECT pg_terminate_backend(${holder.pid});</code></dd>` : ""}</dl>`)}
      ${(one.waiters || []).map((waiter) => html`<p>Process ${waiter.pid} waits ${since(waiter.since)}${waiter.blockedBy ? " for " + waiter.blockedBy.join(", ") : ""} <small>${waiter.application}</small></p>`)}</div>
      ${hanging && hanging.key === key && hanging.of === held(one) ? hangs(hanging) : ""}
      <div class="buttons actions">${(one.holders || []).length ? html`<button type="button" data-state="stack">Where does it hang?</button>` : ""}${sorted(one.actions).filter((state) => acts[state] && state !== (one.paused ? "paused" : "resumed")).map(button)}</div>${saidOf(key)}</section>
    ${answer.meant && html`<section><h2>The run of ${time(answer.meant.startedAt)}</h2>${runsTable([answer.meant], one, "meant")}</section>`}
    ${one.openTick ? html`<section id="open"><h2>Open tick</h2><p>Tick ${time(one.openTick.tick)} was tried ${count(one.openTick.attempts, "time")}, and ${again(one)}.</p></section>` : ""}
    ${one.backfill ? html`<section id="backfill"><h2>Backfill</h2>${backfill(one.backfill)}</section>` : ""}
    ${failed && failed.outcome !== "EXECUTED" ? html`<section id="why"><h2>${failed.outcome === "CANCELLED" ? "The last run was cancelled" : "Why the last run failed"}</h2><p>${badge(failed.outcome)} ${time(failed.startedAt)} on ${failed.instance}: <code>${failed.error || (failed.outcome === "ABANDONED" ? "its instance or its lock was gone" : "not told")}</code></p>
      ${failed.stackTrace ? html`<details id="stack"><summary>Stack trace</summary><pre tabindex="0">${failed.stackTrace}</pre></details>` : ""}</section>` : ""}
    ${hung ? html`<section id="hung"><h2>What the run of ${time(hung.startedAt)} was doing for long</h2><pre tabindex="0">${hung.hangStack}</pre></section>` : ""}
    <div class="cards"><section id="about-job"><h2>Job</h2><dl><dt>Method</dt><dd>${one.method || "unknown"}</dd><dt>Scope</dt><dd>${one.scope || "unknown"}</dd>${one.permits ? html`<dt>At a time</dt><dd>${one.permits}</dd>` : ""}
      <dt>Schedule</dt><dd>${one.schedules ? one.schedules.map(schedule) : "none"}</dd>${one.rescheduled ? html`<dt>Instead</dt><dd id="chosen">${chosen(one.rescheduled)}</dd>` : ""}<dt>Next run</dt><dd>${time(one.next) || "not planned"}</dd>
      ${one.lastTick ? html`<dt>Last tick</dt><dd>${time(one.lastTick)}</dd>` : ""}${one.completedAt ? html`<dt>Completed</dt><dd>${time(one.completedAt)}</dd>` : ""}
      <dt>Calls on ${answer.instance}</dt><dd>${Object.keys(one.outcomes || {}).length ? calls(one.outcomes) : "none"}</dd></dl></section>
    <section id="statistics"><h2>Last ${count(statistics.runs || 0, "run")}</h2><dl><dt>Executed</dt><dd>${statistics.executed || 0}</dd><dt>Failed in a row</dt><dd>${statistics.failures || 0}</dd>
      ${statistics.median ? html`<dt>Median</dt><dd>${span(millis(statistics.median))}</dd><dt>95 of 100 within</dt><dd>${span(millis(statistics.p95))}</dd>` : ""}</dl></section></div>
    ${one.keys ? keysOf(one) : ""}
    ${runs.length ? html`<div class="cards"><section><h2>Who ran it when</h2>${lanes(runs)}</section><section><h2>How long runs took</h2>${bars(runs)}</section></div>` : ""}
    ${runs.length ? runsTable(runs, one)
      : html`<p class="empty">No run is known.</p>`}`;
}

/* A tick that is open is the first thing to do. */
const sorted = (actions) => (actions || []).includes("retried") ? ["retried", ...actions.filter((state) => state !== "retried")] : actions || [];

function backfill(one) {
  return html`<p>${badge(one.outcome)} ${one.done} of ${count(one.of, "tick")} from ${time(one.from)} to ${time(one.to)}${one.skipped ? ", " + one.skipped + " left out" : ""}${one.tick ? html`, now that of ${time(one.tick)}` : ""}, on <span class="instance">${one.instance}</span> for ${one.by}, ${since(one.startedAt)} ${one.error && html`<code>${one.error}</code>`}</p>`;
}

/* What becomes of an open tick. */
function again(one) {
  return one.paused ? "is not tried again before the job is resumed" : one.openTick.givenUp ? "is not tried again by itself"
    : one.openTick.retryAt ? html`is tried again at ${time(one.openTick.retryAt)}` : "is open";
}

/* Which runs are under way: another run has another begin, or another holder. */
const held = (job) => (job.holders || []).map((one) => [one.instance, one.pid, one.since].join(" ")).join();

function hangs(one) {
  return html`<div id="hangs"><h3>At ${clock(one.at).time}</h3>${one.runs.map((run) => html`<dl>${[["Instance", run.instance], ["Runs", run.since && since(run.since)], ["Thread", run.thread && run.thread + ", " + run.state], ["Connection", run.connection], ["Statement", run.statement], ["Waits for", run.waitsFor && "process " + run.waitsFor.join(", ")], ["Unknown", run.error]].map(([label, text]) => text && html`<dt>${label}</dt><dd>${text}</dd>`)}</dl>
    ${run.frames ? html`<pre tabindex="0">${run.frames.map((frame) => "at " + frame).join("\n")}</pre>` : run.thread && html`<p class="note">Its frames are shown to who may see values.</p>`}
    ${run.thread && !run.pid ? html`<p class="note">In scope SESSION the run works on connections of the application. Neither the pool nor the server tells which of them its thread has.</p>` : ""}`)}${one.runs.length ? "" : html`<p class="note">The run has ended.</p>`}</div>`;
}

function keysOf(one) {
  const list = (keys) => html`<ul class="rows">${keys.map((key) => html`<li>${jobLink({ namespace: one.namespace, key: key.key })} ${time(key.startedAt)} ${key.outcome && badge(key.outcome)} ${key.error && html`<code>${key.error}</code>`}</li>`)}</ul>`;
  return html`<section id="keys"><h2>Its keys</h2><p>${count(one.keys.count, "key")} of its own${one.keys.failureCount ? html`, ${one.keys.failureCount} failed and not run since` : ""}</p>${list(one.keys.failed)}${list(one.keys.latest)}</section>`;
}

function external(text, address, values) {
  let known = Boolean(address);
  const target = (address || "").replace(/{(\w+)}/g, (all, word) => {
    known &&= Boolean(values[word]);
    return encodeURIComponent(values[word] || "");
  });
  return known && html`<a href="${target}" rel="noreferrer">${text}</a> `;
}

function runRow(run, one) {
  const values = { ...run, key: run.key || one.key };
  return html`<tr data-outcome="${run.outcome || "RUNNING"}">${cell("Started", html`${time(run.startedAt)}${run.key ? html` <a class="key" href="${runAt(one.namespace, run)}">${run.key}</a>` : ""}`)}${cell("Outcome", html`${badge(run.outcome)}${run.attempt > 1 && html` <small>attempt ${run.attempt}</small>`}`)}
    ${cell("Duration", run.duration ? span(millis(run.duration)) : "")}${cell("Instance", html`<a class="instance" href="${link({ view: "runs", instance: run.instance, outcome: query().get("outcome") })}">${run.instance}</a> ${external("Log", settings.log, values)}${external("Trace", settings.trace, values)}`)}${cell("Tick", time(run.tick))}${cell("Error", run.error && html`<code>${run.error}</code>`)}</tr>`;
}

const runAt = (namespace, run) => link({ view: "job", namespace, key: run.key, run: run.startedAt });
const failedRun = (run) => failures.includes(run.outcome);
const runsTable = (runs, one, id = "runs") => html`<table id="${id}"><caption>Runs</caption>${heads("Started", "Outcome", "Duration", "Instance", "Tick", "Error")}<tbody>${runs.map((run) => runRow(run, one))}</tbody></table>`;

/* A run between two times, in parts of the width: letters keep their size. */
function mark(run, from, to, y, height) {
  const x = (at) => Math.max(0, Math.min(99.4, (new Date(at) - from) / (to - from) * 100));
  const begin = x(run.startedAt);
  return html`<rect class="${run.outcome || "RUNNING"}" x="${begin.toFixed(2)}%" y="${y}" height="${height}" width="${Math.max(0.6, x(run.finishedAt || to) - begin).toFixed(2)}%"/>`;
}

/* A lane for each job, failures first, and higher than what may cover them. Each mark leads to its run. */
function runs() {
  const all = [...answer.runs.filter(failedRun), ...answer.runs.filter((run) => !failedRun(run))];
  const now = new Date(answer.time), from = now - day;
  const keys = [...new Set(all.map((run) => run.key))];
  const of = (key) => all.filter((run) => run.key === key);
  const bad = (key) => of(key).filter(failedRun).length;
  keys.sort((a, b) => bad(b) - bad(a) || (a < b ? -1 : 1));
  const lane = (run) => html`<a href="${runAt(answer.namespace, run)}"><title>${(run.outcome || "RUNNING").toLowerCase()}, ${clock(new Date(run.startedAt)).time}${run.duration ? ", " + span(millis(run.duration)) : ""} on ${run.instance}</title>${failedRun(run) ? mark(run, from, now, 1, 20) : mark(run, from, now, 9, 12)}</a>`;
  const planned = (list) => html`<ul class="rows">${list.map((one) => html`<li>${time(one.time)} ${one.count > 1 ? html`<b>${one.count} jobs</b> ` : ""}${one.keys.map((key) => html`${jobLink({ key })} `)}${one.count > one.keys.length ? "..." : ""}</li>`)}</ul>`;
  const { outcome = "", instance } = Object.fromEntries(query());
  const { next, together, often } = answer.forecast;
  return html`<p class="zoom">${["", ...failures, "EXECUTED"].map((one) => html`<a href="${link({ view: "runs", outcome: one, instance })}"${one === outcome ? html` aria-current="true"` : ""}>${one.toLowerCase() || "all"}</a>`)}</p>
    ${instance ? html`<p>On <span class="instance">${instance}</span>. <a href="${link({ view: "runs", outcome })}">On all instances</a></p>` : ""}
    ${all.length ? html`<section id="day"><h2>The last 24 hours</h2>${answer.since ? html`<p class="note">${outcome ? "Runs" : "Runs that executed"} before ${time(answer.since)} are left out.</p>` : ""}<ul class="rows">${keys.slice(0, mostLanes).map((key) => html`<li data-key="${key}">${jobLink({ key })} ${bad(key) ? html`<small class="bad">${count(bad(key), "run")} not executed</small>` : ""}<svg class="lanes" height="22">${of(key).map(lane)}</svg></li>`)}</ul>
      <p class="ends">${time(new Date(from).toISOString())} <span>now</span></p>${keys.length > mostLanes ? html`<p class="note">${keys.length - mostLanes} more jobs ran.</p>` : ""}</section>` : html`<p class="empty">${answer.ledger ? "No such run in the last 24 hours." : "The ledger is not in use: nothing is known of runs."}</p>`}
    <div class="cards"><section id="next"><h2>Next</h2>${planned(next)}${often ? html`<p class="note">${count(often, "job is", "jobs are")} called more often than once a minute.</p>` : ""}</section>
    ${together.length ? html`<section id="together"><h2>Many at one time</h2>${planned(together)}</section>` : ""}</div>
    ${all.length ? runsTable(all.slice(0, 100), answer) : ""}`;
}

function lanes(runs) {
  const from = Math.min(...runs.map((run) => new Date(run.startedAt)));
  const to = Math.max(new Date(answer.time), from + 1);
  const instances = [...new Set(runs.map((run) => run.instance))];
  return html`<svg class="lanes" height="${instances.length * 40}" role="img" aria-label="${count(runs.length, "run")} on ${instances.join(", ")}">${instances.map((instance, i) => html`<text x="0" y="${i * 40 + 13}">${instance}</text><line x1="0" x2="100%" y1="${i * 40 + 28}" y2="${i * 40 + 28}"/>
    ${runs.filter((run) => run.instance === instance).map((run) => mark(run, from, to, i * 40 + 18, 20))}`)}</svg>
    <p class="ends">${time(new Date(from).toISOString())} <span>now</span></p>`;
}

/* A failed run is a short mark: how long it took says nothing of how long runs take. */
function bars(runs) {
  const most = Math.max(1, ...runs.filter((run) => run.outcome === "EXECUTED").map((run) => millis(run.duration)));
  const wide = 600 / Math.max(20, runs.length);
  return html`<svg class="bars" viewBox="0 0 600 90" role="img" aria-label="The longest of ${count(runs.length, "run")} that executed took ${span(most)}">${[...runs].reverse().map((run, i) => {
    const height = run.outcome === "EXECUTED" ? Math.max(2, millis(run.duration) / most * 88) : 12;
    return html`<rect class="${run.outcome || "RUNNING"}" x="${(i * wide).toFixed(1)}" y="${(90 - height).toFixed(1)}" width="${(wide * 0.8).toFixed(1)}" height="${height.toFixed(1)}"/>`;
  })}</svg><p class="ends">earlier <span>longest that executed: ${span(most)}</span></p>`;
}

function leaders() {
  return answer.leaders.length ? html`<table id="leaders"><caption>Leaders</caption>${heads("Role", "Leader", "Since", "Term", "Would take over")}<tbody>${answer.leaders.map((one) => html`<tr data-key="${one.role}"><th scope="row">${one.role}</th>
    ${cell("Leader", one.instance ? html`<span class="holder">${one.instance}</span> <small>process ${one.pid}</small>` : one.pid ? "process " + one.pid : "nobody for now")}${cell("Since", since(one.since))}${cell("Term", one.term)}${cell("Would take over", one.waiting.length ? one.waiting.map((instance) => html`<span class="holder">${instance}</span>`) : "nobody")}</tr>`)}</tbody></table>` : html`<p class="empty">No role is known.</p>`;
}

function instances() {
  const skew = (text) => text && (millis(text) === 0 ? "right" : span(Math.abs(millis(text))) + (millis(text) < 0 ? " ahead" : " behind"));
  return answer.instances.length ? html`<table id="instances"><caption>Instances</caption>${heads("Instance", "State", "Started", "Seen", "Version", "Clock", "Leads", "Actions")}<tbody>${answer.instances.map((one) => html`<tr data-key="${one.instance}" data-state="${one.state}"><th scope="row" class="instance">${one.instance}</th>
    ${cell("State", html`${badge(one.state)}${one.drainedAt && html` ${badge("drained")} <small>${since(one.drainedAt)} by ${one.drainedBy}</small>`}`)}${cell("Started", time(one.startedAt))}${cell("Seen", time(one.endedAt || one.seenAt))}${cell("Version", one.version)}${cell("Clock", skew(one.clockSkew))}${cell("Leads", one.leaderOf.join(", "))}${cell("Actions", html`<div class="buttons"><a href="${link({ view: "runs", instance: one.instance })}">Runs</a> ${one.state === "alive" && button(one.drainedAt ? "of-resumed" : "of-drained")}</div>${saidOf(one.instance)}`, "actions")}</tr>`)}</tbody></table>`
    : html`<div class="empty" data-key="${answer.instance}"><p>${answer.ledger ? "No instance is known." : "The ledger is not in use: nothing is known of other instances than " + answer.instance + (answer.drained ? ", which is drained." : ".")}</p>${!answer.ledger && button(answer.drained ? "of-resumed" : "of-drained")}${saidOf(answer.instance)}</div>`;
}

function databases() {
  const managers = answer.databases;
  return managers ? html`<p class="zoom">${managers.map((manager, i) => html`<a href="${link({ view: viewOf(query()), manager })}"${manager === (query().get("manager") || managers[0]) ? html` aria-current="true"` : ""}>${manager}</a>`)}</p>` : "";
}

const views = { jobs: ["Jobs", jobs], job: ["Job", job], runs: ["Runs", runs], leaders: ["Leaders", leaders], instances: ["Instances", instances] };

function render() {
  const params = query();
  const view = viewOf(params);
  const title = view === "job" ? params.get("key") : views[view][0];
  document.documentElement.classList.toggle("stale", failure !== null);
  $("alarm").textContent = failure === null ? "" : "No answer since " + clock(answeredAt).time + ": " + failure + "." + (answer ? " What is shown is from before." : "");
  $("title").textContent = clean(title);
  document.title = $("title").textContent + " · advisory locks" + (answer?.namespace ? " of " + answer.namespace : "");
  document.querySelectorAll("#views a").forEach((one) => one.setAttribute("aria-current", one.getAttribute("href") === "?view=" + (view === "job" ? "jobs" : view) ? "page" : "false"));
  $("filter").hidden = view !== "jobs";
  $("zone").textContent = "Times in " + (local ? Intl.DateTimeFormat().resolvedOptions().timeZone || "local time" : "UTC");
  const kept = draw(answer === null ? html`<p class="empty">${failure === null ? "Asking ..." : "Nothing is known."}</p>` : answer.refused ? html`<p class="empty">${answer.refused}</p>` : html`${databases()}${views[view][1]()}`);
  $("kept").textContent = kept ? "Not refreshed while text is selected." : "";
  follow();
  if (kept) {
    return;
  }
  $("about").innerHTML = answer?.time ? html`<span id="updated" data-time="${answer.time}">${time(answer.time)}</span> from <span class="instance">${answer.instance}</span>${answer.database ? html`, database ${answer.database}` : ""}`.text : "";
}

/* Keeps the focus, what is open, and a text that somebody is about to copy: then it draws nothing, and says so. */
function draw(markup) {
  const view = $("view");
  const selection = getSelection();
  if (markup.text !== drawn && failure === null && !selection.isCollapsed && view.contains(selection.anchorNode)) {
    return true;
  }
  if (markup.text === drawn) {
    return false;
  }
  const active = view.contains(document.activeElement) ? document.activeElement : null;
  const row = active?.closest("[data-key]")?.dataset.key;
  const open = [...view.querySelectorAll("details[open]")].map((one) => one.id);
  const mark = (one) => one.getAttribute("href") || one.dataset.state || one.parentElement.id;
  view.innerHTML = drawn = markup.text;
  open.map($).filter(Boolean).forEach((one) => one.open = true);
  if (active) {
    const near = [...view.querySelectorAll("a, button, summary, pre")].filter((one) => one.closest("[data-key]")?.dataset.key === row && one.nodeName === active.nodeName);
    (near.find((one) => mark(one) === mark(active)) || near[0] || $("main")).focus();
  }
  return false;
}

function csrf() {
  const cookie = document.cookie.split("; ").find((one) => one.startsWith("XSRF-TOKEN="));
  return settings.csrfHeader ? { [settings.csrfHeader]: settings.csrfToken } : cookie ? { "X-XSRF-TOKEN": decodeURIComponent(cookie.substring(11)) } : {};
}

function say(key, text, bad) {
  said = { key, text, bad };
  $("status").textContent = text;
  render();
}

async function act(what) {
  const all = what.all || what.instance;
  const subject = what.all ? "Everything" : "\"" + what.name + "\"";
  say(what.key, "Asking ...");
  try {
    const wanted = what.state.replace(/^(all|of)-/, "");
    const { response, body } = await send(settings.endpoint + (all ? "" : path(what.namespace, what.name)), {
      method: "POST",
      body: JSON.stringify({ state: wanted, instance: what.instance, reason: what.reason || undefined, since: what.since, tick: what.tick, from: what.from, to: what.to, again: what.again, ...what.schedule, transactionManager: query().get("manager") || undefined }),
      headers: { "Content-Type": "application/json", "X-Requested-With": "advisorylockspage", ...csrf() }
    });
    const result = body || {};
    if (!response.ok) {
      say(what.key, subject + " was not changed: " + (typeof result.error === "string" && [400, 404, 409, 503].includes(response.status) ? result.error : "status " + response.status), true);
    }
    else if (result.state !== wanted) {
      say(what.key, "The answer does not say that " + subject + " was changed. Look at its state", true);
    }
    else if (["running", "retried", "backfilled"].includes(what.state) && result.outcome) {
      say(what.key, subject + " ended: " + result.outcome + (result.error ? ", " + result.error : ""), result.outcome === "FAILED");
    }
    else {
      say(what.key, subject + " " + (result.outcome ? "has ended" : acts[what.state][2]) + (result.effectiveAt ? " " + clock(new Date(result.effectiveAt)).time + " on" : "") + (what.all ? ": " + count(result.jobs, "job") : ""));
    }
  }
  catch (error) {
    say(what.key, error.message === "you are logged out" ? subject + " was not changed: " + error.message : "There is no answer about " + subject + ": " + error.message + ". Look at its state", true);
  }
  load();
}

/* Changes nothing, so there is nothing to confirm. The instance that runs the job has five seconds to answer. */
async function look(key) {
  const { namespace, key: name } = answer.job;
  const of = held(answer.job);
  say(key, "Asking the instance that runs it ...");
  try {
    const { response, body: result } = await send(target(path(namespace, name) + "/stack"));
    if (!response.ok || !result?.runs) {
      throw new Error(typeof result?.error === "string" ? result.error : "status " + response.status);
    }
    hanging = { key, of, at: new Date(), runs: result.runs };
    const silent = result.runs.find((run) => run.error);
    say(key, silent ? silent.error : result.runs.length ? "The page shows what it is doing." : "The run has ended.", Boolean(silent));
  }
  catch (error) {
    say(key, "There is no answer: " + error.message, true);
  }
}

function ask(state, place) {
  const all = place.dataset.id === "*";
  const [verb, does, , danger] = acts[state];
  const holder = state === "cancelled" && answer.job.holders?.[0];
  const of = answer.job;
  const open = of?.openTick;
  const instance = state.startsWith("of-") ? place.dataset.key : undefined;
  asked = { state, all, instance, key: all ? "*" : place.dataset.key, name: instance || (all ? answer.namespace : of.key), namespace: of ? of.namespace : null,
    since: holder ? holder.since || answer.time : undefined, of: holder ? held(answer.job) : undefined, tick: state === "retried" && open ? open.tick : undefined };
  put("title", verb + (all ? "?" : " \"" + asked.name + "\"?"));
  put("text", does);
  $("confirm-about").innerHTML = (holder ? html`This is the run on <b class="instance">${holder.instance}</b>, ${holder.since ? since(holder.since) : "whose begin is not known"}.`
    : state === "retried" && open ? html`This is the tick of ${time(open.tick)}.`
    : state === "running" && open ? html`The tick of ${time(open.tick)} stays open, and ${again(answer.job)}${(answer.job.actions || []).includes("retried") ? html`: <i>Retry tick</i> does that now` : ""}.`
    : html``).text;
  yes.disabled = false;
  put("over", "");
  const [old] = state === "rescheduled" ? answer.job.schedules : [];
  const present = answer.job?.rescheduled || old;
  $("confirm-schedule").hidden = !old;
  if (old) {
    $("confirm-about").innerHTML = html`In the annotation: ${schedule(old)}${answer.job.rescheduled && html` Now: ${chosen(answer.job.rescheduled)}`}`.text;
    put("kind", old.expression ? "Cron expression" : "Interval, as PT10M");
    $("confirm-when").value = present.cron || present.expression || present.interval || "";
    $("confirm-tz").parentElement.hidden = !old.expression;
    $("confirm-tz").value = present.zone || "";
    asked.kind = old.expression ? "cron" : "interval";
    preview();
  }
  $("confirm-why").hidden = !old && !state.endsWith("paused");
  $("confirm-reason").value = "";
  $("confirm-span").hidden = $("confirm-span").disabled = state !== "backfilled";
  $("confirm-span").querySelector("legend").textContent = local ? "Local time" : "UTC";
  put("yes", verb);
  yes.className = danger || "";
  $("confirm").showModal();
  $("confirm-no").focus();
}

/* Nothing is confirmed whose next times were not shown. */
async function preview() {
  const when = $("confirm-when").value.trim();
  const mine = asked.schedule = { [asked.kind]: when || undefined, zone: asked.kind === "cron" && when && $("confirm-tz").value.trim() || undefined };
  yes.disabled = true;
  put("over", "");
  put("times", "");
  try {
    const { response, body } = await send(target(path(asked.namespace, asked.name), { zone: mine.zone }) + "&" + new URLSearchParams({ [asked.kind]: when }));
    if (mine === asked.schedule) {
      yes.disabled = !response.ok;
      put("over", response.ok ? "" : body?.error || "status " + response.status);
      $("confirm-times").innerHTML = response.ok ? html`Next, in ${$("zone").textContent.substring(9)}: ${body.next.map((one, i) => html`${i ? ", " : ""}${time(one)}`)}`.text : "";
    }
  }
  catch (error) {
    if (mine === asked.schedule) {
      put("over", "There is no answer: " + error.message);
    }
  }
}

/* What is shown behind the dialog goes on, and the dialog says so when what it is about has ended. */
function follow() {
  const job = answer?.job;
  const over = asked && $("confirm").open && job && name(job) === asked.key && (asked.of !== undefined ? held(job) !== asked.of : asked.tick !== undefined && job.openTick?.tick !== asked.tick);
  if (over) {
    yes.disabled = true;
    put("over", asked.of !== undefined ? "That run has ended. " + ((job.holders || []).length ? "Another one is under way." : "There is nothing to cancel.") : "That tick is no longer open.");
  }
}

function fill() {
  [...$("filter").elements].filter((one) => one.name).forEach((one) => one.value = query().get(one.name) || "");
}

document.addEventListener("click", (event) => {
  const pressed = event.target.closest("button[data-state]");
  const followed = event.target.closest("a[href^='?']");
  if (pressed && pressed.dataset.state === "stack") {
    look(pressed.closest("[data-key]").dataset.key);
  }
  else if (pressed) {
    ask(pressed.dataset.state, pressed.closest("[data-key]"));
  }
  else if (followed && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
    event.preventDefault();
    go(followed.getAttribute("href"));
    fill();
  }
});
$("confirm").querySelector("form").addEventListener("submit", () => {
  const at = (id) => new Date($(id).value + (local ? "" : "Z")).toISOString();
  act({ ...asked, reason: $("confirm-reason").value.trim(), ...asked.state === "backfilled" && { from: at("confirm-from"), to: at("confirm-to"), again: $("confirm-again").checked } });
});
$("confirm-schedule").addEventListener("input", preview);
$("confirm-no").addEventListener("click", () => $("confirm").close());
$("filter").addEventListener("submit", (event) => {
  event.preventDefault();
  go(link({ view: "jobs", ...Object.fromEntries(new FormData($("filter"))) }));
});
$("filter").addEventListener("change", (event) => event.target.nodeName === "SELECT" && $("filter").requestSubmit());
$("live").addEventListener("click", () => $("live").setAttribute("aria-pressed", String($("live").getAttribute("aria-pressed") !== "true")));
$("zone").addEventListener("click", () => {
  local = !local;
  localStorage.setItem("advisory-locks-local-time", String(local));
  render();
});
window.addEventListener("popstate", () => {
  answer = null;
  fill();
  render();
  load();
});
document.addEventListener("visibilitychange", () => document.hidden || request || load());
fill();
render();
load();
setInterval(tick, 250);
