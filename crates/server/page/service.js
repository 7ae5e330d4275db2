// Calls of the service.

let token = sessionStorage.getItem("token") ?? "";

export function setToken(text) {
  token = text.trim();
  sessionStorage.setItem("token", token);
}

export const hasToken = () => token !== "";

/** An error with the sentence of the service. */
export class Failed extends Error {
  constructor(problem, status) {
    super(problem?.message ?? `the service answered ${status}`);
    this.status = status;
  }
}

async function call(path, options = {}) {
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failed({ message: "the service cannot be reached" }, 0);
  }
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  throw new Failed(answer.error, response.status);
}

export const get = async (path) => (await call(path)).json();
export const getText = async (path) => (await call(path)).text();

function body(request) {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request) };
}

/** What the service understands of a file's bytes. */
export async function understand(bytes, name) {
  const path = `/v1/instance?name=${encodeURIComponent(name)}`;
  return (await call(path, { method: "POST", body: bytes })).json();
}

export const steps = async (request, signal) => (await call("/v1/policy/steps", { ...body(request), signal })).json();
export const picture = async (request) => (await call("/v1/plot.svg", body(request))).blob();
export const solutionFile = async (request) => (await call("/v1/solution", body(request))).blob();

/** Solves; `improved` is told of every better solution. Returns the final answer. */
export async function solve(request, improved, signal) {
  const options = body(request);
  options.headers.Accept = "text/event-stream";
  const response = await call("/v1/solve", { ...options, signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Failed({ message: "the connection ended before the solution" }, 0);
    text += value;
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const event = parse(text.slice(0, end));
      if (event.name === "improved") improved(event.data);
      if (event.name === "finished") return event.data;
      if (event.name === "failed") throw new Failed(event.data, 200);
    }
  }
}

function parse(block) {
  const event = { name: "", data: "" };
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) event.name = line.slice(6).trim();
    if (line.startsWith("data:")) event.data += line.slice(5).trim();
  }
  if (event.data) event.data = JSON.parse(event.data);
  return event;
}
