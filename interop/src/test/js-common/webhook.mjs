import { createServer } from 'node:http';

/** A webhook on a free port of this machine, and what it has received: `{headers, event}` in order. */
export class Webhook {
  #server = createServer((request, response) => this.#receive(request, response));
  #wakeUp = () => {};
  #read;
  received = [];

  constructor(read) {
    this.#read = read;
  }

  /** `read` makes of the JSON of a notification what `until` and `received` show. */
  static async open(read = (json) => json) {
    const webhook = new Webhook(read);
    await new Promise((resolve) => webhook.#server.listen(0, '127.0.0.1', resolve));
    return webhook;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}/webhook`;
  }

  /** Waits until an event has come that `wanted` holds of. */
  async until(wanted) {
    while (!this.received.some(({ event }) => wanted(event))) {
      await new Promise((resolve) => (this.#wakeUp = resolve));
    }
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #receive(request, response) {
    const chunks = await request.toArray();
    const event = this.#read(JSON.parse(Buffer.concat(chunks).toString('utf8')));
    this.received.push({ headers: request.headers, event });
    response.writeHead(204).end();
    this.#wakeUp();
  }
}
