// A map on a canvas: nodes, routes, a tail and its candidates.

const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b07a00", "#2a8fd0", "#332288", "#882255", "#7d7d29", "#4d4d4d"];
const DARK = ["#56b4e9", "#f0934e", "#2dc99a", "#e39ac4", "#e6b800", "#8ad0ff", "#a99bff", "#e07aa8", "#cfcf6a", "#c8ced4"];

/** Colours of routes, for the theme in use. */
export const palette = () => (matchMedia("(prefers-color-scheme: dark)").matches ? DARK : LIGHT);

/** Longest time for which changed edges stay bold, in milliseconds. */
const GLOW = 700;

export class MapView {
  /** `on` may have `add(place)`, `move(node, place)` and `pick(node)`. */
  constructor(canvas, on = {}) {
    Object.assign(this, { canvas, on, places: [], sizes: [], scene: {}, zoom: 1, shift: [0, 0], drawing: false });
    this.pointers = new Map();
    new ResizeObserver(() => this.redraw()).observe(canvas);
    this.closing = new AbortController();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw(), { signal: this.closing.signal });
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    for (const kind of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
      canvas.addEventListener(kind, (event) => this[kind](event));
    }
  }

  /** Nodes with an amount each (or none); `area` is [left, bottom, right, top] if the map is not just around them. */
  setNodes(places, sizes, area, keepView) {
    this.places = places;
    const largest = Math.max(1e-9, most(sizes));
    this.sizes = sizes.map((size) => Math.sqrt(Math.max(0, size) / largest));
    if (area) this.area = area;
    else if (!keepView) {
      const [xs, ys] = [0, 1].map((axis) => places.map((place) => place[axis]));
      this.area = [least(xs), least(ys), most(xs), most(ys)];
    }
    if (!keepView) this.fit();
    this.redraw();
  }

  /** Forgets the map: nothing else refers to it then. */
  close() {
    this.closing.abort();
  }

  fit() {
    this.zoom = 1;
    this.shift = [0, 0];
    this.redraw();
  }

  /** What to draw: { paths, nodes, hull, rays, here, end, flash }; the colour of a path is its place in the palette. */
  show(scene) {
    if (scene.flash) this.flashed = performance.now();
    this.scene = scene;
    this.redraw();
  }

  /** Zooms by a factor around a point of the canvas in pixels, its centre if none is given. */
  zoomBy(factor, at = [this.canvas.clientWidth / 2, this.canvas.clientHeight / 2]) {
    const before = this.scale();
    this.zoom = Math.min(40, Math.max(0.5, this.zoom * factor));
    const after = this.scale();
    const grown = after.unit / before.unit;
    this.pan(at[0] - after.x - (at[0] - before.x) * grown, at[1] - after.y - (at[1] - before.y) * grown);
  }

  /** Moves the map by pixels. */
  pan(right, down) {
    this.shift = [this.shift[0] + right, this.shift[1] + down];
    this.redraw();
  }

  redraw() {
    this.asked ??= requestAnimationFrame(() => {
      this.asked = undefined;
      this.paint();
    });
  }

  /** From places to pixels. */
  scale() {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const [left, bottom, right, top] = this.area ?? [0, 0, 1, 1];
    const margin = Math.min(36, width / 12);
    const unit = Math.min((width - 2 * margin) / (right - left || 1), (height - 2 * margin) / (top - bottom || 1)) * this.zoom;
    return { unit, x: width / 2 + this.shift[0] - ((left + right) / 2) * unit, y: height / 2 + this.shift[1] + ((bottom + top) / 2) * unit };
  }

  pixel(place) {
    const { unit, x, y } = this.now;
    return [x + place[0] * unit, y - place[1] * unit];
  }

  place(event) {
    const { unit, x, y } = this.scale();
    const box = this.canvas.getBoundingClientRect();
    return [(event.clientX - box.left - x) / unit, (y - (event.clientY - box.top)) / unit];
  }

  paint() {
    const { canvas, scene } = this;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || !height) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const pen = (this.pen = canvas.getContext("2d"));
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const style = getComputedStyle(document.documentElement);
    this.color = (name) => style.getPropertyValue(name).trim();
    this.now = this.scale();
    this.points = this.places.map((place) => this.pixel(place));
    const spacing = Math.sqrt((width * height) / Math.max(1, this.places.length)) * Math.min(3, this.zoom);
    this.radius = Math.min(6, Math.max(1.2, 0.11 * spacing));
    if (scene.hull) this.paintHull(scene.hull);
    const colors = palette();
    for (const path of scene.paths ?? []) this.paintPath(path, colors[path.color % colors.length]);
    for (const ray of scene.rays ?? []) this.paintRay(ray);
    this.paintNodes(scene);
    for (const ray of scene.rays ?? []) if (ray.label) this.paintLabel(ray);
    if (scene.caption) this.paintCaption(scene.caption, width, height);
    if (scene.flash && performance.now() - this.flashed < GLOW) this.redraw();
  }

  line(nodes) {
    const { pen, points } = this;
    pen.beginPath();
    nodes.forEach((node, k) => points[node] && (k ? pen.lineTo(...points[node]) : pen.moveTo(...points[node])));
    pen.stroke();
  }

  paintPath({ nodes, faint }, color) {
    const { pen, radius } = this;
    pen.lineJoin = pen.lineCap = "round";
    pen.strokeStyle = faint ? this.color("--pale") : color;
    pen.lineWidth = Math.min(2.4, Math.max(0.8, radius * 0.5));
    this.line(nodes);
    const flash = this.scene.flash;
    const age = (performance.now() - this.flashed) / GLOW;
    if (!flash || age >= 1 || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    pen.globalAlpha = 1 - age;
    pen.lineWidth *= 2.6;
    for (let k = 1; k < nodes.length; k++) {
      if (flash.has(edge(nodes[k - 1], nodes[k]))) this.line([nodes[k - 1], nodes[k]]);
    }
    pen.globalAlpha = 1;
  }

  paintHull(nodes) {
    const { pen } = this;
    const corners = hull(nodes.map((node) => this.points[node]).filter(Boolean));
    pen.beginPath();
    corners.forEach((point, k) => (k ? pen.lineTo(...point) : pen.moveTo(...point)));
    pen.closePath();
    pen.lineJoin = "round";
    pen.strokeStyle = pen.fillStyle = this.color("--tail");
    pen.lineWidth = 6 * this.radius;
    pen.stroke();
    pen.fill();
    // Border and area are made pale as one; nothing else is drawn yet.
    pen.globalCompositeOperation = "destination-in";
    pen.globalAlpha = 0.13;
    pen.fillRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    pen.globalCompositeOperation = "source-over";
    pen.globalAlpha = 1;
  }

  /** A possible step: along some nodes, as wide as it is likely. */
  paintRay({ nodes, share, taken }) {
    const { pen } = this;
    pen.strokeStyle = this.color(taken ? "--warm" : "--tail");
    pen.globalAlpha = taken ? 0.95 : 0.25 + 0.6 * share;
    pen.lineWidth = 1.2 + 6 * share;
    pen.setLineDash(nodes.length > 2 && !taken ? [7, 6] : []);
    if (nodes.length === 1) this.ring(nodes[0], this.radius + 5);
    else this.line(nodes);
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  ring(node, radius) {
    const { pen, points } = this;
    if (!points[node]) return;
    pen.beginPath();
    pen.arc(...points[node], radius, 0, 2 * Math.PI);
    pen.stroke();
  }

  paintLabel({ nodes, label }) {
    const { pen } = this;
    const point = this.points[nodes.at(-1)];
    if (!point) return;
    pen.font = "600 12px system-ui, sans-serif";
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.lineWidth = 4;
    pen.strokeStyle = this.color("--surface");
    pen.fillStyle = this.color("--ink");
    pen.strokeText(label, point[0] + this.radius + 5, point[1]);
    pen.fillText(label, point[0] + this.radius + 5, point[1]);
  }

  paintCaption(caption, width, height) {
    const { pen } = this;
    pen.font = "13px system-ui, sans-serif";
    pen.fillStyle = this.color("--muted");
    pen.textAlign = "center";
    pen.textBaseline = "bottom";
    pen.fillText(caption, width / 2, height - 8);
  }

  paintNodes({ nodes, depot, here, end, picked }) {
    const { pen, radius, points } = this;
    const fills = { done: "--pale", out: "--surface", tail: "--tail", normal: "--ink" };
    const discs = Object.fromEntries(Object.keys(fills).map((look) => [look, new Path2D()])); // one fill each: thousands are slow
    points.forEach(([x, y], node) => {
      const look = nodes?.[node] ?? "normal";
      const size = (this.sizes.length ? radius * (0.55 + 0.9 * this.sizes[node]) : radius) * (look === "done" ? 0.75 : 1);
      discs[look].moveTo(x + size, y);
      discs[look].arc(x, y, size, 0, 2 * Math.PI);
    });
    pen.lineWidth = 1.2;
    pen.strokeStyle = this.color("--muted");
    for (const [look, fill] of Object.entries(fills)) {
      pen.fillStyle = this.color(fill);
      pen.fill(discs[look]);
      if (look === "out") pen.stroke(discs[look]);
    }
    const box = Math.max(4.5, radius * 1.3);
    if (depot !== undefined && points[depot]) {
      pen.fillStyle = this.color("--ink");
      pen.strokeStyle = this.color("--surface");
      pen.lineWidth = 1.5;
      pen.fillRect(points[depot][0] - box, points[depot][1] - box, 2 * box, 2 * box);
      pen.strokeRect(points[depot][0] - box, points[depot][1] - box, 2 * box, 2 * box);
    }
    pen.lineWidth = 3;
    if (end !== undefined && points[end]) {
      pen.strokeStyle = this.color("--ink");
      pen.strokeRect(points[end][0] - box - 3, points[end][1] - box - 3, 2 * box + 6, 2 * box + 6);
    }
    for (const [node, color] of [[picked, "--accent"], [here, "--warm"]]) {
      pen.strokeStyle = this.color(color);
      this.ring(node, box + 3.5);
    }
  }

  /** The node at a pointer, if there is one. */
  nodeAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const at = [event.clientX - box.left, event.clientY - box.top];
    const reach = (event.pointerType === "touch" ? 22 : 11) ** 2;
    let [found, nearest] = [undefined, reach];
    this.points?.forEach((point, node) => {
      const distance = (point[0] - at[0]) ** 2 + (point[1] - at[1]) ** 2;
      if (distance < nearest) [found, nearest] = [node, distance];
    });
    return found;
  }

  pointerdown(event) {
    if (event.button > 0) return; // a menu is asked for
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.pointers.size > 1) {
      [this.held, this.moved] = [undefined, true]; // two fingers add nothing
      return;
    }
    this.moved = false;
    this.held = this.drawing ? this.nodeAt(event) : undefined;
    if (event.pointerType !== "touch" || this.drawing) this.canvas.setPointerCapture(event.pointerId);
    if (this.held !== undefined) this.on.pick?.(this.held);
  }

  pointermove(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const change = [event.clientX - before[0], event.clientY - before[1]];
    if (Math.hypot(...change) < 3 && !this.moved) return;
    this.moved = true;
    if (this.pointers.size === 2) this.pinch(event);
    else if (this.held !== undefined) this.on.move?.(this.held, this.place(event));
    else if (event.pointerType !== "touch") this.pan(...change);
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    this.redraw();
  }

  pointerup(event) {
    const alone = this.pointers.size === 1;
    this.pointers.delete(event.pointerId);
    if (alone && !this.moved && this.held === undefined && this.drawing) this.on.add?.(this.place(event));
  }

  pointercancel(event) {
    this.pointers.delete(event.pointerId);
    this.held = undefined;
  }

  /** Two fingers: the map follows their middle, and grows with their distance. */
  pinch(event) {
    const fingers = () => {
      const [a, b] = [...this.pointers.values()];
      return { gap: Math.hypot(a[0] - b[0], a[1] - b[1]), middle: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] };
    };
    const before = fingers();
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    const after = fingers();
    const box = this.canvas.getBoundingClientRect();
    this.pan(after.middle[0] - before.middle[0], after.middle[1] - before.middle[1]);
    this.zoomBy(after.gap / (before.gap || 1), [after.middle[0] - box.left, after.middle[1] - box.top]);
  }

  wheel(event) {
    event.preventDefault();
    const box = this.canvas.getBoundingClientRect();
    this.zoomBy(Math.exp(-event.deltaY / 400), [event.clientX - box.left, event.clientY - box.top]);
  }
}

/** A key for an edge, the same in both directions. */
export const edge = (a, b) => (a < b ? a * 1e6 + b : b * 1e6 + a);

const least = (list) => list.reduce((a, b) => Math.min(a, b), Infinity);
const most = (list) => list.reduce((a, b) => Math.max(a, b), -Infinity);

/** The convex hull of points (Andrew 1979). */
function hull(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = (list) => {
    const chain = [];
    for (const point of list) {
      while (chain.length > 1 && turn(chain.at(-2), chain.at(-1), point) <= 0) chain.pop();
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.reverse())];
}
