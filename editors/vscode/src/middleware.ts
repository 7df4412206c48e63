// What stands between VS Code and a server: a server hears only of documents of its own project, also where a
// project lies in another one and both their servers are asked; and hints and lenses can be switched off.

import type { Middleware } from 'vscode-languageclient/node';
import type * as vscode from 'vscode';

type Step = (...args: unknown[]) => unknown;

/** Every step whose first argument is a document, or an event about one, and whose last says how to go on. */
const STEPS = [
    'didOpen',
    'didChange',
    'didSave',
    'didClose',
    'provideCodeActions',
    'provideCodeLenses',
    'provideCompletionItem',
    'provideDefinition',
    'provideDocumentFormattingEdits',
    'provideDocumentHighlights',
    'provideDocumentLinks',
    'provideDocumentSymbols',
    'provideFoldingRanges',
    'provideHover',
    'provideInlayHints',
    'provideLinkedEditingRange',
    'provideReferences',
    'provideRenameEdits',
    'prepareRename',
    'provideSignatureHelp',
    'provideSelectionRanges',
    'provideDocumentSemanticTokens',
    'provideDocumentRangeSemanticTokens',
    'provideDiagnostics',
] as const satisfies readonly (keyof Middleware)[];

/** Settings that silence a step. */
const SWITCHES: Partial<Record<(typeof STEPS)[number], string>> = {
    provideInlayHints: 'inlayHints.enable',
    provideCodeLenses: 'codeLens.enable',
};

/** The address in a document, in an event about one, or itself. */
function address(of: unknown): vscode.Uri | undefined {
    const { uri, document, scheme } = of as { uri?: vscode.Uri; document?: { uri?: vscode.Uri }; scheme?: string };
    return uri ?? document?.uri ?? (scheme === undefined ? undefined : (of as vscode.Uri));
}

/** The steps of one server. */
export function middleware(owns: (uri: vscode.Uri) => boolean, isOn: (setting: string) => boolean): Middleware {
    const steps: Record<string, Step> = {};
    for (const name of STEPS) {
        const setting = SWITCHES[name];
        steps[name] = (...args) => {
            const next = args.findLast((arg): arg is Step => typeof arg === 'function');
            const uri = address(args[0]);
            if (next === undefined || (uri !== undefined && !owns(uri)) || (setting !== undefined && !isOn(setting))) {
                return name.startsWith('did') ? Promise.resolve() : undefined;
            }
            return next(...args.slice(0, args.lastIndexOf(next)));
        };
    }
    return {
        ...(steps as Middleware),
        provideWorkspaceDiagnostics: async (known, token, report, next) => {
            const own = <R extends { items: { uri: vscode.Uri }[] }>(all: R): R => ({
                ...all,
                items: all.items.filter((item) => owns(item.uri)),
            });
            const all = await next(known, token, (part) => report(part && own(part)));
            return all && own(all);
        },
    };
}
