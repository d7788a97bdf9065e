//! Tests of the loop form: printing and reading are inverses; golden files of the passes.

use super::pass::PASSES;
use super::{
    Binary, Cast, Compare, FunctionCall, Gemm, IdVec, Isa, Kernel, Op, Origin, ReductionOp, Reg,
    ScalarFunction, ScalarType, Sort, Stmt, Summand, TargetMachine, Unary, parse, print, validate,
};
use fastrand::Rng;
use std::fmt::Write;
use std::path::Path;

/// A random valid kernel under construction.
struct Generator {
    random: Rng,
    kernel: Kernel,
    /// Statements that may still be made.
    fuel: usize,
    /// Labels around, each with whether it is that of a loop.
    labels: Vec<(super::Label, bool)>,
    /// True for a function of a kernel.
    is_function: bool,
}

const TYPES: [ScalarType; 6] =
    [ScalarType::I8, ScalarType::I16, ScalarType::I32, ScalarType::I64, ScalarType::F32, ScalarType::F64];

impl Generator {
    fn new(seed: u64) -> Generator {
        let (random, kernel) = (Rng::with_seed(seed), Kernel::default());
        Generator { random, kernel, fuel: 60, labels: Vec::new(), is_function: false }
    }

    /// A function of a kernel.
    fn function(seed: u64) -> Kernel {
        Generator { fuel: 12, is_function: true, ..Generator::new(seed) }.kernel()
    }

