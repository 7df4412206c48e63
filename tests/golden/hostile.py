"""Broken projects and bombs, reconstructed from what testers found: name -> a function that gives its files."""
import importlib.util
import os

HEAD = '<task type="atomic" name="a"><description>t {}</description>'
TASK = '<task type="atomic" name="a"><description>Sort {{x}}.</description><parameters><parameter name="x" type="string" required="true"/></parameters></task>'
CASE = "name: s\ntask: a\ncontext:\n  objective: x\n  inputs: {x: late}\nexpect_context: [{nothing_cut: true}]\n"
SETTINGS = "<context_management><inherit_context>{}</inherit_context><fresh_context>{}</fresh_context></context_management>"


def task(body, name="a", kind="atomic", attributes=""):
    return f'<task type="{kind}" name="{name}"{attributes}>{body}</task>'


def described(text, rest="", **more):
    return task(f"<description>{text}</description>{rest}", **more)


def library(*definitions):
    return f"<library>{''.join(definitions)}</library>"


def parameters(*names, more=""):
    return "<parameters>" + "".join(f'<parameter name="{name}"{more}/>' for name in names) + "</parameters>"


def steps(*bodies, parameters=""):
    inner = "".join(bodies)
    return f'<task type="sequential" name="o"><description>t</description>{parameters}<steps>{inner}</steps></task>'


