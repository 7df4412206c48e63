// The nearest project file decides, until files come or go.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Projects } from '../src/projects';

test('the nearest project is found', () => {
    const files = new Set(['/a/ctxc.toml', '/a/b/c/ctxc.toml']);
    const projects = new Projects((file) => files.has(file));
    assert.equal(projects.of('/a/x.xml'), '/a');
    assert.equal(projects.of('/a/b/x.xml'), '/a');
    assert.equal(projects.of('/a/b/c/d/e/x.xml'), '/a/b/c');
    assert.equal(projects.of('/z/x.xml'), undefined);
    assert.equal(projects.above('/a'), '/a');
    assert.equal(projects.above('/'), undefined);
});

test('answers are remembered until they are forgotten', () => {
    const files = new Set(['/a/ctxc.toml']);
    let asked = 0;
    const projects = new Projects((file) => {
        asked += 1;
        return files.has(file);
    });
    projects.of('/a/b/c/x.xml');
    const first = asked;
    assert.equal(projects.of('/a/b/c/y.xml'), '/a');
    assert.equal(projects.of('/a/b/z.xml'), '/a');
    assert.equal(asked, first);
    files.add('/a/b/ctxc.toml');
    projects.forget();
    assert.equal(projects.of('/a/b/c/x.xml'), '/a/b');
});
