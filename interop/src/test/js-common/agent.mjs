import { setTimeout } from 'node:timers/promises';

/** The agent of `serve`. `eventsOf` tells how a release of the SDK writes what happens to a task. */
export class Agent {
  #eventsOf;
  #working = new Map();
  #stopped = new Set();

  constructor(eventsOf) {
    this.#eventsOf = eventsOf;
  }

  execute = async (context, bus) => {
    const { taskId, contextId, userMessage, task } = context;
    const events = this.#eventsOf(taskId, contextId);
    const text = events.textOf(userMessage);
    if (text === 'talk') {
      bus.publish(events.message('hello'));
      bus.finished();
      return;
    }
    bus.publish(events.task(userMessage, task));
    bus.publish(events.status('working'));
    switch (text) {
      case 'count':
        for (const said of ['1', '2', '3']) {
          bus.publish(events.status('working', said));
        }
        bus.publish(events.artifact([events.part('one')], { append: false, lastChunk: false }));
        bus.publish(events.artifact([events.part('two')], { append: true, lastChunk: true }));
        break;
      case 'ask':
        bus.publish(events.status('input-required', 'What?'));
        bus.finished();
        return;
      case 'fail':
        bus.publish(events.status('failed', 'No luck'));
        bus.finished();
        return;
      case 'wait':
        this.#working.set(taskId, events);
        while (!this.#stopped.has(contextId) && this.#working.has(taskId)) {
          bus.publish(events.status('working', '...'));
          await setTimeout(100);
        }
        if (!this.#working.delete(taskId)) {
          return;
        }
        break;
      default:
        if (text === 'stop') {
          this.#stopped.add(contextId);
        }
        bus.publish(events.artifact(userMessage.parts, { append: false, lastChunk: true }));
    }
    bus.publish(events.status('completed'));
    bus.finished();
  };

  cancelTask = async (taskId, bus) => {
    const events = this.#working.get(taskId);
    this.#working.delete(taskId);
    bus.publish(events.status('canceled'));
    bus.finished();
  };
}
