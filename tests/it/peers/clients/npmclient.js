// The client side of the protocol as Visual Studio Code has it, against `ctxc lsp`: opens a broken template, says what is
// shown, applies the first way out, says what is left.
'use strict';

const { spawn } = require('node:child_process');
const { readFileSync, writeFileSync } = require('node:fs');
const { pathToFileURL } = require('node:url');
const path = require('node:path');
const { createRequire } = require('node:module');
const modules = createRequire(path.join(process.env.CTXC_MODULES, 'here.js'));
const protocol = modules('vscode-languageserver-protocol/node');
const { TextDocument } = modules('vscode-languageserver-textdocument');

const PATIENCE = 60000;
const file = process.env.CTXC_FILE;
const uri = pathToFileURL(file).href;
const pulls = process.argv[2] === 'pull';

const server = spawn('ctxc', ['lsp'], { stdio: ['pipe', 'pipe', 'inherit'] });
const connection = protocol.createProtocolConnection(
  new protocol.StreamMessageReader(server.stdout),
  new protocol.StreamMessageWriter(server.stdin),
);
const exited = new Promise(done => server.on('exit', done));
connection.onError(([error]) => { throw error; });
connection.onUnhandledNotification(note => { throw new Error(`not expected: ${note.method}`); });
connection.listen();

// The findings of one version of the text: pushed ones when they come, pulled ones when asked for.
const pushed = new Map();
let arrived = () => {};
connection.onNotification(protocol.PublishDiagnosticsNotification.type, params => {
  if (params.uri !== uri) throw new Error(`not open: ${params.uri}`);
  pushed.set(params.version, params.diagnostics);
  arrived();
});
async function findings(version) {
  if (pulls) {
    const report = await connection.sendRequest(protocol.DocumentDiagnosticRequest.type, { textDocument: { uri } });
    if (pushed.size > 0) throw new Error('pushed to a client that pulls');
    return report.items;
  }
  while (!pushed.has(version)) await new Promise(done => { arrived = done; });
  return pushed.get(version);
}

async function drive() {
  const root = pathToFileURL(path.dirname(path.dirname(file))).href;
  const started = await connection.sendRequest(protocol.InitializeRequest.type, {
    processId: process.pid,
    rootUri: root,
    workspaceFolders: [{ uri: root, name: 'project' }],
    capabilities: {
      general: { positionEncodings: ['utf-16'] },
      textDocument: { publishDiagnostics: { versionSupport: true }, ...(pulls && { diagnostic: {} }) },
    },
  });
  if (pulls !== Boolean(started.capabilities.diagnosticProvider)) throw new Error(JSON.stringify(started.capabilities));
  await connection.sendNotification(protocol.InitializedNotification.type, {});

  const document = TextDocument.create(uri, 'xml', 1, readFileSync(file, 'utf8'));
  await connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: 'xml', version: 1, text: document.getText() },
  });
  const shown = items => items.map(({ code, range, message }) => ({ code, covers: document.getText(range), message }));
  const seen = await findings(1);
  const report = { seen: shown(seen) };

  const actions = await connection.sendRequest(protocol.CodeActionRequest.type, {
    textDocument: { uri },
    range: seen[0].range,
    context: { diagnostics: seen, only: [protocol.CodeActionKind.QuickFix] },
  });
  if (!actions.every(action => protocol.CodeAction.is(action))) throw new Error(JSON.stringify(actions));
  const edits = actions[0].edit.changes[uri];
  // Edits are of the text as it was; from the last to the first they can be told one by one.
  const changes = [...edits].reverse().map(edit => ({ range: edit.range, text: edit.newText }));
  const mended = TextDocument.applyEdits(document, edits);
  TextDocument.update(document, changes, 2);
  if (document.getText() !== mended) throw new Error('edits and changes are not the same');
  await connection.sendNotification(protocol.DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 2 },
    contentChanges: changes,
  });
  report.left = shown(await findings(2));
  report.text = document.getText();

  await connection.sendRequest(protocol.ShutdownRequest.type);
  await connection.sendNotification(protocol.ExitNotification.type);
  const code = await exited;
  if (code !== 0) throw new Error(`the server ended with ${code}`);
  writeFileSync(process.env.CTXC_REPORT, JSON.stringify(report));
}

const late = setTimeout(() => { console.error('no answer in time'); process.exit(1); }, PATIENCE);
drive().then(() => clearTimeout(late), error => { console.error(error); server.kill(); process.exit(1); });
