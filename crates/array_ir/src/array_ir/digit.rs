//! Digits computed from others: their bounds, others in place of those that they are made of, and
//! what undoes itself left out.
//!
//! Every function here that gives another digit gives one of the same value, whose bound is at most
//! that of the digit that it was given: so what [`super::validate`] accepts stays accepted.

use super::{DigitExpr, Size, Space, Value, Violation};

type Result<T> = std::result::Result<T, Violation>;

/// Nodes of a digit that is made of others.
pub const MAX_DIGIT_NODES: usize = 16;

/// Multiples of a product of symbolic sizes that are found in an offset.
const MAX_STEPS: u64 = 4;

/// Checks that a bound of a digit is at most a size.
///
/// # Errors
/// It is not known to be.
pub fn expect_at_most(digit: &DigitExpr, bound: &Size, size: &Size) -> Result<()> {
    if bound.is_at_most(size) {
        return Ok(());
    }
    Err(Violation::DigitRange { digit: digit.to_string(), bound: bound.clone(), size: size.clone() })
}

/// Returns an exclusive upper bound of a digit; `target` is the space of the view's index, and
/// `index` gives the spaces of values.
///
/// # Errors
/// A digit that is not there, or one out of the range that an expression wants of it.
pub fn bound<'a>(
    digit: &DigitExpr,
    target: Option<&Space>,
    index: &dyn Fn(Value) -> Result<&'a Space>,
) -> Result<Size> {
    let no_digit = || Violation::NoDigit { digit: digit.to_string() };
    match digit {
        DigitExpr::Target(at) => {
            let of = target.and_then(|space| space.digits.get(*at as usize)).ok_or_else(no_digit)?;
            of.size().ok_or(Violation::LargeSize)
        }
        DigitExpr::Of(value, at) => {
            let of = index(*value)?.digits.get(*at as usize).ok_or_else(no_digit)?;
            of.size().ok_or(Violation::LargeSize)
        }
        DigitExpr::Constant(size) => size.add(&Size::constant(1)).ok_or(Violation::LargeSize),
        DigitExpr::Affine { offset, stride, of } => {
            if *stride == 0 {
                return Err(Violation::Stride { digit: digit.to_string() });
            }
            let stride = Size::constant(*stride);
            let end = stride.mul(&bound(of, target, index)?).and_then(|end| offset.add(&end));
            let end = end.ok_or(Violation::LargeSize)?;
            // The digit after the largest, or where that is no polynomial with natural
            // coefficients, a larger one.
            let after = end.add(&Size::constant(1)).and_then(|after| after.checked_sub(&stride));
            Ok(after.unwrap_or(end))
        }
        DigitExpr::Sum(digits) => {
            let mut end = Size::constant(0);
            for of in digits {
                end = end.add(&bound(of, target, index)?).ok_or(Violation::LargeSize)?;
            }
            // The largest digits are one less each.
            let after = end.add(&Size::constant(1));
            let count = Size::constant(digits.len() as u64);
            let after = after.and_then(|after| after.checked_sub(&count));
            Ok(if digits.is_empty() { Size::constant(1) } else { after.unwrap_or(end) })
        }
        DigitExpr::Modular { size, plus, minus } => {
            if plus.is_empty() && minus.is_empty() {
                return Err(Violation::NoDigits { digit: digit.to_string() });
            }
            for of in plus.iter().chain(minus) {
                expect_at_most(of, &bound(of, target, index)?, size)?;
            }
            Ok(size.clone())
        }
        DigitExpr::Reverse { size, of } => {
            expect_at_most(of, &bound(of, target, index)?, size)?;
            Ok(size.clone())
        }
        DigitExpr::Join(digits) => {
            let mut product = Size::constant(1);
            for (of, size) in digits {
                expect_at_most(of, &bound(of, target, index)?, size)?;
                product = product.mul(size).ok_or(Violation::LargeSize)?;
            }
            Ok(product)
        }
        DigitExpr::Split { of, sizes, digit: at } => {
            let product = sizes.iter().try_fold(Size::constant(1), |product, size| product.mul(size));
            expect_at_most(of, &bound(of, target, index)?, &product.ok_or(Violation::LargeSize)?)?;
            sizes.get(*at as usize).cloned().ok_or_else(no_digit)
        }
        DigitExpr::Remainder(_, 0) => Err(Violation::Stride { digit: digit.to_string() }),
        DigitExpr::Remainder(_, size) => Ok(Size::constant(*size)),
    }
}

/// The digit, unless it has too many nodes.
pub fn limit_nodes(digit: DigitExpr) -> Option<DigitExpr> {
    (nodes(&digit) <= MAX_DIGIT_NODES).then_some(digit)
}

