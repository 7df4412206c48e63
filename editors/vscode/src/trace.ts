// The output that shows the messages to and from servers. The client writes them at the level Trace alone, so this
// output's level follows `ctxc.trace.server` and not the choice that VS Code offers for logs.

import * as vscode from 'vscode';

/** A log whose level is a setting. */
export function traceOutput(): vscode.LogOutputChannel {
    const channel = vscode.window.createOutputChannel('ctxc trace');
    const changed = new vscode.EventEmitter<vscode.LogLevel>();
    const level = (): vscode.LogLevel => {
        const wanted = vscode.workspace.getConfiguration('ctxc').get('trace.server', 'off');
        return wanted === 'off' ? vscode.LogLevel.Off : vscode.LogLevel.Trace;
    };
    const listener = vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('ctxc.trace.server')) {
            changed.fire(level());
        }
    });
    const write = (message: string | Error): void => {
        if (level() !== vscode.LogLevel.Off) {
            channel.appendLine(`${new Date().toISOString()} ${message.toString()}`);
        }
    };
    return {
        name: channel.name,
        get logLevel() {
            return level();
        },
        onDidChangeLogLevel: changed.event,
        trace: write,
        debug: write,
        info: write,
        warn: write,
        error: write,
        append: (value) => channel.append(value),
        appendLine: (value) => channel.appendLine(value),
        replace: (value) => channel.replace(value),
        clear: () => channel.clear(),
        show: (first?: vscode.ViewColumn | boolean, second?: boolean) =>
            channel.show(typeof first === 'boolean' ? first : second),
        hide: () => channel.hide(),
        dispose: () => {
            listener.dispose();
            changed.dispose();
            channel.dispose();
        },
    };
}