    /// A call of one of the functions.
    fn call(&mut self, known: &mut Vec<Reg>, out: &mut Vec<Stmt>) {
        let number = self.random.usize(..self.kernel.functions.len());
        let function = self.kernel.functions[number].clone();
        let args = function.scalars.iter().map(|ty| self.reg(*ty, known, out)).collect();
        let [read, changed, written] = validate::Access::ALL.map(|access| {
            let arrays = validate::handed_arrays(&function, access).into_iter();
            let arrays = arrays.map(|array| {
                let own = self.kernel.add_array(Origin::Scratch, function.arrays[array].width, 9);
                (own, self.reg(ScalarType::I64, known, out))
            });
            arrays.collect::<Vec<_>>()
        });
        let results = function.scalar_results.iter().map(|reg| self.kernel.regs.push(function.regs[*reg]));
        let results: Vec<Reg> = results.collect();
        known.extend(&results);
        let function = number as u32;
        out.push(Stmt::Call(FunctionCall { function, args, read, changed, written, results }));
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.random.usize(..of.len())]
    }

    /// A register of a type that is set, or a new constant.
    fn reg(&mut self, ty: ScalarType, known: &mut Vec<Reg>, out: &mut Vec<Stmt>) -> Reg {
        let fits: Vec<Reg> = known.iter().copied().filter(|reg| self.kernel.regs[*reg] == ty).collect();
        if !fits.is_empty() && self.random.u8(..4) > 0 {
            return self.pick(&fits);
        }
        let bits = match ty {
            ScalarType::F64 => {
                self.pick(&[0, 1.5f64.to_bits(), f64::NAN.to_bits(), (-0.0f64).to_bits(), 1, u64::MAX])
            }
            ScalarType::F32 => u64::from(self.pick(&[
                0,
                1.5f32.to_bits(),
                f32::INFINITY.to_bits(),
                u32::MAX,
                1e-40f32.to_bits(),
            ])),
            _ => self.random.u64(..) >> self.random.u32(..64),
        };
        let reg = self.define(ty, Op::Const(ty, bits), known, out);
        self.kernel.constants.insert(reg, bits);
        reg
    }

    fn define(&mut self, ty: ScalarType, op: Op, known: &mut Vec<Reg>, out: &mut Vec<Stmt>) -> Reg {
        let reg = self.kernel.regs.push(ty);
        out.push(Stmt::Let(reg, op));
        known.push(reg);
        reg
    }

    fn op(&mut self, known: &mut Vec<Reg>, out: &mut Vec<Stmt>) -> (ScalarType, Op) {
        let (int, float) = (self.pick(&TYPES[..4]), self.pick(&TYPES[4..]));
        let any = self.pick(&TYPES);
        match self.random.u8(..12) {
            0 => {
                let op = self.pick(&[Binary::Add, Binary::Sub, Binary::Mul]);
                (any, Op::Binary(op, self.reg(any, known, out), self.reg(any, known, out)))
            }
            1 => {
                let op = self.pick(&[Binary::DivFloat, Binary::Min, Binary::Max]);
                (float, Op::Binary(op, self.reg(float, known, out), self.reg(float, known, out)))
            }
            2 => {
                let ops = [Binary::And, Binary::Or, Binary::Xor, Binary::Shl, Binary::Shr, Binary::RemSigned];
                let op = self.pick(&ops);
                (int, Op::Binary(op, self.reg(int, known, out), self.reg(int, known, out)))
            }
            3 => {
                let op = self.pick(&[Unary::Neg, Unary::Sqrt, Unary::Floor, Unary::Ceil, Unary::Trunc]);
                (float, Op::Unary(op, self.reg(float, known, out)))
            }
            4 => {
                let op = self.pick(&[Unary::Neg, Unary::Not, Unary::PopCount, Unary::TrailingZeros]);
                (int, Op::Unary(op, self.reg(int, known, out)))
            }
            5 => {
                let ops = [Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le, Compare::LtUnsigned];
                let op = self.pick(&ops);
                (ScalarType::I64, Op::Compare(op, self.reg(any, known, out), self.reg(any, known, out)))
            }
            6 => {
                let condition = self.reg(ScalarType::I64, known, out);
                (any, Op::Select(condition, self.reg(any, known, out), self.reg(any, known, out)))
            }
            7 => {
                let (cast, from, to) = self.pick(&[
                    (Cast::SignExtend, ScalarType::I8, ScalarType::I32),
                    (Cast::ZeroExtend, ScalarType::I16, ScalarType::I64),
                    (Cast::Truncate, ScalarType::I64, ScalarType::I8),
                    (Cast::SignedToFloat, ScalarType::I64, ScalarType::F64),
                    (Cast::UnsignedToFloat, ScalarType::I32, ScalarType::F32),
                    (Cast::FloatToSigned, ScalarType::F64, ScalarType::I64),
                    (Cast::FloatToSigned, ScalarType::F32, ScalarType::I32),
                    (Cast::FloatToFloat, ScalarType::F32, ScalarType::F64),
                    (Cast::FloatToBits, ScalarType::F64, ScalarType::I64),
                ]);
                (to, Op::Cast(cast, to, self.reg(from, known, out)))
            }
            8 => {
                let f = self.pick(&[
                    ScalarFunction::Sin,
                    ScalarFunction::Fma,
                    ScalarFunction::PowSingle,
                    ScalarFunction::PowInt,
                    ScalarFunction::Atan2,
                ]);
                let (params, result) = f.signature();
                (result, Op::Call(f, params.iter().map(|ty| self.reg(*ty, known, out)).collect()))
            }
            9 if !self.kernel.vars.is_empty() => {
                let ids: Vec<_> = self.kernel.vars.ids().collect();
                let var = self.pick(&ids);
                (self.kernel.vars[var], Op::Get(var))
            }
            10 if !self.kernel.arrays.is_empty() => {
                let ids: Vec<_> = self.kernel.arrays.ids().collect();
                (any, Op::Load(self.pick(&ids), self.reg(ScalarType::I64, known, out), any))
            }
            11 if !self.kernel.scalars.is_empty() => {
                let n = self.random.usize(..self.kernel.scalars.len());
                (self.kernel.scalars[n], Op::Scalar(n as u32))
            }
            _ => {
                self.kernel.sizes.push(self.random.u64(..100));
                (ScalarType::I64, Op::Size(self.kernel.sizes.len() as u32 - 1))
            }
        }
    }

    fn body(&mut self, known: &[Reg], index: Option<Reg>) -> Vec<Stmt> {
        let mut known = known.to_vec();
        known.extend(index);
        self.stmts(&mut known, false)
    }

    fn stmts(&mut self, known: &mut Vec<Reg>, top: bool) -> Vec<Stmt> {
        let mut out = Vec::new();
        for _ in 0..self.random.usize(1..8) {
            if self.fuel == 0 {
                break;
            }
            self.fuel -= 1;
            self.stmt(known, top, &mut out);
        }
        out
    }

    fn stmt(&mut self, known: &mut Vec<Reg>, top: bool, out: &mut Vec<Stmt>) {
        let int = ScalarType::I64;
        let index = |this: &mut Self| this.kernel.regs.push(int);
        match self.random.u8(..14) {
            0 if !self.kernel.vars.is_empty() => {
                let ids: Vec<_> = self.kernel.vars.ids().collect();
                let var = self.pick(&ids);
                let reg = self.reg(self.kernel.vars[var], known, out);
                out.push(Stmt::Set(var, reg));
            }
            1 | 2 => {
                let info =
                    |array: &super::Array| !matches!(self.kernel.arrays[*array].origin, Origin::Input(_));
                let ids: Vec<_> = self.kernel.arrays.ids().filter(info).collect();
                if !ids.is_empty() {
                    let (array, ty) = (self.pick(&ids), self.pick(&TYPES));
                    let (at, value) = (self.reg(int, known, out), self.reg(ty, known, out));
                    out.push(Stmt::Store(array, at, value));
                }
            }
            3 => {
                let condition = self.reg(int, known, out);
                out.push(Stmt::If(condition, self.body(known, None), self.body(known, None)));
            }
            4 => {
                let (low, high) = (self.reg(int, known, out), self.reg(int, known, out));
                let (label, index) = (self.kernel.new_label(), index(self));
                self.labels.push((label, true));
                let body = self.body(known, Some(index));
                self.labels.pop();
                out.push(Stmt::For { label, index, low, high, body });
            }
            5 => {
                let (label, is_loop) = (self.kernel.new_label(), self.random.bool());
                self.labels.push((label, is_loop));
                let body = self.body(known, None);
                self.labels.pop();
                out.push(if is_loop { Stmt::Loop(label, body) } else { Stmt::Block(label, body) });
            }
            6 if !self.labels.is_empty() => {
                let (label, is_loop) = self.pick(&self.labels.clone());
                out.push(if is_loop && self.random.bool() {
                    Stmt::Continue(label)
                } else {
                    Stmt::Break(label)
                });
            }
            7 => out.push(Stmt::Fail),
            12 if !self.kernel.functions.is_empty() => self.call(known, out),
            8 if top && !self.is_function => {
                let count = self.reg(int, known, out);
                let index = index(self);
                let body = self.body(known, Some(index));
                out.push(Stmt::ParallelFor { index, count, body });
            }
            9 => {
                let (low, high) = (self.reg(int, known, out), self.reg(int, known, out));
                let (index, ty) = (index(self), self.pick(&TYPES[4..]));
                let mut inner = known.clone();
                inner.push(index);
                let mut body = self.stmts(&mut inner, false);
                let item = match self.random.bool() {
                    true => {
                        let op = self.pick(&[
                            ReductionOp::Add,
                            ReductionOp::Mul,
                            ReductionOp::Min,
                            ReductionOp::Max,
                        ]);
                        Summand::Value(op, self.reg(ty, &mut inner, &mut body))
                    }
                    false => {
                        let mut factor = || self.reg(ScalarType::F64, &mut inner, &mut body);
                        Summand::Product(factor(), factor())
                    }
                };
                let ty = if let Summand::Value(..) = item { ty } else { ScalarType::F64 };
                let result = self.kernel.regs.push(ty);
                known.push(result);
                out.push(Stmt::Reduce { index, low, high, body, item, result });
            }
            10 if !self.is_function => {
                let (origin, fused) = (Origin::Scratch, self.random.bool());
                let [into, left, right] = [(); 3].map(|()| self.kernel.add_array(origin, 8, 9));
                let mut int = || self.reg(ScalarType::I64, known, out);
                let (at, rows, columns, depth) = (int(), int(), int(), int());
                let (left_at, left_row, left_step) = (int(), int(), int());
                let (right_at, right_step, right_column) = (int(), int(), int());
                let start = self.reg(ScalarType::F64, known, out);
                let shared = false;
                out.push(Stmt::Gemm(Gemm {
                    fused,
                    shared,
                    into,
                    at,
                    rows,
                    columns,
                    depth,
                    left,
                    left_at,
                    left_row,
                    left_step,
                    right,
                    right_at,
                    right_step,
                    right_column,
                    start,
                }));
            }
            11 if !self.is_function => {
                let ty = [ScalarType::I64, ScalarType::F64, ScalarType::I32][self.random.usize(..3)];
                let indices = self.random.bool();
                let [into, keys] =
                    [(); 2].map(|()| self.kernel.add_array(Origin::Scratch, ty.bytes() as u8, 9));
                let mut int = || self.reg(ScalarType::I64, known, out);
                let (count, first, at) = (int(), int(), int());
                out.push(Stmt::Sort(Sort { ty, indices, count, into, first, keys, at }));
            }
            _ => {
                let (ty, op) = self.op(known, out);
                self.define(ty, op, known, out);
            }
        }
    }

    fn kernel(mut self) -> Kernel {
        if !self.is_function {
            let functions = 0..self.random.u64(..3);
            self.kernel.functions = functions.map(|_| Generator::function(self.random.u64(..))).collect();
        }
        for n in 0..self.random.u32(..4) {
            let origins = [
                Origin::Input(n),
                Origin::InOut(n),
                Origin::Result(n),
                Origin::Scratch,
                Origin::ThreadLocal,
                Origin::Stack(12),
            ];
            let of_function = [Origin::Input(n), Origin::InOut(n), Origin::Result(n), Origin::Stack(12)];
            let origins = if self.is_function { &of_function[..] } else { &origins[..] };
            let (origin, width, slots) =
                (self.pick(origins), self.pick(&[1, 2, 4, 8]), self.random.u64(..100));
            self.kernel.add_array(origin, width, slots);
        }
        for _ in 0..self.random.u8(..4) {
            let (var, scalar) = (self.pick(&TYPES), self.pick(&TYPES));
            self.kernel.vars.push(var);
            self.kernel.scalars.push(scalar);
        }
        let mut known = Vec::new();
        // Arrays on the stack are written before they are read.
        let mut written = Vec::new();
        for array in self.kernel.arrays.ids() {
            if matches!(self.kernel.arrays[array].origin, Origin::Stack(_)) {
                let at = self.reg(ScalarType::I64, &mut known, &mut written);
                written.push(Stmt::Store(array, at, at));
            }
        }
        self.kernel.body = self.stmts(&mut known, true);
        self.kernel.body.splice(0..0, written);
        if !known.is_empty() && self.random.bool() {
            let result = self.pick(&known);
            self.kernel.scalar_results = vec![result];
        }
        self.kernel
    }
}

