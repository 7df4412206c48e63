// As much of VS Code as the extension and the client library touch, in plain node: documents, settings, diagnostics,
// providers, messages. What is asked of the person is written down, and answered by what the test has put there.

import * as fs from 'node:fs';
import * as path from 'node:path';
import { URI } from 'vscode-uri';
import {
    CancellationTokenSource,
    CodeAction,
    CodeActionKind,
    Diagnostic,
    Disposable,
    EventEmitter,
    Location,
    plain,
    Position,
    Range,
    RelativePattern,
    TextEdit,
    WorkspaceEdit,
} from './values';

/** A document in the editor. */
export class Document {
    version = 1;
    readonly isUntitled = false;
    constructor(
        readonly uri: URI,
        readonly languageId: string,
        private text: string,
    ) {}
    get fileName(): string {
        return this.uri.fsPath;
    }
    get lineCount(): number {
        return this.text.split('\n').length;
    }
    getText(): string {
        return this.text;
    }
    positionAt(offset: number): Position {
        const before = this.text.slice(0, offset).split('\n');
        return new Position(before.length - 1, before.at(-1)?.length ?? 0);
    }
    offsetAt({ line, character }: Position): number {
        return this.text.split('\n').slice(0, line).reduce((sum, one) => sum + one.length + 1, 0) + character;
    }
    replace(text: string): void {
        this.text = text;
        this.version += 1;
    }
}

type Provider = Record<string, (...args: unknown[]) => unknown>;
interface Filter {
    scheme?: string;
    language?: string;
    pattern?: string;
}

const counted = (...names: string[]) => Object.fromEntries(names.map((name, at) => [name, at]));

/** A window of VS Code over folders. */
export class Window {
    readonly settings = new Map<string, unknown>();
    trusted = true;
    documents: Document[] = [];
    active: Document | undefined;
    readonly collections: Map<string, Diagnostic[]>[] = [];
    readonly status: { text?: string; detail?: string; severity?: number; gone: boolean }[] = [];
    /** What was shown, in order. */
    readonly said: string[] = [];
    /** What was written to outputs, by name. */
    readonly written = new Map<string, string>();
    /** Buttons that the person presses, in order. */
    readonly presses: string[] = [];
    /** Commands that are no extension's. */
    readonly asked: unknown[][] = [];
    readonly #commands = new Map<string, (...args: unknown[]) => unknown>();
    readonly #providers: { kind: string; selector: Filter[]; provider: Provider; gone: boolean }[] = [];
    readonly #events = new Map<string, EventEmitter<unknown>>();
    readonly #watchers: { create: EventEmitter<URI>; change: EventEmitter<URI>; remove: EventEmitter<URI> }[] = [];

    constructor(readonly folders: string[]) {}

    /** Documents that an extension makes, by scheme. */
    readonly #made = new Map<string, { provideTextDocumentContent(uri: URI): string }>();
    /** What such a document holds now. */
    made(uri: URI): string {
        return this.#made.get(uri.scheme)?.provideTextDocumentContent(uri) ?? '';
    }
    /** Documents that were shown beside another. */
    readonly beside: URI[] = [];

    on(name: string): EventEmitter<unknown> {
        const emitter = this.#events.get(name) ?? new EventEmitter<unknown>();
        this.#events.set(name, emitter);
        return emitter;
    }

    open(file: string, languageId = 'xml'): Document {
        const document = new Document(URI.file(file), languageId, fs.readFileSync(file, 'utf8'));
        this.documents.push(document);
        this.active = document;
        this.on('onDidOpenTextDocument').fire(document);
        return document;
    }

    /** The whole text takes the place of another. */
    type(document: Document, text: string): void {
        const whole = new Range(new Position(0, 0), document.positionAt(document.getText().length));
        const rangeLength = document.getText().length;
        document.replace(text);
        const contentChanges = [{ range: whole, rangeOffset: 0, rangeLength, text }];
        this.on('onDidChangeTextDocument').fire({ document, contentChanges, reason: undefined });
    }

    set(name: string, value: unknown): void {
        this.settings.set(name, value);
        this.on('onDidChangeConfiguration').fire({ affectsConfiguration: (one: string) => one === name });
    }

    /** Files came. */
    created(...files: string[]): void {
        this.#watchers.forEach(({ create }) => files.forEach((file) => create.fire(URI.file(file))));
    }

    /** Every finding of a file, from whichever server. */
    findings(file: string): string[] {
        const key = URI.file(file).toString();
        // A code with a page behind it is an object.
        const word = (code: unknown) => String(typeof code === 'object' && code && 'value' in code ? code.value : code);
        return this.collections.flatMap((one) => one.get(key) ?? []).map(({ code }) => word(code));
    }

