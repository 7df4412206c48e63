// The bundle as it is shipped, in a VS Code that is a stub, with the real server: `CTXC` names the program.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import Module from 'node:module';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { Window } from './stub';
import { Position, Range } from './values';

const ROOT = path.resolve(__dirname, '..');
const program = process.env['CTXC'];
const skip = program === undefined && 'CTXC does not name the program';

const BROKEN = '<task type="atomic" name="t">\n  <description>a & b {{c}}</description>\n</task>\n';
const FOLDERS: string[] = [];
after(() => FOLDERS.forEach((folder) => fs.rmSync(folder, { recursive: true })));

/** A folder with files. */
function folder(files: Record<string, string>): string {
    const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'ctxc-vscode-')));
    FOLDERS.push(root);
    for (const [name, text] of Object.entries(files)) {
        fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
        fs.writeFileSync(path.join(root, name), text);
    }
    return root;
}

interface Extension {
    activate(context: { subscriptions: { dispose(): void }[] }): void;
    deactivate(): Promise<void> | undefined;
}

/** Runs the extension in a window; at its end the extension is deactivated, and everything it held given back. */
async function within(window: Window, work: () => Promise<void>): Promise<void> {
    const loader = Module as unknown as { _load(name: string, ...rest: unknown[]): unknown };
    const load = loader._load;
    const module = window.module();
    loader._load = (name, ...rest) => (name === 'vscode' ? module : load.call(Module, name, ...rest));
    const file = path.join(ROOT, 'dist', 'extension.js');
    delete require.cache[file];
    const extension = require(file) as Extension;
    const context = { subscriptions: [] as { dispose(): void }[] };
    extension.activate(context);
    try {
        await work();
    } finally {
        await extension.deactivate();
        context.subscriptions.forEach((one) => one.dispose());
        loader._load = load;
    }
}

