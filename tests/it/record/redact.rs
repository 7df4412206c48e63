//! The values that are masked before a call is stored, and the texts that stay.

use ctxc::internals::project::config::RecordedContent;
use ctxc::internals::record::mask::{CallMask, StreamEnding};
use ctxc::internals::record::redact::Redactor;
use pretty_assertions::assert_eq;

fn kinds(text: &str) -> String {
    let (out, _) = Redactor::new(
        [7; 32],
        [
            "hunter2-is-secret".to_owned(),
            "short".to_owned(),
            " k3y9\n".to_owned(),
        ],
    )
    .mask_text(text);
    let mut parts = out.split('⟦');
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        let (inner, rest) = part.split_once('⟧').unwrap();
        let (kind, hash) = inner.split_once(':').unwrap();
        assert_eq!(hash.len(), 4, "{out}");
        plain.extend(["<", kind, ">", rest]);
    }
    plain
}

#[test]
fn secrets_and_personal_data_are_replaced_where_they_stand() {
    let cases = [
        ("key=hunter2-is-secret.", "key=<secret>."),
        ("xhunter2-is-secretx short", "x<secret>x short"),
        (
            "Bearer k3y9, \"k3y9\", ak3y9 k3y99",
            "Bearer <secret>, \"<secret>\", ak3y9 k3y99",
        ),
        (
            "write to ann.o'neil+x@mail.example.org, please",
            "write to ann.o'<email>, please",
        ),
        ("<bob@example.com>", "<<email>>"),
        ("card 4111 1111 1111 1111.", "card <card>."),
        ("5500-0000-0000-0004", "<card>"),
        (
            "DE89 3704 0044 0532 0130 00, GB82WEST12345698765432",
            "<iban>, <iban>",
        ),
        (
            "call +49 (0)30 1234567 or (555) 010-9999 or 555-010-9999",
            "call <phone> or <phone> or <phone>",
        ),
        (
            "+49 (0) 30 / 1234567, tel:1-555-010-9999",
            "<phone>, tel:<phone>",
        ),
        (
            "00491712345678, 0049 171 2345678, +1 415-555-0100, 1 555 010 9999",
            "<phone>, <phone>, <phone>, <phone>",
        ),
        (
            "+33 1 23 45 67 89, +43 1 58858, +7 912 345-67-89, 00 44 20 7946 0958",
            "<phone>, <phone>, <phone>, 00 44 20 7946 0958",
        ),
        ("(555) 010 9999, 555.010.9999", "<phone>, <phone>"),
        (
            "DE89-3704-0044-0532-0130-00, de89 3704 0044 0532 0130 00 and",
            "<iban>, <iban> and",
        ),
        (
            "378282246310005, 6011 1111 1111 1117, 30569309025904, 2223003122003222",
            "<card>, <card>, <card>, <card>",
        ),
        (
            "ann@2xl.example.org, bo@163.com, ann@example.com(work), ann@example.rs",
            "<email>, <email>, <email>(work), <email>",
        ),
        // More digits, hyphens and the like behind it.
        ("4111 1111 1111 1111 12/27 cvc 123", "<card> 12/27 cvc 123"),
        (
            "+4915112345678 12345 Berlin, 555-010-9999--x",
            "<phone> 12345 Berlin, <phone>--x",
        ),
        (
            "ann@example.org--thanks, joe@exämple.de, li@xn--fsq.xn--p1ai",
            "<email>--thanks, <email>, <email>",
        ),
        // As typesetters and HTML write it, and with invisible characters.
        (
            "555\u{2011}010\u{2011}9999, 4111\u{a0}1111\u{a0}1111\u{a0}1111",
            "<phone>, <card>",
        ),
        (
            "ann&#64;example&#x2e;org, +49&nbsp;30&nbsp;1234567, ann@exa\u{200b}mple.org",
            "<email>, <phone>, <email>",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(kinds(text), expected, "{text}");
    }
}

#[test]
fn keys_of_known_services_are_replaced() {
    // In parts, so that no scanner takes this file for one with keys.
    let long = "0123456789abcdefABCDEF0123456789abcdef";
    let services = "sk- sk-ant-api03- sk-proj- sk-or-v1- sk-lf- pk-lf- sk_live_ rk_test_ whsec_ AIza AKIA ASIA ghp_ gho_ ghu_ ghs_ ghr_ \
        github_pat_ glpat- gldt- hf_ gsk_ xai- pplx- r8_ npm_ pypi- xoxb- xapp- dapi sbp_ sb_secret_ lsv2_pt_ nvapi- GOCSPX- dop_v1_ \
        shpat_ lin_api_ tvly- hvs. PMAK- dckr_pat_ jina_ pcsk_ tgp_v1_ ATATT3";
    for head in services.split_whitespace() {
        assert_eq!(
            kinds(&format!("Bearer {head}{long}!")),
            "Bearer <secret>!",
            "{head}"
        );
    }
    // With points and other signs in them, without digits, and followed by the end of a sentence.
    let (points, letters) = (
        format!("{long}.{long}"),
        "abcdefghijklmnopqrstuvwxyzABCDEFGH",
    );
    let account = format!("AccountKey={long}+/{long}{long}==");
    let bot = format!("1234567890:A{}", &long[..34]);
    let chat = format!("MTI{}.{}.{long}", &long[..23], &long[..6]);
    for key in [
        format!("SG.{points}"),
        format!("ya29.{points}"),
        format!("hf_{letters}"),
        format!("SK{}", &long[..32].to_lowercase()),
        "sk-lf-550e8400-e29b-41d4-a716-446655440000".to_owned(),
        "pk-lf-0a1b2c3d-e29b-41d4-a716-446655440000".to_owned(),
        account,
        bot,
        chat,
        format!("eyJ{long}.{points}"),
    ] {
        assert_eq!(
            kinds(&format!("It is {key}. ")),
            "It is <secret>. ",
            "{key}"
        );
    }
    assert_eq!(
        kinds("postgres://app:n0t-Th1s@db/x and redis://:pw@h"),
        "postgres://<secret>@db/x and redis://<secret>@h"
    );
    assert_eq!(
        kinds(&format!("eyJ{long}.{long}.{long} eyJ{long}")),
        format!("<secret> eyJ{long}")
    );
    // In arguments and results that are JSON, behind the letter of an escape.
    assert_eq!(
        kinds(&format!(
            "{{\"content\":\"a\\nsk-{long}\\tDE89370400440532013000\"}}"
        )),
        "{\"content\":\"a\\n<secret>\\t<iban>\"}"
    );
    // In JSON in a string of JSON.
    assert_eq!(kinds(&format!("a\\\\nsk-{long}")), "a\\\\n<secret>");
    let dashes = "-".repeat(5);
    let pem =
        format!("{dashes}BEGIN PRIVATE KEY{dashes}\nMIIE\n{dashes}END PRIVATE KEY{dashes}\nrest");
    assert_eq!(kinds(&pem), "<secret>\nrest");
    // In arguments, which stay JSON.
    assert_eq!(
        kinds(&serde_json::json!({"pem": pem, "n": 1}).to_string()),
        "{\"pem\":\"<secret>\\nrest\",\"n\":1}"
    );
}

#[test]
fn a_value_that_continues_in_the_next_piece_of_a_stream_goes_whole() {
    let mask = CallMask::new([7; 32], [], RecordedContent::Redacted);
    let long = "0123456789abcdefABCDEF";
    for pieces in [
        [format!("a sk-proj-{long}"), format!("{long} b")],
        [
            "write to max@secret-corp.co".to_owned(),
            "m.au, please".to_owned(),
        ],
        ["sk-pro".to_owned(), format!("j-{long} b")],
        ["x".to_owned(), format!("sk-proj-{long}")],
    ] {
        let event = |text: &String| {
            format!(
                "data: {}\n\n",
                serde_json::json!({"choices": [{"delta": {"content": text}}]})
            )
        };
        let parts: Vec<String> = pieces.iter().map(event).collect();
        let ends: Vec<usize> = parts
            .iter()
            .scan(0, |end, part| {
                *end += part.len();
                Some(*end)
            })
            .collect();
        let kept = mask
            .mask_stream(&parts.concat(), &ends, StreamEnding::Whole, &mut Vec::new())
            .concat();
        assert!(
            !kept.contains("0123456789") && !kept.contains("m.au") && kept.contains('⟦'),
            "{kept}"
        );
    }
}

#[test]
fn what_only_looks_like_it_stays() {
    let same = [
        "4111 1111 1111 1112 is no card",
        "DE88 3704 0044 0532 0130 00 is no IBAN",
        "order 2026-11-23 14:30, version 1.2.3, 12345678901",
        "a@b, @name, name@host, x@1.2.3.4",
        "sk-short, ask-0123456789abcdefghijkl, 0x5550109999",
        "+1 2 3, C++ 2011, 1+1",
        "",
        "⟦email:3fa2⟧ ünïcödé ٣",
        // A fraction, times in milli-, micro- and nanoseconds, a word with hyphens, a name in
        // Python, an image with its hash.
        "0.5234567890123452, 1732587366122, 1732587366123453, 1732587366123456787",
        "sk-circle-fade-dot-container, hf_transformers_dataset_loader_name",
        "sk-folding-cube-spinner12, pk-lf-customer-profile-2024, rk-business-process-v2-final, sk-h264-encoder-4k-final",
        "hf_transformersdatasetloadernamesofall, SK0123456789abcdefABCDEF0123456789abcdef01234567",
        // Dates, sums, decimals, addresses of hosts, numbers in a row, in columns and of a diff.
        "+2024-01-15, +20240115, x + 10000000, base + 100000000, base +100000000, +0.12345678, +3.14159265, +48.858370",
        "+192.168.100.200, +212.168.100.200, +1 2 3 4 5 6 7 8, +49 1 2 3 4 5 6 7, +2500 -1300, 0020 0030 0040 0050, 0012345678",
        "640 480 1920, 200 300 4000 ms, 404 500 1000, 123.456.7890",
        // Numbers of one's own country, which look like any others.
        "0171 2345678, Tel. (030) 123 45 67, 06 12 34 56 78",
        "2023 2024 2025 2026, 2015 2016 2017 2018, 2024-01-07 2024-02-06, 5000 5100 5200 5300",
        "logo@2x.png, getty@tty1.service, git@github.com:org/repo.git, ssh://git@github.com/org/repo, X@W.mean(axis=0)",
        "550e8400-e29b-41d4-a716-446655440000, de88 3704 0044 0532 0130 00",
        // Encoded data.
        "data:text/plain;base64,am9lQGV4YW1wbGUub3JnIHNrLTAxMjM0NTY3ODlhYmNkZWZBQkNERUY=",
        "react@18.3.0-beta.rc1, https://h/nginx:1.2@sha256:abc, https://$USER:$PASSWORD@h",
    ];
    for text in same {
        let (out, counts) = Redactor::new([7; 32], []).mask_text(text);
        assert_eq!((out.as_str(), counts.len()), (text, 0));
    }
}

/// A key within the data of an image would be one by chance; a value that is known as a secret is
/// not.
#[test]
fn packed_data_stay_as_they_are_but_for_what_is_known_by_its_value() {
    let mut state = 1_u64;
    let mut random = |signs: &[u8]| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        char::from(signs[usize::try_from(state >> 33).unwrap() % signs.len()])
    };
    for more in ["+/", "-_"] {
        let signs = format!("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789{more}");
        let packed: String = (0..1 << 20).map(|_| random(signs.as_bytes())).collect();
        for text in [&packed, &packed.replace('/', r"\/")] {
            assert!(kinds(text) == *text, "{more}");
        }
        let row = &packed[..500];
        let key = "sk-0123456789abcdefABCDEF";
        let text = format!("data:image/png;base64,{row}/{key}/hunter2-is-secret/{row}\n{key}");
        assert_eq!(
            kinds(&text),
            format!("data:image/png;base64,{row}/{key}/<secret>/{row}\n<secret>")
        );
        let row = row.replace(['+', '/'], "_");
        assert_eq!(kinds(&format!("k=eyJ{row}.{row}.{row} ")), "k=<secret> ");
    }
}