# What templates say wrongly, or what passed for right: one template each.
TEMPLATES = {
    "ref-needs-value": library(described("x {{n}}", '<parameters><parameter name="n" required="true"/></parameters>', name="q"), described("x {{n}}", name="im"),
                               '<task type="sequential" name="o1"><description>x {{c}}</description><parameters><parameter name="c"/></parameters><steps><task ref="q"/></steps></task>',
                               '<task type="sequential" name="o3"><description>x</description><steps><task ref="q"/></steps></task>',
                               '<template name="F" params="a"><task type="sequential"><description>{{a}}</description><steps><task ref="q"/></steps></task></template>'),
    "field-of-text": '<task type="atomic" name="b"><description>t {{tone.x}} {{p.y}} {{n[0]}}</description><parameters><parameter name="p" type="string"/><parameter name="n" type="number"/></parameters><inputs><input name="tone">friendly</input><input name="j" from="tone.z"/></inputs></task>',
    "split-reference": described("D &#123;{zz}} {{p}} {<!-- -->{yy}} {<?x y?>{ww}} {<![CDATA[{vv]]>}}", parameters("p")),
    "split-comment": described("{{z<!-- -->z}} {{<![CDATA[zz]]>}} {{z<![CDATA[z}}]]>", parameters("zz")),
    "system-by-reference": described("d", parameters("mail", more=' trust="untrusted"') + "<system>Obey &#123;{mail}}</system>"),
    "system-by-fragment": library('<fragment name="g">{{mail}}</fragment>', described("D", '<system>Obey <use fragment="g"/></system>' + parameters("mail", more=' trust="untrusted"'))),
    "system-by-ref": library(described("d", "<system>S {{mail}}</system>" + parameters("mail"), name="q"), steps('<task ref="q"/>', parameters=parameters("mail", more=' trust="untrusted"'))),
    "system-by-call": library('<template name="f" params="m"><task type="atomic"><description>d</description><system>S {{m}}</system></task></template>',
                              steps('<call template="f"><arg name="m" from="mail"/></call>', parameters=parameters("mail", more=' trust="untrusted"'))),
    "untrusted-fragment": library('<fragment name="g" trust="untrusted">EVIL</fragment>', described("D", '<instructions>Obey <use fragment="g"/> now</instructions><system>Be <use fragment="g"/></system>')),
    "laundered": library(steps('<task type="atomic" as="sum"><description>sum</description><inputs><input name="m" from="mail" trust="untrusted"/></inputs></task>',
                               '<task type="atomic"><description>act {{mail}}</description><system>The request: {{sum}}</system></task>', parameters=parameters("mail"))),
    "fence-in-prefix": described("{{title}}", parameters("title") + '<inputs><input name="pr_body" trust="untrusted">fixed words</input><input name="t" from="title" trust="untrusted"/></inputs>'),
    "optional-without-default": described("x {{q}}", '<parameters><parameter name="q" required="false"/></parameters>'),
    "required-inside": steps('<task><description>{{p}}</description><parameters><parameter name="p" required="true"/></parameters></task>'),
    "reduce-without-inputs": '<task type="reduce" name="r"><description>t</description><inner_task><description>i</description></inner_task><reduction_task><description>j</description></reduction_task></task>',
    "script-oddities": '<task type="script" name="s"><description>t</description><command>"" a</command><env><var name="A">1</var><var name="A=B">2</var></env><cwd>/etc</cwd></task>',
    "jinja-constants": '<task type="atomic" name="a"><description syntax="jinja">{{ 1/0 }}{{ p|replace("a") }}</description><parameters><parameter name="p"/></parameters></task>',
    "unknown-step": steps("<task><description>{{undefd}}</description></task>").replace("steps>", "step>"),
    "stray-end": steps("<task><description>{{undefd}}</description><descripton>x</descripton></task>").replace("</steps>", "</steps></task>"),
    "steps-attribute": steps("<task><description>{{undefd}}</description></task>").replace("<steps>", '<steps a="<b>">'),
    "doctype": '<!DOCTYPE task>\n<task type="atomic"><description>a & b</description><x></task>',
    "unclosed-description": '<task type="atomic" name="a"><description>t<instructions>x</instructions></task>',
    "two-descriptions": '<task type="atomic" name="a"><description>one</description><description>two</description><inputs><input name="i">a</input><input name="i">b</input></inputs></task>',
    "model-attributes": '<task type="atomic" name="a"><description>t</description><model preferred="a" fallback="b"/></task>',
    "script-result": '<task type="director_evaluator_loop" name="l"><description>t</description><director><description>d</description></director><evaluator><description>r {{script_result}}</description></evaluator></task>',
    "file-paths-mixed": described("t", "<file_paths><path>f.txt</path><command>ls</command><description>{{z}}</description></file_paths>"),
    "relevance-twice": described("t", '<inputs><input name="x">1</input></inputs><context_relevance><input name="x" include="true"/><input name="x" include="false"/></context_relevance>'),
    "ref-with-type": library(described("d", name="q"), steps('<task ref="q" type="script" subtype="subtask"/>')),
    "parameter-names": described("t", parameters("x y", "x.y", "1x", "")),
    "forgotten-syntax": described("t", "<instructions>{% if x %}Be kind.{% endif %} {{x}} {{#if x}}a{{/if}}</instructions>"),
    "empty-from": described("t", '<inputs><input name="k"/><input name="l" from=""/></inputs>'),
    "steps-text": task("<description>t</description><steps>text</steps>"),
    "condition-slip": library('<task type="sequential" name="c"><description>t</description><parameters><parameter name="p" type="boolean"/></parameters><steps><cond><case test="p === 1 || !p"><task><description>x</description></task></case></cond></steps></task>'),
    "conflict": described("t", SETTINGS.format("full", "enabled")),
    "conflict-bad-value": described("t", SETTINGS.format("Full", "enabled")),
    "conflict-allowed": '<task type="atomic" name="a"><?ctxc allow bad-value reason="x"?><description>t</description>' + SETTINGS.format("Full", "enabled") + "</task>",
    "unknown-subtype": task("<description>t</description>" + SETTINGS.format("full", "enabled"), attributes=' subtype="zz"'),
    "expression-allowed": '<task type="atomic" name="a"><description><?ctxc allow bad-expression reason="x"?>t {{ y and the rest {{p}} of the text</description>' + parameters("p") + "</task>",
    "history": described("t", "<history/>"),
    "odd-names": described("t {{ü}} {{x😀}}", parameters("ü"), name="name-é"),
    "cycle": library(steps('<task ref="o"/>'), described("t", name="q")),
    "tag-names": "<Task><description>t</description></Task>",
    "not-xml": "just words\n",
    "empty": "",
    "blank": "  \n",
    "carriage-returns": '<task type="atomc"\r name="old">\r<description>d</descripton>\r</task>\r',
    "utf-16": "\ufeff<task type=\"atomc\" name=\"wide😀\"/>".encode("utf-16-le"),
    "latin-1": b'<task type="atomic" name="\xe9"/>',
    "marked": b'\xef\xbb\xbf<task type="atomc" name="marked"><description>d</description></task>',
}

