//! Help about grouping, for mistakes caused by the precedence of application.
//!
//! `f x.g` is `f (x.g)`, `p x |> f` is `(p x) |> f`, and `p x :>> T` is `(p x) :>> T`. The author
//! often meant the other reading; the help then shows how to write it.

use crate::check::context::Checker;
use crate::check::env::Scheme;
use crate::check::error::{CallError, CheckError, ConversionError, is_index_hole};
use crate::check::report::Report;
use crate::check::terms::key_name;
use crate::diagnostic::Help;
use crate::source::Span;
use crate::syntax::ast::{ApplyForm, Expr, ExprKind, Name};
use crate::types::{Type, TypeKind};

impl Checker<'_> {
    /// Adds a help to the reports after the mark `before` that satisfy `applies`.
    pub(in crate::check) fn add_hint(
        &mut self,
        before: usize,
        help: &str,
        applies: impl Fn(&Report) -> bool,
    ) {
        for report in self.reports.since(before).iter_mut().filter(|report| applies(report)) {
            report.set_help(Help::new(help));
        }
    }

    /// Adds a help about grouping to reports of a procedure call in place of a value.
    pub(in crate::check) fn regroup_procedure(&mut self, before: usize, help: &str) {
        self.add_hint(before, help, |report| {
            matches!(report.error, CheckError::Call(CallError::ProcedureAsValue { .. }))
        });
    }

    /// Adds a help if the left side of an operator begins with the call of a procedure. Returns
    /// true if it does; the other reports after the mark follow from it and are removed.
    pub(in crate::check) fn regroup_operator(&mut self, before: usize, operation: Span, left: &Expr) -> bool {
        let is_call = |report: &Report| {
            matches!(report.error, CheckError::Call(CallError::ProcedureAsValue { .. }))
                && report.span().start == operation.start
        };
        let Some(at) = self.reports.since(before).iter().position(is_call) else { return false };
        // The intended argument extends to the end of the operation.
        let mut first = left;
        while let ExprKind::Binary(_, left, _) = &first.kind {
            first = left;
        }
        let ExprKind::Apply { argument, function, .. } = &first.kind else { return false };
        let (start, name) = (argument.span, self.texts_of(function));
        let edits =
            vec![(Span { end: start.start, ..start }, "(".to_string()), (operation.after(), ")".to_string())];
        let text =
            format!("application binds tighter than operators: write `{name} (a + b)` or `{name}$ a + b`");
        self.reports.since(before)[at].set_help(Help { text, edits });
        self.reports.keep_one(before, at);
        true
    }

    /// Returns the name of the called function, or a placeholder.
    fn texts_of(&self, function: &Expr) -> String {
        match &function.kind {
            ExprKind::Name(name) => name.text.to_string(),
            _ => "p".to_string(),
        }
    }

    /// Adds a help for the call of a procedure left of `|>` or `:>>`; `how` gives the correct
    /// expression for the name of the procedure.
    pub(in crate::check) fn regroup_left(
        &mut self,
        before: usize,
        left: &Expr,
        operator: &str,
        how: impl FnOnce(String) -> String,
    ) {
        if let ExprKind::Apply { function, .. } = &left.kind {
            let how = how(self.texts_of(function));
            self.regroup_procedure(
                before,
                &format!("application binds tighter than `{operator}`: write `{how}`"),
            );
        }
    }

    /// Adds help to the mismatches reported since `before` within an application.
    pub(in crate::check) fn regroup_application(&mut self, before: usize, e: &Expr) {
        if self.reports.len() == before {
            return;
        }
        // A help with an edit is kept.
        let mismatch = |report: &Report, at: Span| {
            matches!(report.error, CheckError::Conversion(ConversionError::Mismatch { .. }))
                && report.span() == at
                && !report.has_edit()
        };
        let mut head = e;
        let mut applied = false;
        let (mut arguments, mut first_argument) = (Vec::new(), None);
        while let ExprKind::Apply { function, argument, form } = &head.kind {
            applied = true;
            if *form == ApplyForm::Juxtaposed {
                arguments.insert(0, argument.span);
                first_argument = Some(argument);
            }
            if let ExprKind::Dot { base, key } = &argument.kind
                && let Some((name, _)) = key_name(key)
                && self.env.callables(&name.text).is_some()
            {
                let how = format!("`.` binds tighter than application: write `(f x).{}`", name.text);
                self.add_hint(before, &how, |report| mismatch(report, argument.span));
                // `f (a, b).g`: the tuple is what `f` was to take.
                if let (ExprKind::Name(function), ExprKind::Tuple(_)) = (&function.kind, &base.kind) {
                    let how = format!(
                        "`.` binds tighter than application: write `({} (…)).{}`",
                        function.text, name.text
                    );
                    let start = argument.span.start;
                    self.add_hint(before, &how, |report| {
                        matches!(report.error, CheckError::Call(CallError::NoOverload { .. }))
                            && report.span().start == start
                    });
                }
            }
            if let (ExprKind::Name(name), ExprKind::Tuple(parts)) = (&function.kind, &argument.kind)
                && &*name.text == "assert"
                && parts.len() > 1
            {
                let how =
                    "`assert` takes a condition and nothing else: `if not c do fail \"why\"; done` says why";
                self.add_hint(before, how, |report| mismatch(report, argument.span));
            }
            if let (ExprKind::Name(name), ExprKind::Tuple(parts), [_]) =
                (&function.kind, &argument.kind, &arguments[..])
                && let Some(help) = self.one_by_one(name, parts, argument.span)
            {
                let wrong = |report: &&mut Report| {
                    matches!(report.error, CheckError::Conversion(ConversionError::Mismatch { .. }))
                        && report.span() == argument.span
                };
                if let Some(report) = self.reports.since(before).iter_mut().find(wrong) {
                    report.set_help(help);
                    return;
                }
            }
            head = function;
        }
        if let (true, ExprKind::Dot { base, key }) = (applied, &head.kind)
            && let Some((name, _)) = key_name(key)
        {
            let name = &name.text;
            let how = format!("`x.{name} a` is `{name} x a`: write `x |> {name} a` to pass `x` last");
            // The other way around would be as wrong where `x` is no index.
            self.add_hint(before, &how, |report| {
                mismatch(report, base.span)
                    && !matches!(&report.error, CheckError::Conversion(ConversionError::Mismatch { expected, .. }) if is_index_hole(expected))
            });
            // `l.push 2`: one value is missing in the tuple that is wanted.
            let receiver = if let ExprKind::Name(receiver) = &base.kind { &*receiver.text } else { "x" };
            let values = vec!["…"; arguments.len()].join(", ");
            let how = format!(
                "`x.{name} a` is `{name} x a`, and `{name}` takes its values together: write `{name} ({receiver}, {values})`"
            );
            let takes_all = |wanted: &Type| matches!(wanted.kind(), TypeKind::Product(parts) if parts.len() == arguments.len() + 1);
            self.add_hint(before, &how, |report| {
                mismatch(report, base.span)
                    && matches!(&report.error, CheckError::Conversion(ConversionError::Mismatch { expected, .. }) if takes_all(expected))
            });
        }
        if let (ExprKind::Name(name), [_, _, ..]) = (&head.kind, &arguments[..])
            && matches!(&*name.text, "print" | "println")
        {
            let how = format!(
                "`{0}` takes one value: join texts, as in `{0}$ \"x = \" + x.str`, or give a tuple",
                name.text
            );
            self.regroup_procedure(before, &how);
        }
        // `# a comment` is read as a call, `#a`, with more arguments.
        let mut called = e;
        while let ExprKind::Apply { function, form, argument } = &called.kind {
            if *form == ApplyForm::Hash && function.span.start > called.span.start + 1 {
                let whole = e.span;
                self.add_comment_hint(before, whole);
            }
            // `f"x = {x}"` written with a prefix that is read as a name.
            let prefix = match &function.kind {
                ExprKind::Apply { argument, .. } => argument,
                _ => function,
            };
            if let (ExprKind::Str(_), ExprKind::Name(name)) = (&argument.kind, &prefix.kind)
                && matches!(&*name.text, "f" | "s" | "fr" | "rf")
                && argument.span.start == name.span.end
            {
                let at = name.span;
                let how = "a text holds no values: join it with their texts, as in `\"x = \" + x.str`";
                let unknown = |report: &Report| {
                    matches!(report.error, CheckError::Call(CallError::UnknownName { .. }))
                        && report.span() == at
                };
                self.add_hint(before, how, unknown);
            }
            called = function;
        }
        if let (ExprKind::Name(name), [first, _, ..]) = (&head.kind, &arguments[..])
            && first_argument.is_some_and(|argument| matches!(argument.kind, ExprKind::Lambda(_)))
            && self.takes_array(name)
        {
            let other = [format!("{}_if", name.text), format!("{}_by", name.text)];
            let how = match other.iter().find(|other| self.env.callables(other).is_some()) {
                Some(other) => format!("`{other} f x` takes a function"),
                None => format!("`{0}` takes no function: write `{0} (map f x)`", name.text),
            };
            self.add_hint(before, &how, |report| mismatch(report, *first));
            return;
        }
        if let (ExprKind::Name(name), [first, .., last]) = (&head.kind, &arguments[..])
            && self.takes_together(name, arguments.len())
        {
            let wrong = |report: &&mut Report| {
                matches!(
                    report.error,
                    CheckError::Conversion(ConversionError::Mismatch { .. })
                        | CheckError::Call(CallError::NoOverload { .. })
                ) && first.end >= report.span().end
            };
            let Some(report) = self.reports.since(before).iter_mut().find(wrong) else { return };
            let values = vec!["…"; arguments.len()].join(", ");
            let text = format!("`{}` takes its values together: write `{0} ({values})`", name.text);
            let mut edits = vec![(Span { end: first.start, ..*first }, "(".to_string())];
            edits.extend(arguments[..arguments.len() - 1].iter().map(|at| (at.after(), ",".to_string())));
            edits.push((last.after(), ")".to_string()));
            report.set_help(Help { text, edits });
        }
    }

    /// Adds a help to reports of unknown names inside text that looks like a comment.
    pub(in crate::check) fn add_comment_hint(&mut self, before: usize, whole: Span) {
        let inside = |report: &Report| {
            let at = report.span();
            matches!(report.error, CheckError::Call(CallError::UnknownName { .. }))
                && whole.start <= at.start
                && at.end <= whole.end
        };
        self.add_hint(before, "a comment begins with `//`", inside);
    }

    /// Returns the help for a tuple of arguments to a function that takes as many one after the
    /// other.
    fn one_by_one(&mut self, name: &Name, parts: &[Expr], tuple: Span) -> Option<Help> {
        let callables = self.env.callables(&name.text).map_or(Vec::new(), <[_]>::to_vec);
        let curried = !callables.is_empty()
            && callables.iter().all(|callable| {
                let Scheme { result, .. } = self.header(callable);
                let mut groups = 1;
                let mut rest = result;
                while let Some(TypeKind::Function(_, result)) = rest.as_ref().map(|ty| ty.kind().clone()) {
                    groups += 1;
                    rest = Some(result);
                }
                groups == parts.len()
            });
        if !curried || parts.len() < 2 {
            return None;
        }
        let is_atom = |part: &Expr| {
            use ExprKind as K;
            matches!(part.kind, K::Name(_) | K::Int(_) | K::Real(_) | K::Str(_) | K::Bool(_) | K::Tuple(_))
        };
        let mut edits = Vec::new();
        let mut from = tuple.start;
        for part in parts {
            let open = if is_atom(part) { "" } else { "(" };
            let blank = if edits.is_empty() { "" } else { " " };
            edits.push((Span { start: from, end: part.span.start, ..tuple }, format!("{blank}{open}")));
            if !is_atom(part) {
                edits.push((part.span.after(), ")".to_string()));
            }
            from = part.span.end;
        }
        edits.push((Span { start: from, end: tuple.end, ..tuple }, String::new()));
        let values = vec!["…"; parts.len()].join(" ");
        let text = format!("`{}` takes its values one after the other: write `{0} {values}`", name.text);
        Some(Help { text, edits })
    }

    /// Returns true if all functions of this name take an array of any size and nothing else.
    fn takes_array(&mut self, name: &Name) -> bool {
        let callables = self.env.callables(&name.text).map_or(Vec::new(), <[_]>::to_vec);
        !callables.is_empty() && callables.iter().all(|callable| is_any_array(&self.header(callable).domain))
    }

    /// Returns true if a function of this name takes a tuple of `count` values, or any array.
    fn takes_together(&mut self, name: &Name, count: usize) -> bool {
        let callables = self.env.callables(&name.text).map_or(Vec::new(), <[_]>::to_vec);
        callables.iter().any(|callable| {
            let Scheme { domain, result, .. } = self.header(callable);
            let any = is_any_array(&domain);
            let curried = result.is_some_and(|ty| matches!(ty.kind(), TypeKind::Function(..)));
            any && !curried || domain.unfold().components(count).is_some_and(|parts| parts.len() == count)
        })
    }
}

/// Returns true for the type of an array of any size.
fn is_any_array(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Array(_, index) if matches!(index.kind(), TypeKind::Var(_)))
}
