/** Themes of the console and their pictures. */
import { html } from 'lit';

export const THEMES = ['system', 'light', 'dark'];
export const NEXT_THEME = /** @type {Record<string, string>} */ ({ system: 'Theme: as the system', light: 'Theme: light', dark: 'Theme: dark' });

/** @param {string} theme */
export function themeIcon(theme) {
  const half = html`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="1.5" /><path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" /></svg>`;
  const sun = html`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><circle cx="8" cy="8" r="3" fill="currentColor" /><path d="M8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.5 1.5M11.5 11.5L13 13M13 3l-1.5 1.5M4.5 11.5L3 13" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" /></svg>`;
  const moon = html`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="M13.5 9.8A6 6 0 0 1 6.2 2.5a6 6 0 1 0 7.3 7.3z" fill="currentColor" /></svg>`;
  return theme === 'light' ? sun : theme === 'dark' ? moon : half;
}
