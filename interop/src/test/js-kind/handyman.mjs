// What is done with the agent of `serve` behind each route of a gateway, by releases of the SDK before 1.0.

import assert from 'node:assert/strict';
import {
  NOT_CANCELABLE,
  NOT_FOUND,
  artifactTexts,
  assertRefused,
  collect,
  message,
  pushConfig,
  texts,
} from './operations.mjs';
import { Webhook } from './webhook.mjs';

const IMAGE = Buffer.from('89504e470d0a1a0a00ff', 'hex').toString('base64');

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
  const { capabilities } = await agent.card();
  assert.deepEqual([capabilities.streaming, capabilities.pushNotifications], [true, true]);
  assert.equal(agent.protocol, protocol);
}

async function send(agent) {
  const task = await agent.send(message('Grüße, 世界 🌍'));
  assert.deepEqual([task.status.state, textsOf(task)], ['completed', ['Grüße, 世界 🌍']]);
}

async function sendForMessage(agent) {
  assert.deepEqual(texts((await agent.send(message('talk'))).parts), ['hello']);
}

async function sendFile(agent) {
  const request = message('look');
  request.message.parts.push({ kind: 'file', file: { name: 'a.png', mimeType: 'image/png', bytes: IMAGE } });
  const task = await agent.send(request);
  const files = task.artifacts.flatMap(({ parts }) => parts).filter(({ kind }) => kind === 'file');
  assert.deepEqual(files.map(({ file }) => [file.bytes, file.mimeType]), [[IMAGE, 'image/png']]);
}

async function stream(agent) {
  const events = await collect(agent.stream(message('count')));
  const messages = events.filter(({ kind, status }) => kind === 'status-update' && status.message);
  assert.deepEqual(messages.flatMap(({ status }) => texts(status.message.parts)), ['1', '2', '3']);
  assert.equal(artifactTexts(events).join(''), 'onetwo');
  assert.equal(events.at(-1).status.state, 'completed');
}

async function question(agent) {
  const task = await agent.send(message('ask'));
  assert.deepEqual([task.status.state, texts(task.status.message.parts)], ['input-required', ['What?']]);
  const answered = await agent.send(message('blue', { taskId: task.id, contextId: task.contextId }));
  assert.deepEqual([answered.id, answered.status.state, textsOf(answered)], [task.id, 'completed', ['blue']]);
}

async function questionInStream(agent) {
  const asked = await collect(agent.stream(message('ask')));
  assert.equal(asked.at(-1).status.state, 'input-required');
  const answer = message('blue', { taskId: asked[0].id, contextId: asked[0].contextId });
  const events = await collect(agent.stream(answer));
  assert.deepEqual([artifactTexts(events).at(-1), events.at(-1).status.state], ['blue', 'completed']);
}

async function get(agent) {
  const sent = await agent.send(message('ask'));
  const found = await agent.get({ id: sent.id });
  assert.deepEqual([found.id, found.contextId, found.status.state], [sent.id, sent.contextId, sent.status.state]);
}

async function cancel(agent) {
  const configuration = { acceptedOutputModes: [], blocking: false };
  const started = await agent.send({ ...message('wait'), configuration });
  const canceled = await agent.cancel({ id: started.id });
  assert.deepEqual([canceled.id, canceled.status.state], [started.id, 'canceled']);
  assert.equal((await agent.get({ id: started.id })).status.state, 'canceled');
}

async function failure(agent) {
  const task = await agent.send(message('fail'));
  assert.deepEqual([task.status.state, texts(task.status.message.parts)], ['failed', ['No luck']]);
}

async function webhook(agent) {
  const hook = await Webhook.open();
  try {
    const { pushNotificationConfig } = pushConfig('');
    const configuration = {
      acceptedOutputModes: [],
      blocking: true,
      pushNotificationConfig: { ...pushNotificationConfig, url: hook.url },
    };
    await agent.send({ ...message('count'), configuration });
    await hook.until((event) => event.status.state === 'completed');
    assert.ok(hook.received.every(({ headers }) => headers.authorization === 'Bearer s3cret'));
  } finally {
    hook.close();
  }
}

async function errors(agent) {
  const ended = await agent.send(message('hello'));
  await assertRefused(() => agent.get({ id: 'nobody-made-this' }), NOT_FOUND);
  await assertRefused(() => agent.cancel({ id: ended.id }), NOT_CANCELABLE);
}

function textsOf(task) {
  return task.artifacts.flatMap(({ parts }) => texts(parts));
}
