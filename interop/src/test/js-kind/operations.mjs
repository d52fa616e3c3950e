// What is done with each agent, one function for each row of the table of results, by releases of the SDK before 1.0: their
// objects tell by `kind` what they are. A function returns a few words about what it saw, and throws if that is not what
// the protocol promises.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { codeOf } from './client.mjs';
import { Webhook } from './webhook.mjs';

export const OPERATIONS = {
  card,
  send,
  'send, answered by a message': sendForMessage,
  'send files': sendFiles,
  'send again when asked': sendAgain,
  stream,
  'stream of 2,000 events': longStream,
  'stream up to a question': streamUpToQuestion,
  get,
  cancel,
  subscribe,
  'push config: create': createPushConfig,
  'push config: get': getPushConfig,
  'push config: list': listPushConfigs,
  'push config: delete': deletePushConfig,
  webhook,
  errors,
};

export const NOT_FOUND = -32001;
export const NOT_CANCELABLE = -32002;
const UNSUPPORTED = -32004;

async function card({ counter }, protocol) {
  const found = await counter.card();
  assert.equal(found.name, 'counter');
  assert.equal(found.capabilities.streaming, true);
  assert.equal(found.capabilities.pushNotifications, true);
  assert.equal(found.skills[0].id, 'count');
  assert.equal(counter.protocol, protocol);
  return `${found.name} ${found.version}`;
}

async function send({ echo }) {
  const task = await echo.send(message('Grüße, 世界 🌍'));
  assert.equal(task.kind, 'task');
  assert.equal(task.status.state, 'completed');
  assert.deepEqual(texts(task.artifacts[0].parts), ['Grüße, 世界 🌍']);
  return task.artifacts[0].parts[0].text;
}

async function sendForMessage({ ping }) {
  const answer = await ping.send(message('hello'));
  assert.equal(answer.kind, 'message');
  assert.equal(answer.role, 'agent');
  assert.deepEqual(texts(answer.parts), ['pong: hello']);
  return answer.parts[0].text;
}

async function sendFiles({ analyst }) {
  const request = message('Please describe this');
  const bytes = Buffer.from('city,people\nOslo,709000\nBergen,291000\n').toString('base64');
  request.message.parts.push({ kind: 'file', file: { bytes, name: 'cities.csv', mimeType: 'text/csv' } });
  const task = await analyst.send(request);
  assert.equal(task.status.state, 'completed');
  const parts = task.artifacts.flatMap((artifact) => artifact.parts);
  const chart = parts.find((part) => part.kind === 'file' && part.file.mimeType === 'image/png');
  assert.equal(Buffer.from(chart.file.bytes, 'base64').subarray(1, 4).toString(), 'PNG');
  return task.artifacts.map((artifact) => artifact.name).join(', ');
}

async function sendAgain({ interview }) {
  let task = await interview.send(message('hello'));
  for (const answer of ['Ada', 'tea']) {
    assert.equal(task.status.state, 'input-required');
    task = await interview.send(message(answer, { taskId: task.id, contextId: task.contextId }));
  }
  assert.equal(task.status.state, 'completed');
  assert.deepEqual(texts(task.artifacts[0].parts), ['Name: Ada\nWish: tea\n']);
  return `${task.history.length} messages in the history`;
}

async function stream({ counter, echo }) {
  const counted = await collect(counter.stream(message('3')));
  assert.equal(counted[0].kind, 'task');
  assert.ok(counted.filter((event) => event.status?.state === 'working').length >= 3);
  assert.deepEqual(artifactTexts(counted), ['Counted to 3.']);
  assertEnd(counted, 'completed');

  const echoed = await collect(echo.stream(message('hello')));
  assert.deepEqual(artifactTexts(echoed), ['hello']);
  assertEnd(echoed, 'completed');
  return `${counted.length} + ${echoed.length} events`;
}

async function longStream({ chatty }) {
  const events = await collect(chatty.stream(message('2000')));
  const said = events
    .filter(({ kind, status }) => kind === 'status-update' && status.message)
    .map(({ status }) => texts(status.message.parts)[0]);
  assert.deepEqual(said, Array.from({ length: 2000 }, (_, i) => `${i + 1} of 2000`));
  return `${events.length} events`;
}

async function streamUpToQuestion({ interview }) {
  const asked = await collect(interview.stream(message('hello')));
  assertEnd(asked, 'input-required');
  const { id, contextId } = asked[0];
  const answered = await collect(interview.stream(message('Ada', { taskId: id, contextId })));
  assertEnd(answered, 'input-required');
  return `${asked.length} + ${answered.length} events`;
}

async function get({ interview }) {
  const sent = await interview.send(message('hello'));
  const whole = await interview.get({ id: sent.id });
  assert.deepEqual(whole, sent);
  assert.deepEqual(texts(whole.history[0].parts), ['hello']);
  const last = await interview.get({ id: sent.id, historyLength: 1 });
  assert.deepEqual(last.history, whole.history.slice(-1));
  return `${whole.history.length} messages in the history, 1 when 1 is asked for`;
}

async function cancel({ counter }) {
  const started = await start(counter);
  const canceled = await counter.cancel({ id: started.id });
  assert.equal(canceled.id, started.id);
  assert.equal(canceled.status.state, 'canceled');
  return canceled.status.timestamp;
}

async function subscribe({ counter }) {
  const started = await start(counter);
  const events = [];
  for await (const event of counter.resubscribe({ id: started.id })) {
    events.push(event);
    if (events.length === 3) {
      await counter.cancel({ id: started.id });
    }
  }
  assert.equal(events[0].kind, 'task');
  assert.equal(events[0].id, started.id);
  assert.ok(events.slice(1).every(({ kind }) => kind === 'status-update'));
  assertEnd(events, 'canceled');
  return `${events.length} events`;
}

