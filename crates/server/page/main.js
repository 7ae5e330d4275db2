// The page: wires controls, map, chart, stepper and comparison to the service.

import { drawChart, short } from "./chart.js";
import { Comparison } from "./compare.js";
import { command, copy } from "./curl.js";
import { Instance, columns } from "./editor.js";
import { MapView, edge } from "./map.js";
import * as service from "./service.js";
import { Stepper, isTaken, likely, percent, stepName } from "./stepper.js";

const $ = (id) => document.getElementById(id);
const SECONDS = [0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 20, 40, 60];

const state = { problems: [], models: [], instance: null, answer: null, series: [], stepper: null, running: null };
const map = new MapView($("map"), { add: addNode, move: moveNode, pick: pickNode });
const comparison = new Comparison($("panels"), () => drawCurves());

start().catch(report);

async function start() {
  const [{ problems, limits }, models, examples] = await Promise.all(["/v1/problems", "/v1/models", "/v1/examples"].map(service.get));
  Object.assign(state, { problems, models, limits });
  $("problem").replaceChildren(...problems.map(({ name }) => option(name, name.toUpperCase())));
  $("example").replaceChildren(...examples.map((name) => option(name, name)));
  $("seconds").max = Math.max(0, SECONDS.filter((seconds) => seconds <= limits.seconds).length - 1);
  showSeconds();
  await openExample();
}

function option(value, text) {
  return Object.assign(document.createElement("option"), { value, textContent: text });
}

// The instance.

async function openExample() {
  const name = $("example").value;
  await open(await service.getText(`/v1/examples/${name}`), name, { isExample: true });
}

async function open(content, name, { isExample = false } = {}) {
  const answer = await service.understand(content, name);
  const instance = Instance.understood(answer, state.problems);
  Object.assign(instance, { file: name, isExample });
  use(instance);
  if (answer.solution) showSolution(answer.solution);
}

async function paste(text) {
  use(Instance.understood(await service.understand(columns(text), "pasted.csv"), state.problems));
}

function use(instance, keepView) {
  stop();
  leaveModes();
  clearError();
  Object.assign(state, { instance, answer: null, series: [], picked: undefined });
  $("problem").value = instance.about.name;
  const fits = state.models.filter((model) => model.problem === instance.about.name);
  $("model").replaceChildren(...fits.map(({ name }) => option(name === instance.about.name ? "" : name, name)));
  $("model-label").hidden = fits.length < 2;
  refresh(keepView);
}

/** Draws the instance anew after a change. */
function refresh(keepView) {
  const { instance } = state;
  const drawn = instance.isDrawn && instance.canEdit;
  map.drawing = $("drawing").open && instance.canEdit;
  $("map").classList.toggle("drawing", map.drawing);
  map.setNodes(instance.places(), instance.amounts(), drawn ? [0, 0, 100, 100] : undefined, keepView);
  $("title").textContent = `${instance.name}: ${instance.about.name.toUpperCase()}, ${instance.size} ${instance.kind === "set" ? "items" : "nodes"}`;
  $("depot-hint").hidden = !instance.hasDepot;
  $("results").hidden = instance.size < 2;
  $("save-solution").disabled = $("save-svg").disabled = !state.answer;
  $("progress").hidden = !state.series.length;
  if (!state.answer) $("figures").textContent = instance.size ? "Press Solve, or watch the policy." : "Click the map to add nodes.";
  showNumbers();
  showRoutes();
  showSolution(state.answer?.solution);
  showCurl();
}

/** Inputs for the numbers of the instance, and for the amounts of the picked node. */
function showNumbers() {
  const { instance, picked } = state;
  $("remove").disabled = picked === undefined || !map.drawing;
  const field = (name, value, set) => {
    const input = Object.assign(document.createElement("input"), { type: "number", value, step: "any", min: 0 });
    input.addEventListener("change", () => {
      set(Number(input.value));
      edited();
    });
    const label = document.createElement("label");
    label.append(name, input);
    return label;
  };
  $("numbers").replaceChildren(...instance.numbers.map((name) => field(name, instance.data[name], (value) => (instance.data[name] = value))));
  const lists = picked === undefined || !instance.canEdit ? [] : instance.lists;
  $("node-fields").replaceChildren(
    ...lists.map((list) => field(`${list} of ${picked}`, instance.data[list][picked], (value) => (instance.data[list][picked] = value))),
  );
}

function edited() {
  stop();
  leaveModes();
  clearError();
  Object.assign(state, { answer: null, series: [] });
  state.instance.changed();
  refresh(true);
}

