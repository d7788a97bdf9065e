//! The machine code of a kernel.

use super::call;
use super::emit::{self, Emit};
use super::math;
use super::native::Functions;
use super::partition::{self, Control, Frame, Partition, Phases};
use super::vector_loops::{self, VectorLoop};
use super::vector_registers::ITERATION_BYTES;
use crate::hash::{HashMap, HashSet};
use crate::loop_ir::{Kernel, Op, Reg, ScalarFunction, ScalarType, Stmt, Summand, for_each_stmt};
use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{CodegenError, Context};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{ArenaMemoryProvider, JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, default_libcall_names};
use std::sync::OnceLock;

/// The kernel for contractions, as code names it.
const GEMM_SYMBOL: &str = "felis_gemm";

/// The function that sorts slots, as code names it.
const SORT_SYMBOL: &str = "felis_sort";

/// The symbol of the function that makes room in an array.
const GROW_SYMBOL: &str = "felis_grow";

/// A kernel as functions, one for each phase, which call those of its recursive functions.
pub struct Code {
    /// The phases.
    pub phases: Vec<Partition>,
    /// The order in which they run.
    pub control: Vec<Control>,
    /// The frame that they share.
    pub frame: Frame,
    /// One for each phase.
    pub functions: Functions,
}

/// The machine that code is made for: this one.
fn machine() -> Result<OwnedTargetIsa, String> {
    static MACHINE: OnceLock<Result<OwnedTargetIsa, String>> = OnceLock::new();
    let make = || {
        let mut flags = settings::builder();
        // Results of functions that have no registers are returned in memory.
        let set = [
            ("use_colocated_libcalls", "false"),
            ("is_pic", "false"),
            ("opt_level", "speed"),
            ("enable_multi_ret_implicit_sret", "true"),
        ];
        for (name, value) in set {
            flags.set(name, value).map_err(|error| error.to_string())?;
        }
        // What the validator of the instructions would find is found in tests.
        let verify = if cfg!(debug_assertions) { "true" } else { "false" };
        flags.set("enable_verifier", verify).map_err(|error| error.to_string())?;
        let builder = cranelift_native::builder()?;
        builder.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())
    };
    MACHINE.get_or_init(make).clone()
}

/// Calls `f` on each statement of a kernel and of its functions.
fn for_each_stmt_of(kernel: &Kernel, f: &mut dyn FnMut(&Stmt)) {
    for_each_stmt(&kernel.body, &mut |stmt| f(stmt));
    for function in &kernel.functions {
        for_each_stmt(&function.body, &mut |stmt| f(stmt));
    }
}

/// The functions of scalars that a kernel calls.
fn called_functions(kernel: &Kernel) -> Vec<(ScalarFunction, &'static str, *const u8)> {
    let mut found = HashSet::default();
    for_each_stmt_of(kernel, &mut |stmt| match stmt {
        Stmt::Let(_, Op::Call(f, _)) => drop(found.insert(*f)),
        Stmt::Reduce { item: Summand::Product(..), .. } => drop(found.insert(ScalarFunction::Fma)),
        _ => {}
    });
    let mut symbols = math::symbols();
    symbols.retain(|(f, ..)| found.contains(f));
    symbols
}

impl Code {
    /// Makes the code of a kernel.
    pub fn compile(kernel: &Kernel) -> Result<Code, String> {
        let (module, ids, _) = build_module(kernel, false)?;
        let Phases { phases, control, frame } = partition::partition(kernel);
        Ok(Code { phases, control, frame, functions: Functions::finish(module, &ids)? })
    }

    /// The instructions of a kernel as text.
    pub fn show(kernel: &Kernel) -> Result<String, String> {
        build_module(kernel, true).map(|(_, _, text)| text)
    }
}

/// Address space reserved for the code and the constants of a module, in bytes. Memory is taken
/// only for what is written; a module that needs more is not compiled.
const ARENA_BYTES: usize = 1 << 20;

/// Address space reserved for each statement of a kernel besides, in bytes.
const ARENA_BYTES_PER_STATEMENT: usize = 16 << 10;

