import { A2AExpressApp, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import express from 'express';
import { cardOf } from './card.mjs';

export { BINDINGS } from './client.mjs';
export { eventsOf } from './events.mjs';

/** Returns what answers at the URL, and the other origins that its card leads to. */
export async function application(url, agent) {
  const handler = new DefaultRequestHandler(cardOf(url), new InMemoryTaskStore(), agent);
  return { app: new A2AExpressApp(handler).setupRoutes(express()), origins: [] };
}
