import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('./node_modules/@a2a-js/sdk/package.json', import.meta.url)));

/** The name and version of the SDK. */
export const SDK = `JavaScript ${manifest.version}`;
