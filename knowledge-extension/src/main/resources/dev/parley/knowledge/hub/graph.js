// Draws what a knowledge graph knows, and goes on drawing as it changes: by one subscription, which begins with what is
// there. Everything that comes from the graph is shown as text and nothing else.

const MOST_HELD = 5_000;
const MOST_DRAWN = 150;
const MOST_ROWS = 200;
const FRESH_MS = 4_000;
const LONGEST_LABEL = 34;
const LONGEST_WAIT_MS = 30_000;
const SVG = 'http://www.w3.org/2000/svg';

const element = id => document.getElementById(id);
const picture = element('picture');
const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Changes by the statement that they made, the newest last. */
const statements = new Map();
let chosen = null;
let watching = new AbortController();

// --- what comes in

async function findAgents() {
  const {agents} = await (await fetch('../agents')).json();
  const offered = await Promise.all(agents.map(async ({name}) => {
    const card = await fetch(`../agents/${encodeURIComponent(name)}/.well-known/agent-card.json`);
    if (!card.ok) {
      return name; // shown only to those with a credential; the graph will tell
    }
    const {capabilities} = await card.json();
    return (capabilities?.extensions ?? []).some(({uri}) => uri.includes('/extensions/knowledge-graph/')) ? name : null;
  }));
  element('agent').replaceChildren(...offered.filter(name => name !== null).map(name => new Option(name)));
}

async function watch() {
  watching.abort();
  watching = new AbortController();
  const {signal} = watching;
  const wanted = {
    agent: element('agent').value,
    subject: element('subject').value.trim(),
    certainty: Number(element('certainty').value),
    key: element('key').value,
  };
  remember();
  for (let wait = 1_000; !signal.aborted; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    try {
      statements.clear();
      changed();
      await follow(wanted, signal, () => {
        wait = 1_000;
      });
      say('The stream has ended.');
    } catch (failure) {
      if (signal.aborted) {
        return;
      }
      say(failure.message, true);
      if (failure.final) {
        return;
      }
    }
    await pause(wait, signal);
  }
}

function pause(milliseconds, signal) {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    }, {once: true});
  });
}

function final(message) {
  return Object.assign(new Error(message), {final: true});
}

async function follow({agent, subject, certainty, key}, signal, begun) {
  const filter = {minCertainty: certainty, ...(subject && {subjects: [subject]})};
  const answer = await fetch(`../agents/${encodeURIComponent(agent)}/kg:subscribe`, {
    method: 'POST',
    headers: {'Content-Type': 'application/json', ...(key && {'X-Api-Key': key})},
    body: JSON.stringify({
      subscriptionQuery: 'subscription($filter: StatementFilter) { knowledgeChanged(filter: $filter) { changeId } }',
      variables: {filter},
      metadata: {snapshot: true},
    }),
    signal,
  });
  if (!answer.ok) {
    throw await refusal(answer);
  }
  begun();
  say('Watching.');
  for await (const {event, data} of events(answer.body)) {
    if (event === 'error' || data.error) {
      throw new Error(data.error?.message ?? data.message ?? 'The stream was broken off.');
    }
    take(data, certainty);
    if (statements.size > MOST_HELD) {
      throw final(`More than ${MOST_HELD.toLocaleString()} statements: say about which entity, or how certain.`);
    }
  }
}

async function refusal(answer) {
  const text = await answer.text();
  let said = text;
  try {
    const problem = JSON.parse(text);
    said = problem.error?.message ?? problem.detail ?? problem.message ?? text;
  } catch {
    // then it is no JSON, and shown as it is
  }
  const busy = answer.status === 429 || answer.status >= 500;
  return busy ? new Error(said) : final(`${answer.status}: ${said}`);
}

/** Source: HTML, section 9.2.6, as far as a hub makes use of it. */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) {
      return;
    }
    const frames = (rest + value).split(/\r?\n\r?\n/);
    rest = frames.pop();
    for (const frame of frames) {
      const lines = frame.split(/\r?\n/);
      const field = name => lines.filter(line => line.startsWith(`${name}:`))
          .map(line => line.slice(name.length + 1).trim()).join('\n');
      const data = field('data');
      if (data) {
        yield {event: field('event'), data: JSON.parse(data)};
      }
    }
  }
}

function take(change, floor) {
  const {op, statement, changeMetadata} = change;
  const old = (changeMetadata?.replaced ?? []).map(object => ({...statement, object}));
  [statement, ...old].forEach(one => statements.delete(keyOf(one)));
  if (op !== 'remove' && (statement.certainty ?? 1) >= floor) {
    statements.set(keyOf(statement), {...change, fresh: !changeMetadata?.snapshot});
  }
  changed();
}

function keyOf({graph, subject, predicate, object}) {
  return JSON.stringify([graph, subject.id, predicate.id, object.id, object.value, object.type, object.language]);
}

// --- what is seen

let due = false;

/** Many changes make one picture. */
function changed() {
  if (!due) {
    due = true;
    requestAnimationFrame(() => {
      due = false;
      list();
      draw();
    });
  }
}

