// The machine as it is.

import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import type { Machine } from './binary';

export const machine: Machine = {
    platform: process.platform,
    home: homedir(),
    get search() {
        return process.env['PATH'] ?? '';
    },
    isProgram(file) {
        try {
            accessSync(file, constants.X_OK);
            return statSync(file).isFile();
        } catch {
            return false;
        }
    },
    real(file) {
        try {
            return realpathSync(file);
        } catch {
            return file;
        }
    },
};