fn build_module(kernel: &Kernel, show: bool) -> Result<(JITModule, Vec<FuncId>, String), String> {
    let mut builder = JITBuilder::with_isa(machine()?, default_libcall_names());
    // Functions of a module call each other, and read its constants, by distances of 32 bits. Of
    // separate mappings two may lie farther apart, so each module has one.
    let mut statements = 0;
    for_each_stmt_of(kernel, &mut |_| statements += 1);
    let arena = ArenaMemoryProvider::new_with_size(ARENA_BYTES + statements * ARENA_BYTES_PER_STATEMENT);
    builder.memory_provider(Box::new(arena.map_err(|error| error.to_string())?));
    let called = called_functions(kernel);
    for (_, name, address) in &called {
        builder.symbol(*name, *address);
    }
    for (_, name, address) in math::blocks() {
        builder.symbol(name, address);
    }
    builder.symbol(GEMM_SYMBOL, super::native::gemm as *const u8);
    builder.symbol(SORT_SYMBOL, super::native::sort as *const u8);
    builder.symbol(GROW_SYMBOL, super::native::grow as *const u8);
    let mut module = JITModule::new(builder);
    let mut externals: HashMap<ScalarFunction, FuncId> = HashMap::default();
    for (f, name, _) in called {
        let (params, result) = f.signature();
        let mut signature = module.make_signature();
        let param = |ty: &ScalarType| AbiParam::new(emit::machine_type(*ty));
        signature.params.extend(params.iter().map(param));
        signature.returns.push(param(&result));
        let id = module.declare_function(name, Linkage::Import, &signature);
        externals.insert(f, id.map_err(|error| error.to_string())?);
    }
    let (mut has_gemm, mut has_sort, mut has_grow) = (false, false, false);
    for_each_stmt_of(kernel, &mut |stmt| {
        has_gemm |= matches!(stmt, Stmt::Gemm(_));
        has_sort |= matches!(stmt, Stmt::Sort(_));
        has_grow |= matches!(stmt, Stmt::Grow(..));
    });
    let mut import = |symbol: &str, params: usize, results: usize| {
        let mut signature = module.make_signature();
        signature.params.resize(params, AbiParam::new(types::I64));
        signature.returns.resize(results, AbiParam::new(types::I64));
        module.declare_function(symbol, Linkage::Import, &signature).map_err(|error| error.to_string())
    };
    let gemm = if has_gemm { Some(import(GEMM_SYMBOL, 1, 1)?) } else { None };
    let sort = if has_sort { Some(import(SORT_SYMBOL, 4, 0)?) } else { None };
    let grow = if has_grow { Some(import(GROW_SYMBOL, 5, 1)?) } else { None };
    let mut blocks: HashMap<ScalarFunction, FuncId> = HashMap::default();
    for (f, name, _) in math::blocks() {
        if externals.contains_key(&f) {
            blocks.insert(f, import(name, 2, 0)?);
        }
    }
    let Phases { phases, frame, .. } = partition::partition(kernel);
    let mut recursive = Vec::new();
    for (number, function) in kernel.functions.iter().enumerate() {
        if !call::fits_stack(function) {
            return Err("the arrays of a function are too large for the stack".into());
        }
        let id =
            module.declare_function(&format!("function{number}"), Linkage::Local, &call::signature(function));
        recursive.push(id.map_err(|error| error.to_string())?);
    }
    let context = module.make_context();
    let mut making = Making {
        module,
        context,
        builder_context: FunctionBuilderContext::new(),
        called: Called { externals, blocks, gemm, sort, grow, recursive },
        show,
        text: String::new(),
    };
    let vector_loops = making.vector_loops(kernel, "")?;
    let mut ids = Vec::new();
    for (i, phase) in phases.iter().enumerate() {
        let signature = partition::signature(making.module.make_signature());
        let id = making
            .module
            .declare_function(&format!("phase{i}"), Linkage::Local, &signature)
            .map_err(|error| error.to_string())?;
        making.define(id, signature, &vector_loops, &|b, functions| {
            Emit::phase(b, kernel, &frame, phase, functions)
        })?;
        ids.push(id);
    }
    for (number, function) in kernel.functions.iter().enumerate() {
        let vector_loops = making.vector_loops(function, &format!("of_function{number}_"))?;
        let own = Frame { sizes: frame.functions[number], ..Frame::default() };
        let id = making.called.recursive[number];
        making.define(id, call::signature(function), &vector_loops, &|b, functions| {
            Emit::function(b, function, &own, functions)
        })?;
    }
    Ok((making.module, ids, making.text))
}

/// The functions that those of a module call.
struct Called {
    externals: HashMap<ScalarFunction, FuncId>,
    blocks: HashMap<ScalarFunction, FuncId>,
    gemm: Option<FuncId>,
    sort: Option<FuncId>,
    grow: Option<FuncId>,
    recursive: Vec<FuncId>,
}

