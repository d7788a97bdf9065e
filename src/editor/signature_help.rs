//! Signature help: the function whose argument is being written, and the number of the parameter.

use super::checked::{Edited, index_and_ask_edited};
use super::index::Index;
use super::repair::repair_attempts;
use super::tokens::{TokenClass, tokens};
use crate::session::{Annotations, Overload, Session};
use felis_base::source::Span;
use std::ops::Range;
use std::sync::Arc;

/// The call whose argument is being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The forms of the function.
    pub forms: Vec<Form>,
    /// The number of the parameter that is being written, counted over all groups.
    pub parameter: usize,
}

/// One form of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// Its declaration, or name and type.
    pub text: String,
    /// The ranges of its parameters in the text, group after group.
    pub params: Vec<Vec<Range<usize>>>,
    /// Its doc comment.
    pub doc: Option<Arc<str>>,
}

/// Returns the call whose argument is being written at a byte of a text: `f x` or `f$ x` if the
/// argument stands there without parentheses, else the call whose parentheses are around it.
pub fn invocation(session: &mut Session, edited: Edited<'_>, at: usize) -> Option<Invocation> {
    let draft = edited.draft;
    let before = draft.text.get(..at)?;
    let calls = [CallSite::juxtaposed(before), CallSite::ending(before)];
    let calls: Vec<CallSite> = calls.into_iter().flatten().collect();
    if calls.is_empty() {
        return None;
    }
    for text in repair_attempts(draft.text, at, "") {
        let attempt = edited.with_text(&text);
        let ask = |session: &Session, _: &Annotations| {
            calls.iter().map(|call| session.known_overloads(&call.name)).collect::<Vec<_>>()
        };
        let (index, overloads) = index_and_ask_edited(session, attempt, at, None, ask);
        for (call, overloads) in calls.iter().zip(overloads.unwrap_or_default()) {
            let forms: Vec<Form> = overloads.into_iter().map(|overload| form_of(&index, overload)).collect();
            if !forms.is_empty() {
                let groups = forms[0].params.iter().take(call.group).map(Vec::len).sum::<usize>();
                return Some(Invocation { forms, parameter: groups + call.commas });
            }
        }
    }
    None
}

/// Returns a form with the ranges of its parameters: those of its declaration, or the fields of a
/// struct.
fn form_of(index: &Index, overload: Overload) -> Form {
    let declaration = overload.declared.and_then(|span| index.declaration(span));
    let Some(declaration) = declaration.filter(|declaration| !declaration.params.is_empty()) else {
        let params = if overload.fields.is_empty() { Vec::new() } else { vec![overload.fields] };
        return Form { text: overload.signature, params, doc: overload.doc };
    };
    let (text, start) = (index.declaration_text(declaration), declaration.head.start);
    let whole = text.len();
    let place = |span: &Span| {
        let from = (span.start.saturating_sub(start) as usize).min(whole);
        from..((span.end.saturating_sub(start)) as usize).clamp(from, whole)
    };
    let params = declaration.params.iter().map(|group| group.iter().map(place).collect()).collect();
    Form { text, params, doc: overload.doc }
}

