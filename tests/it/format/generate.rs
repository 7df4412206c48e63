//! Sound templates in a layout that no author would write: the same for the same seed on every
//! machine.

/// A small generator of numbers.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed ^ 0x9E37_79B9_7F4A_7C15)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit as u64) as usize
    }

    fn one<'s>(&mut self, of: &[&'s str]) -> &'s str {
        of[self.below(of.len())]
    }
}

/// The library with the fragments of generated templates.
pub(crate) const LIBRARY: &str = "<library><fragment name=\"house\">kind</fragment></library>";

/// A task named `t`.
pub(crate) fn template(seed: u64) -> String {
    let mut out = Writer {
        numbers: Numbers::new(seed),
        out: String::new(),
    };
    if out.numbers.below(3) == 0 {
        out.out
            .push_str("<?xml version=\"1.0\" encoding='UTF-8' ?>");
        out.gap();
    } else if out.numbers.below(4) == 0 {
        out.out.push_str("\n\n");
    }
    let kind = out.numbers.below(4);
    out.task(kind, 0, " name=\"t\"");
    out.gap();
    out.out
}

struct Writer {
    numbers: Numbers,
    out: String,
}

impl Writer {
    /// Writes text that may stand between two elements of a list.
    fn gap(&mut self) {
        for _ in 0..self.numbers.below(3) {
            let part = self.numbers.one(&[
                "",
                " ",
                "\n",
                "\n\n\n",
                "\t",
                "  \r\n  ",
                "<!-- c -->",
                "<!--a\n   b-->",
                "<?other x?>",
                "\n    ",
            ]);
            self.out.push_str(part);
        }
    }

    /// Writes `<name …>`, with the given attributes and unusual white space.
    fn open(&mut self, name: &str, attributes: &str) {
        self.out.push('<');
        self.out.push_str(name);
        for attribute in attributes
            .split_inclusive("\" ")
            .map(str::trim)
            .filter(|attribute| !attribute.is_empty())
        {
            let space = self.numbers.one(&[" ", "\n", "   ", "\t "]);
            self.out.push_str(space);
            let (key, value) = attribute.split_once('=').unwrap();
            let equals = self.numbers.one(&["=", " = ", "=\n"]);
            let value = if self.numbers.below(3) == 0 {
                value.replace('"', "'")
            } else {
                value.to_owned()
            };
            self.out.extend([key, equals, &value]);
        }
        let space = self.numbers.one(&["", "", " ", "\n"]);
        self.out.push_str(space);
        self.out.push('>');
    }

    fn close(&mut self, name: &str) {
        let space = self.numbers.one(&["", "", " "]);
        self.out.extend(["</", name, space, ">"]);
    }

    fn text(&mut self, name: &str, attributes: &str) {
        let preserve = if self.numbers.below(8) == 0 {
            " xml:space=\"preserve\""
        } else {
            ""
        };
        self.open(name, &format!("{attributes}{preserve}"));
        let block = self.numbers.below(2) == 0;
        let deep = self
            .numbers
            .one(&["", "  ", "      ", "\t", "\t  "])
            .to_owned();
        if block {
            let lead = self.numbers.one(&[
                "\n",
                " \n",
                "\n\n",
                "\r\n",
                "<!-- lead -->\n",
                "\n<!-- lead\n  er -->\n",
            ]);
            self.out.push_str(lead);
        }
        let lines = 1 + self.numbers.below(5);
        for line in 0..lines {
            if line > 0 {
                let end = self
                    .numbers
                    .one(&["\n", "\n", "\n", "\r\n", "\r", "\n \n", "\n\n"]);
                self.out.push_str(end);
            }
            if block || line > 0 {
                self.out.push_str(&deep);
            }
            for _ in 0..=self.numbers.below(3) {
                let part = self.numbers.one(&[
                    "word",
                    "word",
                    " ",
                    "  ",
                    "\u{e9}t\u{e9}",
                    "&lt;",
                    "&#65;",
                    "&#32;",
                    "&#10;",
                    "<!-- in\n  side -->",
                    "<![CDATA[a < b]]>",
                    "<![CDATA[ \n ]]>",
                    "<![CDATA[  ]]>",
                    "<use fragment=\"house\"/>",
                    "<use\n fragment=\"house\" />",
                    "- ",
                    "<?other y?>",
                    "\t",
                ]);
                self.out.push_str(part);
            }
        }
        // Never empty, behind any element.
        let end = self.numbers.one(&[
            "end",
            "end\n",
            "end\n  ",
            "end  ",
            "end\r\n",
            "\nend\n<!-- tail -->\n",
        ]);
        self.out.push_str(end);
        self.close(name);
    }