    /** The kinds of providers that were registered. */
    kinds(): string[] {
        return [...new Set(this.#providers.map(({ kind }) => kind))].sort();
    }

    /** How many providers of a kind there are for a document. */
    fitting(kind: string, document: Document): number {
        return this.#providers.filter((one) => !one.gone && one.kind === kind && matches(one.selector, document)).length;
    }

    /** What the providers of a kind answer for a document. */
    async ask(kind: string, method: string, document: Document, ...args: unknown[]): Promise<unknown[]> {
        const fit = this.#providers.filter((one) => !one.gone && one.kind === kind && matches(one.selector, document));
        const answers = await Promise.all(fit.map(({ provider }) => provider[method]?.(document, ...args)));
        return answers.filter((answer) => answer !== undefined && answer !== null);
    }

    async run(command: string, ...args: unknown[]): Promise<unknown> {
        const own = this.#commands.get(command);
        if (own) {
            return own(...args);
        }
        if (command === 'vscode.executeCodeActionProvider') {
            const [uri, range, kind] = args as [URI, Range, string];
            const document = this.documents.find((one) => one.uri.toString() === uri.toString());
            const context = { diagnostics: [], only: new CodeActionKind(kind), triggerKind: 1 };
            const token = new CancellationTokenSource().token;
            const method = 'provideCodeActions';
            return document ? (await this.ask('CodeActions', method, document, range, context, token)).flat() : [];
        }
        this.asked.push([command, ...args]);
        return undefined;
    }

    async #message(text: string): Promise<string | undefined> {
        this.said.push(text);
        return this.presses.shift();
    }

    #apply(edit: WorkspaceEdit): boolean {
        for (const { uri, edits } of edit.all) {
            const document = this.documents.find((one) => one.uri.toString() === uri.toString());
            if (document === undefined) {
                return false;
            }
            let text = document.getText();
            // An edit of a versioned document comes with its label.
            const late = edits.map((one) => (Array.isArray(one) ? (one[0] as typeof one) : one)).sort((a, b) => (a.range.start.isBefore(b.range.start) ? 1 : -1));
            for (const { range, newText } of late) {
                text = text.slice(0, document.offsetAt(range.start)) + newText + text.slice(document.offsetAt(range.end));
            }
            this.type(document, text);
        }
        return true;
    }

