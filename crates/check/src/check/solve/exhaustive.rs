//! Exhaustiveness of matches and reachability of their arms.
//!
//! Takes the typed patterns of a match and the type of its scrutinee; returns the errors to report,
//! with a missing value as text. It never evaluates guards: an arm with a guard counts as covering
//! nothing.
//!
//! The algorithm is the usefulness algorithm of Maranget, "Warnings for pattern matching" (JFP 17,
//! 2007), on typed patterns. A row of patterns is useful after other rows if some value fits it and
//! none of them. A match is exhaustive iff a wildcard after all its arms is useless; otherwise the
//! value found is the one that the message shows. Sums may have astronomically many cases, so only
//! the cases that patterns name are enumerated.
//!
//! The cost is exponential in the worst case, so the work is bounded by [`MAX_STEPS`]. Beyond the
//! bound the match counts as exhaustive, and the executor reports a missing case at run time.

use crate::check::error::PatternError;
use crate::core::{Pat, PatKind};
use crate::source::Span;
use crate::types::number::MAX_COMPONENTS;
use crate::types::{NominalBody, ProductForm, Scalar, Type, TypeKind};
use num_bigint::{BigInt, BigUint};
use num_traits::{ToPrimitive, Zero};
use std::collections::BTreeSet;

/// A pattern reduced to the parts that determine coverage.
#[derive(Clone, Debug)]
enum Simple {
    /// Any value.
    Any,
    /// A value of a type with one constructor, by its components.
    Parts(Vec<Simple>),
    /// A numbered case with its argument.
    Case(BigUint, Box<Simple>),
    /// A literal, by its text.
    Literal(String),
    /// The integers or code points in a range, both ends included.
    Span(BigInt, BigInt),
    /// A value that fits one of the alternatives.
    Or(Vec<Simple>),
    /// A product, by its first components; the remaining components are any values.
    First(Vec<Simple>),
}

/// Reduces a pattern.
fn simple(pat: &Pat) -> Simple {
    match &pat.kind {
        PatKind::Wild | PatKind::Bind(_) => Simple::Any,
        PatKind::As(inner, _) => simple(inner),
        PatKind::Int(n) => Simple::Span(n.clone(), n.clone()),
        PatKind::Ints(low, high) => Simple::Span(low.clone(), high.clone()),
        PatKind::Char(c) => Simple::Span(code_point(*c), code_point(*c)),
        PatKind::Chars(low, high) => Simple::Span(code_point(*low), code_point(*high)),
        PatKind::Or(parts) => Simple::Or(parts.iter().map(simple).collect()),
        PatKind::Real(x) if pat.ty.as_scalar() == Some(Scalar::Single) => {
            Simple::Literal(format!("{:?}", x.single))
        }
        PatKind::Real(x) => Simple::Literal(format!("{:?}", x.double)),
        PatKind::Str(s) => Simple::Literal(format!("{s:?}")),
        PatKind::Code(n) => Simple::Case(n.clone(), Box::new(Simple::Any)),
        PatKind::Tuple(parts) | PatKind::Pack(parts) => Simple::Parts(parts.iter().map(simple).collect()),
        PatKind::Coarray(index, argument) => Simple::Parts(vec![simple(index), simple(argument)]),
        // The last part of `(a, ..r)` binds the remaining components.
        PatKind::Reshape(inner) => match &inner.kind {
            PatKind::Tuple(parts) | PatKind::Pack(parts) => {
                Simple::First(parts[..parts.len().saturating_sub(1)].iter().map(simple).collect())
            }
            _ => simple(inner),
        },
        PatKind::Case(n, inner) => {
            let inner = inner.as_ref().map_or(Simple::Any, |p| simple(p));
            let case = |inner| Simple::Case(n.clone(), Box::new(inner));
            // A pattern for a coarray consists of one for its index and one for its argument.
            match coarray(&pat.ty) {
                Some(_) => Simple::Parts(vec![case(Simple::Any), inner]),
                None => case(inner),
            }
        }
    }
}

/// Returns the index type of the cases of a coarray, and the type of their argument.
fn coarray(ty: &Type) -> Option<(Type, Type)> {
    match ty.unfold().kind() {
        TypeKind::Repeat(cases, case) => Some((cases.clone(), case.clone())),
        _ => None,
    }
}

/// Returns the code point of a character.
fn code_point(c: char) -> BigInt {
    BigInt::from(u32::from(c))
}

/// Returns the alternatives of a pattern, each with its own place.
fn alternatives(pat: &Pat) -> Vec<&Pat> {
    match &pat.kind {
        PatKind::Or(parts) => parts.iter().flat_map(alternatives).collect(),
        _ => vec![pat],
    }
}

/// Reports the values that a match does not cover, and the arms that are never reached. The flag of
/// an arm is true if the arm has a guard; such an arm covers nothing for certain. A type or pattern
/// with a reported error gives no reports.
pub(in crate::check) fn check(
    arms: &[(&Pat, bool)],
    ty: &Type,
    scrutinee: Span,
    end: ArmsEnd,
) -> Vec<PatternError> {
    let mut reports = Vec::new();
    if ty.is_error() || arms.iter().any(|(pat, _)| broken(pat)) {
        return reports;
    }
    let mut rows: Vec<Vec<Simple>> = Vec::new();
    let mut budget = MAX_STEPS;
    for (pat, guarded) in arms {
        // An alternative is compared with those before it, even if the arm's guard may fail for all
        // of them.
        let before = rows.len();
        for alternative in alternatives(pat) {
            let row = vec![simple(alternative)];
            let reached = useful(&rows, &row, std::slice::from_ref(ty), &mut budget).is_some();
            if !reached && budget > 0 && !empty(ty, 0) {
                reports.push(PatternError::Unreachable { span: alternative.span });
            }
            rows.push(row);
        }
        if *guarded {
            rows.truncate(before);
        }
    }
    if let Some(missing) = useful(&rows, &[Simple::Any], std::slice::from_ref(ty), &mut budget) {
        let guarded = arms.iter().any(|(_, guarded)| *guarded);
        let missing = missing.concat();
        let arms = lacking(&rows, ty, &mut budget).unwrap_or_else(|| vec!["_".to_string()]);
        let arms: String = arms.iter().map(|pattern| format!("| {pattern} => {} ", end.body)).collect();
        let edit = (end.before, arms);
        reports.push(PatternError::NotExhaustive { span: scrutinee, missing, guarded, edit });
    }
    reports
}

