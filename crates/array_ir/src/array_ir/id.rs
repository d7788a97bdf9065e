//! Typed numbers of the array IR: values, size variables, labels, functions and sites.

crate::id::ids! {
    /// A value of a function: defined once, by a statement or as the parameter of a block.
    Value "v";
    /// A size variable of a function: one of its size parameters, or opened by a statement.
    SizeVar "n";
    /// A loop or a block that `next` and `exit` name.
    Label "@";
    /// A function of a program.
    FunctionId "f";
    /// A place in the source text at which a run may fail.
    SiteId "s";
}
