// One project and the server that answers for it. A session says what state it is in where VS Code shows the state of
// languages; it never asks anything of the person, that is for the extension.

import * as vscode from 'vscode';
import {
    CodeActionRequest,
    CodeLensRequest,
    CompletionRequest,
    DefinitionRequest,
    DidChangeTextDocumentNotification,
    DidCloseTextDocumentNotification,
    DidOpenTextDocumentNotification,
    DidSaveTextDocumentNotification,
    DocumentDiagnosticRequest,
    HoverRequest,
    InlayHintRequest,
    LanguageClient,
    ReferencesRequest,
    RenameRequest,
    RevealOutputChannelOn,
    State,
    TextDocumentSyncKind,
    TransportKind,
} from 'vscode-languageclient/node';
import * as path from 'node:path';
import { middleware } from './middleware';
import { PROJECT, SCENARIOS, TEMPLATES } from './projects';

/** What a session is started with. */
export interface Plan {
    /** The folder of the project. */
    root: string;
    program: string;
    args: readonly string[];
    /** Where the program starts. */
    folder: string;
    owns(uri: vscode.Uri): boolean;
    log: vscode.LogOutputChannel;
    trace: vscode.LogOutputChannel;
}

/** What the session of a project is. */
export interface Session {
    /** Ends the server, and everything shown of it. */
    stop(): Promise<void>;
    /** Asks VS Code to ask for hints and lenses anew. */
    refresh(): void;
    /** The text that an agent of a document would get. Throws with the reason where there is none. */
    render(wanted: Wanted): Promise<Rendered>;
}

/** What is to be rendered. */
export interface Wanted {
    uri: string;
    position?: { line: number; character: number };
    task?: string;
    node?: string;
}

/** What an agent would get. */
export interface Rendered {
    title: string;
    task: string;
    node: string;
    text: string;
}

const SHOW = { title: 'Show output', command: 'ctxc.showOutput' };
const RESTART = { title: 'Restart', command: 'ctxc.restartServer' };

/** Where a project's state is shown: beside its own documents. */
export function statusItem(root: string): vscode.LanguageStatusItem {
    const item = vscode.languages.createLanguageStatusItem(`ctxc:${root}`, selector(root));
    item.name = 'ctxc';
    return item;
}

function selector(root: string): { scheme: string; language: string; pattern: vscode.RelativePattern }[] {
    const pattern = new vscode.RelativePattern(vscode.Uri.file(root), '**/*');
    return [TEMPLATES, ...SCENARIOS].map((language) => ({ scheme: 'file', language, pattern }));
}

/** Starts a server. Throws when it does not come to answer. */
export async function start(plan: Plan, status: vscode.LanguageStatusItem): Promise<Session> {
    const settings = () => vscode.workspace.getConfiguration('ctxc');
    const uri = vscode.Uri.file(plan.root);
    const client = new LanguageClient(
        'ctxc',
        'ctxc',
        {
            command: plan.program,
            args: ['lsp', ...plan.args],
            transport: TransportKind.stdio,
            options: { cwd: plan.folder },
        },
        {
            // A glob as a string: the client does not turn relative patterns into those of VS Code everywhere.
            documentSelector: [{ scheme: 'file', language: TEMPLATES, pattern: inside(plan.root) }],
            workspaceFolder: { uri, name: path.basename(plan.root), index: 0 },
            diagnosticCollectionName: 'ctxc',
            // Servers of several projects cannot each register the same command; the extension has it.
            initializationOptions: { commands: 'client' },
            diagnosticPullOptions: { onChange: true, onSave: true },
            outputChannel: plan.log,
            traceOutputChannel: plan.trace,
            revealOutputChannelOn: RevealOutputChannelOn.Never,
            // Whoever waits for the start says so.
            initializationFailedHandler: () => false,
            middleware: middleware(plan.owns, (name) => settings().get(name, true)),
        },
    );
    const watching = client.onDidChangeState(({ newState }) => {
        if (newState === State.Running) {
            const version = client.initializeResult?.serverInfo?.version;
            show(status, vscode.LanguageStatusSeverity.Information, `ctxc ${version ?? ''}`.trim(), plan.program, RESTART);
        } else if (newState === State.Stopped) {
            show(status, vscode.LanguageStatusSeverity.Error, 'ctxc has stopped', plan.program, RESTART);
        }
        status.busy = newState === State.Starting;
    });
    status.busy = true;
    try {
        await client.start();
    } catch (error) {
        watching.dispose();
        status.busy = false;
        show(status, vscode.LanguageStatusSeverity.Error, 'ctxc does not start', plan.program, SHOW);
        await client.dispose().catch(() => undefined);
        throw error;
    }
    const data = eachStart(client, () => dataFiles(client, plan.root));
    return {
        async stop() {
            watching.dispose();
            data.dispose();
            status.dispose();
            await client.dispose().catch((error: unknown) => plan.log.warn(String(error)));
        },
        render(wanted) {
            const params = { command: 'ctxc.render', arguments: [wanted] };
            return client.sendRequest<Rendered>('workspace/executeCommand', params);
        },
        refresh() {
            for (const document of vscode.workspace.textDocuments) {
                client.getFeature(InlayHintRequest.method).getProvider(document)?.onDidChangeInlayHints.fire();
                client.getFeature(CodeLensRequest.method).getProvider(document)?.onDidChangeCodeLensEmitter.fire();
            }
        },
    };
}