/// The end of the arms of a match, for an edit that inserts missing arms.
#[derive(Clone, Copy)]
pub(in crate::check) struct ArmsEnd {
    /// The empty span before the keyword that ends the match.
    before: Span,
    /// The placeholder body of an inserted arm.
    body: &'static str,
}

impl ArmsEnd {
    /// Returns the end of a `match … with … endmatch` with this span.
    pub(in crate::check) fn of_expression(whole: Span) -> ArmsEnd {
        ArmsEnd { before: before_end(whole, "endmatch"), body: "fail \"not written yet\"" }
    }

    /// Returns the end of a `match … do … done` with this span.
    pub(in crate::check) fn of_statement(whole: Span) -> ArmsEnd {
        ArmsEnd { before: before_end(whole, "done"), body: ";" }
    }
}

/// Returns the empty span before the keyword at the end of `whole`.
fn before_end(whole: Span, word: &str) -> Span {
    let at = whole.end.saturating_sub(word.len() as u32).max(whole.start);
    Span { start: at, end: at, ..whole }
}

/// Maximum number of arms that an edit inserts.
const MAX_ARMS: u32 = 24;

/// Returns one pattern for each case that the rows leave out. Returns `None` for a type without
/// numbered cases or with more than [`MAX_ARMS`], and when the budget is used up.
fn lacking(rows: &[Vec<Simple>], ty: &Type, budget: &mut usize) -> Option<Vec<String>> {
    let count = case_count(ty).filter(|count| *count <= BigUint::from(MAX_ARMS))?.to_u32()?;
    let mut arms = Vec::new();
    for case in (0..count).map(BigUint::from) {
        let query = [match coarray(ty) {
            Some(_) => Simple::Parts(vec![Simple::Case(case.clone(), Box::new(Simple::Any)), Simple::Any]),
            None => Simple::Case(case.clone(), Box::new(Simple::Any)),
        }];
        if useful(rows, &query, std::slice::from_ref(ty), budget).is_some() {
            arms.push(show_case(ty, &case, "_"));
        }
    }
    (*budget > 0 && !arms.is_empty()).then_some(arms)
}

/// Returns true if an error in the pattern has been reported.
fn broken(pat: &Pat) -> bool {
    pat.ty.is_error()
        || match &pat.kind {
            PatKind::As(inner, _) | PatKind::Reshape(inner) => broken(inner),
            PatKind::Tuple(parts) | PatKind::Pack(parts) | PatKind::Or(parts) => parts.iter().any(broken),
            PatKind::Case(_, Some(inner)) => broken(inner),
            PatKind::Coarray(index, argument) => broken(index) || broken(argument),
            _ => false,
        }
}

/// Returns a value, as text, that fits none of the patterns; `None` if they cover the type, if one
/// of them has a reported error, or if the budget is used up.
pub(in crate::check) fn missing_pattern(patterns: &[&Pat], ty: &Type) -> Option<String> {
    if patterns.iter().any(|p| broken(p)) {
        return None;
    }
    let rows: Vec<Vec<Simple>> = patterns.iter().map(|p| vec![simple(p)]).collect();
    let found = useful(&rows, &[Simple::Any], std::slice::from_ref(ty), &mut { MAX_STEPS });
    found.map(|w| w.concat())
}

/// Returns true if a type certainly has no values. Returns false for types that are nested deeper
/// than 8 levels, including recursive ones.
fn empty(ty: &Type, depth: u32) -> bool {
    if depth > 8 {
        return false;
    }
    if ty.is_compact() {
        return !ty.has_meta() && ty.size().is_ok_and(|n| n.is_zero());
    }
    match ty.kind() {
        TypeKind::Product(parts) => parts.iter().any(|p| empty(p, depth + 1)),
        TypeKind::Record(fields) => fields.iter().any(|(_, p)| empty(p, depth + 1)),
        TypeKind::Sum(cases) => cases.iter().all(|c| empty(c, depth + 1)),
        TypeKind::Repeat(cases, case) => empty(cases, depth + 1) || empty(case, depth + 1),
        TypeKind::Array(element, index) => {
            empty(element, depth + 1) && index.size().is_ok_and(|n| !n.is_zero())
        }
        _ => false,
    }
}

/// Maximum number of steps for one match; a step is one row examined.
const MAX_STEPS: usize = 200_000;

/// Returns the component types of a type with one constructor, and the separator that is written
/// between them.
fn parts_of(ty: &Type) -> Option<(Vec<Type>, &'static str)> {
    let ty = ty.unfold();
    if let Some((cases, case)) = coarray(&ty) {
        return Some((vec![cases, case], " "));
    }
    // The end of a list counts as one component.
    if let TypeKind::Rest(list) = ty.kind()
        && let Some((parts, Some(end))) = list.list_prefix()
        && let Some(form) = list.list_form()
    {
        let comma = if form == ProductForm::Compact { "\\, " } else { ", " };
        return Some((parts.iter().cloned().chain([Type::product_of(end)]).collect(), comma));
    }
    if let Some(parts) = ty.components(MAX_COMPONENTS).filter(|p| !p.is_empty()) {
        return Some((parts, ", "));
    }
    ty.compact_parts(MAX_COMPONENTS).map(|f| (f, "\\, "))
}

/// Returns the number of cases of a type with numbered cases.
fn case_count(ty: &Type) -> Option<BigUint> {
    let ty = ty.unfold();
    match ty.kind() {
        TypeKind::Nominal(nominal, _) => match nominal.body()? {
            NominalBody::Variant(cases) => Some(BigUint::from(cases.len())),
            _ => None,
        },
        _ => ty.case_count(),
    }
}

/// Returns the type of the argument of a case; the unit type for a case without argument.
fn case_type(ty: &Type, case: &BigUint) -> Type {
    let ty = ty.unfold();
    let found = match ty.kind() {
        TypeKind::Nominal(nominal, args) => nominal
            .variant_cases(args)
            .and_then(|cases| case.to_usize().and_then(|i| cases.get(i).map(|c| c.1.clone()))),
        _ => ty.case_type(case),
    };
    found.expect("a pattern of a type names one of its cases")
}