/// Calls `f` on each word that a digit is computed from.
///
/// # Errors
/// The first one of `f`.
pub fn try_each_word(digit: &DigitExpr, f: &mut dyn FnMut(Value) -> Result<()>) -> Result<()> {
    match digit {
        DigitExpr::Target(_) | DigitExpr::Of(..) | DigitExpr::Constant(_) => Ok(()),
        DigitExpr::Remainder(value, _) => f(*value),
        DigitExpr::Affine { of, .. } | DigitExpr::Reverse { of, .. } | DigitExpr::Split { of, .. } => {
            try_each_word(of, f)
        }
        DigitExpr::Join(digits) => digits.iter().try_for_each(|(digit, _)| try_each_word(digit, f)),
        DigitExpr::Sum(digits) => digits.iter().try_for_each(|digit| try_each_word(digit, f)),
        DigitExpr::Modular { plus, minus, .. } => {
            plus.iter().chain(minus).try_for_each(|digit| try_each_word(digit, f))
        }
    }
}

/// Calls `f` on each digit of an index in scope that a digit is computed from.
pub fn for_each_source(digit: &DigitExpr, f: &mut dyn FnMut(Value, u32)) {
    match digit {
        DigitExpr::Of(value, at) => f(*value, *at),
        DigitExpr::Target(_) | DigitExpr::Constant(_) | DigitExpr::Remainder(..) => {}
        DigitExpr::Affine { of, .. } | DigitExpr::Reverse { of, .. } | DigitExpr::Split { of, .. } => {
            for_each_source(of, f);
        }
        DigitExpr::Join(digits) => digits.iter().for_each(|(digit, _)| for_each_source(digit, f)),
        DigitExpr::Sum(digits) => digits.iter().for_each(|digit| for_each_source(digit, f)),
        DigitExpr::Modular { plus, minus, .. } => {
            plus.iter().chain(minus).for_each(|digit| for_each_source(digit, f));
        }
    }
}

/// The number of nodes of a digit.
pub fn nodes(digit: &DigitExpr) -> usize {
    match digit {
        DigitExpr::Target(_) | DigitExpr::Of(..) | DigitExpr::Constant(_) | DigitExpr::Remainder(..) => 1,
        DigitExpr::Affine { of, .. } | DigitExpr::Reverse { of, .. } | DigitExpr::Split { of, .. } => {
            1 + nodes(of)
        }
        DigitExpr::Join(digits) => 1 + digits.iter().map(|(digit, _)| nodes(digit)).sum::<usize>(),
        DigitExpr::Sum(digits) => 1 + digits.iter().map(nodes).sum::<usize>(),
        DigitExpr::Modular { plus, minus, .. } => 1 + plus.iter().chain(minus).map(nodes).sum::<usize>(),
    }
}

/// The digit with others in place of those of the target.
pub fn replace_targets(digit: &DigitExpr, target: &dyn Fn(u32) -> DigitExpr) -> DigitExpr {
    replace(digit, target, &DigitExpr::Of)
}

/// The digit with others in place of those that it is made of.
pub fn replace(
    digit: &DigitExpr,
    target: &dyn Fn(u32) -> DigitExpr,
    known: &dyn Fn(Value, u32) -> DigitExpr,
) -> DigitExpr {
    let inner = |of: &DigitExpr| Box::new(replace(of, target, known));
    let all = |digits: &[DigitExpr]| digits.iter().map(|of| replace(of, target, known)).collect();
    match digit {
        DigitExpr::Target(at) => target(*at),
        DigitExpr::Of(value, at) => known(*value, *at),
        DigitExpr::Constant(_) | DigitExpr::Remainder(..) => digit.clone(),
        DigitExpr::Affine { offset, stride, of } => {
            DigitExpr::Affine { offset: offset.clone(), stride: *stride, of: inner(of) }
        }
        DigitExpr::Reverse { size, of } => DigitExpr::Reverse { size: size.clone(), of: inner(of) },
        DigitExpr::Sum(digits) => DigitExpr::Sum(all(digits)),
        DigitExpr::Modular { size, plus, minus } => {
            DigitExpr::Modular { size: size.clone(), plus: all(plus), minus: all(minus) }
        }
        DigitExpr::Join(digits) => DigitExpr::Join(
            digits.iter().map(|(of, size)| (replace(of, target, known), size.clone())).collect(),
        ),
        DigitExpr::Split { of, sizes, digit } => {
            DigitExpr::Split { of: inner(of), sizes: sizes.clone(), digit: *digit }
        }
    }
}