function say(text, failed = false) {
  element('state').textContent = text;
  element('state').classList.toggle('failed', failed);
}

/** Marks what would not be seen, or would turn the text around it. */
function visible(text) {
  return String(text).replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, mark => `‹U+${mark.codePointAt(0).toString(16).toUpperCase()}›`);
}

function short(id) {
  const from = id.includes('://') ? Math.max(id.lastIndexOf('#'), id.lastIndexOf('/')) + 1 : 0;
  return clipped(id.slice(from) || id);
}

function clipped(text) {
  const all = visible(text);
  return all.length > LONGEST_LABEL ? `${all.slice(0, LONGEST_LABEL - 1)}…` : all;
}

function saidBy({provenance = {}}) {
  return provenance.sourceAgentId ?? provenance.recordedBy ?? '';
}

function because({provenance = {}}) {
  return [provenance.justification, provenance.derivedFrom && `from ${provenance.derivedFrom}`].filter(Boolean).join('; ');
}

function certaintyOf({certainty}) {
  return certainty === undefined ? '' : String(certainty);
}

function about(change, id) {
  return change.statement.subject.id === id || change.statement.object.id === id;
}

function list() {
  const all = [...statements.values()].reverse();
  const shown = chosen === null ? all : all.filter(change => about(change, chosen));
  element('title').textContent = chosen === null ? `Latest first, of ${all.length.toLocaleString()}` : visible(chosen);
  element('statements').replaceChildren(...shown.slice(0, MOST_ROWS).map(change => {
    const {statement, timestamp} = change;
    const row = document.createElement('tr');
    row.classList.toggle('fresh', isFresh(change));
    const {subject, predicate, object} = statement;
    const when = new Date(timestamp);
    [
      [short(subject.id), subject.id],
      [short(predicate.id), predicate.id],
      [object.id === undefined ? visible(object.value) : short(object.id), object.id ?? object.type ?? ''],
      [certaintyOf(statement)],
      [visible(saidBy(statement))],
      [visible(because(statement))],
      [when.toLocaleTimeString(), when.toLocaleString()],
    ].forEach(([text, more = '']) => {
      const cell = row.insertCell();
      cell.textContent = text;
      cell.title = visible(more);
    });
    return row;
  }));
}

function isFresh(change) {
  if (!change.fresh) {
    return false;
  }
  change.since ??= performance.now();
  const left = FRESH_MS - (performance.now() - change.since);
  if (left <= 0) {
    change.fresh = false;
  } else if (!change.timed) {
    change.timed = true;
    setTimeout(changed, left);
  }
  return change.fresh;
}

// --- the picture

/** Nodes that are drawn, by their keys; they stay where they are while the graph changes around them. */
let nodes = new Map();
let edges = [];
let heat = 0;

/** What hangs together with the entity that was chosen, within two steps; else what is newest. */
function drawn() {
  const all = [...statements.values()].reverse();
  if (chosen === null) {
    return all.slice(0, MOST_DRAWN);
  }
  const near = new Set([chosen]);
  all.filter(change => about(change, chosen)).forEach(({statement: {subject, object}}) => {
    near.add(subject.id);
    if (object.id !== undefined) {
      near.add(object.id);
    }
  });
  return all.filter(({statement: {subject, object}}) => near.has(subject.id) || near.has(object.id)).slice(0, MOST_DRAWN);
}

function draw() {
  const before = nodes;
  nodes = new Map();
  edges = drawn().map(change => {
    const {statement} = change;
    const {subject, object} = statement;
    const from = node(`e${subject.id}`, subject.id, before);
    const to = object.id === undefined
        ? node(`v${keyOf(statement)}`, null, before, String(object.value), from)
        : node(`e${object.id}`, object.id, before, object.id, from);
    return {from, to, change, shape: edgeShape(change)};
  });
  picture.replaceChildren(...edges.map(({shape}) => shape), ...[...nodes.values()].map(({shape}) => shape));
  heat = before.size === nodes.size && [...nodes.keys()].every(key => before.has(key)) ? heat : 1;
  if (calm) {
    while (heat > 0.02) {
      move();
    }
    place();
  } else {
    requestAnimationFrame(animate);
  }
}

function node(key, id, before, label = id, beside = {x: 0, y: 0}) {
  const known = nodes.get(key);
  if (known) {
    return known;
  }
  const angle = 2.4 * nodes.size; // the golden angle: no two new ones in one place
  const {x, y} = before.get(key) ?? {x: beside.x + 90 * Math.cos(angle), y: beside.y + 90 * Math.sin(angle)};
  const text = id === null ? clipped(label) : short(label);
  const made = {key, id, x, y, width: 16 + 7 * text.length, shape: nodeShape(id, text, label)};
  nodes.set(key, made);
  return made;
}

function shape(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  made.append(...children);
  return made;
}

