// The extension: a server for each project that is in use, three commands, and what to say when there is no program.

import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { find, type Found } from './binary';
import { fixAll } from './fix';
import { machine } from './machine';
import { isOurs, PROJECT, Projects } from './projects';
import { Renders, SCHEME } from './render';
import { show, start, statusItem, type Session, type Wanted } from './session';
import { traceOutput } from './trace';

/** Settings that a server is started with. */
const STARTING = ['ctxc.enable', 'ctxc.path', 'ctxc.args'];
/** Settings that change what is shown of a running server. */
const SHOWING = ['ctxc.inlayHints.enable', 'ctxc.codeLens.enable'];

let end: (() => Promise<void>) | undefined;

export function activate(context: vscode.ExtensionContext): void {
    const log = vscode.window.createOutputChannel('ctxc', { log: true });
    const trace = traceOutput();
    const projects = new Projects(fs.existsSync);
    const sessions = new Map<string, Session | undefined>();
    const settings = () => vscode.workspace.getConfiguration('ctxc');
    const folders = (): string[] => (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
    let told = false;

    /** The project of a document, if a server is to answer for it. */
    const projectOf = (uri: vscode.Uri): string | undefined => {
        if (uri.scheme !== 'file') {
            return undefined;
        }
        const enable = settings().get<string>('enable', 'project');
        const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath;
        return enable === 'never' ? undefined : (projects.of(uri.fsPath) ?? (enable === 'always' ? folder : undefined));
    };

    /** Starts the server of a project, once. */
    const open = async (root: string): Promise<void> => {
        if (sessions.has(root)) {
            return;
        }
        const trusted = vscode.workspace.isTrusted;
        const wanted = { setting: settings().get('path', ''), trusted, project: root, folders: folders() };
        const found = find(wanted, machine);
        const status = statusItem(root);
        const nothing: Session = { stop: async () => status.dispose(), refresh: () => undefined, render: nowhere };
        sessions.set(root, nothing);
        if (found.kind === 'missing') {
            const set = { title: 'Open setting', command: 'workbench.action.openSettings', arguments: ['ctxc.path'] };
            show(status, vscode.LanguageStatusSeverity.Error, 'ctxc was not found', 'The program is missing.', set);
            log.error(`no program for ${root}; looked for:\n${found.looked.map((file) => `  ${file}`).join('\n')}`);
            if (!told) {
                told = true;
                void tell(found, wanted.setting, log);
            }
            return;
        }
        log.info(`${root}: ${found.file} (by ${found.by})`);
        const plan = {
            root,
            program: found.file,
            args: settings().get<string[]>('args', []),
            // Where nothing is trusted, nothing in that folder may be picked up by the way.
            folder: trusted ? root : path.dirname(found.file),
            owns: (uri: vscode.Uri) => projectOf(uri) === root,
            log,
            trace,
        };
        try {
            sessions.set(root, await start(plan, status));
        } catch (error) {
            log.error(`${found.file} does not start: ${String(error)}`);
            if (!told) {
                told = true;
                const said = `${found.file} was found but does not start as a language server: is it ctxc, and new enough?`;
                void offer(said, log, 'Open setting', 'Show output');
            }
        }
    };

    // One thing after the other: a project is never opened while it is being closed.
    let queue: Promise<void> = Promise.resolve();
    const then = (step: () => Promise<void>): Promise<void> => {
        queue = queue.then(step).catch((error: unknown) => log.error(String(error)));
        return queue;
    };

    const close = async (roots: Iterable<string>): Promise<void> => {
        const ending = [...roots].map(async (root) => {
            const session = sessions.get(root);
            sessions.delete(root);
            await session?.stop();
        });
        await Promise.all(ending);
    };

    /** Projects that folders belong to, and those of documents that are open. */
    const used = (): Set<string> => {
        const enable = settings().get<string>('enable', 'project');
        const own = enable === 'never' ? [] : folders().map((folder) => projects.above(folder));
        const documents = vscode.workspace.textDocuments.filter(({ languageId }) => isOurs(languageId));
        const roots = [...own, ...documents.map(({ uri }) => projectOf(uri))];
        return new Set(roots.filter((root) => root !== undefined));
    };

    /** Brings the servers in line with what is open. */
    const settle = async (): Promise<void> => {
        const roots = used();
        await close([...sessions.keys()].filter((root) => !roots.has(root)));
        await Promise.all([...roots].map(open));
    };

    const restart = (): Promise<void> =>
        then(async () => {
            told = false;
            projects.forget();
            await close(sessions.keys());
            await settle();
        });

    const renders = new Renders((uri, wanted) => {
        const root = projectOf(uri);
        return root === undefined ? undefined : sessions.get(root)?.render(wanted);
    });
    /** From a lens with its task; else for the place of the cursor. */
    const render = async (wanted?: Wanted): Promise<void> => {
        const editor = vscode.window.activeTextEditor;
        const uri = wanted === undefined ? editor?.document.uri : vscode.Uri.parse(wanted.uri);
        if (uri !== undefined) {
            const at = editor?.selection?.active;
            const position = at && { line: at.line, character: at.character };
            await renders.show(uri, wanted ?? { uri: uri.toString(), ...(position && { position }) });
        }
    };

    const watcher = vscode.workspace.createFileSystemWatcher(`**/${PROJECT}`, false, true, false);
    const changed = (): void => {
        projects.forget();
        void then(settle);
    };
    context.subscriptions.push(
        log,
        trace,
        watcher,
        watcher.onDidCreate(changed),
        watcher.onDidDelete(changed),
        vscode.workspace.onDidChangeWorkspaceFolders(changed),
        vscode.workspace.onDidGrantWorkspaceTrust(() => void restart()),
        vscode.workspace.onDidOpenTextDocument(({ languageId, uri }) => {
            const root = isOurs(languageId) ? projectOf(uri) : undefined;
            if (root !== undefined && !sessions.has(root)) {
                void then(() => open(root));
            }
        }),
        vscode.workspace.onDidChangeConfiguration((event) => {
            if (STARTING.some((name) => event.affectsConfiguration(name))) {
                void restart();
            } else if (SHOWING.some((name) => event.affectsConfiguration(name))) {
                sessions.forEach((session) => session?.refresh());
            }
        }),
        vscode.commands.registerCommand('ctxc.restartServer', async () => {
            await restart();
            if (sessions.size === 0) {
                const how = `no XML file that is open lies below a ${PROJECT}: \`ctxc init\` writes one`;
                void vscode.window.showInformationMessage(`ctxc has nothing to do here: ${how}.`);
            }
        }),
        vscode.commands.registerCommand('ctxc.showOutput', () => log.show()),
        vscode.commands.registerCommand('ctxc.fixAll', fixAll),
        vscode.commands.registerCommand('ctxc.render', render),
        renders,
        vscode.workspace.registerTextDocumentContentProvider(SCHEME, renders),
        vscode.workspace.onDidChangeTextDocument(({ document }) => renders.typed(document.uri)),
        vscode.workspace.onDidCloseTextDocument(({ uri }) => renders.closed(uri)),
    );
    end = () => then(() => close(sessions.keys()));
    void then(settle);
}

export function deactivate(): Promise<void> | undefined {
    return end?.();
}

async function nowhere(): Promise<never> {
    throw new Error('the server of this project is not running');
}

/** Says that there is no program, why, and what can be done. */
async function tell(found: Found & { kind: 'missing' }, setting: string, log: vscode.LogOutputChannel): Promise<void> {
    const [refused] = found.refused;
    if (refused !== undefined) {
        const said = `ctxc was not started: ${refused} lies in this folder, which is not trusted.`;
        return offer(said, log, 'Manage trust', 'Open setting', 'Show output');
    }
    const said = found.bySetting
        ? `The setting ctxc.path is “${setting}”, and there is no such program.`
        : 'The program ctxc was not found: put it on the PATH (cargo install --path . from a clone), or say where it is.';
    return offer(said, log, 'Open setting', 'Try again', 'Show output');
}

type Way = 'Open setting' | 'Manage trust' | 'Try again' | 'Show output';

async function offer(said: string, log: vscode.LogOutputChannel, ...ways: Way[]): Promise<void> {
    switch (await vscode.window.showErrorMessage(said, ...ways)) {
        case 'Open setting':
            await vscode.commands.executeCommand('workbench.action.openSettings', 'ctxc.path');
            break;
        case 'Manage trust':
            await vscode.commands.executeCommand('workbench.trust.manage');
            break;
        case 'Try again':
            await vscode.commands.executeCommand('ctxc.restartServer');
            break;
        case 'Show output':
            log.show();
            break;
        case undefined:
            break;
    }
}
