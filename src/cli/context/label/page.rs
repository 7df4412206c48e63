//! The questions as one self-contained page: verdicts are saved as a file of labels. Nothing is sent
//! anywhere, and the scores of the judge are not in it.

use super::item::LabelItem;
use crate::cli::render::markup::{escape_html as text, escape_html_lines};
use crate::schema::json::names;
use serde_json::json;
use std::fmt::Write as _;

const STYLE: &str = "\
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:52rem;padding:0 1rem 5rem}
fieldset{margin:1.5rem 0;border:1px solid #8886;border-radius:6px}
pre{white-space:pre-wrap;overflow-wrap:anywhere;max-height:22rem;overflow:auto;padding:.6rem;background:#8882;border-radius:4px}
label{margin-right:1rem}summary{cursor:pointer}
footer{position:fixed;inset:auto 0 0 0;padding:.8rem;background:Canvas;border-top:1px solid #8886;text-align:center}
";

const SCRIPT: &str = "\
const chosen=()=>[...document.querySelectorAll('input[type=radio]:checked')];
const count=()=>{document.getElementById('count').textContent=chosen().length+' of '+document.querySelectorAll('fieldset').length};
document.addEventListener('change',count);count();
document.getElementById('save').onclick=()=>{
  const by=document.getElementById('by').value.trim();
  if(!by){document.getElementById('by').focus();return}
  const lines=chosen().map(one=>{
    const row=JSON.parse(one.closest('fieldset').dataset.row);
    return JSON.stringify({...row,score:+one.value,by,at:one.dataset.at})+'\\n'});
  const link=document.createElement('a');
  link.href=URL.createObjectURL(new Blob(lines,{type:'application/jsonl'}));
  link.download=by.replace(/[^\\p{L}\\p{N}@._-]/gu,'-')+'-page.jsonl';
  link.click()};
document.addEventListener('change',event=>{if(event.target.type==='radio')event.target.dataset.at=new Date().toISOString().slice(0,19)+'Z'});
";

/// Renders the page.
pub(super) fn render_page(items: &[LabelItem<'_>]) -> String {
    let schema = names::LABEL;
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"generator\" content=\"{schema}\">\n\
         <title>Labels</title>\n<style>{STYLE}</style>\n<h1>Labels</h1>\n\
         <p>Judge each answer by what is there. What you save stays on your machine until you pass the file on.</p>\n"
    );
    for (number, item) in items.iter().enumerate() {
        write_item(&mut page, number, item);
    }
    page.push_str(
        "<footer><span id=\"count\"></span> <input id=\"by\" placeholder=\"your name or e-mail\" aria-label=\"your name or e-mail\"> \
         <button id=\"save\">Save labels</button></footer>\n",
    );
    // Writing to a string cannot fail.
    let _ = write!(page, "<script>{SCRIPT}</script>\n</html>\n");
    page
}

fn write_item(page: &mut String, number: usize, item: &LabelItem<'_>) {
    let LabelItem { judged, criterion } = item;
    let max = criterion.max_score;
    let row = json!({
        "schema": names::LABEL,
        "criterion": criterion.key,
        "answer": judged.answer_hash(),
        "case": judged.case,
        "max": max,
    });
    let _ = write!(
        page,
        "<fieldset data-row=\"{}\"><legend>{}</legend>\n<details><summary>request</summary><pre>{}</pre></details>\n<pre>{}</pre>\n<p>{}</p>\n",
        text(&row.to_string()),
        text(&criterion.key),
        escape_html_lines(&judged.request),
        escape_html_lines(&judged.answer),
        text(criterion.question.trim()),
    );
    for score in 0..=max {
        let meaning = criterion.anchors.get(&score);
        let meaning = meaning.map_or_else(String::new, |words| format!(": {}", words.trim()));
        let _ = writeln!(
            page,
            "<label><input type=\"radio\" name=\"q{number}\" value=\"{score}\"> {score}{}</label>",
            text(&meaning)
        );
    }
    page.push_str("</fieldset>\n");
}
