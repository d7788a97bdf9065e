//! Markdown of the book as HTML: headings with anchors, programs in color, links to pages.
//!
//! Takes the Markdown of one page; gives the HTML of its content, and its sections for the search.
//! Reads no file.

use felis::editor::{TokenClass, tokens};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use std::collections::HashMap;

/// A section of a page: what stands below a heading.
pub struct Section {
    /// The heading, as plain text.
    pub heading: String,
    /// The anchor of the heading; empty for the title of the page.
    pub anchor: String,
    /// The text, a line for each paragraph and for each line of a program.
    pub text: String,
}

/// A page as HTML.
pub struct Rendered {
    /// The HTML of the content.
    pub html: String,
    /// The sections.
    pub sections: Vec<Section>,
}

/// Renders a page. `figures` returns the HTML of the pictures that a program makes, which stands
/// below it.
pub fn render(text: &str, figures: &mut dyn FnMut(&str, &str) -> String) -> Rendered {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut events: Vec<Event<'_>> = Vec::new();
    let mut sections: Vec<Section> = Vec::new();
    let mut anchors: HashMap<String, usize> = HashMap::new();
    let mut parser = Parser::new_ext(text, options);
    while let Some(event) = parser.next() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let inner: Vec<Event<'_>> = parser
                    .by_ref()
                    .take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))))
                    .collect();
                let plain = plain_text(&inner);
                let anchor = anchor_of(&plain, &mut anchors);
                let tag = tag_of(level);
                let links = inner.iter().any(|event| matches!(event, Event::Start(Tag::Link { .. })));
                let mut words = String::new();
                html::push_html(&mut words, inner.into_iter().map(with_page_link));
                // A link within a link is none.
                let words = match level {
                    HeadingLevel::H1 => words,
                    _ if links => words,
                    _ => format!("<a class=\"anchor\" href=\"#{anchor}\">{words}</a>"),
                };
                events.push(Event::Html(format!("<{tag} id=\"{anchor}\">{words}</{tag}>\n").into()));
                let anchor = if level == HeadingLevel::H1 { String::new() } else { anchor };
                sections.push(Section { heading: plain, anchor, text: String::new() });
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                let info = match &kind {
                    CodeBlockKind::Fenced(info) => info.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                let mut code = String::new();
                for event in parser.by_ref() {
                    match event {
                        Event::Text(text) => code.push_str(&text),
                        Event::End(TagEnd::CodeBlock) => break,
                        _ => {}
                    }
                }
                add_text(&mut sections, &code);
                events.push(Event::Html(code_block(&info, &code).into()));
                events.push(Event::Html(figures(&info, &code).into()));
            }
            Event::Start(Tag::Table(alignments)) => {
                // A table that is wider than the page scrolls by itself.
                events.push(Event::Html("<div class=\"table\">".into()));
                events.push(Event::Start(Tag::Table(alignments)));
            }
            Event::End(TagEnd::Table) => {
                events.push(Event::End(TagEnd::Table));
                events.push(Event::Html("</div>\n".into()));
            }
            event => {
                match &event {
                    Event::Text(text) | Event::Code(text) => add_words(&mut sections, text),
                    Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::TableCell) => {
                        add_words(&mut sections, " ");
                    }
                    Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableRow | TagEnd::TableHead) => {
                        add_text(&mut sections, "\n");
                    }
                    _ => {}
                }
                events.push(with_page_link(event));
            }
        }
    }
    let mut html = String::with_capacity(text.len() * 2);
    html::push_html(&mut html, events.into_iter());
    Rendered { html, sections }
}

/// Adds words to the last section.
fn add_words(sections: &mut [Section], words: &str) {
    if let Some(last) = sections.last_mut() {
        last.text.push_str(words);
    }
}

/// Adds lines to the last section.
fn add_text(sections: &mut [Section], text: &str) {
    add_words(sections, text);
    if let Some(last) = sections.last_mut()
        && !last.text.ends_with('\n')
    {
        last.text.push('\n');
    }
}