async function createPushConfig({ counter }) {
  return whileCounting(counter, async (task) => {
    const named = await counter.setPushConfig(pushConfig(task.id, 'mine'));
    const { id, url, token, authentication } = named.pushNotificationConfig;
    assert.deepEqual([id, url], ['mine', pushConfig(task.id, 'mine').pushNotificationConfig.url]);
    // Secrets are not returned, which clients of ProtoJSON show as an empty text.
    assert.deepEqual([token ?? '', authentication.credentials ?? ''], ['', '']);
    assert.deepEqual(authentication.schemes, ['Bearer']);
    const unnamed = pushConfig(task.id);
    const made = await counter.setPushConfig(unnamed);
    assert.equal(made.pushNotificationConfig.url, unnamed.pushNotificationConfig.url);
    assert.ok(made.pushNotificationConfig.id);
    return 'an id is given, or kept';
  });
}

async function getPushConfig({ counter }) {
  return whileCounting(counter, async (task) => {
    const made = await counter.setPushConfig(pushConfig(task.id, 'mine'));
    const found = await counter.getPushConfig({ id: task.id, pushNotificationConfigId: 'mine' });
    assert.deepEqual(found, made);
    return found.pushNotificationConfig.url;
  });
}

async function listPushConfigs({ counter }) {
  return whileCounting(counter, async (task) => {
    const made = [];
    for (const id of ['a', 'b']) {
      made.push(await counter.setPushConfig(pushConfig(task.id, id)));
    }
    const configs = await counter.listPushConfigs({ id: task.id });
    assert.deepEqual(configs, made);
    return `${configs.length} configs`;
  });
}

async function deletePushConfig({ counter }) {
  return whileCounting(counter, async (task) => {
    await counter.setPushConfig(pushConfig(task.id, 'mine'));
    const one = { id: task.id, pushNotificationConfigId: 'mine' };
    await counter.deletePushConfig(one);
    await counter.deletePushConfig(one);
    await assertRefused(() => counter.getPushConfig(one), NOT_FOUND);
    return 'twice is as good as once';
  });
}

async function webhook({ counter }) {
  const hook = await Webhook.open();
  try {
    const request = message('2');
    const { pushNotificationConfig } = pushConfig('');
    request.configuration = {
      acceptedOutputModes: [],
      blocking: true,
      pushNotificationConfig: { ...pushNotificationConfig, url: hook.url },
    };
    const task = await counter.send(request);
    await hook.until((event) => event.status.state === 'completed');
    for (const { headers, event } of hook.received) {
      assert.equal(headers['authorization'], 'Bearer s3cret');
      assert.equal(headers['x-a2a-notification-token'], 'a token');
      assert.deepEqual([event.kind, event.id], ['task', task.id]);
    }
    assert.equal(hook.received.at(-1).event.status.state, 'completed');
    return `${hook.received.length} tasks`;
  } finally {
    hook.close();
  }
}

async function errors({ echo }) {
  const ended = await echo.send(message('hello'));
  const refused = {
    'get of no task': [() => echo.get({ id: 'nobody-made-this' }), NOT_FOUND],
    'cancel of an ended task': [() => echo.cancel({ id: ended.id }), NOT_CANCELABLE],
    'send to an ended task': [() => echo.send(message('more', { taskId: ended.id })), UNSUPPORTED],
    'subscribe to an ended task': [() => collect(echo.resubscribe({ id: ended.id })), UNSUPPORTED],
  };
  for (const [what, [call, code]] of Object.entries(refused)) {
    await assertRefused(call, code, what);
  }
  return Object.values(refused).map(([, code]) => code).join(', ');
}

export function message(text, { taskId, contextId } = {}) {
  const parts = [{ kind: 'text', text }];
  const named = { ...(taskId && { taskId }), ...(contextId && { contextId }) };
  return { message: { kind: 'message', messageId: randomUUID(), role: 'user', parts, ...named } };
}

export function pushConfig(taskId, id) {
  return {
    taskId,
    pushNotificationConfig: {
      ...(id && { id }),
      url: 'http://127.0.0.1:9/nobody-listens',
      token: 'a token',
      authentication: { schemes: ['Bearer'], credentials: 's3cret' },
    },
  };
}

/** Starts to count, slowly and for long. */
function start(counter) {
  return counter.send({ ...message('1000'), configuration: { acceptedOutputModes: [], blocking: false } });
}

async function whileCounting(counter, body) {
  const task = await start(counter);
  try {
    return await body(task);
  } finally {
    await counter.cancel({ id: task.id });
  }
}

export async function collect(stream) {
  const events = [];
  for await (const event of stream) {
    events.push(event);
  }
  return events;
}

export async function assertRefused(call, code, what) {
  try {
    await call();
  } catch (failure) {
    assert.equal(codeOf(failure), code, `${what ?? code}: ${failure.stack}`);
    return;
  }
  assert.fail(`not refused: ${what ?? code}`);
}

/** Asserts that the last event, and no other, says that it is the last. */
function assertEnd(events, state) {
  assert.equal(events.at(-1).status.state, state);
  assert.deepEqual(events.filter((event) => event.final), [events.at(-1)]);
}

export function artifactTexts(events) {
  return events.filter(({ kind }) => kind === 'artifact-update').flatMap(({ artifact }) => texts(artifact.parts));
}

export function texts(parts) {
  return parts.filter(({ kind }) => kind === 'text').map(({ text }) => text);
}
