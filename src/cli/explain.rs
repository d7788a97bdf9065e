//! `felis explain`: the page of a diagnostic in the book, as text for a terminal.

use super::exit;
use super::output::{Output, print_error, wrap_for_stdout};
use felis::session::{reference, similar};

/// Prints the page of a code, or all codes with a sentence each.
pub fn explain(output: &mut Output, code: Option<&str>) -> u8 {
    let Some(code) = code else {
        let mut codes: Vec<_> = reference::codes().collect();
        codes.sort();
        for (code, sentence) in codes {
            output.write(&format!("{code}  {}\n", sentence.replace('\n', " ")));
        }
        return exit::OK;
    };
    let code = normalize_code(code);
    match reference::explain(&code) {
        Some(page) => {
            output.write(&format!(
                "{}\n\n{}",
                code.to_uppercase(),
                wrap_for_stdout(markdown_to_text(&page), 0)
            ));
            exit::OK
        }
        None => {
            output.flush();
            let near = similar_codes(&code);
            print_error(&format!(
                "felis: no diagnostic has the code `{code}`{}",
                if near.is_empty() { "" } else { "; near it are" }
            ));
            for (code, sentence) in near {
                print_error(&format!("  {code}  {}", sentence.replace('\n', " ")));
            }
            print_error("`felis explain` lists all codes");
            exit::USAGE
        }
    }
}

/// Returns a code with all its digits; a number without a letter is that of an error.
fn normalize_code(code: &str) -> String {
    let (letter, digits) = match code.chars().next() {
        Some(letter) if letter.is_ascii_alphabetic() => (letter.to_ascii_uppercase(), &code[1..]),
        _ => ('E', code),
    };
    digits.parse::<u16>().map_or(code.to_string(), |number| format!("{letter}{number:04}"))
}

/// The maximum number of suggested codes.
const MAX_SUGGESTIONS: usize = 5;

/// Returns suggestions for an unknown code: the nearest codes of the same hundred; without those,
/// the code most similar in spelling. For a word that is not a code, returns the codes whose
/// sentences contain it.
fn similar_codes(word: &str) -> Vec<(&'static str, &'static str)> {
    let number = |code: &str| code.get(1..).and_then(|digits| digits.parse::<u32>().ok());
    let code = word.to_uppercase();
    let mut found: Vec<_> = match number(&code) {
        Some(wanted) => {
            let mut found: Vec<_> =
                reference::codes().filter(|(other, _)| other.get(..3) == code.get(..3)).collect();
            found.sort_by_key(|(other, _)| number(other).map(|n| n.abs_diff(wanted)));
            found
        }
        None => {
            let word = word.to_lowercase();
            reference::codes().filter(|(_, sentence)| sentence.to_lowercase().contains(&word)).collect()
        }
    };
    if found.is_empty() {
        let alike = similar(&code, reference::codes().map(|(code, _)| code));
        found.extend(reference::codes().filter(|(code, _)| alike.as_deref() == Some(*code)));
    }
    found.truncate(MAX_SUGGESTIONS);
    found
}

/// Converts Markdown to text: programs are indented instead of fenced.
pub fn markdown_to_text(page: &str) -> String {
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
