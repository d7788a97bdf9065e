//! A small interpreter of TextMate grammars as editors run them: line by line, the first pattern at
//! the earliest place wins, `begin` and `end` nest over lines.
//!
//! Takes a grammar and a text; gives the innermost scope of each byte. Supports the parts of the
//! format that this project's grammar uses: `match`, `begin`, `end`, `captures`, `patterns`,
//! `include` of the repository.

use fancy_regex::Regex;
use serde_json::Value;
use std::collections::HashMap;

/// A grammar, ready to be run.
pub struct Grammar {
    /// The patterns at the top.
    top: Vec<Pattern>,
    repository: HashMap<String, Vec<Pattern>>,
}

enum Pattern {
    Include(String),
    Match { regex: Regex, scope: String, captures: Captures },
    Range { begin: Regex, end: Regex, scope: String, first: Captures, last: Captures, inside: Vec<Pattern> },
}

/// Scopes of groups, and patterns that are run inside of them.
type Captures = Vec<(usize, String, Vec<Pattern>)>;

/// A `begin` whose `end` has not been found.
struct Open<'g> {
    end: &'g Regex,
    scope: &'g str,
    last: &'g Captures,
    inside: &'g [Pattern],
}

impl Grammar {
    /// Parses a grammar in JSON.
    pub fn read(text: &str) -> Grammar {
        let tree: Value = serde_json::from_str(text).expect("JSON");
        let repository = tree["repository"].as_object().expect("a repository");
        let repository = repository.iter().map(|(name, rule)| {
            let rules = match rule.get("match").or(rule.get("begin")) {
                Some(_) => vec![pattern(rule)],
                None => patterns(&rule["patterns"]),
            };
            (name.clone(), rules)
        });
        let grammar = Grammar { top: patterns(&tree["patterns"]), repository: repository.collect() };
        for name in grammar.repository.values().flatten().chain(&grammar.top) {
            if let Pattern::Include(name) = name {
                assert!(grammar.repository.contains_key(name), "`{name}` is not in the repository");
            }
        }
        grammar
    }

    /// Returns the innermost scope at a byte of a line.
    pub fn scope_of(&self, line: &str, at: usize) -> String {
        self.scopes(line)[at].clone()
    }

