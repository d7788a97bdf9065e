//! Hints for a value of one type where another is wanted.
//!
//! Takes the two types and the term; gives the first help that applies: a conversion or a reshape
//! that the message may name, a grouping of axes, a missing field, a list in place of an array.

use crate::check::context::Checker;
use crate::check::error::{ELEMENTS, is_index_hole};
use crate::check::hints::fields::axis_mismatch_help;
use crate::check::hints::why_not;
use crate::check::resolve::behavior;
use crate::check::terms::is_list;
use crate::check::types::list_types::no_list_reason;
use crate::core::{Term, TermKind};
use crate::diagnostic::Help;
use crate::source::Span;
use crate::types::{Alignment, Kind, ProductForm, Scalar, Triangle, Type, TypeKind};
use num_traits::ToPrimitive;

impl Checker<'_> {
    /// Returns the help for a value of one type where another type is wanted.
    pub(in crate::check) fn mismatch_hint(
        &mut self,
        found: &Type,
        expected: &Type,
        term: &Term,
    ) -> Option<Help> {
        let span = term.span;
        if let Some(hint) = self.apart_hint(found, expected, term) {
            return Some(hint);
        }
        if is_index_hole(expected) && found.as_scalar().is_some_and(Scalar::is_integer) {
            let words = "an index is a value of a type with a size: `:>> 5` makes one of an integer below 5";
            return Some(words.into());
        }
        if let (TypeKind::Array(element, own), TypeKind::Array(wanted, index)) =
            (found.kind(), expected.kind())
            && element == wanted
            && let Some((function, text)) = match Alignment::of(own, index) {
                Some(Alignment::Permuted) => Some(("transpose_to", "moves the elements with their axes")),
                Some(Alignment::ContainedIn) => Some(("over", "repeats it along the other axes")),
                _ => None,
            }
        {
            let text = format!("`{function}[{index}]` {text}");
            return Some(Help::enclosing(text, span, format!("{function}[{index}] ("), ")".into()));
        }
        if let Some(help) = axis_mismatch_help(found, expected, span) {
            return Some(help);
        }
        if let Some(help) = unaligned_part(found, expected, term) {
            return Some(help);
        }
        if let (true, TypeKind::CompactPower(digit, index)) = (expected.is_bool(), found.unfold().kind())
            && digit.is_bool()
        {
            let words = format!(
                "`{found}` holds a truth value for each `i` of `{index}`: `s.i` is that one, and `and` and `or` take two \
                 values of one type"
            );
            return Some(words.into());
        }
        if let (true, TypeKind::Array(element, _)) = (expected.is_bool(), found.kind())
            && element.is_bool()
        {
            let words = "`and`, `or` and `not` take one truth value: write `[ not v for v in x ]` for each \
                         element; `all x` and `any x` make one of them";
            return Some(words.into());
        }
        if let TypeKind::Array(..) = expected.kind()
            && is_list(found)
        {
            return Some(Help::around(ELEMENTS, span, "", ".elements"));
        }
        if expected.is_bool() && found.as_scalar().is_some() {
            let words = "a truth value comes from a comparison, such as `x != 0`";
            return Some(match &term.kind {
                TermKind::Int(value) if value.bits() <= 1 => {
                    format!("{words}; an index below 2 is `` `{value}:2 ``").into()
                }
                _ => words.into(),
            });
        }
        if let Some(words) =
            required_class_hint(found, expected).or_else(|| list_mismatch_reason(found, expected))
        {
            return Some(words.into());
        }
        // `rotate 1.mod[N]` is the notation of an earlier version.
        if let (TermKind::Prim(crate::core::Prim::ModInt, _, args), Some(Scalar::Int)) =
            (&term.kind, expected.as_scalar())
            && let [number] = &args[..]
        {
            let rest = Span { start: number.span.end, ..span };
            return Some(Help::instead("an `int` is wanted, not an index: leave out the `.mod`", rest, ""));
        }
        if let (TermKind::Int(value), true) = (&term.kind, expected.as_unit_sum().is_some()) {
            let index = format!("`{value}:{expected}");
            let words = format!("an integer is never an index value: write `` {index} ``");
            let fits = expected.as_unit_sum().zip(value.to_biguint()).is_some_and(|(n, value)| value < *n);
            return Some(if fits { Help::instead(words, span, index) } else { Help::new(words) });
        }
        if found.to_string() == expected.to_string() {
            let words = "two types have this name: they come from two modules, or one was declared anew";
            return Some(words.into());
        }
        if let (TypeKind::Procedure(_), TypeKind::Function(..)) = (found.kind(), expected.kind()) {
            return Some("a procedure has effects and cannot stand for a pure function".into());
        }
        if let (TypeKind::Product(parts), TypeKind::Array(element, _)) = (found.kind(), expected.kind())
            && element.has_meta()
            && let Some(other) = parts.iter().find(|part| **part != parts[0])
        {
            let words = format!("an array has elements of one type: here are `{}` and `{other}`", parts[0]);
            return Some(words.into());
        }
        if let Some(hint) = pair_hint(found, expected) {
            return Some(hint.into());
        }
        if let Some(hint) = self.fit_hint(found, expected, span) {
            return Some(hint);
        }
        if let (TypeKind::Function(_, found), TypeKind::Function(_, expected)) =
            (found.kind(), expected.kind())
            && found.is_exists()
            && !expected.is_exists()
        {
            let why = "each call gives a size of its own, and here all results have one type";
            return Some(format!("{why}: take the result to one type inside a function").into());
        }
        if let (TypeKind::Function(found, _), TypeKind::Function(expected, _)) =
            (found.kind(), expected.kind())
            && found.is_exists()
            && !expected.is_exists()
        {
            let words =
                "only a call puts a value together with its size: write a function that makes the call";
            return Some(Help::enclosing(words, span, "(fun (x) => ".into(), " x)".into()));
        }
        if !(found.has_meta() || expected.has_meta())
            && crate::iso::verdict(found, expected) > crate::iso::Verdict::Natural
            && self.is_naturally_isomorphic(found, expected)
        {
            let why = "by the sizes required before, the two are naturally isomorphic";
            return Some(self.reshape_help(found, expected, span, why));
        }
        if let Some(help) = self.late_size(found, expected) {
            return Some(help.into());
        }
        if let Some(help) = self.part_hint(found, expected).or_else(|| rows_hint(found, expected)) {
            return Some(help);
        }
        if let Some(part) = number_for_index(expected, found) {
            let words = format!(
                "an index is wanted here and no `{part}`: `n.mod[10]` makes an index below 10 of a number `n`"
            );
            return Some(words.into());
        }
        let filled = filled(expected, found);
        let expected = &filled;
        if let TypeKind::Array(element, index) = expected.kind()
            && element == found
            && matches!(index.kind(), TypeKind::Meta(_))
        {
            return Some(Help::around("an array of one element is `[x]`", span, "[", "]"));
        }
        if expected == found && found.is_spread() {
            let mut words =
                format!("`{found}` is of kind SPREAD: no type parameter of kind TYPE stands for it");
            if let TypeKind::Nominal(..) = found.kind() {
                words += "; `reveal` tells its value to all";
            }
            return Some(words.into());
        }
        if expected == found {
            let words =
                format!("`{found}` is known only inside its function, and this place is known outside");
            return Some(words.into());
        }
        if found.has_meta() || expected.has_meta() {
            return None;
        }
        if expected.as_scalar() == Some(Scalar::String) {
            return Some(Help::around("`.str` gives a value as text", span, "", ".str"));
        }
        if expected.as_scalar() == Some(Scalar::Char) {
            return character_hint(term);
        }
        if behavior::convertible(found, expected) {
            if let Err(words) = self.convertible_words(found, expected) {
                return Some(words.into());
            }
            let written = crate::iso::text_after_cast(expected);
            let words = format!("convert it explicitly: `:> {written}`");
            return Some(Help::around(words, span, &format!(" :> {written}"), ""));
        }
        match crate::iso::verdict(found, expected) {
            crate::iso::Verdict::Natural => {
                Some(self.reshape_help(found, expected, span, "the two are naturally isomorphic"))
            }
            crate::iso::Verdict::Isomorphic => {
                let comparison = self.compare_for_message(found, expected);
                let (message, _, help) = comparison.explanation();
                Some(format!("as many values, but in other storage: {}", help.unwrap_or(message)).into())
            }
            _ => None,
        }
    }

    /// Returns the help for a tuple of arguments given to a function that takes its arguments one
    /// by one.
    fn apart_hint(&mut self, found: &Type, expected: &Type, term: &Term) -> Option<Help> {
        let TypeKind::Function(..) = expected.kind() else { return None };
        let (TermKind::Tuple(parts), TypeKind::Product(types)) = (&term.kind, found.kind()) else {
            return None;
        };
        let first = types.first().filter(|_| parts.len() >= 2)?;
        let TypeKind::Function(..) = self.infer.shallow(first).kind() else { return None };
        // Each part gets parentheses of its own; these replace the commas.
        let mut edits = vec![(Span { end: parts[0].span.start, ..term.span }, "(".to_string())];
        for pair in parts.windows(2) {
            let between = Span { start: pair[0].span.end, end: pair[1].span.start, ..term.span };
            edits.push((between, ") (".to_string()));
        }
        let last = parts.last()?.span;
        edits.push((Span { start: last.end, ..term.span }, ")".to_string()));
        let text = "arguments that are taken one after the other stand without commas: `f a b`".to_string();
        Some(Help { text, edits })
    }

    /// Returns the help for an optional value in place of a plain value, or the reverse, at the
    /// first difference of two types.
    fn part_hint(&mut self, found: &Type, expected: &Type) -> Option<Help> {
        // A difference of argument types is reversed: the given function is applied to arguments of
        // the wanted function.
        if let (TypeKind::Function(takes, _), TypeKind::Function(given, _)) = (found.kind(), expected.kind())
            && takes != given
        {
            let (given, takes) = (given.clone(), takes.clone());
            return self.part_hint(&given, &takes);
        }
        let (found, expected) = why_not::first_difference(found, expected)?;
        let fits = |this: &mut Self, part: &Type, ty: &Type| {
            let mark = this.infer.mark();
            let fits = this.infer.unify(part, ty).is_ok() || behavior::convertible(part, ty);
            this.infer.undo(mark);
            fits
        };
        let scalar = |ty: &Type| !matches!(ty.kind(), TypeKind::Meta(_) | TypeKind::Function(..));
        if let Some((part, words)) = may_be_empty(&found)
            && may_be_empty(&expected).is_none()
            && scalar(&expected)
            && fits(self, &part, &expected)
        {
            return Some(words.into());
        }
        if let Some(part) = option_of(&expected)
            && option_of(&found).is_none()
            && scalar(&found)
            && fits(self, &found, &part)
        {
            return Some("`Some v` makes an option of a value".into());
        }
        None
    }
}