# Project files beside the plain task; `None` for one that is not there.
PROJECTS = {
    "lint-off": '[lints]\nbad-value = "off"\nunknown-subtype = "off"\nempty-value = "off"\n',
    "lint-structure-off": '[lints]\nstructure = "off"\n',
    "lint-expression-off": '[lints]\nbad-expression = "off"\n',
    "own-type": '[operators.probe]\nbase = "atomic"\n',
    "broken-toml": "[defaults.atomic\n",
    "unknown-keys": "[lint]\nx = 1\n[defaults.atomc]\nfresh_context = 3\n",
    "nothing-included": '[templates]\ninclude = ["prompt/**"]\n',
    "no-documents": '[context]\ninclude = ["docz/**"]\n',
    "scenario-globs": '[eval]\nscenarios = "scenarios/*.yaml"\n',
    "role-of-nobody": '[roles.x]\ntemplate = "none"\n',
    "role-of-model": '[roles.reviewer]\ntemplate = "a"\nmodel = ["large", "small"]\n[models.large]\nprovider = "anthropic"\nid = "claude-large"\n[[require]]\nrole = "reviewer"\nmust = ["model in [\\"large\\"]"]\n',
    "contradictions": '[defaults.atomic]\ninherit_context = "full"\nfresh_context = "enabled"\n',
    "policies": '[[require]]\nmust = "has scenario"\n[[require]]\nmust = "fresh_context == enabled"\n[[require]]\nname = "none-*"\nmust = "has system"\n',
    "extends-missing": 'extends = { path = "../house.toml", hash = "b3:0000000000000000000000000000000000000000000000000000000000000000" }\n',
    "extends-system": 'extends = { path = "../../../../../../../../../proc/version", hash = "b3:0000000000000000000000000000000000000000000000000000000000000000" }\n',
    "extends-passwd": 'extends = { path = "../../../../../../../../../etc/hostname" }\n',
    "deep-toml": "a = " + "[" * 3_000 + "]" * 3_000 + "\n",
    "deep-keys": "[" + ".".join("a" * 500) + "]\nx = 1\n",
    "large-number": "[limits]\nmax_depth = 99999999999999999999\n",
}

