//! The book as a site of static pages: `felis doc --site -o FOLDER`.
//!
//! Takes the book, which is embedded, and runs its programs that draw; gives pages in HTML with a
//! search over all sections, in light or dark, that are read without a network and without a script
//! but for the search. Links are relative, so that the folder can be served from anywhere.

mod figures;
mod markdown;

use super::output::{display_path, print_error};
use super::{Shell, exit, replace};
use felis::session::book::{self, Chapter, ContentsLine};
use markdown::{Section, escape};
use std::path::Path;

/// The style sheet.
const STYLE: &str = include_str!("style.css");
/// The script of the search, of the choice of light or dark, and of the menu.
const SCRIPT: &str = include_str!("site.js");
/// The script that applies the reader's choice of light or dark before the page is shown.
const EARLY: &str = "try { const theme = localStorage.getItem('theme'); if (theme) document.documentElement.dataset.theme = theme; } catch (_) { }";

impl Shell {
    /// Writes the book as a site into a folder. Returns the exit code.
    pub(super) fn write_site(&mut self, folder: &Path) -> u8 {
        match site(folder) {
            Ok((pages, figures)) => {
                let folder = display_path(folder);
                self.output.write(&format!("{pages} pages with {figures} pictures in {folder}\n"));
                exit::OK
            }
            Err(error) => {
                print_error(&format!("felis: cannot write to `{}`: {error}", display_path(folder)));
                exit::USAGE
            }
        }
    }
}

/// Writes the site; returns the numbers of pages and of pictures.
fn site(folder: &Path) -> Result<(usize, usize), String> {
    if folder.is_file() {
        return Err("it is a file, not a folder".to_string());
    }
    for below in ["library", "pictures"] {
        std::fs::create_dir_all(folder.join(below)).map_err(|error| error.to_string())?;
    }
    let write = |name: &str, bytes: &[u8]| {
        let written = replace::replace(&folder.join(name), bytes, &|_| Ok(()));
        written.map_err(|why| format!("`{name}`: {why}"))
    };
    let contents = book::contents();
    let chapters: Vec<&Chapter> = contents.iter().filter_map(ContentsLine::chapter).collect();
    let (mut count, mut sections) = (0, Vec::new());
    for (at, chapter) in chapters.iter().enumerate() {
        let (name, base) = (file_name(chapter), base_of(chapter));
        let mut pictures = Vec::new();
        let mut show = |info: &str, code: &str| {
            if info != "felis" {
                return String::new();
            }
            let found = figures::figures(code);
            let shown = found.iter().enumerate().map(|(number, figure)| {
                let ending = if figure.file.ends_with(".png") { "png" } else { "svg" };
                let file = format!("pictures/{}_{}_{number}.{ending}", name.replace('/', "_"), pictures.len());
                // An image by itself has a pixel for each element.
                let class = if ending == "png" { " class=\"pixels\"" } else { "" };
                let caption = match figure.file.starts_with('!') {
                    true => String::new(),
                    false => format!("<figcaption><code>{}</code></figcaption>", escape(&figure.file)),
                };
                format!("<figure><img{class} src=\"{base}{file}\" alt=\"The picture of the program above\">{caption}</figure>\n")
            });
            let html: String = shown.collect();
            pictures.push(found);
            html
        };
        let page = markdown::render(&chapter.text, &mut show);
        for (program, found) in pictures.iter().enumerate() {
            for (number, figure) in found.iter().enumerate() {
                let ending = if figure.file.ends_with(".png") { "png" } else { "svg" };
                write(
                    &format!("pictures/{}_{program}_{number}.{ending}", name.replace('/', "_")),
                    &figure.bytes,
                )?;
                count += 1;
            }
        }
        let around = (at.checked_sub(1).map(|at| chapters[at]), chapters.get(at + 1).copied());
        let text = whole_page(chapter, &page.html, &contents, around);
        write(&format!("{name}.html"), text.as_bytes())?;
        sections.extend(page.sections.iter().map(|section| entry(chapter, section)));
    }
    write("style.css", STYLE.as_bytes())?;
    write("site.js", SCRIPT.as_bytes())?;
    write("sections.js", format!("receiveSections([\n{}\n]);\n", sections.join(",\n")).as_bytes())?;
    Ok((chapters.len(), count))
}

/// Returns the name of the file of a page, without ending: the first page is the index.
fn file_name(chapter: &Chapter) -> &str {
    if chapter.name == "introduction" { "index" } else { &chapter.name }
}

/// Returns the way from the folder of a page to that of the site.
fn base_of(chapter: &Chapter) -> &'static str {
    if chapter.name.contains('/') { "../" } else { "" }
}

/// Returns an entry of the search, as JSON.
fn entry(chapter: &Chapter, section: &Section) -> String {
    let words = [file_name(chapter), &chapter.title, &section.heading, &section.anchor, &section.text];
    serde_json::json!(words).to_string()
}

/// Returns a page.
fn whole_page(
    chapter: &Chapter,
    content: &str,
    contents: &[ContentsLine],
    (before, after): (Option<&Chapter>, Option<&Chapter>),
) -> String {
    let base = base_of(chapter);
    let title = escape(&chapter.title);
    let title = if chapter.name == "introduction" { title } else { format!("{title} · Felis") };
    let link = |to: &Chapter| format!("{base}{}.html", file_name(to));
    let lines = contents.iter().map(|line| match line {
        ContentsLine::Heading(words) => format!("<h2>{}</h2>\n", escape(words)),
        ContentsLine::Page { chapter: to, below } => {
            let current = if to.name == chapter.name { " aria-current=\"page\"" } else { "" };
            let class = if *below { " class=\"below\"" } else { "" };
            format!("<a{class}{current} href=\"{}\">{}</a>\n", link(to), escape(&to.title))
        }
    });
    let lines: String = lines.collect();
    let turn = |to: Option<&Chapter>, arrow: &str, relation: &str| match to {
        Some(to) => format!("<a rel=\"{relation}\" href=\"{}\">{arrow} {}</a>", link(to), escape(&to.title)),
        None => "<span></span>".to_string(),
    };
    let turns = turn(before, "←", "prev") + &turn(after, "→", "next");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <link rel=\"stylesheet\" href=\"{base}style.css\">\n<script>{EARLY}</script>\n</head>\n<body>\n\
         <header><button id=\"menu\" type=\"button\" aria-expanded=\"false\" hidden>Contents</button>\
         <a class=\"home\" href=\"{base}index.html\">Felis</a>\
         <input id=\"search\" type=\"search\" placeholder=\"Search (/)\" aria-label=\"Search\" hidden>\
         <button id=\"theme\" type=\"button\" hidden>Dark</button></header>\n\
         <div id=\"results\" role=\"region\" aria-label=\"Results\" hidden></div>\n\
         <div class=\"layout\">\n<nav class=\"contents\" aria-label=\"Contents\">\n{lines}</nav>\n\
         <main>\n{content}<div class=\"turn\">{turns}</div>\n</main>\n</div>\n\
         <script src=\"{base}site.js\" data-base=\"{base}\"></script>\n</body>\n</html>\n"
    )
}