/// Returns the help for several arrays, wanted over one index type, of which one lacks axes of
/// another.
fn unaligned_part(found: &Type, expected: &Type, term: &Term) -> Option<Help> {
    let (TypeKind::Product(found), TypeKind::Product(expected)) = (found.kind(), expected.kind()) else {
        return None;
    };
    let TermKind::Tuple(parts) = &term.kind else { return None };
    let indices: Vec<(usize, &Type, &Type)> = found
        .iter()
        .zip(expected)
        .enumerate()
        .filter_map(|(at, (found, expected))| match (found.kind(), expected.kind()) {
            (TypeKind::Array(_, own), TypeKind::Array(_, wanted)) => Some((at, own, wanted)),
            _ => None,
        })
        .collect();
    let (at, whole) = indices.iter().find_map(|(at, own, wanted)| {
        let more = indices.iter().find(|(_, other, same)| {
            wanted == same && Alignment::of(own, other) == Some(Alignment::ContainedIn)
        });
        more.map(|(_, whole, _)| (*at, *whole))
    })?;
    let span = parts.get(at)?.span;
    let text = format!(
        "`over[{whole}]` repeats the array with fewer axes along the others; `like y x` is `x` over the axes of `y`"
    );
    Some(Help::enclosing(text, span, format!("over[{whole}] ("), ")".into()))
}