#[test]
fn printing_and_reading_are_inverses() {
    for seed in 0..3_000 {
        let kernel = Generator::new(seed).kernel();
        let text = print::kernel(&kernel);
        validate::validate(&kernel).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        let read = parse::kernel(&text).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        assert_eq!(print::kernel(&read), text, "seed {seed}");
        assert_eq!(read.key(), kernel.key(), "seed {seed}\n{text}");
        assert_eq!((&read.sizes, &read.slots), (&kernel.sizes, &kernel.slots), "seed {seed}");
        assert_eq!((read.labels, &read.constants), (kernel.labels, &kernel.constants), "seed {seed}\n{text}");
    }
}

#[test]
fn damaged_texts_are_refused() {
    let mut random = Rng::with_seed(11);
    for seed in 0..300 {
        let text = print::kernel(&Generator::new(seed).kernel());
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..3 {
            let at = random.usize(..chars.len().max(1));
            chars.truncate(chars.len().max(1));
            match chars.get_mut(at) {
                Some(c) => {
                    *c = *random.choice(&['r', '9', '[', ' ', '\n', ',', ':', '-', 'x']).unwrap_or(&' ')
                }
                None => continue,
            }
        }
        // A kernel or an error with a line: no panic.
        if let Err(why) = parse::kernel(&chars.into_iter().collect::<String>()) {
            assert!(why.starts_with("line "), "{why}");
        }
    }
}