/// Returns the words of a heading without marks.
fn plain_text(events: &[Event<'_>]) -> String {
    let words = events.iter().map(|event| match event {
        Event::Text(text) | Event::Code(text) => text.as_ref(),
        Event::SoftBreak => " ",
        _ => "",
    });
    words.collect()
}

/// Returns the anchor of a heading: its letters and digits in lower case, with `-` between words; a
/// number makes it differ from earlier ones.
fn anchor_of(heading: &str, known: &mut HashMap<String, usize>) -> String {
    let letters = heading.trim().to_lowercase();
    let letters = letters.chars().filter_map(|c| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    });
    let anchor: String = letters.collect();
    let anchor = if anchor.is_empty() { "section".to_string() } else { anchor };
    let count = known.entry(anchor.clone()).or_default();
    *count += 1;
    if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
}

/// Returns the tag of a heading.
fn tag_of(level: HeadingLevel) -> &'static str {
    match level {
        HeadingLevel::H1 => "h1",
        HeadingLevel::H2 => "h2",
        _ => "h3",
    }
}

/// Returns the beginning of a link to a page of the book as that of one to its HTML; any other
/// event as it is.
fn with_page_link(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let dest_url = page_link(&dest_url).into();
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        event => event,
    }
}

/// Returns the target of a link to a page of the book as that of one to its HTML.
fn page_link(target: &str) -> String {
    if target.contains("://") {
        return target.to_string();
    }
    match target.split_once(".md") {
        Some((page, rest)) if rest.is_empty() || rest.starts_with('#') => format!("{page}.html{rest}"),
        _ => target.to_string(),
    }
}

/// Returns a program or an output as HTML.
fn code_block(info: &str, code: &str) -> String {
    let kind = info.split([' ', ',']).next().unwrap_or_default();
    let class = match kind {
        "output" | "message" | "session" | "console" | "verdict" => kind,
        "felis" | "felis-part" => "felis",
        _ => "text",
    };
    let inner = if class == "felis" { in_color(code) } else { escape(code) };
    format!("<pre class=\"{class}\"><code>{inner}</code></pre>\n")
}

/// Returns a program as HTML, with the classes of its tokens.
fn in_color(code: &str) -> String {
    let (mut out, mut end) = (String::with_capacity(code.len() * 2), 0);
    for (range, class) in tokens(code) {
        out.push_str(&escape(&code[end..range.start]));
        end = range.end;
        let class = match class {
            TokenClass::Keyword => "k",
            TokenClass::Number => "n",
            TokenClass::Text => "s",
            TokenClass::Comment => "c",
            TokenClass::TypeName => "t",
            _ => {
                out.push_str(&escape(&code[range]));
                continue;
            }
        };
        out.push_str(&format!("<span class=\"{class}\">{}</span>", escape(&code[range])));
    }
    out + &escape(&code[end..])
}

/// Escapes the characters that HTML reserves.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn a_page_has_anchors_colors_links_and_figures() {
        let text = "# A `title`\n\nWords, [a link](laws.md#one) and [out](https://a.b/c.md).\n\n## Two words\n\n\
                    ```felis\nval x = 1; // <one>\n```\n\n## [Two words](kinds.md)\n\n| a | b |\n|---|---|\n| `1 < 2` | 3 |\n";
        let page = render(text, &mut |info, code| format!("<!-- {info}: {} -->\n", code.len()));
        assert_eq!(
            page.html,
            "<h1 id=\"a-title\">A <code>title</code></h1>\n\
             <p>Words, <a href=\"laws.html#one\">a link</a> and <a href=\"https://a.b/c.md\">out</a>.</p>\n\
             <h2 id=\"two-words\"><a class=\"anchor\" href=\"#two-words\">Two words</a></h2>\n\
             <pre class=\"felis\"><code><span class=\"k\">val</span> x = <span class=\"n\">1</span>; \
             <span class=\"c\">// &lt;one&gt;</span>\n</code></pre>\n\
             <!-- felis: 20 -->\n\
             <h2 id=\"two-words-1\"><a href=\"kinds.html\">Two words</a></h2>\n\
             <div class=\"table\"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>\n\
             <tr><td><code>1 &lt; 2</code></td><td>3</td></tr>\n</tbody></table>\n</div>\n"
        );
        let sections: Vec<_> = page.sections.iter().map(|s| (&*s.heading, &*s.anchor, &*s.text)).collect();
        assert_eq!(
            sections,
            [
                ("A title", "", "Words, a link and out.\n"),
                ("Two words", "two-words", "val x = 1; // <one>\n"),
                ("Two words", "two-words-1", "a b \n1 < 2 3 \n"),
            ]
        );
    }
}