/// Returns the text of a case in a message, given the text of its argument.
fn show_case(ty: &Type, case: &BigUint, argument: &str) -> String {
    let unfolded = ty.unfold();
    if unfolded.is_bool() {
        return if case.is_zero() { "false".into() } else { "true".into() };
    }
    let unit = case_type(ty, case).is_unit();
    if let TypeKind::Nominal(nominal, args) = unfolded.kind() {
        let name = nominal.variant_cases(args).and_then(|c| Some(c.get(case.to_usize()?)?.0.to_string()));
        let name = name.expect("a case of a declared type has a name");
        let takes = case.to_usize().is_some_and(|case| nominal.case_has_argument(case));
        let argument = if unit { "()" } else { argument };
        return if takes { format!("{name} {argument}") } else { name };
    }
    if unit { format!("case {case}") } else { format!("case {case} {argument}") }
}

/// Returns a value that fits `query` and no row, as one text for each column; `None` if there is
/// none or the budget is used up. All rows and `query` have the same columns as `types`.
fn useful(rows: &[Vec<Simple>], query: &[Simple], types: &[Type], budget: &mut usize) -> Option<Vec<String>> {
    if *budget == 0 {
        return None;
    }
    *budget = budget.saturating_sub(1 + rows.len());
    let Some(ty) = types.first() else {
        return if rows.is_empty() { Some(Vec::new()) } else { None };
    };
    if empty(ty, 0) {
        // The type has no values, so none is left out: `int + void` needs no arm for its second
        // case.
        return None;
    }
    if rows.iter().map(|r| &r[0]).chain([&query[0]]).any(|p| matches!(p, Simple::Or(_))) {
        let alternatives = |pattern: &Simple| match pattern {
            Simple::Or(parts) => parts.clone(),
            pattern => vec![pattern.clone()],
        };
        return useful_opened(rows, query, types, budget, &alternatives);
    }
    if let Some(found) = useful_pair(rows, query, types, budget) {
        return found;
    }
    let column = || rows.iter().map(|r| &r[0]).chain([&query[0]]);
    let first = column().any(|p| matches!(p, Simple::First(_)));
    // An index type that is not a product is its own first component.
    let parts = parts_of(ty).or_else(|| first.then(|| (vec![ty.clone()], "")));
    if let Some((parts, comma)) = parts
        && (first || column().any(|p| matches!(p, Simple::Parts(_))))
    {
        let n = parts.len();
        let open = |row: &[Simple]| -> Vec<Simple> {
            let head = match &row[0] {
                Simple::Parts(parts) => parts.clone(),
                Simple::First(parts) => parts.iter().cloned().chain(vec![Simple::Any; n]).take(n).collect(),
                _ if n == 1 && first => vec![row[0].clone()],
                _ => vec![Simple::Any; n],
            };
            head.into_iter().chain(row[1..].iter().cloned()).collect()
        };
        let rows: Vec<Vec<Simple>> = rows.iter().map(|r| open(r)).collect();
        let types: Vec<Type> = parts.into_iter().chain(types[1..].iter().cloned()).collect();
        let mut found = useful(&rows, &open(query), &types, budget)?;
        if let TypeKind::Rest(_) = ty.kind()
            && found[n - 1] == "_"
        {
            found[n - 1] = ".._".into();
        }
        let whole = match coarray(ty) {
            Some(_) => format!("case {}", found[..n].join(comma).trim_start_matches("case ")),
            None if n == 1 => found[0].clone(),
            None => format!("({})", found[..n].join(comma)),
        };
        return Some(std::iter::once(whole).chain(found[n..].iter().cloned()).collect());
    }
    if let Some(count) = case_count(ty) {
        let named: BTreeSet<&BigUint> = rows
            .iter()
            .filter_map(|r| match &r[0] {
                Simple::Case(n, _) => Some(n),
                _ => None,
            })
            .collect();
        let try_case = |case: &BigUint, budget: &mut usize| {
            let open = |row: &[Simple]| -> Option<Vec<Simple>> {
                let head = match &row[0] {
                    Simple::Case(n, inner) if n == case => (**inner).clone(),
                    Simple::Any => Simple::Any,
                    _ => return None,
                };
                Some(std::iter::once(head).chain(row[1..].iter().cloned()).collect())
            };
            let query = open(query)?;
            let rows: Vec<Vec<Simple>> = rows.iter().filter_map(|r| open(r)).collect();
            let types: Vec<Type> =
                std::iter::once(case_type(ty, case)).chain(types[1..].iter().cloned()).collect();
            let mut found = useful(&rows, &query, &types, budget)?;
            found[0] = show_case(ty, case, &found[0]);
            Some(found)
        };
        if let Simple::Case(case, _) = &query[0] {
            return try_case(case, budget);
        }
        if BigUint::from(named.len()) < count {
            // Some case is not named, so the rows that name a case cannot fit it (the default
            // matrix).
            let mut free = BigUint::zero();
            while free < count && (named.contains(&free) || empty(&case_type(ty, &free), 0)) {
                free += 1u32;
            }
            if free == count {
                return named.into_iter().find_map(|case| try_case(case, budget));
            }
            let rest: Vec<Vec<Simple>> =
                rows.iter().filter(|r| matches!(r[0], Simple::Any)).map(|r| r[1..].to_vec()).collect();
            let found = useful(&rest, &query[1..], &types[1..], budget)?;
            let head = if named.is_empty() { "_".to_string() } else { show_case(ty, &free, "_") };
            return Some(std::iter::once(head).chain(found).collect());
        }
        return named.into_iter().find_map(|case| try_case(case, budget));
    }
    if rows.iter().map(|r| &r[0]).chain([&query[0]]).any(|p| matches!(p, Simple::Span(..))) {
        return useful_span(rows, query, types, budget);
    }
    // Literals of types with unboundedly many values, and types that no pattern decomposes.
    if let Simple::Literal(text) = &query[0] {
        let rest: Vec<Vec<Simple>> = rows
            .iter()
            .filter(|r| match &r[0] {
                Simple::Any => true,
                Simple::Literal(other) => other == text,
                _ => false,
            })
            .map(|r| r[1..].to_vec())
            .collect();
        let found = useful(&rest, &query[1..], &types[1..], budget)?;
        return Some(std::iter::once(text.clone()).chain(found).collect());
    }
    let rest: Vec<Vec<Simple>> =
        rows.iter().filter(|r| matches!(r[0], Simple::Any)).map(|r| r[1..].to_vec()).collect();
    let found = useful(&rest, &query[1..], &types[1..], budget)?;
    let head = unnamed(rows.iter().map(|r| &r[0]), ty);
    Some(std::iter::once(head).chain(found).collect())
}

