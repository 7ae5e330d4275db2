// The command line that solves what the page shows.

/** A word for a shell, whatever it contains. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** A longer text is not put into a command: it is in the file that the page saves. */
const LONGEST = 2000;

/** The command for an instance. A token is left to a variable, since shells keep what they have run. */
export function command(instance, { search, seconds, model }, hasToken) {
  const url = quoted(`${location.origin}/v1/solve?search=${search}&seconds=${seconds}${model ? `&model=${model}` : ""}`);
  const curl = hasToken ? 'curl -H "Authorization: Bearer $TOKEN"' : "curl";
  const { file, isExample, size, data } = instance;
  if (file && isExample) return `${curl} -sS ${quoted(`${location.origin}/v1/examples/${file}`)} | ${curl} --data-binary @- ${url}`;
  if (file) return `${curl} --data-binary ${quoted(`@${file}`)} ${url}`;
  const text = size < 200 ? JSON.stringify(data) : undefined;
  return text?.length < LONGEST ? `${curl} --json ${quoted(text)} ${url}` : `${curl} --data-binary @instance.json ${url}`;
}

/** Copies the text of an element. Browsers have `clipboard` only for pages of this machine or with TLS. */
export async function copy(element) {
  if (navigator.clipboard) return navigator.clipboard.writeText(element.textContent);
  getSelection().selectAllChildren(element);
  if (!document.execCommand("copy")) throw new Error("the browser does not copy; the line is selected: copy it with the keyboard");
}