function nodeShape(id, text, label) {
  const width = 16 + 7 * text.length;
  const group = shape('g', {class: `node ${id === null ? 'value' : 'entity'}${id !== null && id === chosen ? ' chosen' : ''}`},
      shape('title', {}, visible(label)),
      shape('rect', {x: -width / 2, y: -12, width, height: 24, rx: id === null ? 12 : 3}),
      shape('text', {}, text));
  if (id !== null) {
    group.setAttribute('tabindex', '0');
    group.addEventListener('click', () => choose(id));
    group.addEventListener('keydown', ({key}) => key === 'Enter' && choose(id));
  }
  return group;
}

function edgeShape(change) {
  const {statement} = change;
  const label = [short(statement.predicate.id), certaintyOf(statement)].filter(Boolean).join(' · ');
  const told = [statement.predicate.id, certaintyOf(statement) && `certainty ${certaintyOf(statement)}`,
    saidBy(statement) && `said by ${saidBy(statement)}`, because(statement)].filter(Boolean).join('\n');
  return shape('g', {class: `edge${isFresh(change) ? ' fresh' : ''}`},
      shape('title', {}, visible(told)),
      shape('line', {'stroke-opacity': 0.2 + 0.8 * (statement.certainty ?? 1)}),
      shape('text', {}, label));
}

function choose(id) {
  chosen = chosen === id ? null : id;
  remember();
  changed();
}

function animate() {
  if (heat <= 0.02) {
    place();
    return;
  }
  const drawnNow = nodes;
  for (let i = 0; i < 4; i++) {
    move();
  }
  place();
  requestAnimationFrame(() => drawnNow === nodes && animate());
}

/** Nodes push each other away, edges pull them together, and all of it cools down. */
function move() {
  const all = [...nodes.values()];
  all.forEach(one => {
    one.dx = -0.01 * one.x;
    one.dy = -0.02 * one.y;
  });
  for (let i = 0; i < all.length; i++) {
    for (let j = 0; j < i; j++) {
      const [a, b] = [all[i], all[j]];
      const x = a.x - b.x || 0.1;
      const y = a.y - b.y || 0.1;
      const push = 4_500 / (x * x + y * y + 100);
      a.dx += push * x / 10;
      b.dx -= push * x / 10;
      a.dy += push * y / 10;
      b.dy -= push * y / 10;
    }
  }
  edges.forEach(({from, to}) => {
    const [x, y] = [to.x - from.x, to.y - from.y];
    const length = Math.hypot(x, y) || 1;
    const pull = 0.05 * (length - 110 - (from.width + to.width) / 4) / length;
    from.dx += pull * x;
    from.dy += pull * y;
    to.dx -= pull * x;
    to.dy -= pull * y;
  });
  all.forEach(one => {
    one.x += heat * Math.max(-20, Math.min(20, one.dx));
    one.y += heat * Math.max(-20, Math.min(20, one.dy));
  });
  heat *= 0.985;
}

function place() {
  const box = {left: -150, top: -100, right: 150, bottom: 100};
  nodes.forEach(({x, y, width, shape: group}) => {
    group.setAttribute('transform', `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    box.left = Math.min(box.left, x - width / 2 - 20);
    box.right = Math.max(box.right, x + width / 2 + 20);
    box.top = Math.min(box.top, y - 30);
    box.bottom = Math.max(box.bottom, y + 30);
  });
  edges.forEach(({from, to, shape: group}) => {
    const [, line, text] = group.children;
    Object.entries({x1: from.x, y1: from.y, x2: to.x, y2: to.y}).forEach(([name, value]) => line.setAttribute(name, value.toFixed(1)));
    text.setAttribute('x', ((from.x + to.x) / 2).toFixed(1));
    text.setAttribute('y', ((from.y + to.y) / 2 - 7).toFixed(1));
  });
  picture.setAttribute('viewBox', [box.left, box.top, box.right - box.left, box.bottom - box.top].map(Math.round).join(' '));
}

// --- the address says what is watched, but never the key

function remember() {
  const place = new URLSearchParams({agent: element('agent').value});
  if (element('subject').value.trim()) {
    place.set('subject', element('subject').value.trim());
  }
  if (Number(element('certainty').value) > 0) {
    place.set('certainty', element('certainty').value);
  }
  if (chosen !== null) {
    place.set('entity', chosen);
  }
  history.replaceState(null, '', `#${place}`);
}

async function begin() {
  const place = new URLSearchParams(location.hash.slice(1));
  try {
    await findAgents();
  } catch (failure) {
    say(`The list of agents cannot be read: ${failure.message}`, true);
    return;
  }
  const agents = element('agent');
  if (agents.options.length === 0) {
    say('No agent here offers a knowledge graph.', true);
    return;
  }
  if ([...agents.options].some(({value}) => value === place.get('agent'))) {
    agents.value = place.get('agent');
  }
  element('subject').value = place.get('subject') ?? '';
  element('certainty').value = place.get('certainty') ?? '0';
  chosen = place.get('entity');
  element('settings').addEventListener('submit', submitted => {
    submitted.preventDefault();
    chosen = null;
    watch();
  });
  watch();
}

begin();