function addNode(place) {
  state.picked = state.instance.add(place);
  edited();
}

function moveNode(node, place) {
  state.instance.move(node, place);
  edited();
}

function pickNode(node) {
  state.picked = node;
  showNumbers();
  showSolution(state.answer?.solution);
}

// Solutions.

function solutionScene(instance, numbers, before) {
  const paths = instance.paths(numbers ?? []).map((nodes, color) => ({ nodes, color }));
  const visited = new Set(numbers ?? []);
  const hollow = numbers && (instance.kind === "set" || visited.size < instance.size - 1);
  const nodes = hollow ? instance.places().map((_, node) => (visited.has(node) ? "normal" : "out")) : undefined;
  const old = before && new Set(edges(instance, before));
  const flash = old && new Set(edges(instance, numbers).filter((key) => !old.has(key)));
  const caption = instance.kind === "set" ? "weight →, value ↑; filled: packed" : "";
  return { paths, nodes, flash, caption, depot: instance.hasDepot ? 0 : undefined };
}

function edges(instance, numbers) {
  return instance.paths(numbers).flatMap((nodes) => nodes.slice(1).map((node, k) => edge(nodes[k], node)));
}

function showSolution(numbers, before) {
  map.show({ ...solutionScene(state.instance, numbers, before), picked: map.drawing ? state.picked : undefined });
}

function options() {
  const [search, model] = [$("search").value, $("model").value];
  const wanted = { search, seconds: SECONDS[$("seconds").value] };
  if (model && !["auto", "expert"].includes(search)) wanted.model = model;
  return wanted;
}

async function solve() {
  if (!state.instance?.size) return;
  stop();
  leaveModes();
  clearError();
  const running = (state.running = new AbortController());
  const { instance } = state;
  const curve = { points: [], color: 0, until: 0 };
  Object.assign(state, { series: [curve], answer: null });
  let last;
  busy(true);
  $("progress").hidden = false;
  $("figures").textContent = "Searching…";
  const objective = instance.about.objective;
  try {
    const answer = await service.solve({ instance: instance.data, options: options() }, (improved) => {
      curve.points.push([improved.seconds, improved.value]);
      showFigures(`${objective} `, improved.value, ` after ${improved.seconds.toFixed(2)} s`);
      showSolution(improved.solution, last);
      last = improved.solution;
      drawCurves();
    }, running.signal);
    curve.until = answer.seconds;
    if (curve.points.at(-1)?.[1] !== answer.value) curve.points.push([answer.seconds, answer.value]);
    finished(answer);
    showSolution(answer.solution);
  } catch (error) {
    if (error.name !== "AbortError") report(error);
    else if (last && state.series[0] === curve) showFigures(`stopped at ${objective} `, curve.points.at(-1)[1], "");
  } finally {
    if (state.running === running) busy(false);
  }
}

function finished(answer) {
  state.answer = answer;
  const gap = answer.gap_percent === null ? "" : `, ${answer.gap_percent.toFixed(2)} % from the best known`;
  const routes = answer.routes?.length ? `, ${answer.routes.length} routes` : "";
  showFigures(`${answer.objective} `, answer.value, `${routes}${gap}, ${answer.seconds.toFixed(2)} s, found by ${answer.found_by}`);
  $("save-solution").disabled = $("save-svg").disabled = false;
  $("save-solution").textContent = `Solution (.${state.instance.about.solution_file})`;
  showRoutes();
  drawCurves();
}

function showFigures(before, value, after) {
  const bold = Object.assign(document.createElement("b"), { textContent: short(value) });
  $("figures").replaceChildren(before, bold, after);
  $("map").setAttribute("aria-label", `Map: ${$("figures").textContent}`);
}

