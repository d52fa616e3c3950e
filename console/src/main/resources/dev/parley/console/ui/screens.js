/**
 * The screens. To add one: a file in {@code screens/} that defines the element, and a line here.
 *
 * @typedef {{path: string, title: string, element: string, load: () => Promise<unknown>, group?: string, key?: string, open?: boolean, scope?: string}} Screen
 * {@code path}: below {@code /ui/}, with {@code :name} for a parameter; {@code group}: heading in the navigation, none for screens that are reached
 * from others; {@code key}: second key of the shortcut {@code g KEY}; {@code open}: for visitors without credentials, too; {@code scope}: of the callers
 * whom the navigation shows it.
 */

/** @type {Screen[]} */
export const screens = [
  { path: '', title: 'Home', element: 'screen-home', group: 'Work', key: 'h', load: () => import('./screens/home.js') },
  { path: 'agents', title: 'Agents', element: 'screen-agents', group: 'Work', key: 'a', load: () => import('./screens/agents.js') },
  { path: 'inbox', title: 'Inbox', element: 'screen-inbox', group: 'Work', key: 'i', load: () => import('./screens/inbox.js') },
  { path: 'tasks', title: 'Tasks', element: 'screen-tasks', group: 'Work', key: 't', load: () => import('./screens/tasks.js') },
  { path: 'workflows', title: 'Workflows', element: 'screen-workflows', group: 'Work', key: 'w', load: () => import('./screens/workflows.js') },
  { path: 'traces', title: 'Traces', element: 'screen-trace', group: 'Work', key: 'c', load: () => import('./screens/trace.js') },
  { path: 'traces/:trace', title: 'Trace', element: 'screen-trace', load: () => import('./screens/trace.js') },
  { path: 'mesh', title: 'Mesh', element: 'screen-mesh', group: 'Work', key: 'm', load: () => import('./screens/mesh.js') },
  { path: 'registry', title: 'Registry', element: 'screen-registry', group: 'Work', key: 'r', open: true, load: () => import('./screens/registry.js') },
  { path: 'registry/account', title: 'Developer account', element: 'screen-registry-account', open: true, load: () => import('./screens/registry-account.js') },
  { path: 'registry/:entry', title: 'Entry of the registry', element: 'screen-registry-entry', open: true, load: () => import('./screens/registry-entry.js') },
  { path: 'kg', title: 'Knowledge', element: 'screen-knowledge', group: 'Work', key: 'k', load: () => import('./screens/knowledge.js') },
  { path: 'metrics', title: 'Metrics', element: 'screen-metrics', group: 'Operation', key: 'e', scope: 'admin', load: () => import('./screens/metrics.js') },
  { path: 'tools', title: 'Tools', element: 'screen-tools', group: 'Operation', key: 'o', scope: 'admin', load: () => import('./screens/tools.js') },
  { path: 'hubs', title: 'Hubs', element: 'screen-hubs', group: 'Operation', key: 'b', scope: 'admin', load: () => import('./screens/hubs.js') },
  { path: 'audit', title: 'Audit', element: 'screen-audit', group: 'Operation', key: 'u', scope: 'admin', load: () => import('./screens/audit.js') },
  { path: 'settings', title: 'Settings', element: 'screen-settings', group: 'Operation', key: 's', scope: 'admin', load: () => import('./screens/settings.js') },
  { path: 'learn', title: 'Learn', element: 'screen-learn', group: 'Help', key: 'l', open: true, load: () => import('./screens/learn.js') },
  { path: 'learn/api', title: 'API', element: 'screen-learn-api', open: true, load: () => import('./screens/learn-api.js') },
  { path: 'learn/:page', title: 'Learn', element: 'screen-learn-page', open: true, load: () => import('./screens/learn-page.js') },
  { path: 'workflows/new', title: 'New workflow', element: 'screen-workflow-new', load: () => import('./screens/workflow-new.js') },
  { path: 'workflows/:run', title: 'Run of a workflow', element: 'screen-workflow', load: () => import('./screens/workflow.js') },
  { path: 'agents/:agent/try', title: 'Try an agent', element: 'screen-chat', load: () => import('./screens/chat.js') },
  { path: 'agents/:agent', title: 'Agent', element: 'screen-agent', load: () => import('./screens/agent.js') },
  { path: 'tasks/:task', title: 'Task', element: 'screen-task', load: () => import('./screens/task.js') },
];