/// Leaves out what undoes itself, from the inside.
pub fn reduce_digit(digit: DigitExpr) -> DigitExpr {
    match digit {
        DigitExpr::Affine { offset, stride, of } => match reduce_digit(*of) {
            of if stride == 1 && offset == Size::constant(0) => of,
            DigitExpr::Constant(number) => {
                let sum = Size::constant(stride).mul(&number).and_then(|product| product.add(&offset));
                match sum {
                    Some(sum) => DigitExpr::Constant(sum),
                    None => DigitExpr::Affine { offset, stride, of: Box::new(DigitExpr::Constant(number)) },
                }
            }
            DigitExpr::Join(digits) => {
                let advanced = if stride == 1 { advanced(&offset, &digits) } else { None };
                match advanced {
                    Some(digits) => DigitExpr::Join(digits),
                    None => DigitExpr::Affine { offset, stride, of: Box::new(DigitExpr::Join(digits)) },
                }
            }
            of => DigitExpr::Affine { offset, stride, of: Box::new(of) },
        },
        DigitExpr::Reverse { size, of } => match reduce_digit(*of) {
            DigitExpr::Reverse { size: inner, of } if inner == size => *of,
            of => DigitExpr::Reverse { size, of: Box::new(of) },
        },
        DigitExpr::Sum(digits) => match digits.into_iter().map(reduce_digit).collect::<Vec<_>>() {
            digits if digits.len() == 1 => digits[0].clone(),
            digits => DigitExpr::Sum(digits),
        },
        DigitExpr::Modular { size, plus, minus } => {
            let all = |digits: Vec<DigitExpr>| digits.into_iter().map(reduce_digit).collect::<Vec<_>>();
            let (plus, minus) = without_pairs(all(plus), all(minus), &size);
            match (&plus[..], &minus[..]) {
                // Its bound is at most the size.
                ([digit], []) => digit.clone(),
                // The last index less a digit never wraps around.
                ([], [digit, DigitExpr::Constant(one)] | [DigitExpr::Constant(one), digit])
                    if *one == Size::constant(1) =>
                {
                    DigitExpr::Reverse { size, of: Box::new(digit.clone()) }
                }
                _ => DigitExpr::Modular { size, plus, minus },
            }
        }
        DigitExpr::Join(digits) => {
            let digits: Vec<_> = digits.into_iter().map(|(of, size)| (reduce_digit(of), size)).collect();
            if let [(of, _)] = &digits[..] {
                return of.clone();
            }
            rejoined(&digits).unwrap_or(DigitExpr::Join(digits))
        }
        DigitExpr::Split { of, sizes, digit } => match reduce_digit(*of) {
            // The first size of the number is at most that of its digits.
            DigitExpr::Join(digits)
                if digits.len() == sizes.len()
                    && digits.iter().map(|(_, size)| size).skip(1).eq(sizes.iter().skip(1)) =>
            {
                digits[digit as usize].0.clone()
            }
            of => DigitExpr::Split { of: Box::new(of), sizes, digit },
        },
        digit => digit,
    }
}

/// The digits of a number plus an offset that is a multiple of the product of all sizes but the
/// first: only the first digit is another one. `None` for any other offset.
fn advanced(offset: &Size, digits: &[(DigitExpr, Size)]) -> Option<Vec<(DigitExpr, Size)>> {
    let step = digits.iter().skip(1).try_fold(Size::constant(1), |product, (_, size)| product.mul(size))?;
    let count = match (offset.to_constant(), step.to_constant()) {
        (Some(offset), Some(step)) if step > 0 => (offset % step == 0).then_some(offset / step),
        _ => (1..=MAX_STEPS).find(|count| step.mul(&Size::constant(*count)).as_ref() == Some(offset)),
    };
    let steps = Size::constant(count?);
    let ((first, size), rest) = digits.split_first()?;
    let size = size.add(&steps)?;
    let first = DigitExpr::Affine { offset: steps, stride: 1, of: Box::new(first.clone()) };
    Some([(reduce_digit(first), size)].into_iter().chain(rest.iter().cloned()).collect())
}

/// The digits of a sum and a difference modulo a size: sums modulo the same size among them taken
/// apart, and what is both added and subtracted left out, but for a last pair.
fn without_pairs(
    plus: Vec<DigitExpr>,
    minus: Vec<DigitExpr>,
    size: &Size,
) -> (Vec<DigitExpr>, Vec<DigitExpr>) {
    let (mut added, mut taken) = (Vec::new(), Vec::new());
    let signed =
        plus.into_iter().map(|digit| (digit, true)).chain(minus.into_iter().map(|digit| (digit, false)));
    for (digit, is_plus) in signed {
        let (own, other) = if is_plus { (&mut added, &mut taken) } else { (&mut taken, &mut added) };
        match digit {
            DigitExpr::Modular { size: inner, plus, minus } if inner == *size => {
                own.extend(plus);
                other.extend(minus);
            }
            digit => own.push(digit),
        }
    }
    let mut at = 0;
    while at < added.len() && added.len() + taken.len() > 2 {
        match taken.iter().position(|digit| *digit == added[at]) {
            Some(pair) => {
                added.remove(at);
                taken.remove(pair);
            }
            None => at += 1,
        }
    }
    (added, taken)
}

/// The number of which these are all digits in order.
fn rejoined(digits: &[(DigitExpr, Size)]) -> Option<DigitExpr> {
    let (DigitExpr::Split { of: number, .. }, _) = digits.first()? else { return None };
    let own = digits.iter().map(|(_, size)| size);
    let fits = digits.iter().zip(0..).all(|((digit, _), at)| match digit {
        DigitExpr::Split { of, sizes, digit } => of == number && *digit == at && own.clone().eq(sizes),
        _ => false,
    });
    fits.then(|| (**number).clone())
}