/// Computes [`useful`] where the first column holds integers or characters, and ranges of them. The
/// ends of all ranges cut the values of the type into pieces; each pattern contains each piece as a
/// whole or not at all.
fn useful_span(
    rows: &[Vec<Simple>],
    query: &[Simple],
    types: &[Type],
    budget: &mut usize,
) -> Option<Vec<String>> {
    let scalar = types.first()?.unfold().as_scalar();
    let all: Vec<(BigInt, BigInt)> = match scalar {
        Some(Scalar::Char) => vec![(0.into(), 0xD7FF.into()), (0xE000.into(), 0x10_FFFF.into())],
        Some(Scalar::Int) => vec![(i64::MIN.into(), i64::MAX.into())],
        Some(Scalar::Fixed(fixed)) => {
            let (bits, signed) = fixed.shape();
            let count = BigInt::from(1) << bits;
            let low = if signed { -(&count / BigInt::from(2)) } else { BigInt::zero() };
            vec![(low.clone(), low + count - 1)]
        }
        // The type has no bounds: one value below and one above all named ones stand for the
        // others.
        _ => {
            let ends = rows.iter().map(|r| &r[0]).chain([&query[0]]).filter_map(|p| match p {
                Simple::Span(low, high) => Some((low.clone(), high.clone())),
                _ => None,
            });
            let (lows, highs): (Vec<BigInt>, Vec<BigInt>) = ends.unzip();
            vec![(lows.into_iter().min()?.min(0.into()) - 1, highs.into_iter().max()?.max(0.into()) + 1)]
        }
    };
    // A range without values of the type is reported as such elsewhere, not as covered by other
    // arms.
    if let Simple::Span(first, last) = &query[0]
        && !all.iter().any(|(low, high)| first <= high && low <= last)
    {
        return Some(types.iter().map(|_| "_".to_string()).collect());
    }
    let mut cuts: BTreeSet<BigInt> = BTreeSet::new();
    for pattern in rows.iter().map(|r| &r[0]).chain([&query[0]]) {
        if let Simple::Span(low, high) = pattern {
            cuts.insert(low.clone());
            cuts.insert(high + 1);
        }
    }
    // The search for a witness starts at `base`, goes up, and then goes down from it.
    let base = if scalar == Some(Scalar::Char) { code_point('a') } else { BigInt::zero() };
    cuts.insert(base.clone());
    let mut pieces = Vec::new();
    for (low, high) in all {
        let mut from = low.clone();
        for cut in cuts.range(&low + 1..=high.clone()) {
            pieces.push((from, cut - 1));
            from = cut.clone();
        }
        pieces.push((from, high));
    }
    let (below, above): (Vec<_>, Vec<_>) = pieces.into_iter().partition(|(low, _)| *low < base);
    let above = above.into_iter().map(|piece| (piece.0.clone(), piece));
    let below = below.into_iter().rev().map(|piece| (piece.1.clone(), piece));
    above.chain(below).find_map(|(witness, (low, high))| {
        let open = |row: &[Simple]| -> Option<Vec<Simple>> {
            match &row[0] {
                Simple::Any => Some(row[1..].to_vec()),
                Simple::Span(first, last) if *first <= low && high <= *last => Some(row[1..].to_vec()),
                _ => None,
            }
        };
        let query = open(query)?;
        let rows: Vec<Vec<Simple>> = rows.iter().filter_map(|r| open(r)).collect();
        let found = useful(&rows, &query, &types[1..], budget)?;
        let shown = match scalar {
            Some(Scalar::Char) => {
                witness.to_u32().and_then(char::from_u32).map_or_else(|| "_".into(), |c| format!("{c:?}"))
            }
            _ => witness.to_string(),
        };
        Some(std::iter::once(shown).chain(found).collect())
    })
}

/// Returns the patterns that a pattern with components stands for, one for each alternative of its
/// first component that has any; `None` if none has.
fn component_alternatives(pattern: &Simple) -> Option<Vec<Simple>> {
    let Simple::Parts(parts) = pattern else { return None };
    let (at, choices) = parts.iter().enumerate().find_map(|(at, part)| match part {
        Simple::Or(choices) => Some((at, choices)),
        _ => None,
    })?;
    let with = |choice: &Simple| {
        let mut parts = parts.clone();
        parts[at] = choice.clone();
        Simple::Parts(parts)
    };
    Some(choices.iter().map(with).collect())
}

/// Computes [`useful`] with a row of its own for each alternative of the first column.
fn useful_opened(
    rows: &[Vec<Simple>],
    query: &[Simple],
    types: &[Type],
    budget: &mut usize,
    alternatives: &dyn Fn(&Simple) -> Vec<Simple>,
) -> Option<Vec<String>> {
    let opened = |row: &[Simple]| -> Vec<Vec<Simple>> {
        let with = |part: Simple| std::iter::once(part).chain(row[1..].iter().cloned()).collect();
        alternatives(&row[0]).into_iter().map(with).collect()
    };
    let rows: Vec<Vec<Simple>> = rows.iter().flat_map(|row| opened(row)).collect();
    opened(query).into_iter().find_map(|query| useful(&rows, &query, types, budget))
}

