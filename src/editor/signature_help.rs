//! Signature help: the function whose argument is being written, and the number of the parameter.

use super::index::{Index, index_and_ask};
use super::repair::repair_attempts;
use super::tokens::{TokenClass, tokens};
use crate::session::{Draft, Overload, Session};
use crate::source::Span;
use std::ops::Range;
use std::sync::Arc;

// The call whose argument is being written.
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

/// Returns the call whose argument is being written at a byte of a text.
pub fn invocation(session: &mut Session, draft: Draft<'_>, at: usize) -> Option<Invocation> {
    let call = CallSite::ending(draft.text.get(..at)?)?;
    for text in repair_attempts(draft.text, at, "") {
        let attempt = Draft { text: &text, ..draft };
        let (index, overloads) =
            index_and_ask(session, attempt, None, |session, _| session.known_overloads(&call.name));
        let overloads = overloads.unwrap_or_default().into_iter();
        let forms: Vec<Form> = overloads.map(|overload| form_of(&index, overload)).collect();
        if !forms.is_empty() {
            let groups = forms[0].params.iter().take(call.group).map(Vec::len).sum::<usize>();
            return Some(Invocation { forms, parameter: groups + call.commas });
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

/// The call at the end of a text.
struct CallSite {
    /// The name of the function.
    name: String,
    /// The number of groups of arguments before the one being written.
    group: usize,
    /// The number of commas before the position in its group.
    commas: usize,
}

impl CallSite {
    /// Returns the call at the end of a text.
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
                    let mut depth = 1usize;
                    while depth > 0 {
                        at = at.checked_sub(1)?;
                        match parts[at].1 {
                            TokenClass::Close => depth += 1,
                            TokenClass::Open => depth -= 1,
                            _ => {}
                        }
                    }
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