#[test]
fn a_private_key_is_replaced_and_who_names_one_keeps_the_text_behind_it() {
    let (dashes, line) = ("-".repeat(5), "MIIEpAIBAAKCAQEA0123456789abcdef+/ABCDEF");
    let begin = format!("{dashes}BEGIN RSA PRIVATE KEY{dashes}");
    let same = [
        format!("The rule finds \"{begin}\" in files. Then the next sentence must stay."),
        format!("{begin} internationalization begins so"),
        format!("{begin}\n\nMIIE and so on"),
    ];
    for text in same {
        assert_eq!(kinds(&text), text);
    }
    // Cut off, with the headers of a password, and escaped.
    let headers = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n";
    for (text, expected) in [
        (
            format!("{begin}\n{line}\n{line}\nabc= and more"),
            "<secret> and more",
        ),
        (format!("{begin}\n{headers}{line}\nMII"), "<secret>"),
        (
            format!("{{\"k\":\"{begin}\\n{line}\\r\\n{line}\\n\",\"n\":1}}"),
            r#"{"k":"<secret>\n","n":1}"#,
        ),
        // Numbered, as tools that read files print it, and cut off.
        (
            format!("     1\t{begin}\n     2\t{line}\n     3\t{line}\n"),
            "     1\t<secret>\n",
        ),
    ] {
        assert_eq!(kinds(&text), expected, "{text}");
    }
}