/** Waits until something holds. */
async function until(what: string, holds: () => boolean | Promise<boolean>, window?: Window): Promise<void> {
    const late = Date.now() + 20_000;
    while (!(await holds())) {
        const told = window && JSON.stringify([window.said, window.status, [...window.written], window.collections.map((one) => [...one])]);
        assert.ok(Date.now() < late, `${what} has not come about: ${told}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}

function serving(root: string): Window {
    const window = new Window([root]);
    window.settings.set('ctxc.path', program);
    return window;
}

/** Processes that this one has started and that still run. */
function children(): string[] {
    return fs.readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter((one) => one !== '');
}

test('findings are shown, fixed by the command, and gone', { skip }, async () => {
    const root = folder({ 'ctxc.toml': '', 'a.xml': BROKEN });
    const window = serving(root);
    const file = path.join(root, 'a.xml');
    await within(window, async () => {
        const document = window.open(file);
        await until('the finding', () => window.findings(file).includes('CTX006'), window);
        assert.match(window.status[0]?.text ?? '', /^ctxc \d+\.\d+\.\d+/);
        assert.equal(window.status[0]?.detail, program);
        await window.run('ctxc.fixAll');
        assert.match(document.getText(), /a &amp; b/);
        assert.deepEqual(window.said, ['ctxc: every safe fix is applied']);
        await until('the end of the finding', () => !window.findings(file).includes('CTX006'), window);
        await window.run('ctxc.fixAll');
        assert.equal(window.said.at(-1), 'ctxc: no safe fix for this file');
    });
    assert.deepEqual(window.findings(file), []);
    if (process.platform === 'linux') {
        await until('the end of the server', () => children().length === 0);
    }
});

const SCENARIO = 'schema: ctxc/scenario/1\nname: one\ntask: t\ncontext:\n  objective: o\nexpect_context:\n  - segment: {id: descriptio, state: kept}\n';

test('scenarios have their findings, fixes, completion, hover and names, and ctxc is no formatter of YAML', { skip: skip || process.platform !== 'linux' }, async () => {
    const task = '<task type="atomic" name="t">\n  <description>a</description>\n</task>\n';
    const root = folder({ 'ctxc.toml': '', 'templates/a.xml': task, 'scenarios/one.yaml': SCENARIO, 'other.yaml': SCENARIO });
    const window = serving(root);
    const [file, other] = [path.join(root, 'scenarios', 'one.yaml'), path.join(root, 'other.yaml')];
    await within(window, async () => {
        window.open(other, 'yaml');
        const document = window.open(file, 'yaml');
        await until('the finding', () => window.findings(file).includes('CTX611'), window);
        assert.deepEqual(window.findings(other), []);
        for (const kind of ['DocumentFormattingEdit', 'FoldingRange', 'CodeLens']) {
            assert.ok(window.kinds().includes(kind), kind);
            assert.equal(window.fitting(kind, document), 0, kind);
        }
        for (const kind of ['Hover', 'CompletionItem', 'Definition', 'Reference', 'Rename']) {
            assert.equal(window.fitting(kind, document), 1, kind);
        }
        const [first] = children();
        process.kill(Number(first), 'SIGKILL');
        await until('another server', () => children().some((one) => one !== first), window);
        window.type(document, SCENARIO.replace('name: one', 'nam: one'));
        await until('the new finding', () => window.findings(file).includes('CTX602'), window);
        const whole = new Range(new Position(0, 0), new Position(9, 0));
        const fixes = (await window.run('vscode.executeCodeActionProvider', document.uri, whole, 'quickfix')) as { title: string }[];
        assert.ok(fixes.some(({ title }) => title === 'write `name`'), JSON.stringify(fixes));
        await window.run('ctxc.fixAll');
        assert.equal(window.said.at(-1), 'ctxc: no safe fix for this file');
    });
});

test('names in scenarios and the project file lead to each other and are renamed together', { skip }, async () => {
    const task = '<task type="atomic" name="t">\n  <description>a</description>\n</task>\n';
    const played = SCENARIO.replace('task: t', 'role: clerk').replace('descriptio', 'description');
    const root = folder({ 'ctxc.toml': '[roles.clerk]\ntemplate = "t"\n', 'templates/a.xml': task, 'scenarios/one.yaml': played });
    const window = serving(root);
    await within(window, async () => {
        const project = window.open(path.join(root, 'ctxc.toml'), 'toml');
        const document = window.open(path.join(root, 'scenarios', 'one.yaml'), 'yaml');
        await until('the server', () => window.fitting('Rename', project) === 1, window);
        const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };
        const at = new Position(2, 7);
        const [place] = (await window.ask('Definition', 'provideDefinition', document, at, token)).flat() as { uri: { fsPath: string } }[];
        assert.equal(place?.uri.fsPath, project.uri.fsPath);
        const [edit] = await window.ask('Rename', 'provideRenameEdits', document, at, 'scribe', token);
        await (window.module() as { workspace: { applyEdit(edit: unknown): Promise<boolean> } }).workspace.applyEdit(edit);
        assert.equal(project.getText(), '[roles.scribe]\ntemplate = "t"\n');
        assert.equal(document.getText(), played.replace('clerk', 'scribe'));
        const offered = (await window.ask('CompletionItem', 'provideCompletionItems', document, new Position(2, 7), token, { triggerKind: 0 })).flat();
        assert.ok(JSON.stringify(offered).includes('scribe'), JSON.stringify(offered));
    });
});

test('a text of its own has its findings, though it is not sent', { skip }, async () => {
    const task = '<task type="atomic" name="t">\n  <description>a</description>\n  <instructions src="a.md"/>\n</task>\n';
    const root = folder({ 'ctxc.toml': '', 'templates/a.xml': task, 'templates/a.md': 'Read {{.\n' });
    const window = serving(root);
    const file = path.join(root, 'templates', 'a.md');
    await within(window, async () => {
        const document = window.open(file, 'markdown');
        await until('the finding', () => window.findings(file).length > 0, window);
        assert.equal(window.fitting('Hover', document), 0);
    });
});

test('a server that dies is started again', { skip: skip || process.platform !== 'linux' }, async () => {
    const root = folder({ 'ctxc.toml': '', 'a.xml': BROKEN });
    const window = serving(root);
    const file = path.join(root, 'a.xml');
    await within(window, async () => {
        const document = window.open(file);
        await until('the finding', () => window.findings(file).includes('CTX006'), window);
        const [first] = children();
        process.kill(Number(first), 'SIGKILL');
        await until('another server', () => children().some((one) => one !== first), window);
        window.type(document, document.getText().replace('&', 'and'));
        await until('the end of the finding', () => !window.findings(file).includes('CTX006'), window);
        window.type(document, BROKEN);
        await until('the finding anew', () => window.findings(file).includes('CTX006'), window);
        assert.match(window.status[0]?.text ?? '', /^ctxc \d/);
    });
});

test('what an agent receives is shown beside the file, and follows what is typed', { skip }, async () => {
    const task = BROKEN.replace('&', 'and');
    const root = folder({ 'ctxc.toml': '', 'a.xml': task, 'inner/ctxc.toml': '', 'inner/b.xml': task.replace('"t"', '"b"') });
    const window = serving(root);
    await within(window, async () => {
        const inner = window.open(path.join(root, 'inner', 'b.xml'));
        const document = window.open(path.join(root, 'a.xml'));
        // Two servers, one command.
        const lens = async (of: typeof document) => {
            const found = (await window.ask('CodeLens', 'provideCodeLenses', of, {})).flat() as { command?: { command: string; title: string; arguments: unknown[] } }[];
            return found.find(({ command }) => command?.command === 'ctxc.render')?.command;
        };
        await until('figures', async () => (await lens(document)) !== undefined && (await lens(inner)) !== undefined, window);
        const { title, arguments: wanted } = (await lens(document))!;
        assert.match(title, /^\d+ tokens · waits for c · reusable prefix \d+$/);
        await window.run('ctxc.render', ...wanted);
        const [shown] = window.beside;
        assert.ok(shown, window.said.join());
        assert.equal(shown.path, '/t.txt');
        assert.match(window.made(shown), /a and b ⟨input c⟩/);
        window.type(document, task.replace('a and b', 'something else'));
        await until('the new text', () => window.made(shown).includes('something else ⟨input c⟩'), window);
        // In the middle of a word the last text stays.
        window.type(document, '<task');
        await window.run('ctxc.render');
        assert.match(window.said.at(-1) ?? '', /^ctxc cannot render this: /);
        assert.match(window.made(shown), /something else/);
    });
});

test('hints and lenses follow their settings', { skip }, async () => {
    const decided = '[defaults.atomic]\ninherit_context = "subset"\n';
    const root = folder({ 'ctxc.toml': decided, 'a.xml': BROKEN.replace('&', 'and') });
    const window = serving(root);
    await within(window, async () => {
        const document = window.open(path.join(root, 'a.xml'));
        const whole = { start: { line: 0, character: 0 }, end: { line: 9, character: 0 } };
        const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };
        const hints = async () => (await window.ask('InlayHints', 'provideInlayHints', document, whole, token)).flat().length;
        const lenses = async () => (await window.ask('CodeLens', 'provideCodeLenses', document, token)).flat().length;
        await until('a hint', async () => (await hints()) > 0, window);
        assert.ok((await lenses()) > 0);
        window.set('ctxc.inlayHints.enable', false);
        window.set('ctxc.codeLens.enable', false);
        assert.deepEqual([await hints(), await lenses()], [0, 0]);
    });
});

test('the project file counts before it is saved', { skip }, async () => {
    const root = folder({ 'ctxc.toml': '', 'a.xml': BROKEN.replace('&', 'and') });
    const window = serving(root);
    const file = path.join(root, 'a.xml');
    await within(window, async () => {
        const document = window.open(file);
        await until('the hint on `c`', () => window.findings(file).includes('CTX315'), window);
        const project = window.open(path.join(root, 'ctxc.toml'), 'toml');
        window.type(project, '[lints]\nimplicit-parameter = "off"\n');
        window.active = document;
        window.type(document, `${document.getText()}\n`);
        await until('the end of the hint', () => window.findings(file).length === 0, window);
        window.type(project, '[lints]\nno-such-rule = "off"\n');
        await until('a finding in the project file', () => window.findings(project.uri.fsPath).length > 0, window);
    });
});

test('each project has a server of its own', { skip }, async () => {
    const files = { 'ctxc.toml': '', 'a.xml': BROKEN, 'in/ctxc.toml': '', 'in/b.xml': BROKEN.replace('"t"', '"u"') };
    const root = folder(files);
    const window = serving(root);
    const [outer, inner] = [path.join(root, 'a.xml'), path.join(root, 'in', 'b.xml')];
    await within(window, async () => {
        window.open(outer);
        await until('the finding', () => window.findings(outer).includes('CTX006'), window);
        assert.equal(window.status.length, 1);
        const document = window.open(inner);
        await until('the finding within', () => window.findings(inner).includes('CTX006'), window);
        assert.equal(window.status.length, 2);
        // A kind that is not here needs its step in `src/middleware.ts`, and then its name here.
        const kinds = [
            ...['CodeActions', 'CodeLens', 'CompletionItem', 'Definition', 'DocumentFormattingEdit', 'DocumentHighlight'],
            ...['DocumentLink', 'DocumentRangeSemanticTokens', 'DocumentSemanticTokens', 'DocumentSymbol', 'FoldingRange'],
            ...['Hover', 'InlayHints', 'LinkedEditingRange', 'Reference', 'Rename', 'SelectionRange', 'SignatureHelp', 'WorkspaceSymbol'],
        ];
        assert.deepEqual(window.kinds(), kinds);
        // Both servers are asked, and one answers.
        const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };
        assert.equal((await window.ask('CodeLens', 'provideCodeLenses', document, token)).length, 1);
        await new Promise((resolve) => setTimeout(resolve, 2500));
        assert.deepEqual(window.findings(inner).filter((code) => code === 'CTX006'), ['CTX006']);
    });
});

test('a restart brings a server again, and messages are traced on demand', { skip }, async () => {
    const root = folder({ 'ctxc.toml': '', 'a.xml': BROKEN });
    const window = serving(root);
    const file = path.join(root, 'a.xml');
    await within(window, async () => {
        window.open(file);
        await until('the finding', () => window.findings(file).length > 0, window);
        assert.equal(window.written.get('ctxc trace'), '');
        window.settings.set('ctxc.trace.server', 'verbose');
        window.on('onDidChangeConfiguration').fire({ affectsConfiguration: (one: string) => one === 'ctxc.trace.server' });
        await window.run('ctxc.restartServer');
        assert.deepEqual(window.status.map(({ gone }) => gone), [true, false]);
        await until('the finding anew', () => window.findings(file).length > 0, window);
        assert.match(window.written.get('ctxc trace') ?? '', /textDocument\/didOpen/);
    });
});

test('xml without a project is left alone, unless every folder is wanted', { skip }, async () => {
    const root = folder({ 'a.xml': BROKEN });
    const window = serving(root);
    const file = path.join(root, 'a.xml');
    await within(window, async () => {
        window.open(file);
        await window.run('ctxc.restartServer');
        assert.equal(window.status.length, 0);
        assert.match(window.said[0] ?? '', /ctxc init/);
        window.set('ctxc.enable', 'always');
        await until('the finding', () => window.findings(file).includes('CTX006'), window);
        window.set('ctxc.enable', 'never');
        await until('its end', () => window.findings(file).length === 0, window);
        window.set('ctxc.enable', 'project');
        fs.writeFileSync(path.join(root, 'ctxc.toml'), '');
        window.created(path.join(root, 'ctxc.toml'));
        await until('the finding of the new project', () => window.findings(file).includes('CTX006'), window);
    });
});

test('where there is no program, it is said once, and what to do', async () => {
    const root = folder({ 'ctxc.toml': '', 'a.xml': BROKEN, 'in/ctxc.toml': '', 'in/b.xml': BROKEN });
    const window = new Window([root]);
    window.settings.set('ctxc.path', '/nowhere/ctxc');
    window.presses.push('Open setting');
    await within(window, async () => {
        window.open(path.join(root, 'a.xml'));
        window.open(path.join(root, 'in', 'b.xml'));
        await until('both states', () => window.status.length === 2, window);
        assert.deepEqual(window.said, ['The setting ctxc.path is “/nowhere/ctxc”, and there is no such program.']);
        assert.deepEqual(window.asked, [['workbench.action.openSettings', 'ctxc.path']]);
        assert.equal(window.status[0]?.text, 'ctxc was not found');
        assert.match(window.written.get('ctxc') ?? '', /looked for:\n {2}\/nowhere\/ctxc/);
    });
});

test('a program inside of a folder is started when that is trusted, and not before', { skip: process.platform === 'win32' }, async () => {
    const root = folder({ 'ctxc.toml': '', 'a.xml': BROKEN, 'target/release/ctxc': '', 'bin/ctxc': '' });
    const mark = path.join(root, 'was-started');
    for (const name of ['target/release/ctxc', 'bin/ctxc']) {
        fs.writeFileSync(path.join(root, name), `#!/bin/sh\necho "$0" >>'${mark}'\nexit 3\n`);
        fs.chmodSync(path.join(root, name), 0o755);
    }
    const window = new Window([root]);
    window.trusted = false;
    window.presses.push('Manage trust');
    const search = process.env['PATH'];
    process.env['PATH'] = path.join(root, 'bin');
    try {
        await within(window, async () => {
            window.open(path.join(root, 'a.xml'));
            await until('the message', () => window.said.length > 0, window);
            assert.match(window.said[0] ?? '', /bin\/ctxc lies in this folder, which is not trusted/);
            assert.deepEqual(window.asked, [['workbench.trust.manage']]);
            await window.run('ctxc.restartServer');
            assert.equal(fs.existsSync(mark), false);
            window.trusted = true;
            window.on('onDidGrantWorkspaceTrust').fire(undefined);
            await until('the start', () => window.said.some((text) => text.includes('does not start')), window);
            assert.match(fs.readFileSync(mark, 'utf8'), /bin\/ctxc/);
            assert.equal(window.status.at(-1)?.text, 'ctxc does not start');
        });
    } finally {
        process.env['PATH'] = search;
    }
});
