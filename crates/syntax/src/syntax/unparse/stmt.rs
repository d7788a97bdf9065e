//! Printing of statements and declarations.

use super::super::ast::{
    Body, ClassMember, Function, Generics, Import, ImportNames, ImportTarget, Name, Stmt, StmtKind, TypeDecl,
    TypeParam,
};
use super::super::literal::quoted;
use super::Printer;

impl Printer {
    /// Prints statements, each on a line of its own and ended by a line break.
    pub(super) fn sequence(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
            self.put("\n");
        }
    }

    /// Prints `do … done`.
    fn do_block(&mut self, stmts: &[Stmt]) {
        self.put("do");
        self.print_indented(stmts);
        self.put("done");
    }

    /// Prints a statement.
    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        use StmtKind::*;
        match &stmt.kind {
            Let { mutable, pattern, ty, init } => {
                self.put(if *mutable { "var " } else { "val " });
                self.pattern(pattern);
                if let Some(ty) = ty {
                    self.put(" : ");
                    self.ty(ty);
                }
                self.put(" = ");
                self.expr(init);
                self.put(";");
            }
            Function { name, function, doc } => self.function(name, function, doc.as_deref()),
            Typedef(decl, ty) => {
                self.declared("typedef", decl);
                self.put(" = ");
                self.ty(ty);
                self.put(";");
            }
            Newtype(decl, ty) => {
                self.declared("newtype", decl);
                self.put(" = ");
                self.ty(ty);
                self.put(";");
            }
            Struct(decl, fields) => {
                self.declared("struct", decl);
                self.put(" { ");
                for (name, ty) in fields {
                    self.put(&name.text);
                    self.put(":");
                    self.ty(ty);
                    self.put("; ");
                }
                self.put("}");
            }
            Variant(decl, constructors) => {
                self.declared("variant", decl);
                self.put(" =");
                for (name, ty) in constructors {
                    self.put(" | ");
                    self.put(&name.text);
                    if let Some(ty) = ty {
                        self.put(" of ");
                        self.ty(ty);
                    }
                }
                self.put(";");
            }
            Typefun { name, params, kind, body } => {
                self.put("typefun ");
                self.put(&name.text);
                self.put("(");
                self.separated(params, ", ", Printer::type_param);
                self.put(")");
                if let Some(kind) = kind {
                    self.put(":");
                    self.put(&kind.text);
                }
                self.put(" => ");
                self.ty(body);
                self.put(";");
            }
            Kind { name, members, doc } => {
                self.doc(doc.as_deref());
                self.put("kind ");
                self.put(&name.text);
                self.put(" = ");
                self.separated(members, " | ", |p, member| p.put(&member.text));
                self.put(";");
            }
            Party { name, places, doc } => {
                self.doc(doc.as_deref());
                self.put("party ");
                self.put(&name.text);
                self.put(" = ");
                self.separated(places, " | ", |p, place| p.put(&place.text));
                self.put(";");
            }
            Abstract { decl, layout, representation } => {
                self.declared("type", decl);
                if !layout.is_empty() {
                    self.put(" layout ");
                    self.separated(layout, ", ", |p, param| p.put(&param.text));
                }
                if let Some(ty) = representation {
                    self.put(" = ");
                    self.ty(ty);
                }
                self.put(";");
            }
            Class(decl, members) => {
                self.declared("class", decl);
                self.put(" {");
                self.indent += 1;
                for member in members {
                    self.line();
                    self.member(member);
                }
                self.indent -= 1;
                self.line();
                self.put("}");
            }
            Instance { generics, class, args, members, refusal } => {
                self.put("instance");
                self.generics(generics);
                self.put(" ");
                self.put(&class.text);
                self.type_arguments(args);
                self.put(" ");
                match refusal {
                    Some(text) => {
                        self.put("error ");
                        self.put(&quoted(&text.text));
                        self.put(";");
                    }
                    None => self.block(members),
                }
            }
            Require(left, right) => {
                self.put("require ");
                self.ty(left);
                self.put(" == ");
                self.ty(right);
                self.put(";");
            }
            Test { bench, title, function } => {
                self.put(if *bench { "bench " } else { "test " });
                self.put(&quoted(&title.text));
                self.put(" ");
                match &function.body {
                    Body::Block(stmts) => self.block(stmts),
                    Body::Expr(_) => unreachable!("the body of a test is a block"),
                }
            }
            Import(import) => self.import(import),
            Export(inner) => {
                let mut inner = inner.clone();
                // The comment comes before `export`.
                let doc = inner.kind.doc_mut().and_then(Option::take);
                self.doc(doc.as_deref());
                self.put("export ");
                self.stmt(&inner);
            }
            Expr(expr) => {
                self.expr(expr);
                self.put(";");
            }
            Value(expr) => self.expr(expr),
            Assign { name, op, value } => {
                self.put(&name.text);
                self.put(" ");
                self.put(op.map_or("", |op| op.symbol()));
                self.put("= ");
                self.expr(value);
                self.put(";");
            }
            AssignAll { places, value } => {
                self.pattern(places);
                self.put(" = ");
                self.expr(value);
                self.put(";");
            }
            Store { place, op, value } => {
                self.put("&");
                self.place(place);
                match op {
                    None => self.put(" <- "),
                    Some(op) => self.put(&format!(" {}= ", op.symbol())),
                }
                self.expr(value);
                self.put(";");
            }
            If { arms, otherwise } => {
                for (at, (condition, body)) in arms.iter().enumerate() {
                    self.put(if at == 0 { "if " } else { "elif " });
                    self.expr(condition);
                    self.put(" do");
                    self.print_indented(body);
                }
                if let Some(body) = otherwise {
                    self.put("else");
                    self.print_indented(body);
                }
                self.put("done");
            }
            Match { scrutinee, arms } => {
                self.put("match ");
                self.expr(scrutinee);
                self.put(" do");
                for arm in arms {
                    self.arm_head(arm);
                    self.put(" =>");
                    self.indent += 1;
                    for stmt in &arm.body {
                        self.line();
                        self.stmt(stmt);
                    }
                    self.indent -= 1;
                }
                self.line();
                self.put("done");
            }
            For { pattern, iterable, body } => {
                self.put("for ");
                self.pattern(pattern);
                self.put(" in ");
                self.loop_source(iterable);
                self.put(" ");
                self.do_block(body);
            }
            While { condition, body } => {
                self.put("while ");
                self.expr(condition);
                self.put(" ");
                self.do_block(body);
            }
            Block(body) => self.do_block(body),
            Break => self.put("break;"),
            Continue => self.put("continue;"),
            Return(None) => self.put("return;"),
            Return(Some(value)) => {
                self.put("return ");
                self.expr(value);
                self.put(";");
            }
            Error => self.put("/* could not be read */"),
        }
    }

    /// Prints an `import`.
    fn import(&mut self, import: &Import) {
        self.put("import ");
        match &import.target {
            ImportTarget::File { path, .. } => self.put(&quoted(path)),
            ImportTarget::Library(name) => self.put(&name.text),
        }
        if let Some(alias) = &import.alias {
            self.put(" as ");
            self.put(&alias.text);
        }
        match &import.names {
            ImportNames::Qualified => {}
            ImportNames::All { .. } => self.put(" (*)"),
            ImportNames::Listed(names) => {
                self.put(" (");
                self.separated(names, ", ", |p, name| p.put(&name.text));
                self.put(")");
            }
        }
        self.put(";");
    }

    /// Prints a `///` comment.
    fn doc(&mut self, doc: Option<&str>) {
        for line in doc.iter().flat_map(|doc| doc.split('\n')) {
            self.put(if line.is_empty() { "///" } else { "/// " });
            self.put(line);
            self.line();
        }
    }

    /// Prints a named function.
    fn function(&mut self, name: &Name, function: &Function, doc: Option<&str>) {
        self.doc(doc);
        self.put(if function.is_joint { "joint " } else { "" });
        self.put(if function.is_proc { "proc " } else { "fun " });
        self.put(&name.text);
        self.generics(&function.generics);
        self.groups(&function.params);
        if let Some(result) = &function.result {
            self.put(":");
            self.ty(result);
        }
        match &function.body {
            Body::Expr(body) => {
                self.put(" => ");
                self.expr(body);
                self.put(";");
            }
            Body::Block(stmts) => {
                self.put(" ");
                self.block(stmts);
            }
        }
    }

    /// Prints the head of a declaration.
    fn declared(&mut self, word: &str, decl: &TypeDecl) {
        self.doc(decl.doc.as_deref());
        self.put(word);
        self.put(" ");
        self.put(&decl.name.text);
        self.generics(&decl.generics);
    }

    /// Prints type parameters and constraints.
    fn generics(&mut self, generics: &Generics) {
        if generics.params.is_empty() && generics.constraints.is_empty() {
            return;
        }
        self.put("[");
        self.separated(&generics.params, ", ", Printer::type_param);
        if !generics.constraints.is_empty() {
            self.put(if generics.params.is_empty() { "with " } else { " with " });
            self.separated(&generics.constraints, ", ", |p, (name, args)| {
                p.put(&name.text);
                p.type_arguments(args);
            });
        }
        self.put("]");
    }

    /// Prints a type parameter.
    fn type_param(&mut self, param: &TypeParam) {
        self.put(&param.name.text);
        if let Some(kind) = &param.kind {
            self.put(":");
            self.put(&kind.text);
        }
    }

    /// Prints a member of a class.
    fn member(&mut self, member: &ClassMember) {
        match member {
            ClassMember::Signature { is_joint, name, generics, ty } => {
                self.put(if *is_joint { "joint fun " } else { "fun " });
                self.put(&name.text);
                self.generics(generics);
                self.put(" : ");
                self.ty(ty);
                self.put(";");
            }
            ClassMember::Default(stmt) => self.stmt(stmt),
            ClassMember::Law(name, params, body) => {
                self.put("law ");
                self.put(&name.text);
                self.groups(std::slice::from_ref(params));
                self.put(" => ");
                self.expr(body);
                self.put(";");
            }
        }
    }
}
