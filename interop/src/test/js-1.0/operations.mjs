// What is done with each agent, one function for each row of the table of results. A function returns a few words about
// what it saw, and throws if that is not what the protocol promises.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Role, StreamResponse, TaskState } from '@a2a-js/sdk';
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { Webhook } from './webhook.mjs';

export const OPERATIONS = {
  card,
  send,
  'send, answered by a message': sendForMessage,
  'send files': sendFiles,
  'send again when asked': sendAgain,
  stream,
  'stream of 2,000 events': longStream,
  get,
  list,
  cancel,
  subscribe,
  'subscribe beyond a question': subscribeBeyondQuestion,
  'push config: create': createPushConfig,
  'push config: get': getPushConfig,
  'push config: list': listPushConfigs,
  'push config: delete': deletePushConfig,
  webhook,
  errors,
};

async function card({ counter }, protocol) {
  const found = await counter.getAgentCard();
  assert.equal(found.name, 'counter');
  assert.equal(found.capabilities.streaming, true);
  assert.equal(found.capabilities.pushNotifications, true);
  assert.equal(found.skills[0].id, 'count');
  assert.equal(counter.transport.protocolName, protocol);
  return `${found.name} ${found.version}`;
}

async function send({ echo }) {
  const task = await echo.sendMessage(message('Grüße, 世界 🌍'));
  assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
  assert.deepEqual(texts(task.artifacts[0].parts), ['Grüße, 世界 🌍']);
  return task.artifacts[0].parts[0].content.value;
}

async function sendForMessage({ ping }) {
  const answer = await ping.sendMessage(message('hello'));
  assert.equal(answer.role, Role.ROLE_AGENT);
  assert.deepEqual(texts(answer.parts), ['pong: hello']);
  return answer.parts[0].content.value;
}

async function sendFiles({ analyst }) {
  const request = message('Please describe this');
  request.message.parts.push({
    content: { $case: 'raw', value: Buffer.from('city,people\nOslo,709000\nBergen,291000\n') },
    filename: 'cities.csv',
    mediaType: 'text/csv',
  });
  const task = await analyst.sendMessage(request);
  assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
  const parts = task.artifacts.flatMap((artifact) => artifact.parts);
  const chart = parts.find((part) => part.mediaType === 'image/png');
  assert.deepEqual([...chart.content.value.subarray(1, 4)], [...Buffer.from('PNG')]);
  return task.artifacts.map((artifact) => artifact.name).join(', ');
}

