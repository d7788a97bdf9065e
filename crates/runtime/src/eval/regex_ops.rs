//! Primitives on regular expressions, in the syntax of the crate `regex`.
//!
//! Takes a pattern and a text; gives positions in characters, or texts. Work is proportional to the
//! text for each pattern: there are no back references and nothing is looked around. Compiled
//! patterns are kept, so that a pattern in a loop is compiled once. A search that may take long
//! runs on a thread of its own, so that an interrupt does not wait for it.

use super::code::PrimTypes;
use super::error::Failure;
use super::existential_prims::{allocate_buffer, sized_vector, string_vector};
use super::prim::{MAX_STRING_BYTES, result_case};
use crate::core::Prim;
use crate::data::Limits;
use crate::types::encoding::Code;
use crate::value::{Class, Text, Value};
use regex::{Captures, Regex, RegexBuilder};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Compiled patterns, the one used last at the front.
#[derive(Default)]
pub struct Patterns {
    compiled: VecDeque<(Text, Arc<Regex>)>,
}

/// The number of patterns that are kept.
const MAX_PATTERNS: usize = 32;

/// The size of a compiled pattern and of its cache, in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// The product of the bytes of a pattern and of a text from which a search has a thread of its own.
const MIN_THREADED_WORK: usize = 1 << 27;

/// The time between two looks at the interrupt flag.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The place of a mistake in a pattern, in characters, and its description.
type Mistake = (usize, String);

impl Patterns {
    /// Returns the compiled form of a pattern.
    fn get(&mut self, pattern: &Text) -> Result<Arc<Regex>, Mistake> {
        let known = self
            .compiled
            .iter()
            .position(|(known, _)| known.is_same_object(pattern) || known.as_str() == pattern.as_str());
        if let Some(at) = known {
            let found = self.compiled.remove(at).expect("the position is that of a pattern");
            let compiled = found.1.clone();
            self.compiled.push_front(found);
            return Ok(compiled);
        }
        let compiled = Arc::new(compile(pattern.as_str())?);
        self.compiled.truncate(MAX_PATTERNS - 1);
        self.compiled.push_front((pattern.clone(), compiled.clone()));
        Ok(compiled)
    }
}

/// Compiles a pattern.
fn compile(pattern: &str) -> Result<Regex, Mistake> {
    let built = RegexBuilder::new(pattern)
        .size_limit(MAX_PATTERN_BYTES)
        .dfa_size_limit(MAX_PATTERN_BYTES)
        .nest_limit(100)
        .build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => (0, "the expression is too large".to_string()),
        error => mistake(pattern, &error.to_string()),
    })
}

/// Returns the place and the description of a mistake, of the message of the crate: the pattern
/// with a mark under the place, and the description behind `error: `.
fn mistake(pattern: &str, message: &str) -> Mistake {
    let why = message.rsplit("error: ").next().unwrap_or(message).trim().to_string();
    let marked = message.lines().find(|line| line.trim_start().starts_with('^'));
    let at = marked.and_then(|line| line.chars().position(|c| c == '^')).unwrap_or(0);
    // The pattern is indented by four blanks, or numbered where it has several lines.
    let at = if pattern.contains('\n') { 0 } else { at.saturating_sub(4) };
    (at.min(pattern.chars().count()), why)
}

