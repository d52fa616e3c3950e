/** The card of the agent of `serve`, as releases before 1.0 have it. */
export function cardOf(url, more) {
  return {
    name: 'handyman',
    description: 'Does what the text says',
    version: '1.0.0',
    url,
    capabilities: { streaming: true, pushNotifications: true },
    defaultInputModes: ['text/plain', 'text/csv'],
    defaultOutputModes: ['text/plain', 'text/csv'],
    skills: [{ id: 'do', name: 'Do', description: 'Does it', tags: ['test'] }],
    ...more,
  };
}