/// Returns the help for an array of rows in place of a matrix.
fn rows_hint(found: &Type, expected: &Type) -> Option<Help> {
    use TypeKind as K;
    if let K::Product(wanted) = expected.kind() {
        let parts = found.components(wanted.len()).filter(|parts| parts.len() == wanted.len())?;
        return parts.iter().zip(wanted).find_map(|(found, wanted)| rows_hint(found, wanted));
    }
    let (K::Array(rows, n), K::Array(_, form)) = (found.kind(), expected.kind()) else { return None };
    let (K::Array(element, m), K::CompactProduct(axes)) = (rows.kind(), form.kind()) else { return None };
    if axes.len() != 2 || !axes.iter().all(|axis| matches!(axis.kind(), K::Meta(_))) {
        return None;
    }
    let matrix = Type::array(element.clone(), Type::compact_product(vec![n.clone(), m.clone()]));
    Some(format!("`unrows` makes a matrix, `{matrix}`, of an array of rows").into())
}

/// Replaces the holes of a wanted type by the parts of the found type at their places.
fn filled(wanted: &Type, found: &Type) -> Type {
    use TypeKind as K;
    match (wanted.kind(), found.kind()) {
        (K::Meta(_), _) => found.clone(),
        (K::Array(t, i), K::Array(u, j)) if wanted.has_meta() => Type::array(filled(t, u), filled(i, j)),
        (K::Product(a), K::Product(b)) if wanted.has_meta() && a.len() == b.len() => {
            Type::product(a.iter().zip(b).map(|(a, b)| filled(a, b)).collect())
        }
        _ => wanted.clone(),
    }
}

