// What the manifest promises is there, is described, and is what people outside of a project may rely on.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';

const ROOT = path.resolve(__dirname, '..');
const read = (file: string): string => fs.readFileSync(path.join(ROOT, file), 'utf8');

interface Manifest {
    version: string;
    engines: { vscode: string };
    devDependencies: Record<string, string>;
    capabilities: { untrustedWorkspaces: { supported: unknown; restrictedConfigurations: string[] } };
    contributes: {
        commands: { command: string; title: string }[];
        configuration: { properties: Record<string, { scope: string; default: unknown }> };
    };
}
const manifest = JSON.parse(read('package.json')) as Manifest;
const sources = fs.readdirSync(path.join(ROOT, 'src')).map((name) => read(`src/${name}`));

test('every command is registered and described', () => {
    const { commands } = manifest.contributes;
    assert.ok(commands.length > 0);
    for (const { command, title } of commands) {
        assert.ok(sources.some((text) => text.includes(`registerCommand('${command}'`)), command);
        assert.ok(read('README.md').includes(`ctxc: ${title}`), title);
    }
});

test('every setting is read and described', () => {
    for (const name of Object.keys(manifest.contributes.configuration.properties)) {
        const key = name.replace(/^ctxc\./, '');
        assert.ok(sources.some((text) => text.includes(`'${key}'`)), name);
        assert.ok(read('README.md').includes(`\`${name}\``), name);
    }
});

test('a folder that is not trusted has no say in what is started', () => {
    const { supported, restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces;
    assert.equal(supported, 'limited');
    assert.deepEqual(restrictedConfigurations, ['ctxc.path', 'ctxc.args']);
    for (const name of restrictedConfigurations) {
        assert.equal(manifest.contributes.configuration.properties[name]?.scope, 'machine-overridable');
    }
});

test('licence and version are those of ctxc', () => {
    const crate = read('../../Cargo.toml').match(/^version = "(.*)"$/m)?.[1];
    assert.equal(manifest.version, crate);
    for (const name of ['LICENSE-MIT', 'LICENSE-APACHE']) {
        assert.ok(read('LICENSE').includes(read(`../../${name}`).trim()), name);
    }
});

test('the interface is no newer than the oldest VS Code', () => {
    assert.equal(manifest.engines.vscode, `^${manifest.devDependencies['@types/vscode']}`);
});

test('no file says where packages come from', () => {
    assert.ok(!read('package-lock.json').includes('"resolved"'));
});