/// Returns the number of the bracket that a closing one closes; `None` if it stands further ahead.
fn opening(parts: &[Part], closing: usize) -> Option<usize> {
    let mut depth = 1usize;
    (0..closing).rev().find(|at| {
        match parts[*at].1 {
            TokenClass::Close => depth += 1,
            TokenClass::Open => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

/// Returns the number of the token at which the operand begins that ends some tokens: a name, a
/// literal, or what is in brackets, with what is selected by dots.
fn operand_before(text: &str, parts: &[Part]) -> Option<usize> {
    let mut at = parts.len();
    loop {
        at = at.checked_sub(1)?;
        match parts[at].1 {
            TokenClass::Name | TokenClass::TypeName | TokenClass::Number | TokenClass::Text => {}
            TokenClass::Close => at = opening(parts, at)?,
            _ => return None,
        }
        // Type arguments, and what a dot selects, belong to what is before without a blank.
        let glued = |at: usize| at > 0 && parts[at - 1].0.end == parts[at].0.start;
        if glued(at) && &text[parts[at].0.clone()] == "[" {
            continue;
        }
        if glued(at) && &text[parts[at - 1].0.clone()] == "." && at > 1 && glued(at - 1) {
            at -= 1;
            continue;
        }
        return Some(at);
    }
}

/// The call at the end of a text.
struct CallSite {
    /// The name of the function.
    name: String,
    /// The number of groups of arguments before the one being written.
    group: usize,
    /// The number of commas before the position in its group.
    commas: usize,
}

/// A token of a text.
type Part = (Range<usize>, TokenClass);

impl CallSite {
    /// Returns the call at the end of a text whose argument has no parentheses: a function and
    /// operands, the last of which may be unfinished or not begun.
    fn juxtaposed(text: &str) -> Option<CallSite> {
        let parts = tokens(text);
        let (last, class) = parts.last()?;
        let blank = last.end < text.len();
        if *class == TokenClass::Comment || blank && text[last.end..].contains('\n') {
            return None;
        }
        // The operands from the last one backward; the first one is the function.
        let (mut end, mut operands) = (parts.len(), Vec::new());
        while let Some(begin) = operand_before(text, &parts[..end]) {
            operands.push(begin);
            end = begin;
            // A line that begins with an operand may go on with the one before.
            let gap = end.checked_sub(1).map(|before| parts[before].0.end..parts[end].0.start);
            if gap.is_none_or(|gap| text[gap].contains('\n')) {
                break;
            }
        }
        let function = *operands.last()?;
        let written = operands.len() - usize::from(!blank);
        let before = function.checked_sub(1).map(|at| &text[parts[at].0.clone()]);
        if written == 0 || matches!(before, Some("fun" | "proc" | "law" | "val" | "var" | "for")) {
            return None;
        }
        // Of `x.f`, the function is `f`, whose first argument is `x`.
        let end = operands.iter().rev().nth(1).copied().unwrap_or(parts.len());
        let chain = &parts[function..end];
        let brackets = chain.iter().position(|(range, _)| &text[range.clone()] == "[");
        let chain = &chain[..brackets.unwrap_or(chain.len())];
        let (name, class) = chain.last()?;
        let dotted = chain.len() > 1;
        matches!(class, TokenClass::Name | TokenClass::TypeName).then(|| CallSite {
            name: text[name.clone()].to_string(),
            group: written - 1 + usize::from(dotted),
            commas: 0,
        })
    }

    /// Returns the call at the end of a text whose argument is in parentheses or behind `$`.
    fn ending(text: &str) -> Option<CallSite> {
        let parts = tokens(text);
        if let Some((range, class)) = parts.last()
            && *class == TokenClass::Comment
            && range.end == text.len()
        {
            return None;
        }
        let (mut at, mut depth, mut commas) = (parts.len(), 0usize, 0);
        loop {
            at = at.checked_sub(1)?;
            let word = &text[parts[at].0.clone()];
            match parts[at].1 {
                TokenClass::Close => depth += 1,
                TokenClass::Open if depth > 0 => depth -= 1,
                TokenClass::Open if word == "(" => break,
                TokenClass::Open => commas = 0,
                TokenClass::Operator if depth == 0 && word == "," => commas += 1,
                // `f$ x, y` is `f (x, y)`.
                TokenClass::Operator if depth == 0 && word == "$" => break,
                TokenClass::Operator if depth == 0 && word == ";" => return None,
                _ => {}
            }
        }
        // Further groups, type arguments and the name precede the parenthesis.
        let mut group = 0;
        loop {
            at = at.checked_sub(1)?;
            match parts[at].1 {
                TokenClass::Name | TokenClass::TypeName => break,
                TokenClass::Close => {
                    let group_here = text[parts[at].0.clone()] == *")";
                    at = opening(&parts, at)?;
                    group += usize::from(group_here);
                }
                TokenClass::Operator if text[parts[at].0.clone()] == *"$" => {}
                _ => return None,
            }
        }
        let name = text[parts[at].0.clone()].to_string();
        // `x.f (y)` is `f x y`.
        let dotted = at > 0 && text[parts[at - 1].0.clone()] == *".";
        // A name after `fun`, `proc` or `law` is declared, not called.
        let declared = at > 0 && matches!(&text[parts[at - 1].0.clone()], "fun" | "proc" | "law");
        (!declared).then_some(CallSite { name, group: group + usize::from(dotted), commas })
    }
}