#[test]
fn a_private_key_is_replaced_whatever_stands_before_its_lines() {
    let (dashes, line) = ("-".repeat(5), "MIIEpAIBAAKCAQEA0123456789abcdef+/ABCDEF");
    let (begin, end) = (
        format!("{dashes}BEGIN PRIVATE KEY{dashes}"),
        format!("{dashes}END PRIVATE KEY{dashes}"),
    );
    for before in [
        "    ", "\t", "> ", "  12→", "   12\t", "+ ", "# ", "\"", "// ",
    ] {
        let text =
            format!("key: |\n{before}{begin}\n{before}{line}\n{before}{line}\n{before}{end}\nrest");
        assert_eq!(
            kinds(&text),
            format!("key: |\n{before}<secret>\nrest"),
            "{before:?}"
        );
    }
    let one = format!("KEY = \"{begin} {line} {line} {end}\"");
    assert!(!kinds(&one).contains(line), "{one}");
    assert_eq!(
        kinds(&format!("{begin} and {end} stand around a key")),
        format!("{begin} and {end} stand around a key")
    );
}

#[test]
fn a_name_far_before_its_sign_is_the_name_of_its_value() {
    let value = concat!("vZcmT4a4Ad5y", "2FibpBV62h9M");
    assert!(
        !kinds(&format!(
            "api_token                           = \"{value}\""
        ))
        .contains(value)
    );
}