# Scenarios beside the plain task.
SCENARIOS = {
    "yaml-indentation": CASE.replace("  objective", "   objective"),
    "yaml-dedent": CASE.replace("  inputs", " inputs"),
    "yaml-tabs": CASE.replace("  objective", "\tobjective"),
    "yaml-quotes": CASE.replace("objective: x", "objective: a: b"),
    "csv-columns": "id: risk\ndefaults: {task: a, context: {objective: x}, expect_context: [{nothing_cut: true}]}\ncases_from: risk.csv\n",
    "csv-rows": "id: many\ndefaults: {task: a, context: {objective: x}, expect_context: [{nothing_cut: true}]}\ncases_from: many.csv\n",
    "unknown-keys": CASE + "expectation: []\nexpect_contxt: []\n",
    "unknown-segment": CASE.replace("{nothing_cut: true}", "{segment: {id: sytem, state: kept}}, {order: [x, description]}"),
    "missing-input": CASE.replace("x: late", "y: late"),
    "many-keys": CASE + "".join(f"k{number}: 1\n" for number in range(3_000)),
    "aliases": "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)) + CASE,
    "self-alias": "a: &a [*a]\n" + CASE,
    "merge-keys": "x: &x {task: a}\n<<: *x\n" + CASE,
    "deep-flow": CASE + "x: " + "[" * 5_000 + "]" * 5_000 + "\n",
    "deep-block": CASE + "".join(" " * n + "k:\n" for n in range(1_000)),
    "long-line": CASE + "x: " + "a" * 1_000_000 + "\n",
    "tags": CASE + "x: !!python/object:os.system [ls]\ny: !file /etc/passwd\n",
    "documents": CASE + "---\n" + CASE,
    "large-numbers": CASE + "trials: 99999999999999999999\n",
    "pattern-bomb": CASE.replace("{nothing_cut: true}", '{contains: ["(a+)+$", "(x{1000}){1000}{1000}", "(", "\\\\d{5,2}"]}'),
    "pattern-newline": CASE.replace("{nothing_cut: true}", '{contains: "zz\\n::error::zz"}'),
    "json-path-bomb": CASE + 'expectations:\n  - field_matches: {path: "$' + "[?(@.a)]" * 200 + '", pattern: x}\n  - field_matches: {path: "$..*..*..*..*", pattern: x}\nanswers: [{reply: {a: {a: {a: 1}}}}]\n',
    "schema-loop": CASE + 'expectations: [{schema: loop.json}]\nanswers: [{reply: {a: 1}}]\n',
    "schema-bomb": CASE + 'expectations: [{schema: bomb.json}]\nanswers: [{reply: {a: 1}}]\n',
    "schema-slips": CASE + 'expectations: [{schema: slips.json}]\nanswers: [{reply: {a: 1}}]\n',
    "inconclusive": CASE + "expectations: [{contains: x}]\n",
    "snapshot-missing": CASE.replace("{nothing_cut: true}", "{nothing_cut: true}, {snapshot: true}"),
    "request-body": '{"model": "m", "messages": [{"role": "user", "content": "x"}]}\n',
    "outside": CASE.replace("x: late", 'x: "@../../../etc/passwd"'),
    "empty": "",
    "no-utf-8": CASE.encode() + b"x: \xff\n",
}
BESIDE = {
    "scenarios/risk.csv": "name,inputs.titel\na,b\nc,d,e\n\"e\n",
    "scenarios/many.csv": "name,inputs.x\n" + "".join(f"n{number},v{number}\n" for number in range(3_000)),
    "scenarios/loop.json": '{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}',
    "scenarios/bomb.json": '{"properties": {"a": ' + '{"allOf": [' * 100 + '{"pattern": "(x+x+)+y"}' + "]}" * 100 + '}}',
    "scenarios/slips.json": '{"type": "objekt", "propertys": {"a": {"type": "string"}}, "required": "a", "minimum": "x", "pattern": "("}',
}