/// Returns the type of numbers that stands where an index type is wanted.
fn number_for_index(wanted: &Type, found: &Type) -> Option<Type> {
    use TypeKind as K;
    match (wanted.kind(), found.kind()) {
        (K::Meta(hole), _) => {
            (hole.kind.is_subkind_of(Kind::Compact) && found.as_scalar().is_some()).then(|| found.clone())
        }
        (K::Array(t, i), K::Array(u, j)) => number_for_index(t, u).or_else(|| number_for_index(i, j)),
        (K::Product(a), K::Product(b)) if a.len() == b.len() => {
            a.iter().zip(b).find_map(|(a, b)| number_for_index(a, b))
        }
        _ => None,
    }
}

/// Returns the help for two indices in place of a pair of indices.
pub(in crate::check) fn pair_hint(found: &Type, expected: &Type) -> Option<String> {
    let pair = expected.unfold();
    let TypeKind::Triangle(triangle, index) = pair.kind() else { return None };
    let two = found.components(2).or_else(|| found.compact_factors(2))?;
    if two.len() != 2 || two.iter().any(|part| part != index) {
        return None;
    }
    Some(match triangle {
        Triangle::Lower => "`lower_pair (i, j)` makes a pair of two indices in any order".into(),
        Triangle::Below => {
            "`below_pair (i, j)` makes a pair of two indices, in case 1, or case 0 if they are the same"
                .into()
        }
    })
}

