//! `main`: the procedure that a program is called by, and its arguments from the words of a command
//! line.
//!
//! Takes a program's text; gives the parameters of its `main`, and from words the text of a call.
//! Runs nothing.

use super::Session;
use super::transaction::TransactionEnd;
use felis_base::diagnostic::Diagnostic;
use felis_calculus::types::{Scalar, Type, TypeKind};
use felis_check::check::env::{Callable, Scope};
use felis_syntax::syntax;
use felis_syntax::syntax::ast::{Pattern, PatternKind, Stmt, StmtKind};
use felis_syntax::syntax::unparse;
use num_bigint::{BigInt, BigUint};

/// The `main` of a program.
#[derive(Clone, Debug)]
pub struct EntryPoint {
    /// The parameters of the procedure.
    pub params: Vec<Parameter>,
    /// Its `///` comment.
    pub doc: Option<String>,
}

/// A parameter of `main`.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name, for messages.
    pub name: String,
    /// Its type as it is written.
    pub written: String,
    /// Its default, as it is written.
    pub default: Option<String>,
    form: ParameterForm,
}

/// The form in which a word is parsed.
#[derive(Clone, Debug)]
enum ParameterForm {
    Scalar(Scalar),
    Bool,
    /// A value of a finite type, by its code.
    Code(Type, BigUint),
    /// All remaining words, each in this form.
    Rest(Box<ParameterForm>),
}

/// The reason why words are no arguments, as a sentence.
pub type ArgumentError = String;

impl Session {
    /// The `main` that a program is called by: a procedure of this name that the program itself
    /// does not call. Errors are those of checking the program.
    pub fn entry_point(&mut self, name: &str, text: &str) -> Result<Option<EntryPoint>, Vec<Diagnostic>> {
        // Most programs have none, and are not checked twice.
        let source = super::detached_source(text);
        if !defines_uncalled_main(&syntax::chunks(&source)) {
            return Ok(None);
        }
        let mut found = None;
        let outcome = self.transaction(name, text, |session, _, parsed, diagnostics| {
            session.check_file(parsed, diagnostics)?;
            found = session.find_entry_point(&parsed.stmts, diagnostics);
            if diagnostics.iter().any(Diagnostic::is_error) {
                return Err(super::Status::Rejected);
            }
            Ok((None, TransactionEnd::RollBack))
        });
        if outcome.status == super::Status::Ok { Ok(found) } else { Err(outcome.diagnostics) }
    }

    /// Returns the `main` of a checked program; reports one that cannot be called.
    fn find_entry_point(&self, stmts: &[Stmt], diagnostics: &mut Vec<Diagnostic>) -> Option<EntryPoint> {
        let declared = stmts.iter().map(|stmt| match &stmt.kind {
            StmtKind::Export(inner) => inner.as_ref(),
            _ => stmt,
        });
        let mains: Vec<_> = declared
            .filter_map(|stmt| match &stmt.kind {
                StmtKind::Function { name, function, doc } if &*name.text == "main" => {
                    Some((name, function, doc))
                }
                _ => None,
            })
            .collect();
        let (name, function, doc) = match mains[..] {
            [only] => only,
            [] => return None,
            [first, second, ..] => {
                let message = "a program has one `main`";
                let error = Diagnostic::error("E0916", second.0.span, message, "another `main`");
                diagnostics
                    .push(error.label(first.0.span, "the first").help("give one of them another name"));
                return None;
            }
        };
        if !function.is_proc {
            let message = "a program is called by a procedure, and `main` is a `fun`";
            let error = Diagnostic::error("E0916", name.span, message, "nothing calls this");
            let help = "write `proc main (…) { println (…); }`, or call it: `println (main (…));`";
            diagnostics.push(error.help(help));
            return None;
        }
        // The program's own, whatever an import or the library has of the name.
        let candidates = self.env.candidates("main");
        let own: Vec<&Callable> = candidates.in_scope(Scope::Module).collect();
        let domain = match own[..] {
            [Callable::Function(id)] => self.env.signatures.get(id).map(|s| s.scheme.domain.clone()),
            _ => None,
        }?;
        let group: &[_] = match &function.params[..] {
            [group] => group,
            _ => {
                let message = "`main` takes its parameters in one group";
                let error = Diagnostic::error("E0916", name.span, message, "this has several");
                diagnostics.push(error.help("write `proc main (n:int, name:string) { … }`"));
                return None;
            }
        };
        let types: Vec<Type> = match group.len() {
            0 => Vec::new(),
            1 => vec![domain],
            n => (0..n).filter_map(|at| component(&domain, at)).collect(),
        };
        let mut params = Vec::new();
        for (at, (param, ty)) in group.iter().zip(&types).enumerate() {
            let last = at + 1 == group.len();
            let Some(form) = parameter_form(ty, last) else {
                let span = param.ty.as_ref().map_or(param.pattern.span, |ty| ty.span);
                let message = format!("no word of a command line can be `{ty}`");
                let error = Diagnostic::error("E0916", span, message, "the type of a parameter of `main`");
                diagnostics.push(
                    error
                        .note("`main` takes numbers, `bool`, `char`, `string` and finite types")
                        .note("its last parameter may be an array of them, `T ^ N` with `N` a parameter of `main`: it takes all words that are left")
                        .help("take a `string`, and convert it in the program"),
                );
                return None;
            };
            params.push(Parameter {
                name: parameter_name(&param.pattern),
                written: param.ty.as_ref().map_or_else(|| ty.to_string(), unparse::print_type),
                default: param.default.as_ref().map(unparse::print_expr),
                form,
            });
        }
        Some(EntryPoint { params, doc: doc.as_ref().map(|doc| doc.to_string()) })
    }
}