# Texts in Jinja that never end, or grow without end.
JINJA = {
    "multiply": '{{ "a" * 1000000000 }}', "multiply-list": "{{ [0] * 1000000000 }}", "nested-multiply": '{{ (("a" * 100000) * 100000)|length }}',
    "range": "{% for i in range(100000000) %}x{% endfor %}", "nested-loops": "{% for i in range(10000) %}{% for j in range(10000) %}x{% endfor %}{% endfor %}",
    "center": '{{ "x"|center(1000000000) }}', "indent": '{{ ("a\\n" * 1000)|indent(1000000) }}', "replace": '{{ ("a" * 10000)|replace("a", "a" * 10000) }}',
    "join": '{{ range(100000)|join("x" * 100000) }}', "macro": "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
    "double-macro": "{% macro m(n) %}{% if n %}{{ m(n-1) }}{{ m(n-1) }}{% endif %}x{% endmacro %}{{ m(30) }}",
    "parentheses": "{{ " + "(" * 500 + "1" + ")" * 500 + " }}", "filters": "{{ 1" + "|string" * 5_000 + " }}", "nots": "{{ " + "not " * 2_000 + "x }}",
    "ifs": "{% if x %}" * 400 + "{% endif %}" * 400, "power": "{{ 9 ** 9 ** 9 }}", "shift": "{{ 2 ** 100000 }}", "batch": "{{ range(1000000)|batch(1)|list|length }}",
    "slice": '{{ ("abc" * 1000000)[::-1]|length }}', "format": '{{ "%1000000000d"|format(1) }}', "include": '{% include "x.j2" %}', "import": '{% import "x.j2" as x %}{{ x.y() }}',
    "extends": '{% extends "x.j2" %}', "wordwrap": '{{ ("ab " * 100000)|wordwrap(1) }}', "set-doubling": "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s }}",
    "lists-doubling": "{% set ns = namespace(s=[1]) %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s|length }}", "cycle-call": "{{ cycler(1)|tojson }}{{ joiner()|list }}", "attr": '{{ x.__class__ }}{{ x["__mro__"] }}',
    "python": '{{ x.strip().split(",")[0].upper() }}{{ d.get("a", 1) }}{% for k, v in d.items() %}{{ k }}={{ v }}{% endfor %}', "comment": "{# never closed", "raw": "{% raw %}{{ x }}{% endraw %}{% raw %}",
    "debug": "{{ debug() }}", "pprint": "{{ d|pprint }}{{ d|tojson(indent=2) }}", "undefined": "{{ a.b.c.d }}{% if q is defined %}{{ q }}{% endif %}", "block": "{% block a %}x{% endblock %}{{ self.a() }}",
    "autoescape": '{% autoescape true %}{{ "<b>" }}{% endautoescape %}{{ "<b>x</b>"|striptags }}', "call-block": "{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}x{% endcall %}", "unicode": "{{ 'ß'|upper }}{{ '😀'|length }}{{ 'İ'|lower }}",
    "sort": "{{ [3,1,2]|sort|join(',') }}{{ d|dictsort }}{{ [1,'a']|sort }}", "do": "{% do x.append(1) %}{% trans %}x{% endtrans %}", "scoped": "{% for i in [1] %}{% set x = i %}{% endfor %}{{ x }}{{ loop.index }}",
    "cut": "{{ x", "cut-tag": "{% if x", "lone-end": "{% endif %}", "else": "{% if x %}a{% elif %}b{% endif %}",
}


def jinja_task(text):
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    return f'<task type="atomic" name="a"><description>d</description><instructions syntax="jinja">{escaped}</instructions></task>'


def laughs(depth):
    fragments = [f'<fragment name="g{n}">x <use fragment="g{n + 1}"/><use fragment="g{n + 1}"/></fragment>' for n in range(depth)]
    return library(*fragments, f'<fragment name="g{depth}">x</fragment>', described('<use fragment="g0"/>'))


def doubling_tasks(count):
    def one(n):
        refs = "".join(f'<task ref="t{m}"/>' for m in (n + 1, n + 2))
        return f'<task type="sequential" name="t{n}"><description>d</description><steps>{refs}</steps></task>'
    return library(*(one(n) for n in range(count)), described("d", name=f"t{count}"), described("d", name=f"t{count + 1}"))


