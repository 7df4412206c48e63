// The command that applies every safe fix to the file in the editor, again while fixes bring about others.

import * as vscode from 'vscode';
import { isOurs } from './projects';

const KIND = 'source.fixAll.ctxc';
/** As many rounds as `ctxc check --fix` makes. */
const ROUNDS = 10;

export async function fixAll(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (document === undefined || !isOurs(document.languageId)) {
        void vscode.window.showInformationMessage('ctxc: no template and no scenario is in the editor.');
        return;
    }
    let rounds = 0;
    for (; rounds < ROUNDS; rounds += 1) {
        const whole = new vscode.Range(new vscode.Position(0, 0), document.positionAt(document.getText().length));
        const command = 'vscode.executeCodeActionProvider';
        const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(command, document.uri, whole, KIND);
        // Other extensions may answer to a wider kind.
        const edit = actions?.find((action) => action.kind?.value === KIND)?.edit;
        if (edit === undefined) {
            break;
        }
        if (!(await vscode.workspace.applyEdit(edit))) {
            void vscode.window.showWarningMessage('ctxc: the fixes could not be applied; the file is as it was.');
            return;
        }
    }
    const said = rounds === 0 ? 'no safe fix for this file' : 'every safe fix is applied';
    vscode.window.setStatusBarMessage(`ctxc: ${said}`, 5000);
}
