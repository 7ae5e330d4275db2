// Objective against time, as steps.

const LEFT = 64, RIGHT = 26, TOP = 24, BOTTOM = 26;

import { palette } from "./map.js";

/** Series: { name, color (its place in the palette), dash, points: [[seconds, value]], until }. */
export function drawChart(canvas, series, objective) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (!width) return;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.font = "12px system-ui, sans-serif";
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  const all = series.flatMap((one) => one.points);
  const most = (list, least) => list.reduce((a, b) => Math.max(a, b), least);
  const longest = most([...series.map((one) => one.until ?? 0), ...all.map(([seconds]) => seconds)], 0.05);
  let [low, high] = [-most(all.map((p) => -p[1]), -Infinity), most(all.map((p) => p[1]), -Infinity)];
  if (!all.length) [low, high] = [0, 1];
  const margin = (high - low) * 0.08 || Math.abs(high) * 0.01 || 1;
  [low, high] = [low - margin, high + margin];
  const x = (seconds) => LEFT + (seconds / longest) * (width - LEFT - RIGHT);
  const y = (value) => height - BOTTOM - ((value - low) / (high - low)) * (height - TOP - BOTTOM);
  pen.strokeStyle = color("--line");
  pen.fillStyle = color("--muted");
  pen.lineWidth = 1;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const tick of ticks(low, high, 4)) {
    line(pen, [[LEFT, y(tick)], [width - RIGHT, y(tick)]]);
    pen.fillText(short(tick), LEFT - 8, y(tick));
  }
  pen.textAlign = "center";
  pen.textBaseline = "top";
  for (const tick of ticks(0, longest, 6)) pen.fillText(`${short(tick)} s`, x(tick), height - BOTTOM + 7);
  pen.textAlign = "left";
  pen.fillText(objective, 8, 4);
  for (const { points, color: stroke, dash, until } of series) {
    if (!points.length) continue;
    const steps = [];
    points.forEach(([seconds, value], k) => {
      if (k) steps.push([x(seconds), y(points[k - 1][1])]);
      steps.push([x(seconds), y(value)]);
    });
    steps.push([x(Math.max(until ?? 0, points.at(-1)[0])), y(points.at(-1)[1])]);
    pen.strokeStyle = pen.fillStyle = palette()[stroke];
    pen.lineWidth = 2;
    pen.setLineDash(dash ?? []);
    line(pen, steps);
    pen.setLineDash([]);
    if (points.length <= 60) for (const [seconds, value] of points) dot(pen, x(seconds), y(value), 2.6);
    dot(pen, ...steps.at(-1), 4);
  }
}

function line(pen, points) {
  pen.beginPath();
  points.forEach((point, k) => (k ? pen.lineTo(...point) : pen.moveTo(...point)));
  pen.stroke();
}

function dot(pen, x, y, radius) {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fill();
}

/** Round numbers between two bounds. */
function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((size) => size >= raw);
  const list = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + 1e-9 * step; tick += step) list.push(tick);
  return list;
}

/** A number for people: up to five digits. */
export function short(value) {
  if (value === null || value === undefined) return "–";
  if (Math.abs(value) >= 10000 || Number.isInteger(value)) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(5)));
}
