// Tokens of `{{…}}` as VS Code makes them: by its engine, its grammar of XML, and ours injected into it.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import * as oniguruma from 'vscode-oniguruma';
import * as textmate from 'vscode-textmate';

const ROOT = path.resolve(__dirname, '..');
const read = (file: string): string => fs.readFileSync(path.join(ROOT, file), 'utf8');

interface Contributed {
    scopeName: string;
    path: string;
    injectTo?: string[];
}
const grammars = (JSON.parse(read('package.json')) as { contributes: { grammars: Contributed[] } }).contributes.grammars;

async function xml(): Promise<textmate.IGrammar> {
    const wasm = fs.readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm'));
    await oniguruma.loadWASM(wasm);
    const registry = new textmate.Registry({
        onigLib: Promise.resolve({
            createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
            createOnigString: (text) => new oniguruma.OnigString(text),
        }),
        loadGrammar: async (scope) => {
            const own = grammars.find((grammar) => grammar.scopeName === scope);
            const file = own ? own.path : scope === 'text.xml' ? 'node_modules/tm-grammars/grammars/xml.json' : undefined;
            return file === undefined ? null : textmate.parseRawGrammar(read(file), file.replace(/^\.\//, ''));
        },
        getInjections: (scope) => grammars.filter(({ injectTo }) => injectTo?.includes(scope)).map((one) => one.scopeName),
    });
    const grammar = await registry.loadGrammar('text.xml');
    assert.ok(grammar);
    return grammar;
}
const grammar = xml();

/** Every token of ours, as `text kind`. */
async function tokens(text: string): Promise<string[]> {
    const found: string[] = [];
    let state = textmate.INITIAL;
    for (const line of text.split('\n')) {
        const read = (await grammar).tokenizeLine(line, state);
        state = read.ruleStack;
        for (const token of read.tokens) {
            const kind = token.scopes.at(-1) ?? '';
            if (kind.endsWith('.ctxc') && !kind.startsWith('meta.')) {
                found.push(`${line.slice(token.startIndex, token.endIndex)} ${kind.replace(/\.ctxc$/, '')}`);
            }
        }
    }
    return found;
}

const OPEN = '{{ punctuation.section.embedded.begin';
const CLOSE = '}} punctuation.section.embedded.end';

/** The tokens of an expression in text, without its braces. */
async function inside(expression: string): Promise<string[]> {
    const found = await tokens(`<d>a {{${expression}}} b</d>`);
    assert.equal(found[0], OPEN, expression);
    assert.equal(found.at(-1), CLOSE, expression);
    return found.slice(1, -1);
}

test('paths and calls', async () => {
    assert.deepEqual(await inside('name'), ['name variable.other']);
    assert.deepEqual(await inside(' größe-1 '), ['größe-1 variable.other']);
    assert.deepEqual(await inside('a.b[0]'), [
        'a variable.other',
        '. punctuation.accessor',
        'b variable.other.member',
        '[ punctuation.section.brackets.begin',
        '0 constant.numeric',
        '] punctuation.section.brackets.end',
    ]);
    assert.deepEqual(await inside('sort(text, "x", k=-1.5, on=true)'), [
        'sort entity.name.function',
        'text variable.other',
        ', punctuation.separator',
        '"x" string.quoted.double',
        ', punctuation.separator',
        'k variable.parameter',
        '= keyword.operator',
        '-1.5 constant.numeric',
        ', punctuation.separator',
        'on variable.parameter',
        '= keyword.operator',
        'true constant.language',
    ]);
    assert.deepEqual(await inside('f(&quot;)'), ['f entity.name.function', '&quot; constant.character.entity']);
});

test('jinja', async () => {
    assert.deepEqual(await inside(' "formally" if formal else name | upper '), [
        '"formally" string.quoted.double',
        'if keyword.operator.word',
        'formal variable.other',
        'else keyword.operator.word',
        'name variable.other',
        '| keyword.operator.pipe',
        'upper support.function.filter',
    ]);
    assert.deepEqual(await tokens('<d>{% for s in strings %}{# why #}{% endfor %}</d>'), [
        '{% punctuation.section.embedded.begin',
        'for keyword.control',
        's variable.other',
        'in keyword.operator.word',
        'strings variable.other',
        '%} punctuation.section.embedded.end',
        '{# why #} comment.block',
        '{% punctuation.section.embedded.begin',
        'endfor keyword.control',
        '%} punctuation.section.embedded.end',
    ]);
    assert.deepEqual(await tokens('<d>100{% of them {#id}</d>'), []);
});

test('wherever text stands', async () => {
    const a = [OPEN, 'a variable.other', CLOSE];
    assert.deepEqual(await tokens('<d>{{a}}</d>'), a);
    assert.deepEqual(await tokens('<d>\n{{\n  a\n}}\n</d>'), a);
    assert.deepEqual(await tokens('<d><![CDATA[{{a}}]]></d>'), a);
    assert.deepEqual(await tokens('<d k="{{a}}"/>'), a);
    assert.deepEqual(await tokens("<d k='{{a}}'/>"), a);
    assert.deepEqual(await tokens('<d k=\'{{f("a")}}\' l="{{a}}">{{a}}</d>'), [
        OPEN,
        'f entity.name.function',
        '"a" string.quoted.double',
        CLOSE,
        ...a,
        ...a,
    ]);
});

test('and nowhere else', async () => {
    assert.deepEqual(await tokens('<!-- {{a}} --><d/>'), []);
    assert.deepEqual(await tokens('<?x k="{{a}}"?><d/>'), []);
    assert.deepEqual(await tokens('<d>{a} { {a} } }}</d>'), []);
    assert.deepEqual(await tokens('<d>\\{{a}}</d>'), ['\\{{ constant.character.escape']);
    assert.deepEqual(await tokens('<d k="\\{{a}}"/>'), ['\\{{ constant.character.escape']);
});

test('one that is not closed ends with its element', async () => {
    const rest = (await grammar).tokenizeLine('<d>{{a</d><e k="v">{{b</e>', textmate.INITIAL).tokens;
    const names = rest.filter(({ scopes }) => scopes.at(-1) === 'entity.name.tag.localname.xml');
    assert.equal(names.length, 4);
    assert.deepEqual(await tokens('<d k="{{a" l="}}">x</d>'), []);
    assert.deepEqual(await tokens('<d><![CDATA[{{a]]></d><e>b</e>'), [OPEN, 'a variable.other']);
});

test('every grammar is contributed', () => {
    const files = fs.readdirSync(path.join(ROOT, 'syntaxes')).map((name) => `./syntaxes/${name}`);
    assert.deepEqual(grammars.map((one) => one.path).sort(), files.sort());
    for (const one of grammars) {
        assert.equal((JSON.parse(read(one.path)) as { scopeName: string }).scopeName, one.scopeName);
    }
});
