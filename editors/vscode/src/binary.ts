// Finds the program `ctxc`. Pure: whatever it knows of the machine comes from a `Machine`; it starts nothing.
//
// In a workspace that is not trusted no program inside of it is ever chosen, by whichever way it would be found: a
// setting, an entry of the PATH, or a link that leads in.

import * as path from 'node:path';

/** What is asked of the machine. */
export interface Machine {
    platform: NodeJS.Platform;
    home: string;
    /** The variable PATH. */
    search: string;
    /** Whether a file is there that can be run. */
    isProgram(file: string): boolean;
    /** The path without links; the path itself where there is nothing. */
    real(file: string): string;
}

/** What is to be found, and for whom. */
export interface Wanted {
    /** The setting `ctxc.path`. */
    setting: string;
    trusted: boolean;
    /** The folder of the project. */
    project: string;
    /** Every folder of the workspace. */
    folders: readonly string[];
}

export type Found =
    | { kind: 'found'; file: string; by: 'setting' | 'path' | 'build' }
    | {
          kind: 'missing';
          /** Whether the setting names what is not there; otherwise there is no setting. */
          bySetting: boolean;
          /** Files that were looked for. */
          looked: readonly string[];
          /** Files that are there but lie in a workspace that is not trusted. */
          refused: readonly string[];
      };

/** The program for a project. A setting is an order: where it leads nowhere, nothing else is tried. */
export function find(wanted: Wanted, machine: Machine): Found {
    const looked: string[] = [];
    const refused: string[] = [];
    const may = (file: string): boolean => {
        looked.push(file);
        if (!machine.isProgram(file)) {
            return false;
        }
        if (!wanted.trusted && isWithin(file, [...wanted.folders, wanted.project], machine)) {
            refused.push(file);
            return false;
        }
        return true;
    };
    const setting = wanted.setting.trim();
    const candidates: { files: string[]; by: 'setting' | 'path' | 'build' }[] =
        setting === ''
            ? [
                  { files: onPath('ctxc', machine), by: 'path' },
                  { files: wanted.trusted ? built(wanted, machine) : [], by: 'build' },
              ]
            : [{ files: named(setting, wanted, machine), by: 'setting' }];
    for (const { files, by } of candidates) {
        const file = files.find(may);
        if (file !== undefined) {
            return { kind: 'found', file, by };
        }
    }
    return { kind: 'missing', bySetting: setting !== '', looked, refused };
}

function flavour(machine: Machine): path.PlatformPath {
    return machine.platform === 'win32' ? path.win32 : path.posix;
}

/** A name as the file of a program: Windows finds a program without its ending, and a script only through a shell. */
function programs(file: string, machine: Machine): string[] {
    return machine.platform === 'win32' && !/\.(exe|com)$/i.test(file) ? [`${file}.exe`] : [file];
}

/** Where a setting leads. */
function named(setting: string, wanted: Wanted, machine: Machine): string[] {
    const { isAbsolute, join } = flavour(machine);
    const bare = !/[/\\]/.test(setting) && !setting.startsWith('~') && !setting.startsWith('$');
    if (bare) {
        return onPath(setting, machine);
    }
    const folder = wanted.folders.find((one) => isWithin(wanted.project, [one], machine)) ?? wanted.project;
    const full = setting
        .replace(/^~(?=[/\\]|$)/, () => machine.home)
        .replace(/^\$\{workspaceFolder\}/, () => folder);
    return programs(isAbsolute(full) ? full : join(wanted.project, full), machine);
}

/** Entries that are not absolute are passed over: they would mean another folder for each project. */
function onPath(name: string, machine: Machine): string[] {
    const { delimiter, isAbsolute, join } = flavour(machine);
    const entries = machine.search.split(delimiter).map((entry) => entry.replace(/^"(.*)"$/, '$1'));
    return entries.filter((entry) => isAbsolute(entry)).flatMap((entry) => programs(join(entry, name), machine));
}

/** What a clone of ctxc itself has built. */
function built(wanted: Wanted, machine: Machine): string[] {
    const { join } = flavour(machine);
    const folders = [...new Set([wanted.project, ...wanted.folders])];
    const files = ['release', 'debug'].flatMap((kind) => folders.map((folder) => join(folder, 'target', kind, 'ctxc')));
    return files.flatMap((file) => programs(file, machine));
}

/** Whether a file lies in one of the folders, as it is written or behind its links. */
function isWithin(file: string, folders: readonly string[], machine: Machine): boolean {
    const { relative, isAbsolute, sep } = flavour(machine);
    const folded = machine.platform === 'win32' || machine.platform === 'darwin';
    const same = (name: string): string => (folded ? name.toLowerCase() : name);
    const inside = (one: string, folder: string): boolean => {
        const way = relative(same(folder), same(one));
        return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
    };
    const files = [file, machine.real(file)];
    return folders.some((folder) => [folder, machine.real(folder)].some((to) => files.some((one) => inside(one, to))));
}