function showRoutes() {
  const routes = state.answer?.routes ?? [];
  $("routes").hidden = !routes.length;
  const row = (route, k) => {
    const cells = [k + 1, route.customers.length, short(route.load), short(route.length)];
    const line = document.createElement("tr");
    line.append(...cells.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
    return line;
  };
  $("routes").tBodies[0].replaceChildren(...routes.map(row));
}

function drawCurves() {
  const series = comparison.active ? comparison.series() : state.series;
  $("progress").hidden = !series.length;
  if (series.length) drawChart($("chart"), series, state.instance.about.objective);
}

function stop() {
  state.running?.abort();
  state.running = null;
  busy(false);
}

function busy(is) {
  $("stop").disabled = !is;
  document.body.classList.toggle("busy", is);
}

// The policy, step by step.

async function watch() {
  if (!state.instance?.size) return;
  stop();
  leaveModes();
  clearError();
  $("figures").textContent = "The policy is thinking…";
  const { instance } = state;
  const running = (state.running = new AbortController());
  const wanted = { search: "greedy", seconds: Math.min(20, state.limits.seconds), candidates: 8 };
  if ($("model").value) wanted.model = $("model").value;
  $("ends-label").hidden = instance.kind !== "tour";
  if (instance.kind === "tour" && $("both-ends").checked) wanted.ends = "both";
  busy(true);
  try {
    const trace = await service.steps({ instance: instance.data, options: wanted }, running.signal);
    const stepper = new Stepper(instance, trace, showLook);
    state.stepper = stepper;
    $("step").max = stepper.count;
    $("stepper").hidden = false;
    $("progress").hidden = true;
    $("routes").hidden = true;
    stepper.go(0);
    $("step").focus({ preventScroll: true });
  } catch (error) {
    if (error.name !== "AbortError") report(error);
    else if (state.instance === instance && !state.running) $("figures").textContent = "Stopped.";
  } finally {
    if (state.running === running) stop();
  }
}

function showLook(scene, look) {
  const { stepper } = state;
  const { trace, at, count } = stepper;
  map.show(scene);
  $("step").value = at;
  $("step-shown").textContent = `${at} / ${count}`;
  $("story").textContent = stepper.story();
  const value = at ? trace.looks[at - 1].value : null;
  showFigures(`${trace.policy}: ${trace.objective} so far `, value ?? 0, at === count && trace.value !== null ? ", complete" : "");
  const row = (candidate) => {
    const { adds, probability } = candidate;
    const line = document.createElement("li");
    const cell = (text, name) => Object.assign(document.createElement("span"), { textContent: text, className: name });
    const meter = cell("", "meter");
    meter.append(cell("", ""));
    meter.firstChild.style.width = `${100 * probability}%`;
    line.classList.toggle("taken", isTaken(look, candidate));
    line.append(cell(stepName(adds, look.end), "name"), meter, cell(percent(probability), "share"));
    return line;
  };
  $("candidates").replaceChildren(...(look ? likely(look) : []).map(row));
}

const playing = (is) => {
  $("play").textContent = is ? "Pause" : "Play";
};

// Network, expert and both, side by side.

async function compare() {
  if (!state.instance?.size) return;
  stop();
  leaveModes();
  clearError();
  const { instance } = state;
  const running = (state.running = new AbortController());
  busy(true);
  $("single").hidden = true;
  $("figures").textContent = "Three searches with the same time, at once.";
  const seconds = SECONDS[$("seconds").value];
  const model = $("model").value || undefined;
  await comparison.run(instance, { seconds, model }, running.signal, (numbers, before) => solutionScene(instance, numbers, before));
  if (state.running === running) busy(false);
}

/** Back to the single map. */
function leaveModes() {
  state.stepper?.pause(playing);
  state.stepper = null;
  $("stepper").hidden = true;
  comparison.close();
  $("single").hidden = false;
}

// Results to take away.

function save(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const solved = () => ({ instance: state.instance.data, solution: state.answer.solution });

function showCurl() {
  $("curl").textContent = command(state.instance, options(), service.hasToken());
}

async function copyCurl() {
  await copy($("curl"));
  $("copy-curl").textContent = "Copied";
  setTimeout(() => ($("copy-curl").textContent = "Copy curl line"), 1500);
}

// Messages.

function report(error) {
  const isLocked = error.status === 401;
  $("error").textContent = isLocked ? "This server asks for an access token: enter one that it knows." : error.message;
  $("error").hidden = false;
  $("figures").textContent = "";
  if (isLocked) {
    $("token-box").open = true;
    $("token").focus();
  }
  console.warn(error.message);
}

function clearError() {
  $("error").hidden = true;
}

const attempt = (work) => (event) => Promise.resolve(work(event)).catch(report);

// Controls.

function showSeconds() {
  $("seconds-shown").textContent = `${SECONDS[$("seconds").value]} s`;
  if (state.instance) showCurl();
}

async function openFile(file) {
  if (!file) return;
  if (file.size > state.limits?.body) throw new Error(`${file.name} is larger than ${state.limits.body >> 20} MiB, the most that this server takes`);
  await open(file, file.name);
}

function drawn(count) {
  const about = state.problems.find(({ name }) => name === $("problem").value);
  if (!about) return; // the service has not told its problems: it asks for a token first
  const least = about.fields.some(({ name }) => name === "coordinates") ? 0 : 2;
  use(Instance.drawn(about, Math.min(2000, Math.max(least, count))));
}

$("example").addEventListener("change", attempt(openExample));
$("file").addEventListener("change", attempt(async (event) => {
  await openFile(event.target.files[0]);
  event.target.value = "";
}));
$("paste-open").addEventListener("click", () => {
  $("paste").hidden = !$("paste").hidden;
  $("paste-open").setAttribute("aria-expanded", String(!$("paste").hidden));
  if (!$("paste").hidden) $("paste-text").focus();
});
$("paste-use").addEventListener("click", attempt(() => paste($("paste-text").value)));
$("remove").addEventListener("click", removePicked);
$("both-ends").addEventListener("change", attempt(watch));
$("drawing").addEventListener("toggle", () => state.instance && refresh(true));
$("clear").addEventListener("click", () => drawn(0));
$("random").addEventListener("click", () => drawn(Number($("count").value)));
$("problem").addEventListener("change", () => drawn(Number($("count").value)));
$("seconds").addEventListener("input", showSeconds);
for (const id of ["search", "model"]) $(id).addEventListener("change", showCurl);
$("solve").addEventListener("click", attempt(solve));
$("stop").addEventListener("click", stop);
$("watch").addEventListener("click", attempt(watch));
$("compare").addEventListener("click", attempt(compare));
$("fit").addEventListener("click", () => map.fit());
$("first").addEventListener("click", () => state.stepper?.go(0));
$("back").addEventListener("click", () => state.stepper?.go(state.stepper.at - 1));
$("forward").addEventListener("click", () => state.stepper?.go(state.stepper.at + 1));
$("last").addEventListener("click", () => state.stepper?.go(state.stepper.count));
$("play").addEventListener("click", () => state.stepper?.play(playing));
$("step").addEventListener("input", (event) => state.stepper?.go(Number(event.target.value)));
$("save-solution").addEventListener("click", attempt(async () => save(await service.solutionFile(solved()), `${state.instance.name}.${state.instance.about.solution_file}`)));
$("save-svg").addEventListener("click", attempt(async () => save(await service.picture(solved()), `${state.instance.name}.svg`)));
$("save-instance").addEventListener("click", () => save(new Blob([JSON.stringify(state.instance.data)], { type: "application/json" }), "instance.json"));
$("copy-curl").addEventListener("click", attempt(copyCurl));
$("token-form").addEventListener("submit", attempt((event) => {
  event.preventDefault();
  service.setToken($("token").value);
  clearError();
  return start();
}));

addEventListener("resize", drawCurves);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawCurves);
addEventListener("dragover", (event) => {
  event.preventDefault();
  $("drop").hidden = false;
});
addEventListener("dragleave", (event) => ($("drop").hidden = Boolean(event.relatedTarget) ? $("drop").hidden : true));
addEventListener("drop", attempt(async (event) => {
  event.preventDefault();
  $("drop").hidden = true;
  await openFile(event.dataTransfer.files[0]);
}));
addEventListener("paste", attempt(async (event) => {
  if (event.target.closest("textarea, input")) return;
  const text = event.clipboardData.getData("text/plain");
  if (text.trim()) await paste(text);
}));

const KEYS = {
  s: solve, p: watch, c: compare, f: () => map.fit(), "+": () => map.zoomBy(1.25), "-": () => map.zoomBy(0.8), Escape: stop,
  ArrowLeft: () => state.stepper?.go(state.stepper.at - 1), ArrowRight: () => state.stepper?.go(state.stepper.at + 1),
  Home: () => state.stepper?.go(0), End: () => state.stepper?.go(state.stepper.count), " ": () => state.stepper?.play(playing),
  Delete: removePicked, Backspace: removePicked,
};

function removePicked() {
  if (!map.drawing || state.picked === undefined) return;
  state.instance.remove(state.picked);
  state.picked = undefined;
  edited();
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target;
  const typing = target.closest("textarea, select, input:not([type=range], [type=checkbox])");
  const slider = target.closest("input[type=range]") && target.id !== "step";
  const pressing = target.closest("button, summary, [type=checkbox]") && [" ", "Enter"].includes(event.key);
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if ((typing || slider || pressing) && key !== "Escape") return;
  if (!KEYS[key] || (!state.stepper && ["ArrowLeft", "ArrowRight", "Home", "End", " "].includes(key))) return;
  event.preventDefault();
  attempt(KEYS[key])();
});
