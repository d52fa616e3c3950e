/**
 * Shapes of the data that the console reads. Only types: nothing of this file is loaded.
 *
 * @typedef {{text?: string, data?: unknown, raw?: string, url?: string, mediaType?: string, filename?: string, metadata?: Record<string, unknown>}} Part
 * @typedef {{messageId: string, role: string, parts: Part[], taskId?: string, contextId?: string, metadata?: Record<string, unknown>, extensions?: string[], referenceTaskIds?: string[]}} Message
 * @typedef {{state: string, message?: Message, timestamp?: string}} TaskStatus
 * @typedef {{artifactId: string, name?: string, description?: string, parts: Part[], metadata?: Record<string, unknown>}} Artifact
 * @typedef {{id: string, contextId?: string, status: TaskStatus, artifacts?: Artifact[], history?: Message[], metadata?: Record<string, unknown>}} Task
 * @typedef {{taskId: string, contextId?: string, status: TaskStatus, metadata?: Record<string, unknown>}} StatusUpdate
 * @typedef {{taskId: string, contextId?: string, artifact: Artifact, append?: boolean, lastChunk?: boolean, metadata?: Record<string, unknown>}} ArtifactUpdate
 * @typedef {{task?: Task, message?: Message, statusUpdate?: StatusUpdate, artifactUpdate?: ArtifactUpdate, damaged?: boolean}} StreamResponse
 *
 * @typedef {{taskId: string, agent: string, contextId: string, state: string, updated: string, created: string, caller?: string, group?: string,
 *     title?: string, status?: string, progress?: number, events?: number, artifacts?: number}} TaskRow
 * @typedef {{tasks: TaskRow[], next?: string, total?: number}} TaskPage
 * @typedef {{number: number, at?: string, event: StreamResponse}} NumberedEvent
 * @typedef {{task: TaskRow, events: NumberedEvent[], next?: number}} TaskHistory
 * @typedef {{states: Record<string, number>, agents: {agent: string, states: Record<string, number>}[], number?: number | string}} Counts
 * @typedef {{kind: string, number?: number | string, at?: string, taskId?: string, agent?: string, contextId?: string, state?: string, before?: string,
 *     caller?: string, trace?: string, text?: string, change?: string}} Change
 *
 * @typedef {{id: string, name: string, description?: string, tags?: string[], examples?: string[], inputModes?: string[], outputModes?: string[]}} Skill
 * @typedef {{url: string, binding: string, dialect: string}} Endpoint
 * @typedef {{status: string, cause?: string, reason?: string, since?: string, checked?: string, latencyMillis?: number}} Health
 * @typedef {{id: string, name: string, description?: string, version?: string, provider?: string, skills?: Skill[], tags?: string[], endpoints?: Endpoint[],
 *     metadata?: Record<string, unknown>, group?: string, owner?: string, visibility?: string, trust?: {outcome: string, reason?: string, checked?: string, tee?: string, teeOutcome?: string, teeReason?: string},
 *     health?: Health, status?: string, updated?: string, created?: string, url?: string, revision?: number, lookAlikes?: string[], digest?: string}} Entry
 * @typedef {{count: number, average: number, reviews: {principal: string, stars?: number, text: string, time: string}[]}} Reviews
 * @typedef {{score?: number, why?: {skill?: string, fields?: Record<string, string[]>, missing?: string[]}, agent: Entry}} Found
 * @typedef {{severity: 'error' | 'warning' | 'note', clause: string, pointer: string, message: string, fix: string}} Finding
 * @typedef {Endpoint & {reachable?: boolean, status: string, cause?: string, reason?: string, millis?: number}} Reached
 * @typedef {{outcome: string, reason?: string, keyId?: string, signatures?: {kid?: string, alg?: string, jku?: string, problem?: string}[]}} Signature
 * @typedef {{url?: string, entry?: string, dialect: string, dialects: string[], digest: string, card: any, asV1?: Card, problem?: string, findings: Finding[],
 *     signature: Signature, interfaces: Reached[]}} Inspection
 * @typedef {{kind: string, path: string, text: string}} CardChange
 * @typedef {{revision: number, time: string, principal: string, changes: CardChange[]}} Version
 * @typedef {{from: number, to: number, verdict: string, changes: CardChange[]}} Difference
 * @typedef {{url: string, protocolBinding: string, protocolVersion: string}} CardInterface
 * @typedef {{name: string, description?: string, version?: string, skills?: Skill[], supportedInterfaces?: CardInterface[],
 *     capabilities?: Record<string, unknown>, defaultInputModes?: string[], defaultOutputModes?: string[]}} Card
 *
 * @typedef {{workflowId: string, state: string, progress: number, steps: import('./flow.js').Step[], message?: string, result?: Record<string, unknown>,
 *     origin?: {definition?: string, version?: number, inputs?: unknown, resumes?: string, repeats?: string}}} WorkflowRun
 * @typedef {{name: string, version: number, description?: string, versions: number[], savedAt: number, steps: number, document?: any}} Definition
 *
 * @typedef {{signedIn: boolean, needsSignIn: boolean, isVisitor?: boolean, name?: string, group?: string, scopes?: string[], expires?: string, methods?: string[],
 *     hub?: {name?: string, version?: string, url?: string, drained?: boolean, problems?: string[]}}} Session
 * @typedef {{id: string, address: string, version: string, started: string, drained?: string, running: number, waiting: number, streams: number,
 *     agents: number, database?: {number: number, name: string, level: number, role: 'works' | 'waits', leaseAgeMilliseconds: number, tasks: number}}} HubRow
 * @typedef {{made: string, checks: {check: string, level: string, message: string, advice?: string, taskId?: string, agent?: string}[]}} HubHealth
 * @typedef {{path: string, params: Record<string, string>, query: URLSearchParams, screen: import('./screens.js').Screen | undefined}} Route
 * @typedef {{method: string, url: string, headers: Record<string, string>, body?: string, status?: number, answerHeaders?: Record<string, string>,
 *     answer: string[], ms?: number, error?: string, trace: string, agent: string, parts: Part[], taskId?: string, contextId?: string, streams: boolean,
 *     rebuilt?: boolean}} Exchange
 */
export {};
