//! The positions at which a text contains a name.

use super::find_uses;

#[test]
fn a_name_is_found_where_it_is_one() {
    let at = |text: &str| find_uses(text, "a");
    assert_eq!(at("{{ a }} a {{ a.b }}"), [3, 13]);
    assert_eq!(at("{% for x in a %}{{ x.a }}{% endfor %}"), [12]);
    assert_eq!(at("{{ f(a, a=a, b=[a == 1]) }}"), [5, 10, 16]);
    assert_eq!(at("{{ 'a' ~ \"a\\\"a\" ~ a }}"), [18]);
    assert_eq!(at("{{ &quot;a&quot; ~ a }}{{ 1 &lt; a }}"), [19, 33]);
    assert_eq!(
        at("{# a #}{% raw %}{{ a }}{% endraw %}{{ x|a }}{{- a -}}"),
        [48]
    );
    assert_eq!(at("{% set a = 1 %}{{ aa ~ a ~ b.a ~ a"), [7, 23, 33]);
    assert_eq!(at("{{ {'k': a} }}{"), [9]);
}
