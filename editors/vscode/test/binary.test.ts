// Which program is chosen, and above all which never is.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find, type Machine, type Wanted } from '../src/binary';

/** A machine with programs, and links from one folder or file to another. */
function machine(programs: string[], more: Partial<Machine> & { links?: Record<string, string> } = {}): Machine {
    const links = Object.entries(more.links ?? {});
    const real = (file: string): string => {
        const link = links.find(([from]) => file === from || file.startsWith(`${from}/`));
        return link ? link[1] + file.slice(link[0].length) : file;
    };
    const isProgram = (file: string): boolean => programs.includes(file) || programs.includes(real(file));
    return { platform: 'linux', home: '/me', search: '/usr/bin:/opt/bin', isProgram, real, ...more };
}

function wanted(more: Partial<Wanted> = {}): Wanted {
    return { setting: '', trusted: true, project: '/ws/app', folders: ['/ws'], ...more };
}

function file(want: Partial<Wanted>, on: Machine): string | undefined {
    const found = find(wanted(want), on);
    return found.kind === 'found' ? `${found.by} ${found.file}` : undefined;
}

test('the path is searched in its order', () => {
    assert.equal(file({}, machine(['/opt/bin/ctxc', '/usr/bin/ctxc'])), 'path /usr/bin/ctxc');
    assert.equal(file({}, machine(['/opt/bin/ctxc'])), 'path /opt/bin/ctxc');
    assert.equal(file({}, machine(['/opt/bin/other'])), undefined);
});

test('entries of the path that are not absolute are passed over', () => {
    const on = machine(['bin/ctxc', './ctxc', 'ctxc', '/ws/app/bin/ctxc'], { search: 'bin:.::' });
    assert.deepEqual(find(wanted(), on), {
        kind: 'missing',
        bySetting: false,
        looked: ['/ws/app', '/ws'].flatMap((at) => [`${at}/target/release/ctxc`]).concat('/ws/app/target/debug/ctxc', '/ws/target/debug/ctxc'),
        refused: [],
    });
});

test('a setting is an order', () => {
    const on = machine(['/usr/bin/ctxc', '/opt/new/ctxc', '/opt/bin/ctxc-new', '/me/bin/ctxc', '/ws/tools/ctxc', '/ws/app/x/ctxc']);
    assert.equal(file({ setting: '/opt/new/ctxc' }, on), 'setting /opt/new/ctxc');
    assert.equal(file({ setting: ' /opt/new/ctxc ' }, on), 'setting /opt/new/ctxc');
    assert.equal(file({ setting: 'ctxc-new' }, on), 'setting /opt/bin/ctxc-new');
    assert.equal(file({ setting: '~/bin/ctxc' }, on), 'setting /me/bin/ctxc');
    assert.equal(file({ setting: '${workspaceFolder}/tools/ctxc' }, on), 'setting /ws/tools/ctxc');
    assert.equal(file({ setting: './x/ctxc' }, on), 'setting /ws/app/x/ctxc');
    assert.deepEqual(find(wanted({ setting: '/gone/ctxc' }), on), {
        kind: 'missing',
        bySetting: true,
        looked: ['/gone/ctxc'],
        refused: [],
    });
});

test('what a clone has built comes last, and in a trusted folder only', () => {
    const built = ['/ws/target/debug/ctxc', '/ws/app/target/debug/ctxc'];
    assert.equal(file({}, machine(built)), 'build /ws/app/target/debug/ctxc');
    assert.equal(file({}, machine([...built, '/ws/target/release/ctxc'])), 'build /ws/target/release/ctxc');
    assert.equal(file({}, machine([...built, '/opt/bin/ctxc'])), 'path /opt/bin/ctxc');
    assert.equal(file({ trusted: false }, machine(built)), undefined);
});

test('nothing inside a folder that is not trusted is chosen', () => {
    const refused = (want: Partial<Wanted>, on: Machine): readonly string[] => {
        const found = find(wanted({ trusted: false, ...want }), on);
        assert.equal(found.kind, 'missing');
        return found.kind === 'missing' ? found.refused : [];
    };
    for (const setting of ['/ws/bin/ctxc', '/ws/../ws/bin/ctxc', '${workspaceFolder}/bin/ctxc', '../bin/ctxc']) {
        const found = refused({ setting }, machine(['/ws/bin/ctxc', '/ws/../ws/bin/ctxc']));
        assert.equal(found.length, 1, setting);
    }
    assert.deepEqual(refused({}, machine(['/ws/bin/ctxc'], { search: '/ws/bin' })), ['/ws/bin/ctxc']);
    // A link that leads in, one that leads out, and a folder that is a link itself.
    assert.equal(refused({}, machine(['/ws/ctxc'], { search: '/usr/bin', links: { '/usr/bin/ctxc': '/ws/ctxc' } })).length, 1);
    assert.equal(refused({}, machine(['/usr/ctxc'], { search: '/ws/bin', links: { '/ws/bin/ctxc': '/usr/ctxc' } })).length, 1);
    assert.equal(refused({}, machine(['/data/ws/ctxc'], { search: '/data/ws', links: { '/ws': '/data/ws' } })).length, 1);
    // A project beyond the folders of the workspace is no more to be trusted.
    assert.equal(refused({ project: '/else' }, machine(['/else/ctxc'], { search: '/else' })).length, 1);
    // Systems that do not tell `A` from `a`.
    assert.equal(refused({}, machine(['/WS/bin/ctxc'], { search: '/WS/bin', platform: 'darwin' })).length, 1);
    const windows = { platform: 'win32' as const, search: 'c:\\WS\\bin' };
    assert.equal(refused({ project: 'C:\\ws', folders: ['C:\\ws'] }, machine(['c:\\WS\\bin\\ctxc.exe'], windows)).length, 1);
});

test('what lies outside of it is', () => {
    assert.equal(file({ trusted: false }, machine(['/usr/bin/ctxc'])), 'path /usr/bin/ctxc');
    assert.equal(file({ trusted: false, setting: '/opt/ctxc' }, machine(['/opt/ctxc'])), 'setting /opt/ctxc');
    assert.equal(file({ trusted: false }, machine(['/wsx/ctxc'], { search: '/wsx' })), 'path /wsx/ctxc');
    // What is refused hides nothing behind it.
    const both = machine(['/ws/bin/ctxc', '/usr/bin/ctxc'], { search: '/ws/bin:/usr/bin' });
    assert.equal(file({ trusted: false }, both), 'path /usr/bin/ctxc');
    const other = machine(['d:\\ctxc.exe'], { platform: 'win32', search: '"d:\\"' });
    assert.equal(file({ trusted: false, project: 'C:\\ws', folders: ['C:\\ws'] }, other), 'path d:\\ctxc.exe');
});

test('windows runs programs, not scripts', () => {
    const on = (...programs: string[]) => machine(programs, { platform: 'win32', search: 'C:\\a;C:\\b' });
    assert.equal(file({ project: 'C:\\ws' }, on('C:\\a\\ctxc.cmd', 'C:\\b\\ctxc.exe')), 'path C:\\b\\ctxc.exe');
    assert.equal(file({ project: 'C:\\ws', setting: 'C:\\x\\ctxc' }, on('C:\\x\\ctxc.exe')), 'setting C:\\x\\ctxc.exe');
    assert.equal(file({ project: 'C:\\ws', setting: 'C:\\x\\ctxc.exe' }, on('C:\\x\\ctxc.exe')), 'setting C:\\x\\ctxc.exe');
});
