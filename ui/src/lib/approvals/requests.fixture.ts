/** Approval requests for tests, each complete; a test changes what it is about. */
import type { ApprovalRequest, SandboxSummary } from '$lib/protocol'

export const confined: SandboxSummary = {
  confined: true,
  tier: 'full',
  network: 'asks',
  read_only: false,
  gaps: [],
}

export function commandRequest(change: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    id: 't1.i5.c1.a1',
    call: 't1.i5.c1',
    item: 51,
    turn: 1,
    iteration: 5,
    requested: 1_000,
    tool: 'run_command',
    arguments: '{"command":"npm install --save-dev fake-clock","timeout_seconds":60}',
    verb: 'run',
    target: 'npm install --save-dev fake-clock',
    access: [{ access: 'exec', command: 'npm install --save-dev fake-clock' }],
    classes: ['command', 'network'],
    body: {
      body: 'command',
      command: 'npm install --save-dev fake-clock',
      segments: [{ joint: '', text: 'npm install --save-dev fake-clock', notes: ['network'] }],
      folder: '.',
      time_limit: 120_000,
      sandbox: confined,
    },
    agent_words: 'I need a clock that I can move by hand.',
    undo: { undo: 'covered' },
    trace: [
      { about: 'Role Act', says: 'allows commands', decides: false },
      { about: 'Autonomy Careful', says: 'asks for every command not covered by a rule', decides: true },
    ],
    scopes: ['once', 'session', 'project'],
    remembered_as: 'npm install, any arguments',
    renewed: false,
    from_before_restart: false,
    ...change,
  }
}

export function changeRequest(change: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return commandRequest({
    id: 't1.i6.c1.a1',
    call: 't1.i6.c1',
    item: 61,
    iteration: 6,
    tool: 'edit_file',
    arguments: '{"path":"src/login.ts","content":"clock.schedule(check, 100)\\n"}',
    verb: 'edit',
    target: 'src/login.ts',
    classes: ['write'],
    body: {
      body: 'change',
      change: {
        path: 'src/login.ts',
        kind: { change: 'edited' },
        added: 1,
        removed: 1,
        undoable: true,
        diff: {
          only_whitespace: false,
          hunks: [
            {
              old_start: 41,
              new_start: 41,
              lines: [
                { mark: 'same', text: '  const start = Date.now()' },
                { mark: 'removed', text: '  setTimeout(check, 100)' },
                { mark: 'added', text: '  clock.schedule(check, 100)' },
                { mark: 'same', text: '}' },
              ],
            },
          ],
        },
      },
      base: { file: 'content', hash: 'ab' },
    },
    scopes: ['once', 'turn', 'session'],
    remembered_as: 'writing src/login.ts',
    ...change,
  })
}

export function deleteRequest(change: Partial<ApprovalRequest> = {}): ApprovalRequest {
  const file = (path: string, removed: number, undoable = true) => ({
    path,
    kind: { change: 'deleted' } as const,
    added: 0,
    removed,
    undoable,
  })
  return commandRequest({
    id: 't1.i6.c2.a1',
    call: 't1.i6.c2',
    item: 62,
    iteration: 6,
    requested: 2_000,
    tool: 'delete_files',
    arguments: '{"paths":["test/fixtures/a.json","test/fixtures/b.json","test/fixtures/c.json"]}',
    verb: 'delete',
    target: 'test/fixtures/a.json',
    classes: ['delete'],
    body: {
      body: 'delete',
      files: [
        file('test/fixtures/a.json', 40),
        file('test/fixtures/b.json', 62),
        file('test/fixtures/c.json', 38, false),
      ],
    },
    agent_words: 'The fixtures are no longer used.',
    undo: { undo: 'covered' },
    trace: [{ about: 'Deletions', says: 'are always asked', decides: true }],
    scopes: ['once'],
    ...change,
  })
}

export function outsideRequest(change: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return commandRequest({
    id: 't1.i7.c1.a1',
    call: 't1.i7.c1',
    item: 71,
    iteration: 7,
    requested: 3_000,
    tool: 'read_file',
    arguments: '{"path":"../shared-config/ports.json"}',
    verb: 'read',
    target: '../shared-config/ports.json',
    access: [
      {
        access: 'outside',
        path: '/home/mira/shared-config/ports.json',
        write: false,
        through: 'config',
      },
    ],
    rule: { shape: 'outside', path: '/home/mira/shared-config/ports.json', write: false },
    classes: ['read', 'outside'],
    body: { body: 'other' },
    undo: { undo: 'nothing' },
    trace: [{ about: 'Outside', says: 'is always asked', decides: true }],
    scopes: ['once', 'session'],
    remembered_as: 'reading ../shared-config',
    ...change,
  })
}

export function connectRequest(change: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return commandRequest({
    id: 't1.i5.c1.a2',
    ask: 1,
    requested: 4_000,
    target: 'api.example.com',
    access: [{ access: 'network', host: 'api.example.com' }],
    classes: ['network'],
    body: {
      body: 'connect',
      host: 'api.example.com',
      port: 443,
      reach: 'public',
      command: 'npm run sync',
    },
    undo: { undo: 'nothing' },
    trace: [{ about: 'Network', says: 'each host is asked for', decides: true }],
    scopes: ['once', 'turn', 'session', 'project'],
    rule: { shape: 'host', host: 'api.example.com' },
    remembered_as: 'connections to api.example.com',
    ...change,
  })
}

/** A command that ran and was refused a place outside. */
export function refusedRequest(change: Partial<ApprovalRequest> = {}): ApprovalRequest {
  const place = '/home/mira/.cache/tool/index'
  return commandRequest({
    id: 't1.i5.c1.a3',
    requested: 5_000,
    access: [{ access: 'exec', command: 'tool build' }],
    classes: ['command', 'outside'],
    again: {
      refused: [{ access: 'outside', path: place, write: true }],
      output: { ok: false, text: `tool: cannot write ${place}\n`, duration: 1_200, exit_code: 1 },
    },
    undo: { undo: 'not_covered', why: 'it lies outside of the project.' },
    scopes: ['once', 'turn', 'session', 'project'],
    rule: { shape: 'outside', path: place, write: true },
    ...change,
  })
}