impl EntryPoint {
    /// Returns the arguments of a usage line: `n:int name:string`.
    pub fn usage(&self) -> String {
        let each = self.params.iter().map(|param| match &param.form {
            ParameterForm::Rest(_) => format!("[{}:{} …]", param.name, param.written),
            _ => match &param.default {
                Some(default) => format!("[{}:{} = {default}]", param.name, param.written),
                None => format!("{}:{}", param.name, param.written),
            },
        });
        each.collect::<Vec<_>>().join(" ")
    }

    /// The statement that calls it with these words.
    pub fn call(&self, words: &[String]) -> Result<String, ArgumentError> {
        let open = matches!(self.params.last(), Some(Parameter { form: ParameterForm::Rest(_), .. }));
        let most = self.params.len() - usize::from(open);
        // Those with a default may be missing at the end, where no words are left for others.
        let required = self.params[..most].iter().rposition(|param| param.default.is_none());
        let least = if open { most } else { required.map_or(0, |at| at + 1) };
        if words.len() < least || words.len() > most && !open {
            let plural = |n: usize| if n == 1 { "" } else { "s" };
            let wants = match (least, open) {
                (_, false) if least < most => format!("{least} to {most} argument{}", plural(most)),
                (0, false) => "no arguments".to_string(),
                (1, false) => "one argument".to_string(),
                (n, false) => format!("{n} arguments"),
                (n, true) => format!("at least {n} argument{}", plural(n)),
            };
            let given = match words.len() {
                0 => "none".to_string(),
                n => n.to_string(),
            };
            let missing = self.params.get(words.len()).filter(|_| words.len() < least);
            let missing = missing.map_or(String::new(), |p| format!(": `{}` is missing", p.name));
            return Err(format!("the program takes {wants} and was given {given}{missing}"));
        }
        let mut values = Vec::new();
        for (at, param) in self.params.iter().enumerate() {
            let read = |form: &ParameterForm, word: &String| {
                word_literal(form, word).map_err(|why| {
                    format!("`{word}` cannot be `{}`, which is `{}`: {why}", param.name, param.written)
                })
            };
            values.push(match &param.form {
                ParameterForm::Rest(each) => {
                    let items: Result<Vec<_>, _> = words[at..].iter().map(|word| read(each, word)).collect();
                    let items = items?;
                    // `T ^ 1` is naturally `T`, and `T ^ 0` is `()`.
                    format!("(({}) :>> {} ^ {})", items.join(", "), form_type(each), items.len())
                }
                form => match words.get(at) {
                    Some(word) => read(form, word)?,
                    // It has its default, and so have those behind it.
                    None => break,
                },
            });
        }
        Ok(format!("main ({});", values.join(", ")))
    }
}

/// Returns true if a text defines a `main` that it mentions nowhere else.
fn defines_uncalled_main(chunks: &[syntax::Chunk]) -> bool {
    let defines = |chunk: &syntax::Chunk| {
        matches!(chunk.word, "proc" | "fun") && chunk.defines.iter().any(|n| &**n == "main")
    };
    chunks.iter().any(defines)
        && !chunks.iter().any(|chunk| !defines(chunk) && chunk.mentions.iter().any(|n| &**n == "main"))
}

