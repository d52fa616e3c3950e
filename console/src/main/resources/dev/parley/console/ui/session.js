/** Proof of the session: the hub may give one at sign-in, which requests carry beside the cookie. It is kept by tab, and tabs pass it on. */
import { root } from './route.js';

const PLACE = `parley.proof ${root}`; // an origin may have several hubs, at paths of their own
const PATIENCE = 150; // ms for another tab to hear, or to answer
const LONGEST_END = 10_000; // ms; a tab that ends the session may end itself before it has told how that went

/** Other tabs of this origin, and no page of another port, which would get the cookie. @type {BroadcastChannel | undefined} */
const tabs = globalThis.BroadcastChannel && new BroadcastChannel(`parley-session ${root}`);

/** Whether a session may use what needs a scope; on a hub without authentication everybody may. @param {import('./types.js').Session | undefined} session @param {string} scope */
export const may = (session, scope) => (session?.signedIn ? !!session.scopes?.includes(scope) : !session?.methods?.length);

/** Whether a session has not the scope that a screen needs: its calls would be denied. @param {import('./types.js').Session | undefined} session @param {{scope?: string}} screen */
export const lacking = (session, { scope }) => !!scope && !may(session, scope);

/** @returns {string | undefined} */
function stored() {
  try {
    return sessionStorage.getItem(PLACE) ?? undefined;
  } catch {
    return undefined; // a browser without storage
  }
}

/** @param {unknown} proof anything but a text removes it */
function store(proof) {
  try {
    if (typeof proof === 'string' && proof) sessionStorage.setItem(PLACE, proof);
    else sessionStorage.removeItem(PLACE);
  } catch {
    // a browser without storage: the session works if the hub asks for no proof
  }
}

/** Headers with the proof, if there is one; it stays out of the requests that the page shows. @param {Record<string, string>} headers */
export function withProof(headers) {
  const proof = stored();
  return proof ? { ...headers, 'Parley-Session-Proof': proof } : headers;
}

/** @param {unknown} proof of a session that began */
export function began(proof) {
  store(proof);
  tabs?.postMessage({ kind: 'begun', proof: stored() });
}

/** Aborted while the session ends, for requests that read: their answers would be refusals, which browsers log. */
let session = new AbortController();

/** Whether the session has been kept, while a tab ends it. @type {Promise<boolean>} */
let outcome;
/** @type {(isKept: boolean) => void} */
let settle;

/** A signal that the end of the session aborts, too. @param {AbortSignal} [signal] */
export const untilEnd = signal => (signal ? AbortSignal.any([signal, session.signal]) : session.signal);

/** Whether requests that the end of the session has aborted may be sent again; waits until that is known. */
export const isKept = () => outcome;

/** Has requests that read wait, until it is known whether the session ends. */
function hold() {
  if (session.signal.aborted) return;
  outcome = new Promise(resolve => (settle = resolve));
  session.abort();
}

/** Has requests be sent again: the session has been kept, or the page knows what the hub says of it. */
export function goOn() {
  if (!session.signal.aborted) return;
  session = new AbortController();
  settle(true);
}

/** Ends the session, in all tabs, which stop to read before. @param {() => Promise<unknown>} request that has the hub end it */
export async function end(request) {
  hold();
  tabs?.postMessage({ kind: 'ending' });
  if (tabs) await new Promise(resolve => setTimeout(resolve, PATIENCE));
  try {
    await request();
  } catch (failure) {
    tabs?.postMessage({ kind: 'kept' });
    goOn();
    throw failure;
  }
  store(undefined);
  settle(false);
  tabs?.postMessage({ kind: 'ended' });
}

/** The hub does not accept the proof of this tab. */
export const forget = () => store(undefined);

let isAsking = false;
/** A late answer: taken only once, as it may be of a session that has ended, which would be asked for again. @type {'none' | 'awaited' | 'taken'} */
let late = 'none';

/**
 * Asks the other tabs for the proof, which a tab does not have that was opened by itself. A tab in the background may answer late: then the
 * session changes.
 *
 * @returns {Promise<boolean>} whether one has it
 */
export async function askOthers() {
  if (!tabs) return false;
  store(undefined);
  isAsking = true;
  tabs.postMessage({ kind: 'ask' });
  await new Promise(resolve => {
    const timer = setTimeout(resolve, PATIENCE);
    addEventListener('proof', () => (clearTimeout(timer), resolve(undefined)), { once: true });
  });
  isAsking = false;
  if (!stored() && late === 'none') late = 'awaited';
  return !!stored();
}

/** @param {unknown} proof of another tab */
function answered(proof) {
  if (stored() || !(isAsking || late === 'awaited')) return;
  if (!isAsking) late = 'taken';
  store(proof);
  dispatchEvent(new Event(isAsking ? 'proof' : 'session-changed'));
}

tabs?.addEventListener('message', ({ data }) => {
  if (data?.kind === 'ask' && stored()) tabs.postMessage({ kind: 'answer', proof: stored() });
  if (data?.kind === 'answer') answered(data.proof);
  if (data?.kind === 'ending' || data?.kind === 'ended') hold();
  const held = session;
  if (data?.kind === 'ending') setTimeout(() => held === session && goOn(), LONGEST_END);
  if (data?.kind === 'kept') goOn();
  if (data?.kind === 'ended') settle(false); // until the page has asked the hub
  if (data?.kind !== 'begun' && data?.kind !== 'ended') return;
  store(data.proof); // the cookie of the browser is that of the new session, or none
  dispatchEvent(new Event('session-changed'));
});