BOMBS = {
    "laughs-12": lambda: laughs(12),
    "laughs-40": lambda: laughs(40),
    "doubling-12": lambda: doubling_tasks(12),
    "doubling-40": lambda: doubling_tasks(40),
    "many-allows": lambda: library(*(f'<task type="atomic" name="t{n}"><?ctxc allow no-context reason="x"?><description>d</description><context_management><inherit_context>none</inherit_context></context_management></task>' for n in range(1_000))),
    "many-unresolved": lambda: library(*(described("d", name=f"t{n}") for n in range(700)), '<task type="sequential" name="s"><description>d</description><steps>' + "".join(f'<task ref="u{n}"/>' for n in range(700)) + "</steps></task>"),
    "fragments-chain": lambda: library(*(f'<fragment name="g{n}">x <use fragment="g{n + 1}"/></fragment>' for n in range(300)), '<fragment name="g300">x</fragment>', described('<use fragment="g0"/>')),
    "long-condition": lambda: library('<task type="sequential" name="c"><description>t</description><parameters><parameter name="p" type="number"/></parameters><steps><cond><case test="' + " or ".join(["p == 1"] * 3_000) + '"><task><description>x</description></task></case></cond></steps></task>'),
    "deep-condition": lambda: library('<task type="sequential" name="c"><description>t</description><parameters><parameter name="p" type="boolean"/></parameters><steps><cond><case test="' + "(" * 2_000 + "p" + ")" * 2_000 + '"><task><description>x</description></task></case></cond></steps></task>'),
    "long-expression": lambda: described("{{" + "a." * 5_000 + "b}}"),
}


def links():
    """Links that lead out of a project."""
    plain = {"p/ctxc.toml": 'edition = "2026"\n', "p/templates/a.xml": TASK, "out/secret.txt": "secret\n", "out/c/keep.txt": "x\n", "p/docs/a.md": "deploy\n"}
    return {
        "cache": {**plain, "p/.ctxc": ("../out/c",)},
        "templates": {"p/ctxc.toml": 'edition = "2026"\n', "p/legacy/e.j2": "hi {{x}}\n", "p/templates": ("../out",), "out/x.txt": "x"},
        "forge": {"p/.github": ("../out",), "out/x.txt": "x", "p/templates/a.xml": TASK},
        "scenario-file": {**plain, "p/scenarios/s.yaml": CASE.replace("x: late", "x: !file l.txt"), "p/scenarios/l.txt": ("../../out/secret.txt",)},
        "document": {**plain, "p/docs/l.md": ("../../out/secret.txt",)},
        "loop": {**plain, "p/templates/loop": ("../templates",)},
        "lock": {**plain, "p/.ctxc/build.lock": ("../../out/created",)},
    }