#[test]
fn passwords_in_addresses_are_replaced_with_whatever_signs_they_have() {
    for address in [
        "postgres://user:$ecret99@host/db",
        "postgres://user:*secret99@host/db",
        "postgres://user:%40secret99@host/db",
        "postgres://user:%24uperSecret99@host/db",
        "postgres://admin:S3cr#t-pass9@db/x",
        "mongodb+srv://svc:abc/def9@host/x",
        "postgres://svc:p@ss.w0rd!x9@db.internal/x",
        "postgres://svc:p@ss#w/rd9@db.internal:5432,db2/x",
        "redis://:123456@h",
        "https://ann:p@ss9@host/x",
    ] {
        let (scheme, rest) = address.split_once("://").unwrap();
        let host = rest.rsplit_once('@').unwrap().1;
        assert_eq!(
            kinds(&format!("<{address}>")),
            format!("<{scheme}://<secret>@{host}>"),
            "{address}"
        );
    }
    for address in [
        "http://host:8080@x",
        "postgres://u:$NAME@h/db, postgres://u:${NAME}@h, postgres://u:{name}@h, postgres://u:<name>@h, postgres://u:***@h",
        "mysql://$user:$password@$host, mysql://u:%s@h, mysql://u:%(pw)s@h, postgres://:@h",
        "postgres://host:5432/db?user=x@y, oci://ghcr.io/org/x:1.2@sha256:9f86, git+https://h/nginx:1.2@v3",
    ] {
        assert_eq!(kinds(address), address);
    }
}