/// Computes [`useful`] where the first column holds pairs of indices of a triangle over a unit sum:
/// there the first component determines the values of the second. Returns `None` if the column is
/// of another type or has no pattern for a pair.
fn useful_pair(
    rows: &[Vec<Simple>],
    query: &[Simple],
    types: &[Type],
    budget: &mut usize,
) -> Option<Option<Vec<String>>> {
    let ty = types.first()?.unfold();
    let TypeKind::Triangle(triangle, index) = ty.kind() else { return None };
    let count = index.unfold().as_unit_sum()?.clone();
    let column = || rows.iter().map(|r| &r[0]).chain([&query[0]]);
    // Alternatives within a pair are alternatives of pairs.
    if column().any(|pattern| component_alternatives(pattern).is_some()) {
        let alternatives =
            |pattern: &Simple| component_alternatives(pattern).unwrap_or_else(|| vec![pattern.clone()]);
        return Some(useful_opened(rows, query, types, budget, &alternatives));
    }
    let mut named = BTreeSet::new();
    for pattern in column() {
        if let Simple::Parts(parts) = pattern
            && let [Simple::Case(row, _), _] = parts.as_slice()
        {
            named.insert(row.clone());
        }
    }
    if !column().any(|p| matches!(p, Simple::Parts(_))) {
        return None;
    }
    // Of the rows of the triangle that no pattern names, the longest has all values of the others.
    let mut free = count.clone();
    while !free.is_zero() && named.contains(&(&free - 1u32)) {
        free -= 1u32;
    }
    if !free.is_zero() {
        named.insert(free - 1u32);
    }
    Some(named.into_iter().rev().find_map(|row| {
        let length = triangle.row_length(&row);
        let open = |line: &[Simple]| {
            let second = match &line[0] {
                Simple::Parts(parts) => match parts.as_slice() {
                    [Simple::Any, second] => second.clone(),
                    [Simple::Case(n, _), second] if *n == row => second.clone(),
                    _ => return None,
                },
                _ => Simple::Any,
            };
            // An index beyond the end of the row fits no value.
            if matches!(&second, Simple::Case(n, _) if *n >= length) {
                return None;
            }
            Some(std::iter::once(second).chain(line[1..].iter().cloned()).collect::<Vec<_>>())
        };
        let query = open(query)?;
        let rows: Vec<Vec<Simple>> = rows.iter().filter_map(|r| open(r)).collect();
        let types: Vec<Type> =
            std::iter::once(Type::unit_sum(length.clone())).chain(types[1..].iter().cloned()).collect();
        let mut found = useful(&rows, &query, &types, budget)?;
        // A row of two indices is a part of the index type, and no truth value.
        let second = match &*found[0] {
            "false" if count != BigUint::from(2u32) => "case 0",
            "true" if count != BigUint::from(2u32) => "case 1",
            other => other,
        };
        found[0] = format!("(case {row}\\, {second})");
        Some(found)
    }))
}

/// Returns a literal, as text, that does not occur in a column; `_` if there is none to show.
fn unnamed<'a>(column: impl Iterator<Item = &'a Simple>, ty: &Type) -> String {
    let named: BTreeSet<&str> = column
        .filter_map(|p| match p {
            Simple::Literal(text) => Some(&**text),
            _ => None,
        })
        .collect();
    let scalar = ty.unfold().as_scalar().filter(|_| !named.is_empty());
    let candidate = |n: usize| match scalar {
        Some(scalar) if scalar.is_float() => format!("{n}.0"),
        Some(Scalar::String) => format!("{:?}", "x".repeat(n)),
        _ => "_".to_string(),
    };
    // Of the first n + 1 candidates, at least one differs from all n names.
    (0..=named.len()).map(candidate).find(|c| !named.contains(&**c)).expect("one that has no name")
}

#[cfg(test)]
mod tests {
    use super::{ArmsEnd, Simple, case_count, case_type, check, coarray, parts_of, simple, useful};
    use crate::check::error::PatternError;
    use crate::core::{Pat, PatKind};
    use crate::source::{SourceId, Span};
    use crate::types::number::{Fixed, Rounded};
    use crate::types::{Scalar, Triangle, Type, TypeKind};
    use num_bigint::{BigInt, BigUint};
    use num_traits::ToPrimitive;

    /// A value of a type with finitely many.
    #[derive(Clone, Debug)]
    enum Value {
        /// A case with its argument.
        Case(usize, Box<Value>),
        Parts(Vec<Value>),
        Int(i64),
        /// The argument of a case without one.
        Unit,
    }

    /// All ways to take one of the values of each type.
    fn tuples(types: &[Type]) -> Vec<Vec<Value>> {
        types.iter().fold(vec![Vec::new()], |all, ty| {
            let own = values(ty);
            let with = |before: &Vec<Value>| -> Vec<Vec<Value>> {
                own.iter().map(|value| [&before[..], std::slice::from_ref(value)].concat()).collect()
            };
            all.iter().flat_map(with).collect()
        })
    }

    /// All values of a type.
    fn values(ty: &Type) -> Vec<Value> {
        if let TypeKind::Triangle(triangle, index) = ty.kind() {
            let row = |value: &Value| match value {
                Value::Case(row, _) => *row,
                Value::Unit => 0,
                other => panic!("{other:?} is no index"),
            };
            let below = |pair: &Vec<Value>| match triangle {
                Triangle::Below => row(&pair[1]) < row(&pair[0]),
                Triangle::Lower => row(&pair[1]) <= row(&pair[0]),
            };
            let pairs = tuples(&[index.clone(), index.clone()]).into_iter().filter(below);
            return pairs.map(Value::Parts).collect();
        }
        if let Some(Scalar::Fixed(Fixed::I8)) = ty.as_scalar() {
            return (-128..128).map(Value::Int).collect();
        }
        if let Some((parts, _)) = parts_of(ty) {
            return tuples(&parts).into_iter().map(Value::Parts).collect();
        }
        if ty.is_unit() {
            return vec![Value::Unit];
        }
        let count = case_count(ty).expect("a sum").to_usize().expect("few cases");
        let argument = |case: usize| values(&case_type(ty, &case.into()));
        let with = |case: usize| argument(case).into_iter().map(move |of| Value::Case(case, Box::new(of)));
        (0..count).flat_map(with).collect()
    }

