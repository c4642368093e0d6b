// The charts: from the figures of the server to plotly's traces. Drawing changes nothing else.

const CONFIG = { responsive: true, displayModeBar: false };
// Distinct for people who do not see all colours (Okabe and Ito), on a light and on a dark page.
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#8c6bb1"];
const LEVEL_COLOURS = {
  FATAL: "#7b2d8b", CRITICAL: "#7b2d8b", ERROR: "#d1342b", WARN: "#e69f00", WARNING: "#e69f00",
  INFO: "#2f7fc1", DEBUG: "#7f8a99", TRACE: "#b0b8c4",
};
const OTHERS = "(other)";
const OTHERS_COLOUR = "#9aa3af";
const LONGEST_NAME = 32;

// plotly reads some HTML in names. Names come from the log events, so they are shown as text.
export function plain(name) {
  const short = name.length > LONGEST_NAME ? name.slice(0, LONGEST_NAME - 1) + "…" : name;
  return short.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function layout(figures, more) {
  const style = getComputedStyle(document.documentElement);
  const [text, line, card] = ["--text", "--line", "--card"].map((it) => style.getPropertyValue(it).trim());
  const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true };
  return {
    margin: { l: 8, r: 12, t: 8, b: 8 },
    paper_bgcolor: card, plot_bgcolor: card, font: { color: text, size: 12 },
    hovermode: "x unified", hoverlabel: { bgcolor: card, font: { color: text } },
    showlegend: true, legend: { orientation: "h", y: -0.15, traceorder: "normal" },
    ...more,
    xaxis: { ...axis, type: "date", tickformat: "%H:%M:%S", nticks: 6, range: figures.range, ...more.xaxis },
    yaxis: { ...axis, rangemode: "tozero", ...more.yaxis },
  };
}

function draw(id, traces, figures, more = {}) {
  return Plotly.react(id, traces, layout(figures, more), CONFIG);
}

function stacked(figures, series, colour) {
  return series.map(({ name, counts }, index) => ({
    type: "scatter", mode: "lines", stackgroup: "all", x: figures.seconds, y: counts,
    name: plain(name), line: { width: 0.5, color: colour(name, index) }, hovertemplate: "%{y}",
  }));
}

function drawRates(figures) {
  const level = (name, index) => LEVEL_COLOURS[name] ?? (name === OTHERS ? OTHERS_COLOUR : COLOURS[index]);
  const service = (name, index) => (name === OTHERS ? OTHERS_COLOUR : COLOURS[index]);
  draw("levels-chart", stacked(figures, figures.levels, level), figures);
  draw("services-chart", stacked(figures, figures.services, service), figures);
}

function drawLatency(figures) {
  const line = (key, name, dash, color) => ({
    type: "scatter", mode: "lines+markers", marker: { size: 4 }, x: figures.latency.times,
    y: figures.latency[key], name, line: { dash, color }, hovertemplate: "%{y:.0f} ms",
  });
  const traces = [line("p50", "p50", "solid", COLOURS[0]), line("p99", "p99", "dot", COLOURS[5])];
  draw("latency-chart", traces, figures, { yaxis: { ticksuffix: " ms" } });
}

function drawShards(figures) {
  const names = figures.shards.map((it) => plain(it.name));
  const bars = {
    type: "bar", orientation: "h", y: names, x: figures.shards.map((it) => it.behindMs / 1000),
    marker: { color: COLOURS[0] }, hovertemplate: "%{x:.1f} s behind<extra></extra>",
  };
  draw("shards-chart", [bars], figures, {
    showlegend: false, hovermode: "closest",
    xaxis: { type: "linear", tickformat: undefined, range: undefined, rangemode: "tozero", ticksuffix: " s" },
    yaxis: { type: "category", autorange: "reversed" },
  });
}

function drawBad(figures) {
  const bars = {
    type: "bar", x: figures.bad.times, y: figures.bad.counts, width: 900,
    marker: { color: LEVEL_COLOURS.ERROR }, hovertemplate: "%{y} bad events<extra></extra>",
  };
  draw("bad-chart", [bars], figures, { showlegend: false });
}

export function drawCharts(figures) {
  drawRates(figures);
  drawLatency(figures);
  drawShards(figures);
  drawBad(figures);
}