/// Returns the help for a term in place of a character.
fn character_hint(term: &Term) -> Option<Help> {
    let span = term.span;
    let one = |text: &str| {
        let mut chars = text.chars();
        chars.next().filter(|_| chars.next().is_none())
    };
    match &term.kind {
        TermKind::Str(text) => Some(match one(text) {
            Some(c) => {
                Help::instead(format!("a character stands in single quotes: `{c:?}`"), span, format!("{c:?}"))
            }
            None => "a text is not a character: `char_at (s, i)` takes one from it".into(),
        }),
        TermKind::Int(n) => Some(match n.to_u32().and_then(char::from_u32) {
            Some(c) if !c.is_control() => {
                let words = format!("the character with this code point is `{c:?}`");
                Help::instead(words, span, format!("{c:?}"))
            }
            Some(_) => "`:> char` gives the character with this code point".into(),
            None => "this is not the code point of a character".into(),
        }),
        _ if term.ty.as_scalar().is_some_and(Scalar::is_integer) => {
            Some(Help::around("`:> char` gives the character with this code point", span, " :> char", ""))
        }
        _ if term.ty.as_scalar() == Some(Scalar::String) => {
            Some("`char_at (s, i)` takes a character from a text".into())
        }
        _ => None,
    }
}

/// Returns the class that a type parameter must have where a number is wanted, as advice.
pub(in crate::check) fn required_class_hint(found: &Type, expected: &Type) -> Option<String> {
    let class = match expected.as_scalar()? {
        Scalar::Real | Scalar::Single => "Float",
        Scalar::Int => "Integer",
        _ => return None,
    };
    match found.kind() {
        TypeKind::Var(var) if var.kind == crate::types::Kind::Type => Some(format!(
            "nothing is known about `{0}`: ask for it in the header, `with {class}[{0}]`",
            var.name
        )),
        _ => None,
    }
}

/// Returns the type `T` of `option[T]`.
fn option_of(ty: &Type) -> Option<Type> {
    match ty.kind() {
        TypeKind::Nominal(nominal, args) if &*nominal.name == "option" => args.first().cloned(),
        _ => None,
    }
}

/// Returns the type of the optional value of `1 + T` or `option[T]`, and the function that unwraps
/// it with a default.
pub(in crate::check) fn missing_value(ty: &Type) -> Option<(Type, &'static str)> {
    match ty.kind() {
        TypeKind::Sum(parts) if parts.len() == 2 && parts[0].is_unit() => {
            Some((parts[1].clone(), "otherwise"))
        }
        _ => Some((option_of(ty)?, "or_else")),
    }
}

/// Returns the type of the optional value, and the words of a help that unwraps it.
pub(in crate::check) fn may_be_empty(ty: &Type) -> Option<(Type, String)> {
    let (part, function) = missing_value(ty)?;
    let article = if option_of(ty).is_some() { "an" } else { "a" };
    let words = format!(
        "{article} `{ty}` may be empty: `{function} d` gives its value, or `d`; `match` tells the two apart"
    );
    Some((part, words))
}

/// Returns the reason why a value does not fit `A * ..R` or `N \* ..R`.
pub(in crate::check) fn list_mismatch_reason(found: &Type, expected: &Type) -> Option<String> {
    let TypeKind::Rest(list) = expected.kind() else { return None };
    let TypeKind::List(form, parts, _) = list.kind() else { return None };
    if let Some(TypeKind::List(_, known, None)) = found.as_list(*form).as_ref().map(Type::kind) {
        let (has, least) = (known.len(), parts.len() + 1);
        return (*form == ProductForm::Tuple && has < least)
            .then(|| format!("a tuple of {least} components or more is wanted, this one has {has}"));
    }
    let tuple = || format!("a tuple of {} components or more is wanted", parts.len() + 1);
    no_list_reason(*form, found).or_else(|| (*form == ProductForm::Tuple).then(tuple))
}

/// Returns the help for an array where one of its elements is wanted.
pub(in crate::check) fn element_hint(found: &Type, expected: &Type) -> Option<Help> {
    let TypeKind::Array(element, _) = found.kind() else { return None };
    (element == expected).then(|| "an element is wanted: `map` applies a function to each of them".into())
}
