// Fetches the figures every second and shows them. Text goes into the page as text, never as HTML.

import { drawCharts } from "./charts.js";

const PAUSE_MS = 1000;
const LONGEST_WAIT_MS = 10000;
const element = (id) => document.getElementById(id);
let latest = null;

function show(id, text) {
  element(id).textContent = text;
}

function seconds(milliseconds) {
  return milliseconds === null ? "–" : `${(milliseconds / 1000).toFixed(1)} s`;
}

function showState(state, words) {
  document.body.className = state;
  if (element("state").textContent !== words) show("state", words);
  element("state").dataset.state = state;
}

function showErrors(errors) {
  const rows = errors.map((error) => {
    const row = document.createElement("tr");
    for (const text of [error.timestamp, error.service, error.message]) {
      row.insertCell().textContent = text;
    }
    return row;
  });
  element("errors").tBodies[0].replaceChildren(...rows);
  element("errors").hidden = rows.length === 0;
  element("no-errors").hidden = rows.length > 0;
}

function showFigures(figures) {
  const { now, texts } = figures;
  show("rate", now.eventsPerSecond.toFixed(1));
  show("latency", `${seconds(now.p50)}, ${seconds(now.p99)}`);
  show("behind", seconds(now.behindMs));
  show("error-count", now.errors.toLocaleString("en"));
  show("bad-count", now.bad.toLocaleString("en"));
  for (const [name, text] of Object.entries(texts)) show(`${name}-text`, text);
  showErrors(figures.errors);
  drawCharts(figures);
}

function showAnswer({ state, words, advice, figures }) {
  showState(state, words);
  element("empty").hidden = state !== "empty";
  if (state === "empty") show("empty-text", advice);
  latest = figures ?? latest;
  element("figures").hidden = latest === null;
  if (figures) showFigures(figures);
}

async function ask() {
  try {
    const response = await fetch("figures.json", { signal: AbortSignal.timeout(LONGEST_WAIT_MS) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return await response.json();
  } catch (error) {
    const words = `The dashboard's server does not answer (${error.message}). These figures are out of date.`;
    return { state: "failed", words };
  }
}

async function refresh() {
  const answer = await ask();
  setTimeout(refresh, PAUSE_MS);
  showAnswer(answer);
}

const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", () => latest && drawCharts(latest));
refresh();