/// Evaluates a primitive on regular expressions.
pub(super) fn eval_regex_primitive(
    prim: Prim,
    types: &PrimTypes,
    args: &[Value],
    patterns: &mut Patterns,
    limits: Limits<'_>,
) -> Result<Value, Failure> {
    let pattern = args[0].as_text();
    let compiled = patterns.get(pattern);
    if prim == Prim::RegexMistake {
        return Ok(match compiled {
            Ok(_) => result_case(types, Code::ZERO, Value::UNIT),
            Err((at, why)) => {
                let parts = vec![(Value::int(at as i64), 1), (Value::str(why), 1)];
                let found = Value::tuple(parts, Class::Any, 2);
                let found = found.ok_or(Failure::Internal { message: "no memory for two slots" })?;
                result_case(types, Code::Small(1), found)
            }
        });
    }
    let compiled = compiled.map_err(|(at, why)| Failure::Failed {
        message: format!("no regular expression: at character {at}, {why}"),
    })?;
    match prim {
        Prim::RegexGroups => {
            let names: Vec<&str> = compiled.capture_names().map(Option::unwrap_or_default).collect();
            string_vector(names.into_iter(), limits)
        }
        Prim::RegexMatches => {
            let text = args[1].as_text().clone();
            let from = usize::try_from(args[2].as_int().max(0)).unwrap_or(usize::MAX);
            let most = usize::try_from(args[3].as_int().max(0)).unwrap_or(usize::MAX);
            let (groups, memory) = (args[4].as_bool(), limits.memory);
            let work = pattern.as_str().len().saturating_mul(text.as_str().len());
            let found = run_interruptible(work, limits.interrupt, move |stop| {
                find_all(&compiled, &text, from, most, groups, memory, stop)
            })?;
            let mut buffer = allocate_buffer(Class::Word, found.len(), limits.memory)?;
            found.into_iter().for_each(|position| buffer.push(Value::int(position)));
            Ok(sized_vector(buffer))
        }
        Prim::RegexReplace => {
            let (text, by) = (args[1].as_text().clone(), args[2].as_text().clone());
            let most = usize::try_from(args[3].as_int().max(0)).unwrap_or(usize::MAX);
            let work = pattern.as_str().len().saturating_mul(text.as_str().len());
            let longest = limits.memory.min(MAX_STRING_BYTES as u64) as usize;
            let replaced = run_interruptible(work, limits.interrupt, move |stop| {
                replace(&compiled, text.as_str(), by.as_str(), most, longest, stop)
            })?;
            Ok(Value::str(replaced))
        }
        _ => Err(Failure::Internal { message: "a primitive that has no regular expression" }),
    }
}

/// Does work here, or on a thread of its own if it may take long. Its flag is set when the user
/// interrupts; the thread ends at its next look at it.
fn run_interruptible<T: Send + 'static>(
    work: usize,
    interrupt: &AtomicBool,
    what: impl FnOnce(&AtomicBool) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    if work < MIN_THREADED_WORK {
        return what(interrupt);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = channel();
    let own = stop.clone();
    let started = std::thread::Builder::new().spawn(move || {
        // Nobody waits for the result of work that was interrupted.
        let _ = sender.send(what(&own));
    });
    if started.is_err() {
        return Err(Failure::Failed { message: "no thread can be started for this search".to_string() });
    }
    loop {
        match receiver.recv_timeout(POLL_INTERVAL) {
            Ok(done) => return done,
            Err(RecvTimeoutError::Timeout) if interrupt.load(Ordering::Relaxed) => {
                stop.store(true, Ordering::Relaxed);
                return Err(Failure::Interrupted);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::Internal { message: "a search ended without a result" });
            }
        }
    }
}

/// Fails if the flag is set.
fn poll(stop: &AtomicBool) -> Result<(), Failure> {
    if stop.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
}

/// Returns the positions of matches: two for each match, or for each group of each match.
fn find_all(
    regex: &Regex,
    text: &Text,
    from: usize,
    most: usize,
    groups: bool,
    memory: u64,
    stop: &AtomicBool,
) -> Result<Vec<i64>, Failure> {
    let mut found: Vec<i64> = Vec::new();
    if most == 0 || from > text.char_count() {
        return Ok(found);
    }
    let (whole, start) = (text.as_str(), text.byte_of(from));
    let position = |byte: usize| text.chars_before(byte) as i64;
    let mut add = |ends: Option<(usize, usize)>| match ends {
        Some((low, high)) => found.extend([position(low), position(high)]),
        None => found.extend([-1, -1]),
    };
    let mut at = start;
    let mut last_end = None;
    for _ in 0..most {
        poll(stop)?;
        if at > whole.len() {
            break;
        }
        let (low, high) = if groups {
            let Some(captures) = regex.captures_at(whole, at) else { break };
            let whole_match = captures.get(0).map_or((at, at), |group| (group.start(), group.end()));
            if is_empty_repetition(whole_match, last_end) {
                at = next_char(whole, at);
                continue;
            }
            captures.iter().for_each(|group| add(group.map(|group| (group.start(), group.end()))));
            whole_match
        } else {
            let Some(group) = regex.find_at(whole, at) else { break };
            let ends = (group.start(), group.end());
            if is_empty_repetition(ends, last_end) {
                at = next_char(whole, at);
                continue;
            }
            add(Some(ends));
            ends
        };
        at = if low == high { next_char(whole, high) } else { high };
        last_end = Some(high);
    }
    let bytes = found.len() as u64 * 8;
    if bytes > memory {
        return Err(super::arithmetic::memory_failure(found.len(), 8, memory));
    }
    Ok(found)
}

