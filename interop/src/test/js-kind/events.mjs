import { randomUUID } from 'node:crypto';

/** How releases before 1.0 write what happens to a task. */
export function eventsOf(taskId, contextId) {
  const part = (text) => ({ kind: 'text', text });
  const message = (text) => ({
    kind: 'message',
    messageId: randomUUID(),
    role: 'agent',
    taskId,
    contextId,
    parts: [part(text)],
  });
  const statusOf = (state, text) => ({
    state,
    timestamp: new Date().toISOString(),
    ...(text && { message: message(text) }),
  });
  return {
    part,
    message,
    textOf: ({ parts }) => parts[0].text,
    task: (message, known) =>
      known ?? {
        kind: 'task',
        id: taskId,
        contextId,
        status: statusOf('submitted'),
        history: [message],
        artifacts: [],
      },
    status: (state, text) => ({
      kind: 'status-update',
      taskId,
      contextId,
      status: statusOf(state, text),
      final: state !== 'working',
    }),
    artifact: (parts, piece) => ({
      kind: 'artifact-update',
      taskId,
      contextId,
      artifact: { artifactId: 'a', parts },
      ...piece,
    }),
  };
}
