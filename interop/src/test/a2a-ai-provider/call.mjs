// Calls an agent with a2a-ai-provider. Prints JSON: the text of the answer, or the pieces of the streamed text.
//
// Usage: node call.mjs generate|stream CARD_URL CONTENT, where CONTENT is that of a message of the AI SDK, as JSON

import { a2a } from 'a2a-ai-provider';
import { generateText, streamText } from 'ai';

// Both print what they do.
console.log = () => {};
globalThis.AI_SDK_LOG_WARNINGS = false;

const [how, card, json] = process.argv.slice(2);
const content = JSON.parse(json).map((part) =>
  part.url ? { ...part, data: new URL(part.url) } : part.base64 ? { ...part, data: Buffer.from(part.base64, 'base64') } : part,
);
const request = { model: a2a(card), messages: [{ role: 'user', content }], maxRetries: 0 };
const result = how === 'stream' ? await piecesOf(streamText(request).textStream) : (await generateText(request)).text;
process.stdout.write(JSON.stringify(result));

async function piecesOf(stream) {
  const pieces = [];
  for await (const piece of stream) {
    pieces.push(piece);
  }
  return pieces;
}