/// Returns true for an empty match at the end of the match before it, which is not counted.
fn is_empty_repetition((low, high): (usize, usize), last_end: Option<usize>) -> bool {
    low == high && last_end == Some(high)
}

/// Returns the byte after the character at a byte; after the last one, one more than the length.
fn next_char(text: &str, at: usize) -> usize {
    at + text[at.min(text.len())..].chars().next().map_or(1, char::len_utf8)
}

/// Replaces matches from the left.
fn replace(
    regex: &Regex,
    text: &str,
    by: &str,
    most: usize,
    longest: usize,
    stop: &AtomicBool,
) -> Result<String, Failure> {
    let mut out = String::new();
    let mut done = 0;
    let limit = if most == 0 { usize::MAX } else { most };
    let mut add = |captures: &Captures<'_>, out: &mut String| {
        let Some(whole) = captures.get(0) else { return };
        out.push_str(&text[done..whole.start()]);
        captures.expand(by, out);
        done = whole.end();
    };
    for captures in regex.captures_iter(text).take(limit) {
        poll(stop)?;
        add(&captures, &mut out);
        if out.len() > longest {
            return Err(super::arithmetic::memory_failure(out.len(), 1, longest as u64));
        }
    }
    out.push_str(&text[done..]);
    if out.len() > longest {
        return Err(super::arithmetic::memory_failure(out.len(), 1, longest as u64));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the positions of all matches.
    fn all(pattern: &str, text: &str) -> Vec<i64> {
        let regex = compile(pattern).expect("a regular expression");
        let stop = AtomicBool::new(false);
        find_all(&regex, &Text::from(text), 0, usize::MAX, false, u64::MAX, &stop).expect("positions")
    }

    #[test]
    fn matches_are_those_of_the_crate_in_characters() {
        let text = "aé漢 aab  𝄞a ".repeat(40);
        for pattern in ["a", "a*", "", r"\b", "é|a+", r"\s+", "(?:x*)", "𝄞?"] {
            let regex = Regex::new(pattern).expect("a regular expression");
            let position = |byte: usize| text[..byte].chars().count() as i64;
            let expected: Vec<i64> =
                regex.find_iter(&text).flat_map(|m| [position(m.start()), position(m.end())]).collect();
            assert_eq!(all(pattern, &text), expected, "{pattern}");
        }
    }

    #[test]
    fn mistakes_have_a_place_and_a_description() {
        for (pattern, at, why) in [
            ("a(b", 1, "unclosed group"),
            ("[z-a]", 1, "invalid character class range, the start must be <= the end"),
            ("é*?*+(", 5, "unclosed group"),
            (r"\p{Foo}", 0, "Unicode property not found"),
        ] {
            let (found_at, found) = compile(pattern).expect_err("a mistake");
            assert_eq!((found_at, &*found), (at, why), "{pattern}");
        }
        assert_eq!(compile(&"a{1000}".repeat(100)).expect_err("too large").1, "the expression is too large");
    }

    #[test]
    fn long_work_is_interrupted() {
        let (interrupt, ended) = (AtomicBool::new(true), Arc::new(AtomicBool::new(false)));
        let seen = ended.clone();
        let work = move |stop: &AtomicBool| {
            while !stop.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
            seen.store(true, Ordering::Relaxed);
            Ok(())
        };
        assert!(matches!(run_interruptible(MIN_THREADED_WORK, &interrupt, work), Err(Failure::Interrupted)));
        // The thread ends, too.
        for _ in 0..1000 {
            if ended.load(Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the work goes on");
    }
}