/// Returns the name of a parameter for messages.
fn parameter_name(pattern: &Pattern) -> String {
    match &pattern.kind {
        PatternKind::Name(name) => name.text.to_string(),
        _ => unparse::print_pattern(pattern),
    }
}

/// Returns a component of a product type.
fn component(ty: &Type, at: usize) -> Option<Type> {
    const MAX_COMPONENTS: usize = 1_000;
    ty.components(MAX_COMPONENTS)?.get(at).cloned()
}

/// Returns the form of words for a type; `None` if no word can be a value of it.
fn parameter_form(ty: &Type, last: bool) -> Option<ParameterForm> {
    if *ty == Type::bool() {
        return Some(ParameterForm::Bool);
    }
    if ty.is_compact()
        && let Ok(size) = ty.size()
    {
        return Some(ParameterForm::Code(ty.clone(), size));
    }
    match ty.kind() {
        TypeKind::Scalar(scalar) => Some(ParameterForm::Scalar(*scalar)),
        // Its size is a parameter of `main`.
        TypeKind::Array(element, index) if last && index.size().is_err() => {
            parameter_form(element, false).map(|form| ParameterForm::Rest(Box::new(form)))
        }
        _ => None,
    }
}

/// Returns the type of a form, as source text.
fn form_type(form: &ParameterForm) -> String {
    match form {
        ParameterForm::Scalar(scalar) => scalar.name().to_string(),
        ParameterForm::Bool => "bool".to_string(),
        ParameterForm::Code(ty, _) => format!("({ty})"),
        ParameterForm::Rest(each) => form_type(each),
    }
}

/// A word as an expression of the language.
fn word_literal(form: &ParameterForm, word: &str) -> Result<String, String> {
    match form {
        ParameterForm::Bool => match word {
            "true" | "false" => Ok(word.to_string()),
            _ => Err("it is `true` or `false`".to_string()),
        },
        ParameterForm::Code(ty, size) => {
            let code: Option<BigUint> = word.parse().ok();
            match code.filter(|code| code < size) {
                Some(code) => Ok(format!("({code} :>> {ty})")),
                None => Err(match *size == BigUint::ZERO {
                    true => "it has no values".to_string(),
                    false => format!("it is a number from 0 to {}", size - 1u32),
                }),
            }
        }
        ParameterForm::Scalar(Scalar::String) => Ok(unparse::quoted(word)),
        ParameterForm::Scalar(Scalar::Char) => {
            let mut chars = word.chars();
            match (chars.next(), chars.next()) {
                (Some(c), None) => Ok(format!("({} :> char)", u32::from(c))),
                _ => Err("it is one character".to_string()),
            }
        }
        ParameterForm::Scalar(scalar) if scalar.is_integer() => {
            let number: Option<BigInt> = word.parse().ok();
            let number = number.ok_or("it is no whole number")?;
            match scalar.bounds() {
                Some((low, high)) if number < BigInt::from(low) || number > BigInt::from(high) => {
                    Err(format!("it is a number from {low} to {high}"))
                }
                // A literal takes the type that the parameter has.
                _ => Ok(format!("({number})")),
            }
        }
        ParameterForm::Scalar(_) => {
            let number: Option<f64> = word.parse().ok();
            let number = number.filter(|x| x.is_finite()).ok_or("it is no number")?;
            // In the form of a literal, which rounds once.
            let digits = word.trim_start_matches(['+', '-']);
            let sign = if number.is_sign_negative() { "-" } else { "" };
            let digits = match digits.split_once(['e', 'E']) {
                Some((mantissa, exponent)) => format!("{}e{exponent}", with_point(mantissa)),
                None => with_point(digits),
            };
            Ok(format!("({sign}{digits})"))
        }
        ParameterForm::Rest(each) => word_literal(each, word),
    }
}

/// `.5` and `5.` as the language writes them.
fn with_point(digits: &str) -> String {
    match digits.split_once('.') {
        None => format!("{digits}.0"),
        Some((whole, part)) => {
            let or_zero = |digits: &str| if digits.is_empty() { "0".to_string() } else { digits.to_string() };
            format!("{}.{}", or_zero(whole), or_zero(part))
        }
    }
}