/// Functions of loops, by the registers of their indices.
type VectorLoops = Vec<(Reg, VectorLoop, FuncId)>;

/// A module whose functions are being defined.
struct Making {
    module: JITModule,
    context: Context,
    builder_context: FunctionBuilderContext,
    called: Called,
    show: bool,
    text: String,
}

/// Writes a function with a builder, and with what it calls.
type Write<'w> = dyn for<'n, 'f> Fn(FunctionBuilder<'f>, &'n emit::Functions<'n>) -> FunctionBuilder<'f> + 'w;

impl Making {
    /// Defines the functions of the loops of a kernel that go by vectors of 256 or 512 bits.
    fn vector_loops(&mut self, kernel: &Kernel, prefix: &str) -> Result<VectorLoops, String> {
        let mut found = Vec::new();
        if let Some(isa) = kernel.target.isa {
            for_each_stmt(&kernel.body, &mut |stmt| found.extend(vector_loops::assemble(isa, kernel, stmt)));
        }
        let mut defined = Vec::new();
        for (index, vector_loop) in found {
            let mut signature = self.module.make_signature();
            signature.params.push(AbiParam::new(types::I64));
            let name = format!("{prefix}vector_loop{index}");
            let id = self.module.declare_function(&name, Linkage::Local, &signature);
            let id = id.map_err(|error| error.to_string())?;
            self.module
                .define_function_bytes(id, ITERATION_BYTES as u64, &vector_loop.code, &[])
                .map_err(|error| error.to_string())?;
            defined.push((index, vector_loop, id));
        }
        Ok(defined)
    }

    /// Defines a function that has been declared.
    fn define(
        &mut self,
        id: FuncId,
        signature: Signature,
        vector_loops: &VectorLoops,
        write: &Write<'_>,
    ) -> Result<(), String> {
        let Making { module, context, builder_context, called, .. } = self;
        context.func.signature = signature;
        let b = FunctionBuilder::new(&mut context.func, builder_context);
        let mut functions = emit::Functions::default();
        for (f, id) in &called.externals {
            functions.math.insert(*f, module.declare_func_in_func(*id, b.func));
        }
        for (f, id) in &called.blocks {
            functions.blocks.insert(*f, module.declare_func_in_func(*id, b.func));
        }
        functions.gemm = called.gemm.map(|id| module.declare_func_in_func(id, b.func));
        functions.sort = called.sort.map(|id| module.declare_func_in_func(id, b.func));
        functions.grow = called.grow.map(|id| module.declare_func_in_func(id, b.func));
        for id in &called.recursive {
            functions.recursive.push(module.declare_func_in_func(*id, b.func));
        }
        for (index, vector_loop, id) in vector_loops {
            functions.vector_loops.insert(*index, (module.declare_func_in_func(*id, b.func), vector_loop));
        }
        let b = write(b, &functions);
        b.finalize(module.target_config());
        if self.show {
            self.text += &context.func.display().to_string();
            context.set_disasm(true);
        }
        module.define_function(id, context).map_err(|error| match error {
            ModuleError::Compilation(CodegenError::Verifier(errors)) => {
                panic!("the code of a kernel is wrong: {errors}\n{}", context.func.display())
            }
            // A function that is too large, for example.
            error => format!("{error:?}"),
        })?;
        if self.show
            && let Some(code) = context.compiled_code()
        {
            self.text += code.vcode.as_deref().expect("the disassembly was asked for");
        }
        module.clear_context(context);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computations in front of a loop inside of another one are not repeated in its rounds: see
    /// `Emit::leave_loop_if`.
    #[test]
    fn computations_stay_outside_of_inner_loops() {
        let kernel = crate::loop_ir::parse::kernel(
            "array a0: inout 0, 8 bytes a slot, 1600 slots
size n0 = 40
r0: i64 = 0
r1: i64 = n0
for r2 in r0..<r1 @0
  r3: f64 = a0[r2]
  r4: f64 = 3.0
  r5: f64 = div_float r4 r3
  for r6 in r0..<r1 @1
    r7: i64 = mul r6 r1
    r8: i64 = add r7 r2
    r9: f64 = a0[r8]
    r10: f64 = mul r9 r5
    a0[r8] <- r10",
        );
        let text = Code::show(&kernel.unwrap()).unwrap();
        let is_instruction = |line: &&str| line.contains("div") && !line.contains(" = ");
        let divisions: Vec<&str> = text.lines().filter(is_instruction).collect();
        assert_eq!(divisions.len(), 1, "{divisions:?}\n{text}");
    }
}
