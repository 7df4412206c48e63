// What an agent would get, beside the file that it is written in: a document that nobody can edit, made anew while one types.

import * as vscode from 'vscode';
import type { Rendered, Wanted } from './session';

/** The scheme of such documents. */
export const SCHEME = 'ctxc-render';
/** Milliseconds after the last key before it is made anew. */
const PAUSE = 150;

/** Asks the server of a document's project; `undefined` where none answers for it. */
export type Ask = (uri: vscode.Uri, wanted: Wanted) => Promise<Rendered> | undefined;

/** The documents that are shown, by their addresses, with what each is of. */
export class Renders implements vscode.TextDocumentContentProvider {
    readonly #changed = new vscode.EventEmitter<vscode.Uri>();
    readonly #shown = new Map<string, { uri: vscode.Uri; of: vscode.Uri; wanted: Wanted; text: string }>();
    #timer: ReturnType<typeof setTimeout> | undefined;
    readonly onDidChange = this.#changed.event;

    constructor(private readonly ask: Ask) {}

    provideTextDocumentContent(uri: vscode.Uri): string {
        return this.#shown.get(uri.toString())?.text ?? '';
    }

    /** Shows what the agent at a place, or of a task, would get. */
    async show(of: vscode.Uri, wanted: Wanted): Promise<void> {
        const made = this.ask(of, wanted);
        if (made === undefined) {
            void vscode.window.showInformationMessage('ctxc answers for no project that this file is in.');
            return;
        }
        let rendered: Rendered;
        try {
            rendered = await made;
        } catch (error) {
            void vscode.window.showWarningMessage(`ctxc cannot render this: ${reason(error)}`);
            return;
        }
        const { task, node, title, text } = rendered;
        const path = `/${title.replaceAll('/', '.')}.txt`;
        const uri = vscode.Uri.from({ scheme: SCHEME, path, query: of.toString() });
        this.#shown.set(uri.toString(), { uri, of, wanted: { uri: of.toString(), task, node }, text });
        this.#changed.fire(uri);
        const document = await vscode.workspace.openTextDocument(uri);
        await vscode.window.showTextDocument(document, {
            viewColumn: vscode.ViewColumn.Beside,
            preserveFocus: true,
            preview: true,
        });
    }

    /** Something was typed: whatever is shown is made anew, since it may hold texts of any file. */
    typed(uri: vscode.Uri): void {
        if (uri.scheme === SCHEME || this.#shown.size === 0) {
            return;
        }
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => void this.#renew(), PAUSE);
    }

    closed(uri: vscode.Uri): void {
        this.#shown.delete(uri.toString());
    }

    dispose(): void {
        clearTimeout(this.#timer);
        this.#changed.dispose();
    }

    async #renew(): Promise<void> {
        for (const one of this.#shown.values()) {
            // What cannot be rendered at this moment, in the middle of a word, stays as it was.
            const made = await this.ask(one.of, one.wanted)?.catch(() => undefined);
            if (made !== undefined && made.text !== one.text) {
                one.text = made.text;
                this.#changed.fire(one.uri);
            }
        }
    }
}

function reason(error: unknown): string {
    return error instanceof Error ? error.message : String(error);
}