    #register(kind: string, selector: Filter[], provider: Provider): Disposable {
        const one = { kind, selector, provider, gone: false };
        this.#providers.push(one);
        return new Disposable(() => (one.gone = true));
    }

    #output(name: string): object {
        this.written.set(name, '');
        const write = (text: unknown): void => void this.written.set(name, `${this.written.get(name)}${String(text)}\n`);
        const levels = { trace: write, debug: write, info: write, warn: write, error: write };
        const event = new EventEmitter<number>().event;
        const rest = { append: write, appendLine: write, show: () => this.asked.push(['show', name]), dispose() {} };
        return { name, logLevel: 3, onDidChangeLogLevel: event, ...levels, ...rest };
    }

    /** The module `vscode`. */
    module(): object {
        const window = this;
        const events = (names: string[]) =>
            Object.fromEntries(names.map((name) => [name, (...args: Parameters<EventEmitter<unknown>['event']>) => window.on(name).event(...args)]));
        const workspace = {
            get textDocuments() {
                return window.documents;
            },
            get workspaceFolders() {
                return window.folders.map((folder, index) => ({ uri: URI.file(folder), name: path.basename(folder), index }));
            },
            get isTrusted() {
                return window.trusted;
            },
            notebookDocuments: [],
            getWorkspaceFolder(uri: URI) {
                return this.workspaceFolders.find((folder) => uri.fsPath.startsWith(folder.uri.fsPath + path.sep));
            },
            getConfiguration: (section?: string) => ({
                get: (key: string, otherwise: unknown) => window.settings.get(`${section}.${key}`) ?? otherwise,
            }),
            createFileSystemWatcher() {
                const one = { create: new EventEmitter<URI>(), change: new EventEmitter<URI>(), remove: new EventEmitter<URI>() };
                window.#watchers.push(one);
                const { create, change, remove } = one;
                const gone = () => void window.#watchers.splice(window.#watchers.indexOf(one), 1);
                return { onDidCreate: create.event, onDidChange: change.event, onDidDelete: remove.event, dispose: gone };
            },
            registerTextDocumentContentProvider(scheme: string, provider: { provideTextDocumentContent(uri: URI): string }) {
                window.#made.set(scheme, provider);
                return new Disposable(() => window.#made.delete(scheme));
            },
            openTextDocument: async (uri: URI) => ({ uri, getText: () => window.made(uri) }),
            applyEdit: async (edit: WorkspaceEdit) => window.#apply(edit),
            ...events([
                'onDidOpenTextDocument',
                'onDidChangeTextDocument',
                'onDidCloseTextDocument',
                'onDidSaveTextDocument',
                'onWillSaveTextDocument',
                'onDidOpenNotebookDocument',
                'onDidChangeNotebookDocument',
                'onDidSaveNotebookDocument',
                'onDidCloseNotebookDocument',
                'onDidChangeConfiguration',
                'onDidChangeWorkspaceFolders',
                'onDidGrantWorkspaceTrust',
                'onDidCreateFiles',
                'onDidRenameFiles',
                'onDidDeleteFiles',
                'onWillCreateFiles',
                'onWillRenameFiles',
                'onWillDeleteFiles',
            ]),
        };
        const languages = new Proxy(
            {
                match: (selector: Filter[], document: Document) => (matches(selector, document) ? 10 : 0),
                createDiagnosticCollection() {
                    const all = new Map<string, Diagnostic[]>();
                    window.collections.push(all);
                    return {
                        set: (uri: URI, found: Diagnostic[]) => void all.set(uri.toString(), found),
                        delete: (uri: URI) => all.delete(uri.toString()),
                        has: (uri: URI) => all.has(uri.toString()),
                        clear: () => all.clear(),
                        dispose: () => all.clear(),
                    };
                },
                createLanguageStatusItem() {
                    const item = { gone: false, dispose: () => void (item.gone = true) };
                    window.status.push(item);
                    return item;
                },
            } as Record<string, unknown>,
            {
                get(own, name: string) {
                    const kind = /^register(.*)Provider$/.exec(name)?.[1];
                    const register = (selector: Filter[], provider: Provider) => window.#register(kind ?? '', selector, provider);
                    return own[name] ?? (kind === undefined ? undefined : register);
                },
            },
        );
        const TabInputText = class {
            constructor(readonly uri: URI) {}
        };
        const ui = {
            get activeTextEditor() {
                return window.active && { document: window.active };
            },
            get visibleTextEditors() {
                return window.documents.map((document) => ({ document }));
            },
            tabGroups: {
                get all() {
                    return [{ tabs: window.documents.map(({ uri }) => ({ input: new TabInputText(uri) })) }];
                },
                ...events(['onDidChangeTabs']),
            },
            showErrorMessage: (text: string) => window.#message(text),
            showWarningMessage: (text: string) => window.#message(text),
            showInformationMessage: (text: string) => window.#message(text),
            setStatusBarMessage: (text: string) => window.#message(text),
            showTextDocument: async ({ uri }: { uri: URI }) => void window.beside.push(uri),
            createOutputChannel: (name: string) => window.#output(name),
            ...events(['onDidChangeActiveTextEditor', 'onDidChangeVisibleTextEditors']),
        };
        const commands = {
            registerCommand(name: string, call: (...args: unknown[]) => unknown) {
                window.#commands.set(name, call);
                return new Disposable(() => window.#commands.delete(name));
            },
            executeCommand: (name: string, ...args: unknown[]) => window.run(name, ...args),
        };
        const known: Record<string, unknown> = {
            // Keeps a bundle from copying what is there in place of asking.
            __esModule: true,
            version: '1.91.0',
            env: { appName: 'stub', language: 'en' },
            workspace,
            languages,
            window: ui,
            commands,
            Uri: URI,
            EventEmitter,
            Disposable,
            Position,
            Range,
            Diagnostic,
            Location,
            CodeAction,
            CodeActionKind,
            TextEdit,
            WorkspaceEdit,
            CancellationTokenSource,
            CancellationError: class extends Error {},
            RelativePattern,
            TabInputText,
            ViewColumn: { Active: -1, Beside: -2 },
            LogLevel: counted('Off', 'Trace', 'Debug', 'Info', 'Warning', 'Error'),
            DiagnosticSeverity: counted('Error', 'Warning', 'Information', 'Hint'),
            LanguageStatusSeverity: counted('Information', 'Warning', 'Error'),
            DiagnosticTag: { Unnecessary: 1, Deprecated: 2 },
            SymbolTag: { Deprecated: 1 },
            CompletionItemTag: { Deprecated: 1 },
            SymbolKind: counted(...Array.from({ length: 26 }, (_, at) => `Kind${at}`)),
        };
        // Of the rest only that it is there matters here: a class to inherit from, or an enumeration.
        return new Proxy(known, {
            get: (own, name: string) => (own[name] ??= /^[A-Z]/.test(name) ? plain() : undefined),
        });
    }
}

/** As VS Code matches, for the one form of pattern that the extension uses: everything below a folder. */
function matches(selector: Filter[] | Filter, document: Document): boolean {
    return [selector].flat().some(({ scheme, language, pattern }) => {
        const folder = pattern?.replace(/\*\*\/\*$/, '');
        const below = folder === undefined || document.uri.fsPath.startsWith(folder);
        return (scheme ?? 'file') === document.uri.scheme && (language ?? document.languageId) === document.languageId && below;
    });
}
