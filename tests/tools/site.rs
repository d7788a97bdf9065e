//! The book as a site: every page is there, every link leads somewhere, the pictures are those of
//! the programs, and the search knows all sections.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the values of an attribute in a page.
fn attributes<'h>(html: &'h str, name: &str) -> Vec<&'h str> {
    let mark = format!(" {name}=\"");
    html.split(&*mark).skip(1).filter_map(|rest| rest.split_once('"')).map(|(value, _)| value).collect()
}

/// Returns a path without `..`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut whole, part| {
        match part {
            std::path::Component::ParentDir => drop(whole.pop()),
            part => whole.push(part),
        }
        whole
    })
}

#[test]
fn links_of_the_site_lead_somewhere() {
    let folder = std::env::temp_dir().join(format!("felis-site-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let done = Command::new(env!("CARGO_BIN_EXE_felis")).args(["doc", "--site", "-o"]).arg(&folder).output();
    let done = done.expect("the command runs");
    assert!(done.status.success(), "{done:?}");
    let mut pages: BTreeMap<PathBuf, String> = BTreeMap::new();
    for below in ["", "library"] {
        for entry in std::fs::read_dir(folder.join(below)).expect("a folder").flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|ending| ending == "html") {
                let text = std::fs::read_to_string(&path).expect("text");
                pages.insert(path, text);
            }
        }
    }
    assert!(pages.len() > 80, "{} pages", pages.len());
    let shown = String::from_utf8(done.stdout).expect("text");
    assert!(shown.starts_with(&format!("{} pages with ", pages.len())), "{shown}");
    let mut pictures = BTreeSet::new();
    for (path, html) in &pages {
        let ids: Vec<&str> = attributes(html, "id");
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len(), "{}: an anchor is there twice", path.display());
        for target in attributes(html, "href").into_iter().chain(attributes(html, "src")) {
            if target.contains("://") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let to = match file {
                "" => path.clone(),
                file => normal(&path.parent().expect("a folder").join(file)),
            };
            assert!(to.is_file(), "{}: `{target}`", path.display());
            if let (Some(page), false) = (pages.get(&to), anchor.is_empty()) {
                let known = attributes(page, "id").contains(&anchor);
                assert!(known, "{}: `{target}` has no such anchor", path.display());
            }
            pictures.extend(target.contains("pictures/").then_some(to));
        }
    }
    // All pictures are shown, among them those of the page about them.
    let files = std::fs::read_dir(folder.join("pictures")).expect("a folder").count();
    assert_eq!(pictures.len(), files);
    assert!(files > 8, "{files} pictures");
    let sections = std::fs::read_to_string(folder.join("sections.js")).expect("text");
    let sections = sections.trim().strip_prefix("receiveSections(").and_then(|rest| rest.strip_suffix(");"));
    let sections: Vec<[String; 5]> = serde_json::from_str(sections.expect("a call")).expect("JSON");
    for [page, _, _, anchor, _] in &sections {
        let html = pages.get(&folder.join(format!("{page}.html"))).unwrap_or_else(|| panic!("{page}"));
        assert!(anchor.is_empty() || attributes(html, "id").contains(&&**anchor), "{page}#{anchor}");
    }
    let finds =
        |word: &str| sections.iter().any(|[page, .., text]| page == "pictures" && text.contains(word));
    assert!(finds("picture_grid") && finds("histogram_bins"));
    std::fs::remove_dir_all(&folder).expect("the folder is removed");
}
