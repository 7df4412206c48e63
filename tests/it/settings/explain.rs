//! Resolved settings as JSON: the keys that other programs rely on.

use ctxc::internals::base::span::{Span, Spanned};
use ctxc::internals::settings::data::SettingsData;
use ctxc::internals::settings::explain::SettingsView;
use ctxc::internals::settings::layers::{Declarations, DeclaredDefault, Layers};
use ctxc::internals::settings::resolve::resolve;
use ctxc::internals::template::setting::{Fresh, Inherit, SettingName, WrittenSettings};
use pretty_assertions::assert_eq;

fn layers() -> Layers {
    let written = WrittenSettings {
        fresh_context: Some(Spanned::new(Fresh::Disabled, Span::new(40, 50))),
        ..WrittenSettings::default()
    };
    let default = DeclaredDefault {
        operator: "atomic".into(),
        subtype: Some("subtask".into()),
        written,
        file: 0,
    };
    Layers::new(&Declarations {
        files: vec!["ctxc.toml".into()],
        rows: vec![],
        defaults: vec![default],
    })
}

#[test]
fn a_setting_shows_value_origin_and_what_it_beat() {
    let layers = layers();
    let written = WrittenSettings {
        fresh_context: Some(Spanned::new(Fresh::Enabled, Span::new(7, 14))),
        ..WrittenSettings::default()
    };
    let resolved = resolve(
        layers.resolve_row("atomic", Some("subtask")).unwrap(),
        &layers,
        &written,
    );
    let view = SettingsView {
        resolved: &resolved,
        layers: &layers,
        path: "templates/a.xml",
    };
    insta::assert_json_snapshot!(view.setting_data(SettingName::FreshContext), @r#"
    {
      "value": "enabled",
      "applies": true,
      "origin": {
        "layer": "template",
        "row": "atomic.subtask",
        "path": "templates/a.xml",
        "span": {
          "start": 7,
          "end": 14
        }
      },
      "beaten": [
        {
          "value": "disabled",
          "origin": {
            "layer": "project_subtype",
            "row": "atomic.subtask",
            "path": "ctxc.toml",
            "span": {
              "start": 40,
              "end": 50
            }
          }
        },
        {
          "value": "enabled",
          "origin": {
            "layer": "subtype",
            "row": "atomic.subtask",
            "path": null,
            "span": null
          }
        },
        {
          "value": "disabled",
          "origin": {
            "layer": "operator",
            "row": "atomic",
            "path": null,
            "span": null
          }
        }
      ]
    }
    "#);
}

#[test]
fn not_applicable_is_null_and_a_written_value_there_is_kept() {
    let layers = Layers::default();
    let written = WrittenSettings {
        accumulate_data: Some(Spanned::new(true, Span::new(1, 5))),
        ..WrittenSettings::default()
    };
    let resolved = resolve(
        layers.resolve_row("script", None).unwrap(),
        &layers,
        &written,
    );
    let json = serde_json::to_value(SettingsView {
        resolved: &resolved,
        layers: &layers,
        path: "a.xml",
    })
    .unwrap();
    assert_eq!(
        json["accumulation_format"]["value"],
        serde_json::Value::Null
    );
    assert_eq!(json["accumulation_format"]["applies"], false);
    assert_eq!(json["accumulate_data"]["value"], true);
    assert_eq!(json["accumulate_data"]["applies"], false);
    assert_eq!(
        json["accumulate_data"]["beaten"][0]["value"],
        serde_json::Value::Null
    );
}

#[test]
fn what_is_written_reads_back_the_same() {
    let layers = layers();
    let written = WrittenSettings {
        inherit_context: Some(Spanned::new(Inherit::Subset, Span::new(1, 2))),
        ..WrittenSettings::default()
    };
    for (id, _) in layers.rows() {
        let resolved = resolve(id, &layers, &written);
        let view = SettingsView {
            resolved: &resolved,
            layers: &layers,
            path: "a.xml",
        };
        let text = serde_json::to_string(&view).unwrap();
        let read: SettingsData = serde_json::from_str(&text).unwrap();
        assert_eq!(read, view.settings_data());
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }
}