    /// Returns the innermost scope of each byte of a text; empty if there is none.
    pub fn scopes(&self, text: &str) -> Vec<String> {
        let mut scopes = vec![String::new(); text.len()];
        let mut open: Vec<Open<'_>> = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let bare = line.trim_end_matches(['\n', '\r']);
            let mut at = 0;
            // An `end` may be empty: at the end of a line there is one step for each open pattern.
            loop {
                let inside = open.last().map_or(&self.top[..], |open| open.inside);
                let found = self.first(inside, bare, at);
                let end = open.last().and_then(|open| find(open.end, bare, at));
                let outer = open.last().map_or("", |open| open.scope);
                let next = [found.as_ref().map(|(range, _)| range.0), end.as_ref().map(|end| end[0].0)];
                let reach = next.into_iter().flatten().min().unwrap_or(bare.len());
                paint(&mut scopes, start + at, start + reach, outer);
                // The end of an open pattern precedes a pattern that begins at the same place.
                let ends = end.filter(|end| found.as_ref().is_none_or(|(range, _)| end[0].0 <= range.0));
                if let (Some(groups), Some(last)) = (ends, open.last()) {
                    let (from, to) = groups[0];
                    paint(&mut scopes, start + from, start + to, last.scope);
                    self.capture(last.last, bare, &groups, start, &mut scopes);
                    at = to;
                    open.pop();
                    continue;
                }
                let Some(((from, to), pattern)) = found else { break };
                match pattern {
                    Pattern::Include(_) => unreachable!("resolved"),
                    Pattern::Match { regex, scope, captures } => {
                        let outer = if scope.is_empty() { outer } else { scope };
                        paint(&mut scopes, start + from, start + to, outer);
                        let groups = find(regex, bare, from).expect("found before");
                        self.capture(captures, bare, &groups, start, &mut scopes);
                        assert!(to > from, "an empty match at {from} of {bare:?}");
                    }
                    Pattern::Range { begin, end, scope, first, last, inside } => {
                        paint(&mut scopes, start + from, start + to, scope);
                        let groups = find(begin, bare, from).expect("found before");
                        self.capture(first, bare, &groups, start, &mut scopes);
                        open.push(Open { end, scope, last, inside });
                    }
                }
                at = to;
            }
            start += line.len();
        }
        scopes
    }

    /// Returns the pattern that begins first; of several, the first in the list.
    fn first<'g>(
        &'g self,
        patterns: &'g [Pattern],
        line: &str,
        at: usize,
    ) -> Option<((usize, usize), &'g Pattern)> {
        let mut best: Option<((usize, usize), &Pattern)> = None;
        for pattern in patterns {
            let found = match pattern {
                Pattern::Include(name) => self.first(&self.repository[name], line, at),
                Pattern::Match { regex, .. } | Pattern::Range { begin: regex, .. } => {
                    find(regex, line, at).map(|groups| (groups[0], pattern))
                }
            };
            if let Some((range, pattern)) = found
                && best.as_ref().is_none_or(|(known, _)| range.0 < known.0)
            {
                best = Some((range, pattern));
            }
        }
        best
    }

    fn capture(
        &self,
        captures: &Captures,
        line: &str,
        groups: &[(usize, usize)],
        start: usize,
        scopes: &mut [String],
    ) {
        for (group, scope, inside) in captures {
            let (from, to) = groups[*group];
            if !scope.is_empty() {
                paint(scopes, start + from, start + to, scope);
            }
            let mut at = from;
            while let Some(((first, last), pattern)) = self.first(inside, &line[..to], at) {
                if let Pattern::Match { scope, .. } = pattern {
                    paint(scopes, start + first, start + last, scope);
                }
                at = last;
            }
        }
    }
}

/// Returns the groups of the first match from a byte on; groups without a match are empty.
fn find(regex: &Regex, line: &str, at: usize) -> Option<Vec<(usize, usize)>> {
    let found = regex.captures_from_pos(line, at).expect("the pattern runs")?;
    Some(found.iter().map(|group| group.map_or((at, at), |group| (group.start(), group.end()))).collect())
}

fn paint(scopes: &mut [String], from: usize, to: usize, scope: &str) {
    for place in &mut scopes[from..to.max(from)] {
        *place = scope.to_string();
    }
}

fn patterns(list: &Value) -> Vec<Pattern> {
    list.as_array().map_or(Vec::new(), |list| list.iter().map(pattern).collect())
}

fn pattern(rule: &Value) -> Pattern {
    let text = |key: &str| rule[key].as_str().unwrap_or_default().to_string();
    let regex = |key: &str| Regex::new(&text(key)).unwrap_or_else(|error| panic!("{}: {error}", text(key)));
    if rule["include"].is_string() {
        return Pattern::Include(text("include").trim_start_matches('#').to_string());
    }
    if rule["begin"].is_string() {
        return Pattern::Range {
            begin: regex("begin"),
            end: regex("end"),
            scope: text("name"),
            first: captures(&rule["beginCaptures"]),
            last: captures(&rule["endCaptures"]),
            inside: patterns(&rule["patterns"]),
        };
    }
    Pattern::Match { regex: regex("match"), scope: text("name"), captures: captures(&rule["captures"]) }
}

fn captures(map: &Value) -> Captures {
    let Some(map) = map.as_object() else { return Vec::new() };
    let one = |(number, rule): (&String, &Value)| {
        let scope = rule["name"].as_str().unwrap_or_default().to_string();
        (number.parse().expect("the number of a group"), scope, patterns(&rule["patterns"]))
    };
    map.iter().map(one).collect()
}