#[test]
fn every_register_that_a_statement_mentions_has_a_type() {
    let kernel = parse::kernel("r1: f64 = 1.5\nr4: f64 = add r1 r1\nreturn r4").unwrap();
    let types: Vec<ScalarType> = kernel.regs.iter().copied().collect();
    use ScalarType::{F64, I64};
    assert_eq!(types, [I64, F64, I64, I64, F64]);
    assert_eq!(kernel.scalar_results, [Reg::new(4)]);
    let _: &IdVec<Reg, ScalarType> = &kernel.regs;
}

/// Files `tests/loops/PASS/NAME.loops` hold a kernel, a line `=>`, and the kernel after the pass.
/// `BLESS=1` rewrites the second part.
#[test]
fn passes_give_what_the_golden_files_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/loops");
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = String::new();
    for pass in PASSES {
        let folder = root.join(pass.name);
        let mut files: Vec<_> = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "loops"))
            .collect();
        files.sort();
        assert!(!files.is_empty(), "{} has no golden file", pass.name);
        for path in files {
            let text = std::fs::read_to_string(&path).unwrap();
            let (before, after) = text.split_once("\n=>\n").unwrap_or((text.trim_end(), ""));
            let fail = |why: String| -> String { panic!("{}: {why}", path.display()) };
            let mut kernel = parse::kernel(before).map_err(fail).unwrap();
            kernel.target = TargetMachine { isa: Some(Isa::Avx512), has_population_count: true, threads: 2 };
            validate::validate(&kernel).map_err(|why| fail(format!("before: {why}"))).unwrap();
            (pass.run)(&mut kernel);
            let found = print::kernel(&kernel);
            validate::validate(&kernel).map_err(|why| fail(format!("after: {why}\n{found}"))).unwrap();
            if bless {
                std::fs::write(&path, format!("{before}\n=>\n{found}")).unwrap();
            } else if found != after {
                let _ = writeln!(wrong, "{} is\n{found}\nand not\n{after}", path.display());
            }
        }
    }
    let known = |name: &str| PASSES.iter().any(|pass| pass.name == name);
    for entry in std::fs::read_dir(&root).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(known(&name), "tests/loops/{name} is the folder of no pass");
    }
    assert!(wrong.is_empty(), "{wrong}");
}
