//! Pages as HTML: one file each and an index, which need nothing else. A field at the top of each
//! leaves in view what has all words that are typed there.

use super::{Page, Part};

/// The style sheet of pages.
const STYLE: &str = "\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 14px/1.5 ui-monospace, monospace; }
pre { padding: .6rem .8rem; border-radius: 4px; background: rgba(128, 128, 128, .13); overflow-x: auto; }
h2 { margin: 2.4rem 0 .4rem; font-size: 1.15rem; }
h2 a { color: inherit; text-decoration: none; }
.word { font-weight: normal; opacity: .6; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
dd { margin: 0; }
[hidden] { display: none; }
.searching dl { display: none; }
#search { font: inherit; width: 100%; box-sizing: border-box; padding: .4rem .6rem; }
";

/// The search of a page: hides the entries in which a word does not occur, and groups without any
/// entry in view. The field is hidden where no script runs. `/` moves to it, Escape empties it.
const SEARCH: &str = "\
<script>
const field = document.getElementById('search');
const entries = Array.from(document.querySelectorAll('.entry'));
const groups = Array.from(document.querySelectorAll('.group'));
field.hidden = false;
field.addEventListener('input', () => {
  const words = field.value.toLowerCase().split(' ').filter(word => word !== '');
  for (const entry of entries) {
    const text = (entry.textContent + ' ' + entry.title).toLowerCase();
    entry.hidden = !words.every(word => text.includes(word));
  }
  for (const group of groups) {
    group.hidden = !Array.from(group.querySelectorAll('.entry')).some(entry => !entry.hidden);
  }
  document.body.classList.toggle('searching', words.length !== 0);
});
document.addEventListener('keydown', event => {
  if (event.key === '/' && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  } else if (event.key === 'Escape' && field.value !== '') {
    field.value = '';
    field.dispatchEvent(new Event('input'));
  }
});
</script>
";

/// The field of the search.
const SEARCH_FIELD: &str =
    "<input id=\"search\" type=\"search\" placeholder=\"Search (/)\" aria-label=\"Search\" hidden>\n";

/// A page of its own.
pub fn page(page: &Page) -> String {
    let mut out = page_head(&page.name);
    out.push_str(&format!("<p><a href=\"index.html\">Index</a></p>\n<h1>{}</h1>\n", escape_html(&page.name)));
    out.push_str(SEARCH_FIELD);
    for paragraph in page.about.split("\n\n").filter(|text| !text.is_empty()) {
        out.push_str(&format!("<p>{}</p>\n", render_prose(paragraph)));
    }
    let ids = anchor_ids(page);
    out.push_str("<dl>\n");
    for (entry, id) in page.entries.iter().zip(&ids) {
        let (name, sentence) = (escape_html(&entry.name), render_prose(entry.first_sentence()));
        out.push_str(&format!("<dt><a href=\"#{id}\"><code>{name}</code></a></dt><dd>{sentence}</dd>\n"));
    }
    out.push_str("</dl>\n");
    for (entry, id) in page.entries.iter().zip(&ids) {
        let (name, word) = (escape_html(&entry.name), entry.word);
        out.push_str(&format!(
            "<section class=\"entry\">\n<h2 id=\"{id}\"><a href=\"#{id}\"><code>{name}</code></a> <span class=\"word\">{word}</span></h2>\n"
        ));
        out.push_str(&format!("<pre>{}</pre>\n", escape_html(&entry.signature)));
        for part in &entry.parts {
            out.push_str(&match part {
                Part::Prose(text) => format!("<p>{}</p>\n", render_prose(text)),
                Part::Law(law) => format!("<p>Law: {}</p>\n", render_prose(law)),
                Part::Work(work) => format!("<p>Work: {}</p>\n", render_prose(work)),
                Part::Example(expression, result) => {
                    format!("<pre>&gt; {}\n{}</pre>\n", escape_html(expression), escape_html(result))
                }
            });
        }
        out.push_str("</section>\n");
    }
    out.push_str(&format!("{SEARCH}</body>\n</html>\n"));
    out
}

/// A page that leads to all others.
pub fn index(title: &str, pages: &[Page]) -> String {
    let mut out = page_head(title);
    out.push_str(&format!("<h1>{}</h1>\n{SEARCH_FIELD}", escape_html(title)));
    for page in pages {
        let (name, file) = (escape_html(&page.name), escape_html(page.file_stem()));
        out.push_str(&format!("<section class=\"group\">\n<h2><a href=\"{file}.html\">{name}</a></h2>\n"));
        if let Some(about) = page.about.split("\n\n").next().filter(|about| !about.is_empty()) {
            out.push_str(&format!("<p>{}</p>\n", render_prose(about)));
        }
        let ids = anchor_ids(page);
        let links = page.entries.iter().zip(&ids).map(|(entry, id)| {
            format!(
                "<a class=\"entry\" href=\"{file}.html#{id}\" title=\"{}\"><code>{}</code></a>",
                escape_html(entry.first_sentence()),
                escape_html(&entry.name)
            )
        });
        out.push_str(&format!("<p>{}</p>\n</section>\n", links.collect::<Vec<_>>().join(" ")));
    }
    out.push_str(&format!("{SEARCH}</body>\n</html>\n"));
    out
}

/// Returns the beginning of an HTML page.
fn page_head(title: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        escape_html(title)
    )
}

/// A place in the page for each entry; overloads have numbers.
fn anchor_ids(page: &Page) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (at, entry) in page.entries.iter().enumerate() {
        let before = page.entries[..at].iter().filter(|other| other.name == entry.name).count();
        let plain: String = entry
            .name
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '_' { c.to_string() } else { format!("-{:x}", c as u32) }
            })
            .collect();
        out.push(if before == 0 { plain } else { format!("{plain}-{}", before + 1) });
    }
    out
}

/// Escapes the characters that HTML reserves.
fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Text with code between backticks. A backtick of the language stands between doubled ones.
fn render_prose(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('`') {
        let mark = if rest[at..].starts_with("``") { "``" } else { "`" };
        let (before, after) = (&rest[..at], &rest[at + mark.len()..]);
        let Some(end) = after.find(mark) else { break };
        out.push_str(&format!("{}<code>{}</code>", escape_html(before), escape_html(after[..end].trim())));
        rest = &after[end + mark.len()..];
    }
    out + &escape_html(rest)
}
