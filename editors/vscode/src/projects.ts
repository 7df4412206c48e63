// Which project a file belongs to: the nearest folder above it that has a `ctxc.toml`. Starts nothing.

import * as path from 'node:path';

/** The name of the project file. */
export const PROJECT = 'ctxc.toml';

/** What templates are written in. */
export const TEMPLATES = 'xml';

/** What scenarios are written in. */
export const SCENARIOS: readonly string[] = ['yaml', 'json'];

/** Whether a document in this language may be the server's concern. */
export function isOurs(language: string): boolean {
    return language === TEMPLATES || SCENARIOS.includes(language);
}

/** Finds projects, and remembers the answers until it is told that project files came or went. */
export class Projects {
    readonly #known = new Map<string, string | undefined>();

    constructor(private readonly exists: (file: string) => boolean) {}

    /** The project of a file. */
    of(file: string): string | undefined {
        return this.above(path.dirname(file));
    }

    /** The project that a folder is, or is in. */
    above(folder: string): string | undefined {
        const asked: string[] = [];
        let answer: string | undefined;
        for (let at = folder; ; at = path.dirname(at)) {
            if (this.#known.has(at)) {
                answer = this.#known.get(at);
                break;
            }
            asked.push(at);
            if (this.exists(path.join(at, PROJECT))) {
                answer = at;
                break;
            }
            if (path.dirname(at) === at) {
                break;
            }
        }
        for (const one of asked) {
            this.#known.set(one, answer);
        }
        return answer;
    }

    forget(): void {
        this.#known.clear();
    }
}