    /// Returns true if a value fits a pattern, by the definition.
    fn fits(pattern: &Pat, value: &Value) -> bool {
        match (&pattern.kind, value) {
            (PatKind::Wild, _) => true,
            (PatKind::Or(parts), _) => parts.iter().any(|part| fits(part, value)),
            (PatKind::Ints(low, high), Value::Int(n)) => (low..=high).contains(&&BigInt::from(*n)),
            (PatKind::Tuple(parts) | PatKind::Pack(parts), Value::Parts(values)) => {
                parts.iter().zip(values).all(|(part, value)| fits(part, value))
            }
            (PatKind::Coarray(index, argument), Value::Parts(values)) => {
                fits(index, &values[0]) && fits(argument, &values[1])
            }
            (PatKind::Code(code), Value::Unit) => *code == BigUint::ZERO,
            (PatKind::Code(code), Value::Case(case, _)) => *code == BigUint::from(*case),
            (PatKind::Case(case, inner), Value::Case(own, argument)) => {
                *case == BigUint::from(*own) && inner.as_ref().is_none_or(|inner| fits(inner, argument))
            }
            (PatKind::Case(case, inner), Value::Parts(values)) => {
                let own = match &values[0] {
                    Value::Case(own, _) => *own,
                    _ => 0,
                };
                *case == BigUint::from(own) && inner.as_ref().is_none_or(|inner| fits(inner, &values[1]))
            }
            (kind, value) => panic!("{kind:?} is no pattern for {value:?}"),
        }
    }

