// What is done with the agent of `serve` behind each route of a gateway, one function for each operation.

import assert from 'node:assert/strict';
import { StreamResponse, TaskState } from '@a2a-js/sdk';
import { TaskNotCancelableError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { artifactTexts, collect, message, pushConfig, state, texts } from './operations.mjs';
import { Webhook } from './webhook.mjs';

const IMAGE = Buffer.from('89504e470d0a1a0a00ff', 'hex');

export const OPERATIONS = {
  card,
  send,
  'send, answered by a message': sendForMessage,
  'send a file': sendFile,
  stream,
  question,
  'question in a stream': questionInStream,
  get,
  cancel,
  failure,
  webhook,
  errors,
};

async function card(agent, protocol) {
  const { capabilities } = await agent.getAgentCard();
  assert.deepEqual([capabilities.streaming, capabilities.pushNotifications], [true, true]);
  assert.equal(agent.transport.protocolName, protocol);
}

async function send(agent) {
  const task = await agent.sendMessage(message('Grüße, 世界 🌍'));
  assert.deepEqual([task.status.state, textsOf(task)], [TaskState.TASK_STATE_COMPLETED, ['Grüße, 世界 🌍']]);
}

async function sendForMessage(agent) {
  const answer = await agent.sendMessage(message('talk'));
  assert.deepEqual(texts(answer.parts), ['hello']);
}

async function sendFile(agent) {
  const request = message('look');
  const content = { $case: 'raw', value: IMAGE };
  request.message.parts.push({ content, filename: 'a.png', mediaType: 'image/png' });
  const task = await agent.sendMessage(request);
  const files = task.artifacts.flatMap(({ parts }) => parts).filter(({ content }) => content.$case === 'raw');
  assert.deepEqual(
    files.map(({ content, mediaType }) => [Buffer.from(content.value), mediaType]),
    [[IMAGE, 'image/png']],
  );
}

async function stream(agent) {
  const events = await collect(agent.sendMessageStream(message('count')));
  const messages = events.filter(({ $case, value }) => $case === 'statusUpdate' && value.status.message);
  assert.deepEqual(messages.flatMap(({ value }) => texts(value.status.message.parts)), ['1', '2', '3']);
  assert.equal(artifactTexts(events).join(''), 'onetwo');
  assert.equal(state(events.at(-1)), TaskState.TASK_STATE_COMPLETED);
}

async function question(agent) {
  const task = await agent.sendMessage(message('ask'));
  assert.deepEqual(
    [task.status.state, texts(task.status.message.parts)],
    [TaskState.TASK_STATE_INPUT_REQUIRED, ['What?']],
  );
  const answered = await agent.sendMessage(message('blue', { taskId: task.id, contextId: task.contextId }));
  assert.deepEqual(
    [answered.id, answered.status.state, textsOf(answered)],
    [task.id, TaskState.TASK_STATE_COMPLETED, ['blue']],
  );
}

async function questionInStream(agent) {
  let task;
  for await (const { payload } of agent.sendMessageStream(message('ask'))) {
    task ??= payload.value;
    if (state(payload) === TaskState.TASK_STATE_INPUT_REQUIRED) {
      break;
    }
  }
  const answer = message('blue', { taskId: task.id, contextId: task.contextId });
  const events = await collect(agent.sendMessageStream(answer));
  assert.deepEqual(
    [artifactTexts(events).at(-1), state(events.at(-1))],
    ['blue', TaskState.TASK_STATE_COMPLETED],
  );
}

async function get(agent) {
  const sent = await agent.sendMessage(message('ask'));
  const found = await agent.getTask({ id: sent.id, tenant: '' });
  assert.deepEqual([found.id, found.contextId, found.status.state], [sent.id, sent.contextId, sent.status.state]);
}

async function cancel(agent) {
  const request = message('wait');
  request.configuration = { acceptedOutputModes: [], returnImmediately: true };
  const started = await agent.sendMessage(request);
  const canceled = await agent.cancelTask({ id: started.id, tenant: '', metadata: undefined });
  assert.deepEqual([canceled.id, canceled.status.state], [started.id, TaskState.TASK_STATE_CANCELED]);
  const found = await agent.getTask({ id: started.id, tenant: '' });
  assert.equal(found.status.state, TaskState.TASK_STATE_CANCELED);
}

async function failure(agent) {
  const task = await agent.sendMessage(message('fail'));
  assert.deepEqual([task.status.state, texts(task.status.message.parts)], [TaskState.TASK_STATE_FAILED, ['No luck']]);
}

async function webhook(agent) {
  const hook = await Webhook.open((json) => StreamResponse.fromJSON(json).payload);
  try {
    const request = message('count');
    request.configuration = {
      acceptedOutputModes: [],
      returnImmediately: false,
      taskPushNotificationConfig: { ...pushConfig(''), url: hook.url },
    };
    await agent.sendMessage(request);
    await hook.until((event) => state(event) === TaskState.TASK_STATE_COMPLETED);
    assert.ok(hook.received.every(({ headers }) => headers.authorization === 'Bearer s3cret'));
  } finally {
    hook.close();
  }
}

async function errors(agent) {
  const ended = await agent.sendMessage(message('hello'));
  await assert.rejects(async () => agent.getTask({ id: 'nobody-made-this', tenant: '' }), TaskNotFoundError);
  await assert.rejects(async () => agent.cancelTask({ id: ended.id, tenant: '' }), TaskNotCancelableError);
}

function textsOf(task) {
  return task.artifacts.flatMap(({ parts }) => texts(parts));
}