/** What a status says. */
export function show(
    item: vscode.LanguageStatusItem,
    severity: vscode.LanguageStatusSeverity,
    text: string,
    detail: string,
    command: vscode.Command,
): void {
    item.severity = severity;
    item.text = text;
    item.detail = detail;
    item.command = command;
}

/** A folder's name inside of a glob; a sign that means something there stands for any sign, and `owns` decides. */
function escaped(folder: string): string {
    return folder.replaceAll('\\', '/').replace(/\/$/, '').replace(/[*?{}[\]]/g, '?');
}

/** Does something now and whenever the server was started again: it knows of nothing then. */
function eachStart(client: LanguageClient, work: () => void): vscode.Disposable {
    work();
    return client.onDidChangeState(({ newState }) => {
        if (newState === State.Running) {
            work();
        }
    });
}

/**
 * Has the server look at scenarios and the project file, but not format them: a selector of the client that takes them would make the
 * server a formatter, and more, of YAML, JSON and TOML. Which of the files are scenarios is for the server to say.
 */
function dataFiles(client: LanguageClient, root: string): void {
    const capabilities = client.initializeResult?.capabilities ?? {};
    const documentSelector = [
        ...SCENARIOS.map((language) => ({ scheme: 'file', language, pattern: inside(root) })),
        { scheme: 'file', pattern: `${escaped(vscode.Uri.file(root).fsPath)}/${PROJECT}` },
    ];
    const register = <T extends object>(feature: { register(data: { id: string; registerOptions: T }): void }, of: string, options: T) =>
        feature.register({ id: `data/${of}`, registerOptions: { ...options, documentSelector } });
    register(client.getFeature(DidOpenTextDocumentNotification.method), 'open', { documentSelector });
    const syncKind: TextDocumentSyncKind = TextDocumentSyncKind.Incremental;
    register(client.getFeature(DidChangeTextDocumentNotification.method), 'change', { documentSelector, syncKind });
    register(client.getFeature(DidSaveTextDocumentNotification.method), 'save', { documentSelector });
    register(client.getFeature(DidCloseTextDocumentNotification.method), 'close', { documentSelector });
    const { diagnosticProvider, codeActionProvider, completionProvider } = capabilities;
    if (diagnosticProvider) {
        // Those of the workspace come once, with the templates'.
        const options = { ...diagnosticProvider, documentSelector, workspaceDiagnostics: false };
        register(client.getFeature(DocumentDiagnosticRequest.method), 'findings', options);
    }
    if (codeActionProvider) {
        const kinds = typeof codeActionProvider === 'object' ? codeActionProvider : {};
        register(client.getFeature(CodeActionRequest.method), 'fixes', { ...kinds, documentSelector });
    }
    register(client.getFeature(CompletionRequest.method), 'completion', { ...completionProvider, documentSelector });
    register(client.getFeature(HoverRequest.method), 'hover', { documentSelector });
    register(client.getFeature(DefinitionRequest.method), 'definitions', { documentSelector });
    register(client.getFeature(ReferencesRequest.method), 'references', { documentSelector });
    const renames = { documentSelector, prepareProvider: true };
    register(client.getFeature(RenameRequest.method), 'renames', renames);
}

/** Every file of a folder, as a glob. */
function inside(root: string): string {
    return `${escaped(vscode.Uri.file(root).fsPath)}/**/*`;
}