#[test]
fn a_placeholder_is_the_same_for_the_same_value_and_another_for_another_user() {
    let of = |salt: u8, text: &str| Redactor::new([salt; 32], []).mask_text(text).0;
    assert_eq!(
        of(1, "a@example.org a@example.org")
            .split(' ')
            .collect::<std::collections::BTreeSet<_>>()
            .len(),
        1
    );
    assert_ne!(of(1, "a@example.org"), of(1, "b@example.org"));
    assert_ne!(of(1, "a@example.org"), of(2, "a@example.org"));
}

#[test]
fn strings_of_a_body_are_replaced_and_every_other_byte_stays() {
    let body = r#"{"messages":[{"content":"mail a@example.org\nor \u0062@example.org","n":1.0}],"b":["x"]}"#;
    let mut redacted = Vec::new();
    let out = Redactor::new([1; 32], []).mask_json(body, "/request", &mut redacted);
    assert!(
        out.starts_with(r#"{"messages":[{"content":"mail ⟦email:"#)
            && out.ends_with(r#"⟧","n":1.0}],"b":["x"]}"#),
        "{out}"
    );
    let describe = |one: &ctxc::internals::record::recording::MaskedCount| {
        format!("{} {} {}", one.pointer, one.kind, one.count)
    };
    assert_eq!(
        redacted.iter().map(describe).collect::<Vec<_>>(),
        ["/request/messages/0/content email 2"]
    );
}

#[test]
fn a_long_text_of_nothing_takes_linear_time() {
    let text = "a.".repeat(200_000) + &"1-".repeat(200_000) + &"AB12 ".repeat(100_000);
    let begun = std::time::Instant::now();
    Redactor::new([1; 32], []).mask_text(&text);
    // Each line begins an object that nothing ends.
    let cut = "{\"a\":[\n".repeat(100_000);
    CallMask::new([1; 32], [], RecordedContent::Redacted).mask_stream(
        &cut,
        &[cut.len()],
        StreamEnding::Cut,
        &mut Vec::new(),
    );
    assert!(begun.elapsed().as_secs() < 20);
}

#[test]
fn what_is_written_with_escapes_is_found_as_it_reads() {
    let key = "sk-0123456789abcdefABCDEF";
    let cases = [
        (
            r#"{"to":"ann\u0040example.org"}"#.to_owned(),
            r#"{"to":"<email>"}"#,
        ),
        (
            r#"{"to":"\u0061nn@example.org","n":1}"#.to_owned(),
            r#"{"to":"<email>","n":1}"#,
        ),
        (r"'ann\x40example.org'".to_owned(), "'<email>'"),
        (
            r#"{"a":"{\"to\":\"ann\\u0040example.org\"}"}"#.to_owned(),
            r#"{"a":"{\"to\":\"<email>\"}"}"#,
        ),
        (
            r#"{"a":"x\nann@example.org"}"#.to_owned(),
            r#"{"a":"x<email>"}"#,
        ),
        (
            format!(r#"{{"a":"\/{}"}}"#, key.replace('-', r"\u002d")),
            r#"{"a":"\/<secret>"}"#,
        ),
        (
            "/search?to=ann%40example.org&n=1".to_owned(),
            "/search?to=<email>&n=1",
        ),
        ("mailto:ann%2540example.org".to_owned(), "mailto:<email>"),
        (format!("?k={}", key.replace('-', "%2D")), "?k=<secret>"),
        ("?t=hunter2%2dis%2Dsecret.".to_owned(), "?t=<secret>."),
        (
            r#"{"n":"%2B49 30 1234567"}"#.to_owned(),
            r#"{"n":"<phone>"}"#,
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(kinds(&text), expected, "{text}");
        // Valid JSON stays valid JSON.
        let is_json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
        assert_eq!(is_json(&text), is_json(expected), "{text}");
    }
    // A text in another script beside it, as it is or escaped, and a secret with letters of its
    // own.
    let cases = [
        ("请联系joe@example.com谢谢".to_owned(), "请联系<email>谢谢"),
        (format!("密钥是{key}请保密"), "密钥是<secret>请保密"),
        (
            "カードは4111111111111111です".to_owned(),
            "カードは<card>です",
        ),
        ("müller@example.de".to_owned(), "<email>"),
        (format!("_{key}_ "), "_<secret> "),
        (
            format!(r#"{{"k":"\u201c{key}\u201d"}}"#),
            r#"{"k":"\u201c<secret>\u201d"}"#,
        ),
        (
            r#"{"k":"\u20144111111111111111"}"#.to_owned(),
            r#"{"k":"\u2014<card>"}"#,
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(kinds(&text), expected, "{text}");
    }
    let own = Redactor::new([7; 32], ["pässwörd-geheim".to_owned()]);
    for text in [
        "a pässwörd-geheim",
        r#"{"pw":"p\u00e4ssw\u00f6rd-geheim"}"#,
        "?pw=p%C3%A4ssw%C3%B6rd-geheim",
    ] {
        assert!(!own.mask_text(text).0.contains("geheim"), "{text}");
    }
    // Escapes alone change nothing.
    for text in [
        r"C:\users\new\bin",
        "100 %, 50%25 and %zz",
        r"\u00e4 \ud83d\ude00 \",
        "a\\",
    ] {
        assert_eq!(kinds(text), text);
    }
}

/// Interleaved pieces of a stream belong to their choices; the log of tokens beside the words
/// repeats the words.
#[test]
fn no_turn_and_no_second_place_in_a_stream_keeps_a_value() {
    let mask = CallMask::new([7; 32], [], RecordedContent::Redacted);
    let kept = |text: &str| {
        mask.mask_stream(text, &[text.len()], StreamEnding::Whole, &mut Vec::new())
            .concat()
    };
    let chunk = |index: u8, text: &str| {
        format!(
            "data: {}\n\n",
            serde_json::json!({"choices": [{"index": index, "delta": {"content": text}}]})
        )
    };
    let turns = [
        chunk(0, "my sk-pla"),
        chunk(1, "write to joe.pl"),
        chunk(0, "nted01234567"),
        chunk(1, "anted@example.com"),
        chunk(0, "89ABCDEF "),
    ];
    let out = kept(&turns.concat());
    assert!(
        !out.contains("nted01234567") && !out.contains("joe.pl") && out.contains("⟦email"),
        "{out}"
    );
    let response = serde_json::json!({"choices": [{"index": 0, "message": {"content": "to joe@example.com"},
        "logprobs": {"content": [{"token": "joe", "bytes": [106, 111, 101], "logprob": -0.1}]}}]});
    let out = mask.mask_body(&response.to_string(), "/response", &mut Vec::new());
    assert!(
        !out.contains("\"joe\"") && !out.contains("106") && out.contains("⟦email"),
        "{out}"
    );
    let spoken = |text: &str| {
        format!(
            "data: {}\n\n",
            serde_json::json!({"choices": [{"index": 0, "delta": {"audio": {"transcript": text}}}]})
        )
    };
    assert!(!kept(&[spoken("joe.plan"), spoken("ted@example.com ")].concat()).contains("joe.plan"));
    // The fields of a request, and of a tool with such a name, stay.
    let asked = r#"{"logprobs":true,"tools":[{"parameters":{"properties":{"token":{},"logprobs":{"type":"boolean"}}}}]}"#;
    assert_eq!(mask.mask_body(asked, "/request", &mut Vec::new()), asked);
    // Gemini's list, written over many lines and cut; two parts of one answer; a block that begins
    // with words; a name that no table has.
    let part =
        |text: &str| serde_json::json!({"candidates": [{"content": {"parts": [{"text": text}]}}]});
    let list = serde_json::to_string_pretty(&[
        part("mail joe.plan"),
        part("ted@example.com or "),
        part("not"),
    ])
    .unwrap();
    for list in [&list, &list[..list.len() - 40]] {
        let out = kept(list);
        assert!(
            !out.contains("joe.plan")
                && !out.contains("ted@ex")
                && out.contains("⟦email")
                && out.contains("mail "),
            "{out}"
        );
    }
    let parts = r#"data: {"candidates":[{"content":{"parts":[{"text":"joe.plan"},{"text":"ted@example.com"}]}}]}"#;
    let blocks = "data: {\"index\":0,\"content_block\":{\"text\":\"joe.plan\"}}\n\ndata: {\"index\":0,\"delta\":{\"text\":\"ted@example.com\"}}\n\n";
    let other = "{\"response\":\"joe.plan\"}\n{\"response\":\"ted@example.com\"}\n";
    for stream in [parts, blocks, other] {
        assert!(!kept(stream).contains("joe.plan"), "{}", kept(stream));
    }
    // Equal pieces form a number, and the metadata of each event forms none.
    let card = chunk(0, "4242").repeat(4);
    assert!(!kept(&card).contains("4242"), "{}", kept(&card));
    let own = "{\"user\":\"ann@example.org\",\"response\":\"a \"}\n".repeat(3);
    assert_eq!(kept(&own).matches("⟦email").count(), 3, "{}", kept(&own));
    // The metadata of each event is no text.
    let same = "{\"model\":\"m\",\"system\":\"fp_1\",\"response\":\"a \"}\n".repeat(3);
    assert_eq!(kept(&same), same);
    // Words that are no event stay.
    assert_eq!(
        kept("denied: {\"why\": too many}"),
        "denied: {\"why\": too many}"
    );
    // The stream breaks off in the middle of an event, and of a value.
    let cut = chunk(0, "mail joe.planted@exa")
        + "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"mple.com and";
    let out = kept(&cut);
    assert!(
        !out.contains("joe.planted") && !out.contains("mple.com") && out.contains("mail "),
        "{out}"
    );
    // At the end of an event, in groups of digits, and in an answer that is no stream.
    let kept = |text: &str| {
        mask.mask_stream(text, &[text.len()], StreamEnding::Cut, &mut Vec::new())
            .concat()
    };
    for (text, gone) in [
        ("mail joe.planted@exa", "joe.planted"),
        ("pay 4111 1111 1111 11", "1111"),
        ("call +49 30 12", "+49"),
    ] {
        let out = kept(&chunk(0, text));
        assert!(!out.contains(gone) && out.contains(&text[..4]), "{out}");
        let cut = format!("{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}");
        let out = kept(&cut);
        assert!(
            !out.contains(gone) && out.contains(&text[..4]) && out.contains("content"),
            "{out}"
        );
    }
}

/// Half of a surrogate pair is no readable text, and the rest of the string is masked all the same.
#[test]
fn a_string_with_half_a_pair_is_masked_as_it_is_written() {
    let mask = CallMask::new([7; 32], [], RecordedContent::Redacted);
    let body = r#"{"content":"joe@example.com \ud800 and joe\u0040example.com","n":1}"#;
    let out = mask.mask_body(body, "/request", &mut Vec::new());
    assert!(
        !out.contains("example")
            && out.contains(r" \ud800 and ⟦email:")
            && out.ends_with(r#"","n":1}"#),
        "{out}"
    );
}

/// A text with a value masked before, and one that is no JSON, contain other words.
#[test]
fn without_words_no_text_is_kept_beside_a_placeholder_or_as_it_came() {
    let mask = CallMask::new([7; 32], [], RecordedContent::Shape);
    let out = mask.mask_body(
        r#"{"content":"joe@example.com asks for Spade"}"#,
        "/request",
        &mut Vec::new(),
    );
    assert!(!out.contains("Spade") && out.contains(" bytes:"), "{out}");
    let stream =
        "event: message\ndata: {\"text\":\"Marlowe\"}\n\ndata: Spade is here\n\ndata: [DONE]\n\n";
    for text in [stream, "<html>Spade</html>", "{\"content\":\"Spade is"] {
        let out = mask
            .mask_stream(text, &[text.len()], StreamEnding::Cut, &mut Vec::new())
            .concat();
        assert!(!out.contains("Spade") && !out.contains("Marlowe"), "{out}");
        assert!(
            text != stream
                || out.starts_with("event: message\ndata: {\"text\":")
                    && out.contains("\ndata: [DONE]\n\n"),
            "{out}"
        );
    }
}
