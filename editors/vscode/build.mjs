// Bundles the extension into one file, with the licences of what went into it; with `--tests`, each test too, as a
// file for plain node.
import { build } from 'esbuild';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const common = { bundle: true, platform: 'node', target: 'node20', format: 'cjs', logLevel: 'warning' };

const { metafile } = await build({
    ...common,
    entryPoints: ['src/extension.ts'],
    outfile: 'dist/extension.js',
    external: ['vscode'],
    minify: true,
    legalComments: 'none',
    metafile: true,
});
mkdirSync('dist', { recursive: true });
writeFileSync('dist/NOTICES.txt', notices(Object.keys(metafile.inputs)));

if (process.argv.includes('--tests')) {
    rmSync('dist-test', { recursive: true, force: true });
    const tests = readdirSync('test').filter((name) => name.endsWith('.test.ts'));
    await build({
        ...common,
        entryPoints: tests.map((name) => `test/${name}`),
        outdir: 'dist-test',
        packages: 'external',
        sourcemap: 'inline',
    });
}

/** The licence of each package that files were taken from. A package without one stops the build. */
function notices(inputs) {
    const folders = inputs.map((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0]).filter(Boolean);
    const parts = [...new Set(folders)].sort().map((folder) => {
        const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
        const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
        if (file === undefined) {
            throw new Error(`${folder} has no licence`);
        }
        return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, 'utf8').trim()}\n`;
    });
    return ['Packages that are part of dist/extension.js, with their licences.\n', ...parts].join('\n----\n\n');
}
