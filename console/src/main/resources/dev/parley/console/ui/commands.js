/** The same call for a terminal and for Java. */
import { textOf } from './format.js';

/** @typedef {import('./types.js').Exchange} Exchange */

// Controls but the line end: in a terminal they may end the paste, or press a key.
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

/** An argument for a shell as it is, whatever is in it. @param {string} text */
export function quoted(text) {
  if (!CONTROL.test(text)) return `'${text.replace(/'/g, `'\\''`)}'`;
  const escaped = text.replace(/[\\']/g, '\\$&').replace(new RegExp(CONTROL, 'g'), char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `$'${escaped}'`;
}

/** @param {Exchange} exchange */
export function curl({ method, url, headers, body, streams }) {
  const shown = Object.entries(headers).filter(([name]) => name !== 'traceparent' && name !== 'Accept');
  const lines = [`curl -s${streams ? 'N' : ''} -X ${method} ${quoted(url)}`, ...shown.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)];
  if (body) lines.push(`-d ${quoted(JSON.stringify(JSON.parse(body)))}`);
  return lines.join(' \\\n  ');
}

/** @param {Exchange} exchange */
export function cli({ agent, parts, taskId, contextId, streams }) {
  const lines = [`parley send -a ${quoted(agent)}`];
  if (streams) lines.push('--stream');
  if (taskId) lines.push(`--task-id=${quoted(taskId)}`);
  else if (contextId) lines.push(`--context-id=${quoted(contextId)}`);
  const data = parts.filter(part => typeof part.text !== 'string' && part.data !== undefined).map(part => quoted(JSON.stringify(part.data)));
  for (const part of parts) {
    if (typeof part.text === 'string') lines.push(`--text=${quoted(part.text)}`);
    else if (part.data !== undefined) lines.push(data.length > 1 ? `--data=<(printf %s ${quoted(JSON.stringify(part.data))})` : '--data -'); // standard input can be read once
    else lines.push(`--file=${quoted(part.url ?? nameOf(part))}${part.mediaType ? ` --media-type=${quoted(part.mediaType)}` : ''}`);
  }
  return lines.join(' \\\n  ') + (data.length === 1 ? ` <<< ${data[0]}` : '');
}

/** Name of a file without its folders: the message may be of another person, and the command runs here. @param {import('./types.js').Part} part */
const nameOf = part => (part.filename ?? '').split(/[\\/]/).pop() || 'FILE';

/** @param {string} text */
const literal = text => JSON.stringify(text).replace(/[\u007f-\uffff]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** @param {Exchange} exchange */
export function java({ agent, parts, taskId, contextId, streams }) {
  const simple = parts.length === 1 && typeof parts[0].text === 'string' && !taskId && !contextId;
  const made = parts.map(part => (typeof part.text === 'string' ? `Part.text(${literal(part.text)})` : part.data !== undefined ? `Part.data(${javaData(part.data)})` : `Part.file(…)`)).join(', ');
  const place = taskId || contextId ? `.in(${contextId ? literal(contextId) : 'null'}, ${taskId ? literal(taskId) : 'null'})` : '';
  const message = simple ? literal(textOf(parts)) : `Message.user(${made})${place}`;
  const imports = ['dev.parley.client.AgentClient', ...(streams ? ['dev.parley.client.TaskStream'] : []), ...(simple ? [] : ['dev.parley.protocol.Message', 'dev.parley.protocol.Part'])];
  if (/\bList\.of/.test(message)) imports.push('java.util.List');
  if (/\bMap\.of/.test(message)) imports.push('java.util.Map');
  const call = streams
    ? `    try (TaskStream events = agent.stream(${message})) {\n        events.forEachRemaining(System.out::println);\n    }`
    : `    System.out.println(agent.send(${message}));`;
  return `${imports.map(name => `import ${name};`).join('\n')}\n\ntry (AgentClient agent = AgentClient.connect(${literal(agent)})) {\n${call}\n}`;
}

/** @param {unknown} data @returns {string} */
function javaData(data) {
  if (data === null) return 'null';
  if (Array.isArray(data)) return `List.of(${data.map(javaData).join(', ')})`;
  if (typeof data === 'object') return `Map.of(${Object.entries(data).map(([name, value]) => `${literal(name)}, ${javaData(value)}`).join(', ')})`;
  return typeof data === 'string' ? literal(data) : String(data);
}
