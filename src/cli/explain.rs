//! `felis explain`: the page of a diagnostic, as the book has it, for a terminal.

use super::exit;
use super::output::{Output, complain};
use felis::session::{reference, similar};

/// Prints the page of a code, or all codes with a sentence each.
pub fn explain(output: &mut Output, code: Option<&str>) -> u8 {
    let Some(code) = code else {
        for (code, sentence) in reference::codes() {
            output.write(&format!("{code}  {}\n", sentence.replace('\n', " ")));
        }
        return exit::OK;
    };
    // A number is enough.
    let code = match code.parse::<u16>() {
        Ok(number) => format!("E{number:04}"),
        Err(_) => code.to_uppercase(),
    };
    match reference::explain(&code) {
        Some(page) => {
            output.write(&format!("{code}\n\n{}", plain(&page)));
            exit::OK
        }
        None => {
            output.flush();
            let known = similar(&code, reference::codes().map(|(code, _)| code));
            let meant = known.map_or(String::new(), |code| format!("; did you mean {code}?"));
            complain(&format!("felis: no diagnostic has the code `{code}`{meant}"));
            complain("`felis explain` lists all codes");
            exit::USAGE
        }
    }
}

/// Markdown with its programs indented instead of fenced.
pub fn plain(page: &str) -> String {
    let (mut out, mut inside) = (String::new(), false);
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some("") if inside => inside = false,
            Some(info) => {
                inside = true;
                let mut words = info.split_whitespace();
                if words.next() == Some("output") {
                    out.push_str("prints\n\n");
                }
                if let Some(file) = words.find_map(|word| word.strip_prefix("file=")) {
                    out.push_str(&format!("{file}:\n\n"));
                }
            }
            None if inside => out.push_str(format!("    {line}").trim_end()),
            None => out.push_str(line),
        }
        if !line.starts_with("```") {
            out.push('\n');
        }
    }
    out
}
