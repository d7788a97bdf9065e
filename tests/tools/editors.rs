//! The files for editors: the TextMate grammar is run over programs and compared with the lexer, so
//! that they stay consistent; the files of the extension are checked for consistency.

use crate::textmate::Grammar;
use felis::editor::{TokenClass, tokens};
use felis_syntax::syntax::lexer::TokenKind;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    fs::read_to_string(folder(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn grammar() -> Grammar {
    Grammar::read(&read("editors/vscode/syntaxes/felis.tmLanguage.json"))
}

/// Returns the keywords of the lexer's table.
fn keywords() -> BTreeSet<String> {
    let table = read("crates/syntax/src/syntax/token.rs");
    let tokens = table.lines().filter_map(|line| line.trim().strip_prefix("#[token(\"")?.split('"').next());
    let words = tokens.filter(|token| token.chars().all(|c| c.is_ascii_alphabetic()));
    words.map(str::to_string).collect()
}

#[test]
fn the_grammar_has_the_words_of_the_lexer_and_no_others() {
    let (grammar, lexer) = (grammar(), keywords());
    assert!(lexer.len() > 40 && lexer.contains("endmatch"), "{lexer:?}");
    for word in &lexer {
        let scope = grammar.scope_of(&format!(" {word} "), 1);
        assert!(scope.starts_with("keyword.") || scope.starts_with("constant.language"), "{word}: {scope}");
        assert!(!grammar.scope_of(&format!(" {word}' "), 1).starts_with("keyword."), "{word}' is a name");
        assert!(!grammar.scope_of(&format!(" x{word} "), 1).starts_with("keyword."), "x{word} is a name");
    }
    // The words in the lists of the grammar: all text between bars.
    let text = read("editors/vscode/syntaxes/felis.tmLanguage.json");
    let tree: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let mut listed = BTreeSet::new();
    for pattern in tree["repository"]["words"]["patterns"].as_array().expect("patterns") {
        let pattern = pattern["match"].as_str().expect("a pattern");
        let list = pattern.split("(?:").nth(1).and_then(|rest| rest.split(')').next()).expect("a list");
        listed.extend(list.split('|').map(str::to_string));
    }
    assert_eq!(listed, lexer);
}

#[test]
fn completion_offers_the_words_of_the_lexer() {
    let session = felis::session::Session::new();
    for word in keywords() {
        assert!(session.names_starting_with(&word).contains(&word), "{word}");
    }
    // Words that begin a construct in one place, and are names elsewhere.
    for word in ["at", "joint", "party"] {
        assert!(session.names_starting_with(word).contains(&word.to_string()), "{word}");
    }
}

#[test]
fn words_of_parties_are_words_where_they_begin_something() {
    let scopes = |text: &str| -> Vec<String> {
        let words = scoped(text).into_iter();
        words.filter(|(_, scope)| scope == "keyword.declaration").map(|(word, _)| word).collect()
    };
    assert_eq!(scopes("party Party = alice | bob;"), ["party"]);
    assert_eq!(scopes("joint fun told(x:int @ alice):int => x.reveal;"), ["joint", "fun"]);
    assert_eq!(scopes("val y = at alice { 1 };"), ["val", "at"]);
    assert_eq!(scopes("at {alice, bob} { println 1; }"), ["at"]);
    assert_eq!(scopes("println (x.at, at (x), party, joint + 1);"), Vec::<String>::new());
}

#[test]
fn the_grammar_sees_what_the_lexer_sees() {
    let grammar = grammar();
    let mut checked = 0;
    for place in ["examples", "stdlib", "benches/kernels"] {
        for entry in fs::read_dir(folder(place)).expect("a folder").flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != "flx") {
                continue;
            }
            let text = fs::read_to_string(&path).expect("readable");
            let scopes = grammar.scopes(&text);
            for (range, class) in tokens(&text) {
                let (scope, word) = (&scopes[range.start], &text[range.clone()]);
                let fits = match class {
                    TokenClass::Keyword => scope.starts_with("keyword."),
                    TokenClass::Number => {
                        scope.starts_with("constant.numeric") || scope.starts_with("constant.language")
                    }
                    TokenClass::Text => {
                        scope.starts_with("string.") || scope.starts_with("punctuation.definition.string")
                    }
                    TokenClass::Comment => scope.starts_with("comment."),
                    TokenClass::Name | TokenClass::TypeName => {
                        let name = ["variable.", "entity.name.", "support.type.", "storage.type.kind."];
                        // Words that are keywords in one place, and names elsewhere.
                        let sometimes =
                            matches!(word, "test" | "bench" | "layout" | "joint" | "party" | "at")
                                && scope.starts_with("keyword.declaration");
                        name.iter().any(|name| scope.starts_with(name)) || sometimes
                    }
                    TokenClass::Operator => {
                        scope.starts_with("keyword.operator")
                            || scope.starts_with("punctuation.")
                            || scope.starts_with("constant.numeric.index")
                            || scope.starts_with("variable.language.wildcard")
                    }
                    TokenClass::Open | TokenClass::Close => scope.starts_with("punctuation.bracket"),
                    TokenClass::Unreadable => true,
                };
                let line = 1 + text[..range.start].matches('\n').count();
                assert!(
                    fits,
                    "{}:{line}: `{word}` is {class:?}, and the grammar says {scope}",
                    path.display()
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 20_000, "only {checked} words were compared");
}

/// Returns the words of a text with their scopes, without the last part.
fn scoped(text: &str) -> Vec<(String, String)> {
    let scopes = grammar().scopes(text);
    let mut out: Vec<(String, String)> = Vec::new();
    for (at, c) in text.char_indices() {
        let scope = scopes[at].strip_suffix(".felis").unwrap_or(&scopes[at]).to_string();
        match out.last_mut() {
            Some((word, last)) if *last == scope => word.push(c),
            _ => out.push((c.to_string(), scope)),
        }
    }
    out.retain(|(word, scope)| !word.trim().is_empty() && !scope.is_empty());
    out.into_iter().map(|(word, scope)| (word.trim().to_string(), scope)).collect()
}

#[test]
fn scopes_of_definitions_literals_and_comments() {
    let pairs = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        all.iter().map(|(word, scope)| (word.to_string(), scope.to_string())).collect()
    };
    assert_eq!(
        scoped("export fun area[N:COMPACTLINEAR](v : int ^ N)"),
        pairs(&[
            ("export", "keyword.control.import"),
            ("fun", "keyword.declaration"),
            ("area", "entity.name.function"),
            ("[", "punctuation.bracket"),
            ("N", "entity.name.type"),
            (":", "keyword.operator"),
            ("COMPACTLINEAR", "storage.type.kind"),
            ("](", "punctuation.bracket"),
            ("v", "variable.other"),
            (":", "keyword.operator"),
            ("int", "support.type"),
            ("^", "keyword.operator"),
            ("N", "entity.name.type"),
            (")", "punctuation.bracket"),
        ])
    );
    assert_eq!(
        scoped("variant shape' = | Dot of real;"),
        pairs(&[
            ("variant", "keyword.declaration"),
            ("shape'", "entity.name.type"),
            ("=", "keyword.operator"),
            ("|", "keyword.operator"),
            ("Dot", "entity.name.type"),
            ("of", "keyword.other"),
            ("real", "support.type"),
            (";", "punctuation.separator"),
        ])
    );
    assert_eq!(
        scoped("\"a\\n\" 'b' '\\u{1f600}' `1:3 0xffu8 1_0.5e-3 x'1 g::y // end"),
        pairs(&[
            ("\"", "punctuation.definition.string.begin"),
            ("a", "string.quoted.double"),
            ("\\n", "constant.character.escape"),
            ("\"", "punctuation.definition.string.end"),
            ("'b'", "string.quoted.single"),
            ("'", "string.quoted.single"),
            ("\\u{1f600}", "constant.character.escape"),
            ("'", "string.quoted.single"),
            ("`1", "constant.numeric.index"),
            (":", "keyword.operator"),
            ("3", "constant.numeric"),
            ("0xffu8", "constant.numeric"),
            ("1_0.5e-3", "constant.numeric"),
            ("x'1", "variable.other"),
            ("g", "entity.name.namespace"),
            ("::", "punctuation.separator.namespace"),
            ("y", "variable.other"),
            ("// end", "comment.line.double-slash"),
        ])
    );
    let comment = "/// doc\n/* a /* b */ c */ x";
    assert_eq!(
        scoped(comment),
        pairs(&[
            ("/// doc", "comment.line.documentation"),
            ("/* a /* b */ c */", "comment.block"),
            ("x", "variable.other"),
        ])
    );
    // A string ends with its line.
    let unclosed = scoped("\"open\nval");
    assert_eq!(unclosed.last(), Some(&("val".to_string(), "keyword.declaration".to_string())));
}

#[test]
fn the_files_of_the_extension_fit_together() {
    let manifest: serde_json::Value =
        serde_json::from_str(&read("editors/vscode/package.json")).expect("JSON");
    let exists = |path: &serde_json::Value| {
        let path = path.as_str().expect("a path");
        assert!(folder("editors/vscode").join(path).is_file(), "{path}");
    };
    exists(&manifest["main"]);
    exists(&manifest["contributes"]["languages"][0]["configuration"]);
    exists(&manifest["contributes"]["grammars"][0]["path"]);
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let text = read("editors/vscode/language-configuration.json");
    let configuration: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    // The editor's words are the lexer's: `x'` is one.
    let words = configuration["wordPattern"].as_str().expect("a pattern");
    let words = fancy_regex::Regex::new(words).expect("a pattern");
    let found = words.find("x'y + 1").expect("no error").expect("a word");
    assert_eq!(found.as_str(), "x'y");
    for rule in ["increaseIndentPattern", "decreaseIndentPattern"] {
        let pattern = configuration["indentationRules"][rule].as_str().expect("a pattern");
        fancy_regex::Regex::new(pattern).expect(rule);
    }
    // The program that the extension starts exists, and its settings are declared.
    let code = read("editors/vscode/extension.js");
    assert!(code.contains("args: [\"lsp\"]"));
    assert!(manifest["contributes"]["configuration"]["properties"]["felis.path"].is_object());
    assert!(code.contains("affectsConfiguration(\"felis.path\")"));
    assert!(TokenKind::Import.is_keyword());
}