    fn word(&mut self, name: &str, attributes: &str, word: &str) {
        self.open(name, attributes);
        let (before, after) = (
            self.numbers.one(&["", "", " ", "\n  "]),
            self.numbers.one(&["", "", "\n", " "]),
        );
        self.out.extend([before, word, after]);
        self.close(name);
    }

    fn empty(&mut self, name: &str, attributes: &str) {
        self.open(name, attributes);
        let inside = self.numbers.one(&["", "", " ", "\n\n"]);
        if inside.is_empty() && self.numbers.below(2) == 0 {
            self.out.pop();
            self.out.push_str("/>");
            return;
        }
        self.out.push_str(inside);
        self.close(name);
    }

    fn settings(&mut self, sequential: bool) {
        let mut settings = vec![("inherit_context", "none"), ("fresh_context", "enabled")];
        if sequential {
            settings.extend([
                ("accumulate_data", "true"),
                ("accumulation_format", "full_output"),
            ]);
        }
        self.open("context_management", "");
        while !settings.is_empty() {
            self.gap();
            let at = self.numbers.below(settings.len());
            let (name, value) = settings.remove(at);
            self.word(name, "", value);
        }
        self.gap();
        self.close("context_management");
    }

    /// A task of kind 0 atomic, 1 sequential, 2 reduce, 3 script.
    fn task(&mut self, kind: usize, depth: usize, attributes: &str) {
        let kind = if depth > 1 { 0 } else { kind };
        let word = ["atomic", "sequential", "reduce", "script"][kind];
        self.open("task", &format!("type=\"{word}\"{attributes}"));
        self.body(kind, depth);
        self.close("task");
    }

    fn body(&mut self, kind: usize, depth: usize) {
        self.gap();
        self.text("description", "");
        self.gap();
        // A script has no words for an agent.
        if kind != 3 && self.numbers.below(2) == 0 {
            self.text("instructions", "");
            self.gap();
        }
        if self.numbers.below(2) == 0 {
            self.settings(kind == 1);
            self.gap();
        }
        if kind == 2 || self.numbers.below(3) == 0 {
            self.open("inputs", "");
            self.gap();
            self.text("input", "name=\"a\" trust=\"untrusted\"");
            self.gap();
            self.open("input", "name=\"b\"");
            self.gap();
            self.task(0, depth + 1, "");
            self.gap();
            self.close("input");
            self.gap();
            self.close("inputs");
            self.gap();
        }
        if self.numbers.below(4) == 0 {
            self.out
                .push_str("<x:note xmlns:x='urn:x'   a = 'b'>\n kept  </x:note>");
            self.gap();
        }
        if kind != 3 && self.numbers.below(4) == 0 {
            self.out
                .push_str("<?ctxc fmt off?><model  >\n\n small</model>");
            let on = self
                .numbers
                .one(&["<?ctxc fmt on?>", "", "<?ctxc  fmt on ?>"]);
            self.out.push_str(on);
            self.gap();
        } else if kind != 3 {
            self.word("model", "", "small");
        }
        self.empty("output_format", "type=\"json\" schema=\"object\"");
        self.gap();
        self.of_kind(kind, depth);
        self.gap();
    }

    fn of_kind(&mut self, kind: usize, depth: usize) {
        match kind {
            1 => {
                self.open("steps", "");
                for _ in 0..=self.numbers.below(3) {
                    self.gap();
                    let kind = self.numbers.below(3);
                    self.task(kind, depth + 1, "");
                }
                self.gap();
                self.close("steps");
            }
            2 => {
                for part in ["inner_task", "reduction_task"] {
                    self.open(part, "");
                    self.body(0, depth + 1);
                    self.close(part);
                    self.gap();
                }
            }
            3 => {
                if self.numbers.below(2) == 0 {
                    self.word("command", "", "cargo test\n   --quiet");
                } else {
                    self.open("command", "");
                    self.gap();
                    self.text("arg", "");
                    self.gap();
                    self.close("command");
                }
                self.gap();
                self.word("timeout", "unit=\"s\"", "60");
            }
            _ => {}
        }
    }
}
