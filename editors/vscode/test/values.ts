// The values of VS Code's interface that are made and handed around: places, edits, actions, findings, events.

import type { URI } from 'vscode-uri';

/** Runs listeners one after the other. */
export class EventEmitter<T> {
    readonly #listeners = new Set<(event: T) => unknown>();
    readonly event = (listener: (event: T) => unknown, self?: unknown, held?: { dispose(): void }[]) => {
        const bound = self === undefined ? listener : listener.bind(self);
        this.#listeners.add(bound);
        const disposable = new Disposable(() => this.#listeners.delete(bound));
        held?.push(disposable);
        return disposable;
    };
    fire(event: T): void {
        [...this.#listeners].forEach((listener) => listener(event));
    }
    dispose(): void {
        this.#listeners.clear();
    }
}

export class Disposable {
    constructor(private readonly call: () => unknown) {}
    static from(...all: { dispose(): unknown }[]): Disposable {
        return new Disposable(() => all.forEach((one) => one.dispose()));
    }
    dispose(): void {
        this.call();
    }
}

export class Position {
    constructor(
        readonly line: number,
        readonly character: number,
    ) {}
    isBefore(other: Position): boolean {
        return this.line < other.line || (this.line === other.line && this.character < other.character);
    }
}

export class Range {
    readonly start: Position;
    readonly end: Position;
    constructor(...args: [Position, Position] | [number, number, number, number]) {
        if (args.length === 2) {
            [this.start, this.end] = args;
        } else {
            this.start = new Position(args[0], args[1]);
            this.end = new Position(args[2], args[3]);
        }
    }
}

export class Diagnostic {
    code: unknown;
    constructor(
        readonly range: Range,
        readonly message: string,
        readonly severity: number,
    ) {}
}

export class CodeActionKind {
    static readonly Empty = new CodeActionKind('');
    constructor(readonly value: string) {}
    append(part: string): CodeActionKind {
        return new CodeActionKind(this.value === '' ? part : `${this.value}.${part}`);
    }
    contains(other: CodeActionKind): boolean {
        return this.value === '' || other.value === this.value || other.value.startsWith(`${this.value}.`);
    }
}
for (const name of ['QuickFix', 'Refactor', 'Source']) {
    Object.assign(CodeActionKind, { [name]: new CodeActionKind(name.toLowerCase()) });
}
for (const name of ['RefactorExtract', 'RefactorInline', 'RefactorRewrite', 'SourceOrganizeImports', 'SourceFixAll']) {
    const kind = name.replace(/^[A-Z][a-z]+/, (word) => `${word.toLowerCase()}.`);
    Object.assign(CodeActionKind, { [name]: new CodeActionKind(kind) });
}

export class CodeAction {
    kind: CodeActionKind | undefined;
    edit: WorkspaceEdit | undefined;
    constructor(readonly title: string) {}
}

export class TextEdit {
    constructor(
        readonly range: Range,
        readonly newText: string,
    ) {}
}

export class WorkspaceEdit {
    readonly all: { uri: URI; edits: TextEdit[] }[] = [];
    set(uri: URI, edits: TextEdit[]): void {
        this.all.push({ uri, edits });
    }
}

export class CancellationTokenSource {
    token = { isCancellationRequested: false, onCancellationRequested: new EventEmitter<void>().event };
    cancel(): void {
        this.token.isCancellationRequested = true;
    }
    dispose(): void {}
}

export class RelativePattern {
    constructor(
        readonly base: URI,
        readonly pattern: string,
    ) {}
}

/** A class of which nothing is asked but that it keeps what it is made of. */
export function plain(): new (...args: unknown[]) => object {
    return class {
        args: unknown[];
        constructor(...args: unknown[]) {
            this.args = args;
        }
    };
}

/** A place in a file. */
export class Location {
    constructor(
        readonly uri: URI,
        readonly range: Range,
    ) {}
}