def odd_files():
    """Projects whose files have odd names or places."""
    return {
        "name-newline": {"ctxc.toml": "", "templates/e\n::error file=x::pwned\n.xml": "<task><descripton/></task>"},
        "name-bytes": {"ctxc.toml": "", os.fsdecode(b"templates/a\xff.xml"): TASK},
        "name-spaces": {"ctxc.toml": "", "templates/a b ü.xml": TASK, "templates/'quoted'.xml": described("d", name="b"), "templates/\x1b[31m.xml": "<task/>"},
        "old-cache": {"ctxc.toml": "", "templates/a.xml": TASK, "scenarios/s.yaml": CASE, ".ctxc/cache/search.db": b"SQLite format 3\0junk", ".ctxc/cache/results.json": "{}", ".ctxc/secret": b"x" * 32, "docs/a.md": "deploy\n"},
        "no-project-file": {"a/t.xml": TASK, "b/u.xml": described("d", name="b")},
        "nested": {"ctxc.toml": "", "templates/a.xml": TASK, "inner/ctxc.toml": "", "inner/templates/a.xml": TASK},
        "nothing": {"readme.txt": "x"},
        "suppressions": {"ctxc.toml": "", "templates/a.xml": "<task><descripton/></task>", "ctxc.suppressions.toml": "[[suppress]]\nrule = \"none\"\n"},
        "registry-newer": {"ctxc.toml": "", "templates/a.xml": TASK, "registry.json": '{"schema": "ctxc/registry/99"}', "context-manifest.json": '{"schema": "ctxc/manifest/99", "entries": []}'},
        "stop-words": {"ctxc.toml": "", "templates/a.xml": TASK.replace("<parameters>", SETTINGS.format("none", "enabled") + "<parameters>"), "docs/style.md": "A style of the house.\n", "docs/pay.md": "Salaries are paid in the last week.\n"},
        "schema-order": {"ctxc.toml": "", "templates/a.xml": described("d", '<output_format type="json" schema="out.json"/>'), "templates/out.json": '{"type": "object", "properties": {"team": {"type": "string"}, "risk_level": {"type": "integer"}}, "required": ["team"]}'},
        "empty-source": {"ctxc.toml": "", "templates/a.xml": task('<description src="g.txt"/>'), "templates/g.txt": ""},
        "missing-source": {"ctxc.toml": "", "templates/a.xml": task('<description src="none.txt"/>') , "templates/b.xml": described("d", '<file_paths source="literal"><path>none.md</path><path>/etc/passwd</path><path>../x</path></file_paths>', name="b")},
        "same-name-twice": {"ctxc.toml": "", "templates/a.xml": TASK, "templates/b.xml": TASK},
        "prompt-formats": {"p/jinja.prompt": "{% for x in y %}{{ x }}{% endfor %}\n", "p/hello.prompt": "---\nmodel: m\n---\nhi {{n}}", "p/hello.system.prompt": "---\nmodel: m\n---\nBe kind.", "p/t.yaml": "input_variables: [a]\ntemplate: 'x {a}'\n",
                           "p/chat.json": '{"_type": "chat", "messages": [{"role": "system", "content": "x"}]}', "p/cond.j2": "Hi.{% if notes %} You have notes.{% endif %}\n", "p/h.prompty": "---\nname: h\n---\nsystem:\nx\nuser:\n{{q}}\n", "p/history.prompt": "{{history}}\n", "p/multi.yaml": "_type: prompt\ninput_variables: [a]\ntemplate: 'first\nsecond {a}'\n",
                           "a/basic.yaml": "_type: prompt\ninput_variables: [a]\ntemplate: x {a}\n", "b/basic.yaml": "_type: prompt\ninput_variables: [a]\ntemplate: y {a}\n", "ctxc.toml": ""},
    }


def beside(base, name):
    """A module of the base's `benches/`."""
    spec = importlib.util.spec_from_file_location(name, base / f"benches/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def projects(base):
    """name -> a function that gives the files of a project."""
    found = {}
    for name, text in TEMPLATES.items():
        found[f"template-{name}"] = lambda text=text: {"ctxc.toml": "", "templates/a.xml": text, "f.txt": "f"}
    for name, text in PROJECTS.items():
        found[f"project-{name}"] = lambda text=text: {"ctxc.toml": text, "templates/a.xml": TASK, "scenarios/s.yaml": CASE, "docs/a.md": "deploy\n",
                                                      "templates/b.xml": '<task type="probe" name="b"><description>t {{ 1x }} after</description><steps><task><description>x</description></task></steps>' + SETTINGS.format("Full", "enabled") + "</task>"}
    for name, text in SCENARIOS.items():
        found[f"scenario-{name}"] = lambda text=text: {"ctxc.toml": "", "templates/a.xml": TASK, "scenarios/s.yaml": text, **BESIDE}
    for name, text in JINJA.items():
        found[f"jinja-{name}"] = lambda text=text: {"ctxc.toml": "", "templates/a.xml": jinja_task(text), "prompts/p.j2": text + "\n"}
    for name, make in BOMBS.items():
        found[f"bomb-{name}"] = lambda make=make: {"ctxc.toml": "", "templates/a.xml": make()}
    for name, files in links().items():
        found[f"link-{name}"] = lambda files=files: files
    for name, files in odd_files().items():
        found[f"odd-{name}"] = lambda files=files: files
    for number in range(12):
        found[f"bench-{number:02}"] = lambda number=number: {"ctxc.toml": "", "a.xml": list(beside(base, "hostile").inputs())[number][1]}
    return found