async function sendAgain({ interview }) {
  let task = await interview.sendMessage(message('hello'));
  for (const answer of ['Ada', 'tea']) {
    assert.equal(task.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
    task = await interview.sendMessage(message(answer, { taskId: task.id, contextId: task.contextId }));
  }
  assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
  assert.deepEqual(texts(task.artifacts[0].parts), ['Name: Ada\nWish: tea\n']);
  return `${task.history.length} messages in the history`;
}

async function stream({ counter, echo }) {
  const counted = await collect(counter.sendMessageStream(message('3')));
  assert.equal(counted[0].$case, 'task');
  assert.ok(counted.filter((event) => state(event) === TaskState.TASK_STATE_WORKING).length >= 3);
  assert.deepEqual(artifactTexts(counted), ['Counted to 3.']);
  assert.equal(state(counted.at(-1)), TaskState.TASK_STATE_COMPLETED);

  const echoed = await collect(echo.sendMessageStream(message('hello')));
  assert.deepEqual(artifactTexts(echoed), ['hello']);
  assert.equal(state(echoed.at(-1)), TaskState.TASK_STATE_COMPLETED);
  return `${counted.length} + ${echoed.length} events`;
}

async function longStream({ chatty }) {
  const events = await collect(chatty.sendMessageStream(message('2000')));
  const said = events
    .filter(({ $case, value }) => $case === 'statusUpdate' && value.status.message)
    .map(({ value }) => texts(value.status.message.parts)[0]);
  assert.deepEqual(said, Array.from({ length: 2000 }, (_, i) => `${i + 1} of 2000`));
  return `${events.length} events`;
}

async function get({ interview }) {
  const sent = await interview.sendMessage(message('hello'));
  const whole = await interview.getTask({ id: sent.id, tenant: '' });
  assert.deepEqual(whole, sent);
  assert.deepEqual(texts(whole.history[0].parts), ['hello']);
  const without = await interview.getTask({ id: sent.id, tenant: '', historyLength: 0 });
  assert.deepEqual(without.history, []);
  return `${whole.history.length} messages in the history, 0 when 0 are asked for`;
}

async function list({ echo }) {
  const first = await echo.sendMessage(message('first'));
  const second = await echo.sendMessage(message('second', { contextId: first.contextId }));
  const filter = { tenant: '', contextId: first.contextId, status: TaskState.TASK_STATE_COMPLETED, pageSize: 1 };
  const page = await echo.listTasks({ ...filter, pageToken: '' });
  const next = await echo.listTasks({ ...filter, pageToken: page.nextPageToken, includeArtifacts: true });
  const [newer, older] = [...page.tasks, ...next.tasks];
  assert.deepEqual(new Set([newer.id, older.id]), new Set([first.id, second.id]));
  assert.ok(newer.status.timestamp >= older.status.timestamp);
  assert.deepEqual([page.totalSize, page.pageSize, next.nextPageToken], [2, 1, '']);
  assert.deepEqual(newer.artifacts, []);
  assert.deepEqual(older.artifacts, (older.id === first.id ? first : second).artifacts);
  const none = await echo.listTasks({ ...filter, status: TaskState.TASK_STATE_FAILED, pageToken: '' });
  assert.deepEqual([none.tasks.length, none.totalSize], [0, 0]);
  return '2 tasks on 2 pages';
}

async function cancel({ counter }) {
  const started = await start(counter);
  const canceled = await counter.cancelTask({ id: started.id, tenant: '', metadata: undefined });
  assert.equal(canceled.id, started.id);
  assert.equal(canceled.status.state, TaskState.TASK_STATE_CANCELED);
  return canceled.status.timestamp;
}

async function subscribe({ counter }) {
  const started = await start(counter);
  const events = [];
  for await (const { payload } of counter.resubscribeTask({ id: started.id, tenant: '' })) {
    events.push(payload);
    if (events.length === 3) {
      await counter.cancelTask({ id: started.id, tenant: '', metadata: undefined });
    }
  }
  assert.equal(events[0].$case, 'task');
  assert.equal(events[0].value.id, started.id);
  assert.ok(events.slice(1).every(({ $case }) => $case === 'statusUpdate'));
  assert.equal(state(events.at(-1)), TaskState.TASK_STATE_CANCELED);
  return `${events.length} events`;
}

async function subscribeBeyondQuestion({ interview }) {
  const asked = await interview.sendMessage(message('hello'));
  const events = [];
  for await (const { payload } of interview.resubscribeTask({ id: asked.id, tenant: '' })) {
    events.push(payload);
    if (state(payload) === TaskState.TASK_STATE_INPUT_REQUIRED) {
      await interview.sendMessage(message('Ada', { taskId: asked.id }));
    }
  }
  const questions = events.filter((event) => state(event) === TaskState.TASK_STATE_INPUT_REQUIRED);
  assert.deepEqual(questions.map(({ $case }) => $case), ['task', 'statusUpdate']);
  assert.equal(state(events.at(-1)), TaskState.TASK_STATE_COMPLETED);
  return `${events.length} events`;
}

async function createPushConfig({ counter }) {
  return whileCounting(counter, async (task) => {
    const wanted = pushConfig(task.id);
    const made = await counter.createTaskPushNotificationConfig(wanted);
    const authentication = { ...wanted.authentication, credentials: '' };
    assert.deepEqual(made, { ...wanted, id: made.id, token: '', authentication });
    assert.notEqual(made.id, '');
    const named = await counter.createTaskPushNotificationConfig({ ...wanted, id: 'mine' });
    assert.equal(named.id, 'mine');
    return 'an id is given, or kept';
  });
}

async function getPushConfig({ counter }) {
  return whileCounting(counter, async (task) => {
    const made = await counter.createTaskPushNotificationConfig(pushConfig(task.id));
    const found = await counter.getTaskPushNotificationConfig({ tenant: '', taskId: task.id, id: made.id });
    assert.deepEqual(found, made);
    return found.url;
  });
}

async function listPushConfigs({ counter }) {
  return whileCounting(counter, async (task) => {
    const made = [];
    for (const id of ['a', 'b']) {
      made.push(await counter.createTaskPushNotificationConfig({ ...pushConfig(task.id), id }));
    }
    const page = await counter.listTaskPushNotificationConfig({
      tenant: '',
      taskId: task.id,
      pageSize: 0,
      pageToken: '',
    });
    assert.deepEqual(page.configs, made);
    assert.equal(page.nextPageToken, '');
    return `${page.configs.length} configs`;
  });
}

async function deletePushConfig({ counter }) {
  return whileCounting(counter, async (task) => {
    const made = await counter.createTaskPushNotificationConfig(pushConfig(task.id));
    const one = { tenant: '', taskId: task.id, id: made.id };
    await counter.deleteTaskPushNotificationConfig(one);
    await counter.deleteTaskPushNotificationConfig(one);
    await assert.rejects(async () => counter.getTaskPushNotificationConfig(one), TaskNotFoundError);
    return 'twice is as good as once';
  });
}

async function webhook({ counter }) {
  const hook = await Webhook.open((json) => StreamResponse.fromJSON(json).payload);
  try {
    const request = message('2');
    request.configuration = {
      acceptedOutputModes: [],
      returnImmediately: false,
      taskPushNotificationConfig: { ...pushConfig(''), url: hook.url },
    };
    const task = await counter.sendMessage(request);
    await hook.until((event) => state(event) === TaskState.TASK_STATE_COMPLETED);
    for (const { headers, event } of hook.received) {
      assert.equal(headers['authorization'], 'Bearer s3cret');
      assert.equal(headers['x-a2a-notification-token'], 'a token');
      assert.ok([event.value.taskId, event.value.id].includes(task.id));
    }
    assert.equal(state(hook.received.at(-1).event), TaskState.TASK_STATE_COMPLETED);
    return `${hook.received.length} events`;
  } finally {
    hook.close();
  }
}

async function errors({ echo }) {
  const ended = await echo.sendMessage(message('hello'));
  const refused = {
    'get of no task': [() => echo.getTask({ id: 'nobody-made-this', tenant: '' }), TaskNotFoundError],
    'cancel of an ended task': [() => echo.cancelTask({ id: ended.id, tenant: '' }), TaskNotCancelableError],
    'send to an ended task': [() => echo.sendMessage(message('more', { taskId: ended.id })), UnsupportedOperationError],
    'subscribe to an ended task': [
      () => collect(echo.resubscribeTask({ id: ended.id, tenant: '' })),
      UnsupportedOperationError,
    ],
  };
  for (const [what, [call, expected]] of Object.entries(refused)) {
    await assert.rejects(async () => call(), expected, what);
  }
  return Object.values(refused).map(([, expected]) => expected.name).join(', ');
}

export function message(text, { taskId = '', contextId = '' } = {}) {
  return {
    tenant: '',
    message: {
      messageId: randomUUID(),
      role: Role.ROLE_USER,
      parts: [{ content: { $case: 'text', value: text }, filename: '', mediaType: '' }],
      taskId,
      contextId,
      extensions: [],
      referenceTaskIds: [],
    },
  };
}

export function pushConfig(taskId) {
  return {
    tenant: '',
    id: '',
    taskId,
    url: 'http://127.0.0.1:9/nobody-listens',
    token: 'a token',
    authentication: { scheme: 'Bearer', credentials: 's3cret' },
  };
}

/** Starts to count, slowly and for long. */
function start(counter) {
  const request = message('1000');
  request.configuration = { acceptedOutputModes: [], returnImmediately: true };
  return counter.sendMessage(request);
}

async function whileCounting(counter, body) {
  const task = await start(counter);
  try {
    return await body(task);
  } finally {
    await counter.cancelTask({ id: task.id, tenant: '', metadata: undefined });
  }
}

export async function collect(responses) {
  const events = [];
  for await (const { payload } of responses) {
    events.push(payload);
  }
  return events;
}

export function state(event) {
  return event.value.status?.state;
}

export function artifactTexts(events) {
  const updates = events.filter(({ $case }) => $case === 'artifactUpdate');
  return updates.flatMap(({ value }) => texts(value.artifact.parts));
}

export function texts(parts) {
  return parts.filter(({ content }) => content.$case === 'text').map(({ content }) => content.value);
}
