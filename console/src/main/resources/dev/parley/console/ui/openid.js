/** Sign-in by OpenID Connect: the browser goes to the issuer and comes back with a code, which the hub redeems. Source: RFC 7636. */
import { api } from './api.js';
import { line } from './format.js';
import { root } from './route.js';

const PLACE = `parley.openid ${root}`;

/** @param {Uint8Array} bytes */
const base64url = bytes => btoa(String.fromCharCode(...bytes)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');

const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

/** Leads the browser to the issuer; it comes back to the present address. */
export async function begin() {
  if (!crypto.subtle) throw new Error('Browsers sign in by OpenID Connect over https only: open the console at its https address');
  const { authorization_endpoint: issuer, ...members } = await api.openId();
  if (new URL(members.redirect_uri).origin !== location.origin) throw new Error(`Open the console at its address, ${new URL('.', members.redirect_uri).href}, to sign in`);
  const [state, verifier] = [random(), random()];
  const challenge = base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
  sessionStorage.setItem(PLACE, JSON.stringify({ state, verifier, back: location.href }));
  const url = new URL(issuer);
  for (const [name, value] of Object.entries({ ...members, state, code_challenge: challenge })) url.searchParams.set(name, value);
  location.assign(url);
}

/** Takes the answer of the issuer from the address, and leads to where the sign-in began. */
export async function finish() {
  const query = new URLSearchParams(location.search);
  const { state, verifier, back } = JSON.parse(sessionStorage.getItem(PLACE) ?? '{}');
  sessionStorage.removeItem(PLACE); // a code is redeemed once
  history.replaceState(null, '', back ?? `${root}ui/`);
  if (!query.has('code') && !query.has('error')) return; // an old address
  if (!state || query.get('state') !== state) throw new Error('This sign-in did not begin in this tab: sign in again');
  if (!query.has('code')) throw new Error(`The issuer refused the sign-in: ${line(query.get('error_description') ?? query.get('error'), 300)}`);
  await api.signIn({ code: String(query.get('code')), verifier });
}