    /// Splits a text at a separator that is in no parentheses.
    fn split<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
        let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0i32);
        for (at, c) in text.char_indices() {
            depth += i32::from(c == '(') - i32::from(c == ')');
            if depth == 0 && at >= begin && text[at..].starts_with(separator) {
                parts.push(&text[begin..at]);
                begin = at + separator.len();
            }
        }
        parts.push(&text[begin..]);
        parts
    }

    /// Returns true if a value is one of those that a message shows.
    fn is_shown(text: &str, ty: &Type, value: &Value) -> bool {
        match value {
            _ if text == "_" => true,
            Value::Unit => text == "case 0",
            Value::Int(n) => text == n.to_string(),
            Value::Parts(values) => {
                let (types, separator) = parts_of(ty).expect("a type with parts");
                if coarray(ty).is_some() {
                    // Of `case i x`, the index is written without its own word.
                    let inside = text.strip_prefix("case ").expect("a case");
                    let (index, argument) = inside.split_once(' ').unwrap_or((inside, "_"));
                    let is_index = match index.parse::<usize>() {
                        Ok(case) => is_shown_index(&format!("case {case}"), &values[0]),
                        Err(_) => is_shown_index(index, &values[0]),
                    };
                    return is_index && is_shown(argument, &types[1], &values[1]);
                }
                let texts: Vec<String> = match text.strip_prefix('(').and_then(|text| text.strip_suffix(')'))
                {
                    _ if types.len() == 1 => vec![text.to_string()],
                    Some(inside) => split(inside, separator).iter().map(|text| text.to_string()).collect(),
                    None => panic!("{text} at {ty}"),
                };
                assert_eq!(texts.len(), types.len(), "{text} at {ty}");
                if matches!(ty.kind(), TypeKind::Triangle(..)) {
                    return texts.iter().zip(values).all(|(text, value)| is_shown_index(text, value));
                }
                texts
                    .iter()
                    .zip(types.iter().zip(values))
                    .all(|(text, (ty, value))| is_shown(text, ty, value))
            }
            Value::Case(case, _) if ty.is_bool() => text == ["false", "true"][*case],
            Value::Case(case, argument) => {
                let own = format!("case {case}");
                let Some(rest) = text.strip_prefix(&own) else { return false };
                match rest.strip_prefix(' ') {
                    Some(shown) => is_shown(shown, &case_type(ty, &BigUint::from(*case)), argument),
                    None => rest.is_empty(),
                }
            }
        }
    }

    /// Returns true if an index is one of those that the part of a pair shows: a case, or the truth
    /// value of the same number.
    fn is_shown_index(text: &str, value: &Value) -> bool {
        let case = match value {
            Value::Case(case, _) => *case,
            _ => 0,
        };
        text == "_" || text == format!("case {case}") || ["false", "true"].get(case) == Some(&text)
    }

    /// Makes a random type of few values, of at most so many levels.
    fn random_type(random: &mut fastrand::Rng, levels: usize) -> Type {
        let number = |random: &mut fastrand::Rng| Type::unit_sum(random.u32(0..4));
        if levels == 0 {
            return number(random);
        }
        let parts = |random: &mut fastrand::Rng| -> Vec<Type> {
            (0..random.usize(2..4)).map(|_| random_type(random, levels - 1)).collect()
        };
        let compact = |random: &mut fastrand::Rng| -> Vec<Type> {
            (0..random.usize(2..4)).map(|_| number(random)).collect()
        };
        match random.usize(..8) {
            0 => Type::product(parts(random)),
            1 | 2 => Type::sum(parts(random)),
            3 => Type::repeat(number(random), random_type(random, levels - 1)),
            4 => Type::array(random_type(random, levels - 1), Type::unit_sum(random.u32(1..3))),
            5 => Type::compact_product(compact(random)),
            6 => Type::compact_sum(compact(random)),
            _ => Type::triangle(*random.choice(&Triangle::ALL).unwrap(), number(random)),
        }
    }

    fn pattern(kind: PatKind, ty: &Type) -> Pat {
        Pat { kind, ty: ty.clone(), span: Span::default() }
    }

    /// Makes a random pattern for the values of a type.
    fn random_pattern(random: &mut fastrand::Rng, ty: &Type) -> Pat {
        let choice = random.usize(..8);
        if choice == 0 {
            return pattern(PatKind::Wild, ty);
        }
        if choice == 1 {
            let parts = (0..2).map(|_| random_pattern(random, ty)).collect();
            return pattern(PatKind::Or(parts), ty);
        }
        if ty.as_scalar().is_some() {
            // Some begin or end beyond the values of the type.
            let (a, b) = (random.i64(-132..132), random.i64(-132..132));
            let (low, high) = if choice < 4 { (a, a) } else { (a.min(b), a.max(b)) };
            return pattern(PatKind::Ints(low.into(), high.into()), ty);
        }
        if let Some((index, argument)) = coarray(ty) {
            if choice < 5 && index.as_unit_sum().is_some_and(|n| *n > BigUint::ZERO) {
                let case = random.u64(..case_count(ty).expect("a coarray").to_u64().expect("few cases"));
                let inner = random_pattern(random, &argument);
                return pattern(PatKind::Case(case.into(), Some(Box::new(inner))), ty);
            }
            let (index, argument) = (random_pattern(random, &index), random_pattern(random, &argument));
            return pattern(PatKind::Coarray(Box::new(index), Box::new(argument)), ty);
        }
        if let Some((types, _)) = parts_of(ty) {
            let is_pair = matches!(ty.kind(), TypeKind::Triangle(..));
            let parts = types.iter().map(|ty| {
                loop {
                    let part = random_pattern(random, ty);
                    // Alternatives within a pair have tests of their own.
                    if !(is_pair && matches!(part.kind, PatKind::Or(_))) {
                        break part;
                    }
                }
            });
            let parts = parts.collect();
            return pattern(if ty.is_compact() { PatKind::Pack(parts) } else { PatKind::Tuple(parts) }, ty);
        }
        let count = case_count(ty).expect("a sum").to_u64().expect("few cases");
        if count == 0 {
            return pattern(PatKind::Wild, ty);
        }
        let case = BigUint::from(random.u64(..count));
        if ty.as_unit_sum().is_some() {
            return pattern(PatKind::Code(case), ty);
        }
        let inner = random_pattern(random, &case_type(ty, &case));
        pattern(PatKind::Case(case, (choice < 7).then(|| Box::new(inner))), ty)
    }

    /// Makes a random type with all its values, of which there are at most a thousand.
    fn random_values(random: &mut fastrand::Rng) -> (Type, Vec<Value>) {
        loop {
            let ty = match random.usize(..8) {
                0 => Type::product(vec![Type::scalar(Scalar::Fixed(Fixed::I8)), random_type(random, 0)]),
                _ => random_type(random, 2),
            };
            let values = values(&ty);
            if values.len() <= 1_000 {
                return (ty, values);
            }
        }
    }

    /// A row is useful if a value fits it and none of the rows before, by trying all values; each
    /// value that the text shows is such a value.
    #[test]
    fn a_row_is_useful_if_a_value_fits_it_alone() {
        let seed = 4u64;
        let mut random = fastrand::Rng::with_seed(seed);
        let mut found_some = 0;
        for round in 0..6_000 {
            let (ty, values) = random_values(&mut random);
            let rows: Vec<Pat> = (0..random.usize(..6)).map(|_| random_pattern(&mut random, &ty)).collect();
            let query = random_pattern(&mut random, &ty);
            let context = format!("seed {seed}, round {round}: {query:?} after {rows:?} at {ty}");
            let is_alone = |value: &Value| fits(&query, value) && !rows.iter().any(|row| fits(row, value));
            let simple_rows: Vec<Vec<Simple>> = rows.iter().map(|row| vec![simple(row)]).collect();
            let found =
                useful(&simple_rows, &[simple(&query)], std::slice::from_ref(&ty), &mut { 1_000_000 });
            // A range of integers beyond the type counts as useful: it is reported elsewhere.
            if has_value_of_no_type(&query) {
                continue;
            }
            assert_eq!(found.is_some(), values.iter().any(is_alone), "{context}");
            let Some(text) = found.map(|found| found.concat()) else { continue };
            found_some += 1;
            let shown: Vec<&Value> = values.iter().filter(|value| is_shown(&text, &ty, value)).collect();
            assert!(!shown.is_empty(), "{context}: {text}");
            // The text of a query may leave out what the query itself says.
            if matches!(query.kind, PatKind::Wild) {
                assert!(shown.iter().all(|value| is_alone(value)), "{context}: {text}");
            }
        }
        assert!(found_some > 1_000, "{found_some}");
    }

    /// Returns true if a pattern has a range of integers that no value of its type is in.
    fn has_value_of_no_type(pattern: &Pat) -> bool {
        match &pattern.kind {
            PatKind::Ints(low, high) => *low > BigInt::from(127) || *high < BigInt::from(-128),
            PatKind::Tuple(parts) | PatKind::Pack(parts) | PatKind::Or(parts) => {
                parts.iter().any(has_value_of_no_type)
            }
            PatKind::Case(_, Some(inner)) => has_value_of_no_type(inner),
            PatKind::Coarray(index, argument) => {
                has_value_of_no_type(index) || has_value_of_no_type(argument)
            }
            _ => false,
        }
    }

    /// Numbers the places of a pattern and of its alternatives.
    fn number(pattern: &mut Pat, next: &mut usize) {
        pattern.span = Span::new(SourceId(0), *next, *next);
        *next += 1;
        if let PatKind::Or(parts) = &mut pattern.kind {
            parts.iter_mut().for_each(|part| number(part, next));
        }
    }

    /// Returns the alternatives of an arm.
    fn alternatives(pattern: &Pat) -> Vec<&Pat> {
        match &pattern.kind {
            PatKind::Or(parts) => parts.iter().flat_map(alternatives).collect(),
            _ => vec![pattern],
        }
    }

    /// The reports of a match are those of trying all values: a missing one, the alternatives that
    /// none reaches, and arms to insert that cover what is missing.
    #[test]
    fn reports_are_those_of_all_values() {
        let seed = 5u64;
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..4_000 {
            let (ty, values) = random_values(&mut random);
            let mut next = 0;
            let mut arms: Vec<(Pat, bool)> = (0..random.usize(1..5))
                .map(|_| (random_pattern(&mut random, &ty), random.usize(..3) == 0))
                .collect();
            arms.iter_mut().for_each(|(pattern, _)| number(pattern, &mut next));
            let context = format!("seed {seed}, round {round}: {arms:?} at {ty}");
            if arms.iter().any(|(pattern, _)| has_value_of_no_type(pattern)) {
                continue;
            }
            let (mut before, mut unreached): (Vec<&Pat>, Vec<Span>) = (Vec::new(), Vec::new());
            for (pattern, guarded) in &arms {
                let covered = before.len();
                for alternative in alternatives(pattern) {
                    let is_new = |value: &&Value| !before.iter().any(|pattern| fits(pattern, value));
                    if !values.iter().filter(is_new).any(|value| fits(alternative, value)) {
                        unreached.push(alternative.span);
                    }
                    before.push(alternative);
                }
                if *guarded {
                    before.truncate(covered);
                }
            }
            if values.is_empty() {
                unreached.clear();
            }
            let missing: Vec<&Value> =
                values.iter().filter(|value| !before.iter().any(|pattern| fits(pattern, value))).collect();
            let rows: Vec<(&Pat, bool)> = arms.iter().map(|(pattern, guarded)| (pattern, *guarded)).collect();
            let end = ArmsEnd::of_statement(Span::new(SourceId(0), 0, 100));
            let (mut found, mut shown, mut inserted) = (Vec::new(), None, String::new());
            for report in check(&rows, &ty, Span::default(), end) {
                match report {
                    PatternError::Unreachable { span } => found.push(span),
                    PatternError::NotExhaustive { missing, guarded, edit, .. } => {
                        assert_eq!(guarded, arms.iter().any(|(_, guarded)| *guarded), "{context}");
                        assert_eq!(edit.0, Span::new(SourceId(0), 96, 96), "{context}");
                        (shown, inserted) = (Some(missing), edit.1);
                    }
                    other => panic!("{other:?}: {context}"),
                }
            }
            assert_eq!(found, unreached, "{context}");
            assert_eq!(shown.is_some(), !missing.is_empty(), "{context}");
            if let Some(text) = shown {
                assert!(missing.iter().any(|value| is_shown(&text, &ty, value)), "{context}: {text}");
                let inserted: Vec<&str> =
                    inserted.split("| ").filter_map(|arm| arm.strip_suffix(" => ; ")).collect();
                let shows = |value: &Value, arm: &str| is_shown(arm, &ty, value);
                assert!(
                    missing.iter().all(|value| inserted.iter().any(|arm| shows(value, arm)))
                        && inserted.iter().all(|arm| missing.iter().any(|value| shows(value, arm))),
                    "{context}: {inserted:?}"
                );
            }
        }
    }

    /// Returns the text of a value that some patterns of a scalar type leave out.
    fn missing(kinds: Vec<PatKind>, ty: &Type) -> Option<String> {
        let patterns: Vec<Pat> = kinds.into_iter().map(|kind| pattern(kind, ty)).collect();
        super::missing_pattern(&patterns.iter().collect::<Vec<_>>(), ty)
    }

    #[test]
    fn ranges_cover_a_type_up_to_its_bounds() {
        let ints = |low: i64, high: i64| PatKind::Ints(low.into(), high.into());
        let int = Type::int();
        assert_eq!(missing(vec![ints(i64::MIN, -1), ints(0, i64::MAX)], &int), None);
        assert_eq!(
            missing(vec![ints(i64::MIN + 1, -1), ints(0, i64::MAX)], &int),
            Some(i64::MIN.to_string())
        );
        assert_eq!(missing(vec![ints(i64::MIN, 4), ints(6, i64::MAX)], &int), Some("5".into()));
        // Unbounded integers have values beyond all ranges.
        let covered = missing(vec![ints(i64::MIN, i64::MAX)], &Type::bigint());
        assert_eq!(covered, Some((i128::from(i64::MAX) + 1).to_string()));
    }

    #[test]
    fn characters_are_covered_without_surrogates() {
        let chars = |low, high| PatKind::Chars(low, high);
        let ty = Type::char();
        assert_eq!(missing(vec![chars('\0', '\u{d7ff}'), chars('\u{e000}', char::MAX)], &ty), None);
        assert_eq!(missing(vec![chars('\0', 'a'), chars('c', char::MAX)], &ty), Some("'b'".into()));
    }

    #[test]
    fn literals_of_unbounded_types_never_cover_them() {
        let reals: Vec<PatKind> = (0..3).map(|n| PatKind::Real(Rounded::read(&format!("{n}.0")))).collect();
        assert_eq!(missing(reals, &Type::real()), Some("3.0".into()));
        let texts = ["", "x", "xxx"].map(|text| PatKind::Str(text.into()));
        assert_eq!(missing(texts.to_vec(), &Type::string()), Some("\"xx\"".into()));
    }

    /// Makes a pattern for pairs of indices below 3, the second at most the first, of these
    /// cases; none stands for all of them.
    fn pair(first: &[u32], second: &[u32]) -> Pat {
        let index = Type::unit_sum(3u32);
        let cases = |cases: &[u32]| {
            let codes: Vec<Pat> =
                cases.iter().map(|case| pattern(PatKind::Code((*case).into()), &index)).collect();
            match <[Pat; 1]>::try_from(codes) {
                Ok([one]) => one,
                Err(codes) if codes.is_empty() => pattern(PatKind::Wild, &index),
                Err(codes) => pattern(PatKind::Or(codes), &index),
            }
        };
        pattern(PatKind::Pack(vec![cases(first), cases(second)]), &Type::triangle(Triangle::Lower, index))
    }

    fn missing_pair(patterns: &[Pat]) -> Option<String> {
        super::missing_pattern(&patterns.iter().collect::<Vec<_>>(), &patterns[0].ty)
    }

    #[test]
    fn alternatives_of_the_first_index_of_a_pair_cover_their_rows() {
        assert_eq!(missing_pair(&[pair(&[0], &[]), pair(&[1], &[]), pair(&[2], &[])]), None);
        assert_eq!(missing_pair(&[pair(&[0, 1], &[]), pair(&[2], &[])]), None);
    }

    #[test]
    fn alternatives_of_the_second_index_of_a_pair_may_be_beyond_the_row() {
        // Row 1 has two indices.
        assert_eq!(missing_pair(&[pair(&[0], &[]), pair(&[1], &[0, 1, 2]), pair(&[2], &[])]), None);
    }

    #[test]
    fn a_pair_is_shown_by_indices_of_its_type() {
        let patterns = [pair(&[0], &[]), pair(&[1], &[0]), pair(&[2], &[])];
        assert_eq!(missing_pair(&patterns), Some("(case 1\\, case 1)".into()));
    }

    /// A type of astronomically many cases takes no more steps than the patterns name cases.
    #[test]
    fn cases_that_no_pattern_names_are_not_enumerated() {
        let ty = Type::unit_sum(BigUint::from(10u32).pow(30));
        let codes = |n: u32| (0..n).map(|code| PatKind::Code(code.into())).collect::<Vec<_>>();
        assert_eq!(missing(codes(5), &ty), Some("case 5".into()));
        // Without a budget a match counts as exhaustive.
        assert_eq!(useful(&[], &[Simple::Any], std::slice::from_ref(&ty), &mut 0), None);
    }
}
