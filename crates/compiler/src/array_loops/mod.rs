//! Array IR → loops: each operation becomes statements of the loop form.
//!
//! Takes a unit; gives its [`Kernel`] with the bindings of its inputs, or the reason why there is
//! none. The unit is built as array IR at concrete types ([`crate::build::unit`]) and has gone
//! through the passes of the array IR. What is left here is mechanical and decides nothing:
//!
//! * A word is a register, an index a register for each digit, a tuple its parts. A sum is the
//!   number of its case and a piece for each case; those that it is not of are zeros. In an array a
//!   sum is both, one behind the other; as an input or a result it is unboxed and boxed
//!   ([`crate::layout::Unboxed`]).
//! * An array is stored in memory in the order of the language's encoding, slot by slot
//!   ([`ArrayValue`]). A map that a block yields is written where the value of the block belongs,
//!   any other one to memory of its own. A view is only a function of digits.
//! * `map` is a loop for each digit, the outermost one in parallel where nothing runs in parallel
//!   around it. `reduce` has the grouping of [`crate::core::reduction`].
//! * A filter stores the values that it keeps one behind another, in memory for all of them, and
//!   counts them. A statement that opens it gives the count to a size variable ([`OpenedSize`]);
//!   loops over indices below it end there, in order. What mentions such a size otherwise than as
//!   the one digit of a space is declined.
//! * A sort is one statement of memory, which calls a function of the library. An order sorts the
//!   numbers of slots that hold the keys.
//! * The state of a loop, and the value of a branch or of a block that is left, are variables;
//!   arrays in them lie in memory that [`crate::array_ir::storage`] assigns, so an update whose
//!   array nobody reads any more is one store, and a next state that is made anew exchanges its
//!   memory with the present one.
//! * A check that fails leaves the kernel ([`Stmt::Fail`]); the evaluator runs the unit again and
//!   finds the error.
//!
//! The variables outside that a loop changes are inputs and results: an array is changed where it
//! lies, or exchanges its memory with one that is made for the run.
//!
//! A recursive function is a kernel of its own ([`Kernel::functions`]). A word of a parameter is a
//! scalar of it, an array of a parameter an input; a word of the result is a scalar result, an
//! array of the result memory that the caller hands over. Types say how many there are, and in
//! which order, so a call is lowered without a look at the function. The arrays of the variables that
//! it changes are changed where they lie in the caller. An array that is handed over
//! lies in memory of the narrowest class of its type, element after element; one that does not is
//! copied there first. So an array that a recursion only passes on is copied at most once, by the
//! unit. What a function computes in arrays of its own lies on its stack.
//!
//! Sizes are numbers here; those above 16 are parameters of the kernel, so kernels of one structure
//! share their machine code.
//!
//! Declines, with one word each ([`Declined`]), what is not built as array IR, and sums that hold
//! arrays of indices: the unit is left to the evaluator.

mod binding;
mod digits;
mod operation;
mod prim;
mod reduce;
mod scan;
mod storage;

use crate::array_ir::storage::{CongruenceClass, Storage};
use crate::array_ir::{self as ir, Block, End, Function, SizeVar, Type, Value};
use crate::build::{self, Unit};
use crate::core::Region;
use crate::hash::{HashMap, HashSet};
use crate::kernel::{CompilationUnit, Input};
use crate::layout::{Form, Layout, TOO_MANY_SLOTS, Unboxed};
use crate::loop_ir::{self, Array, Kernel, MAX_CONSTANT_SIZE, Op, Origin, Reg, ScalarType, Stmt};
use crate::types::{Scalar, Type as CoreType, TypeKind};
use crate::value::Class;
pub use binding::{FieldBinding, InputBinding, Lowered, ResultSource};
use binding::{code_bound, separable_types, storage_type, word};
use digits::{DigitOfCode, OpenedSize, UNBOUNDED};
use std::rc::Rc;
use std::sync::Arc;
use storage::{Location, LoweredValue, is_array_in_sum, scalar_type, sized_element};

/// Statements of the longest kernel.
const MAX_STATEMENTS: usize = 12_000;

/// Parts of the type of a value that is unboxed, at most.
const MAX_UNBOXED_PARTS: usize = 64;

/// Statements between two questions whether compilation may continue.
const POLL_STATEMENTS: usize = 64;

macro_rules! declined {
    ($( $(#[$doc:meta])* $variant:ident $word:literal; )*) => {
        /// The reason why there are no loops for a unit.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Declined {
            /// The reason why it is not built as array IR.
            Build(build::Declined),
            $( $(#[$doc])* $variant, )*
        }

        impl Declined {
            /// The word for it.
            pub fn word(self) -> &'static str {
                match self {
                    Declined::Build(declined) => declined.word(),
                    $( Declined::$variant => $word, )*
                }
            }
        }
    };
}

declined! {
    /// Compilation was stopped from outside.
    Stopped "stopped";
    /// More statements than a kernel may have.
    Length "length";
    /// Sizes, slots or codes beyond 64 bits.
    Width "width";
    /// An array of elements without slots.
    Units "units";
    /// A sum that holds arrays of indices, or of a form that has no words.
    Sum "sum";
    /// Sizes that arrive.
    Arrival "arrival";
    /// A histogram, an order by several keys, or a sort that runs once or is of very many elements.
    Scatter "scatter";
    /// A call of the unit itself, and output.
    Call "call";
    /// A recursive function with an array that is too large for the stack.
    Stack "stack";
    /// An array that is chosen by a condition.
    Choice "choice";
}

type Result<T> = std::result::Result<T, Declined>;

/// The loops of a unit.
///
/// # Errors
/// The reason why there are none.
pub fn lower(unit: &CompilationUnit<'_>) -> Result<Lowered> {
    let CompilationUnit { program, locals, concrete, known, .. } = *unit;
    let body = build::Body { program, locals, concrete, known };
    let built = build::unit(body, unit.region).map_err(Declined::Build)?;
    let mut lowered = Emitter::new(unit, &built.program.functions[0], built.changes).unit(&built)?;
    for function in &built.program.functions[1..] {
        let (kernel, statements) = Emitter::new(unit, function, 0).recursive_function()?;
        lowered.kernel.functions.push(kernel);
        lowered.statements += statements;
    }
    lowered.longest_step = built.longest_step;
    Ok(lowered)
}

/// A list of statements under construction.
#[derive(Default)]
struct OpenBlock {
    stmts: Vec<Stmt>,
    /// Operations computed here, with their registers.
    computed: HashMap<Op, Reg>,
    /// Numbers that registers are known to be below from here on.
    bounds: HashMap<Reg, u64>,
}

/// The loops or the block that a label of the array IR names.
struct Target {
    /// The variables of the result of an exit, which are those of the next state.
    location: Location,
    /// Left by an exit.
    exit: crate::loop_ir::Label,
    /// Ends a round, for `next`.
    next: Stmt,
}

/// The ways in which the values of a function are used.
#[derive(Default)]
struct Uses<'p> {
    types: HashMap<Value, &'p Type>,
    /// Arrays of which an element is read at an index that is not constant, or a view.
    indexed: HashSet<Value>,
    /// Labels that an exit names.
    left: HashSet<ir::Label>,
    /// Labels that a `next` names.
    continued: HashSet<ir::Label>,
}

impl<'p> Uses<'p> {
    fn of(function: &'p Function) -> Uses<'p> {
        let mut uses = Uses::default();
        function.body.for_each_block(&mut |block| {
            uses.types.extend(block.params.iter().map(|(value, ty)| (*value, ty)));
            for stmt in &block.stmts {
                uses.types.insert(stmt.value, &stmt.ty);
                if let ir::Op::Index(array, _)
                | ir::Op::View(_, array, _)
                | ir::Op::Update(array, ..)
                | ir::Op::Sort(array) = stmt.op
                {
                    uses.indexed.insert(array);
                }
            }
            match block.end {
                End::Yield(_) => {}
                End::Exit(label, _) => _ = uses.left.insert(label),
                End::Next(label, _) => _ = uses.continued.insert(label),
            }
        });
        uses
    }
}

struct Emitter<'p> {
    unit: &'p CompilationUnit<'p>,
    function: &'p Function,
    uses: Uses<'p>,
    /// The arrays that may lie in the same memory.
    storage: Storage,
    /// The memory of each class, inside of rounds that may run at the same time and elsewhere.
    memory: HashMap<(CongruenceClass, bool), Array>,
    /// The class whose memory an array is.
    classes_of_memory: HashMap<Array, CongruenceClass>,
    kernel: Kernel,
    open: Vec<OpenBlock>,
    made: usize,
    values: HashMap<Value, LoweredValue<'p>>,
    labels: HashMap<ir::Label, Target>,
    constants: HashMap<Reg, u64>,
    /// The sizes of the variables that are opened.
    opened: Vec<(SizeVar, OpenedSize)>,
    /// Digits that were taken from a code, each with its place there.
    digits_of_codes: HashMap<Reg, DigitOfCode>,
    inputs: Vec<Input>,
    bindings: Vec<InputBinding>,
    /// Classes of the result arrays.
    classes: Vec<Class>,
    /// True inside of rounds that may run at the same time.
    in_parallel: bool,
    /// True inside of the body of a reduction in lanes.
    in_lanes: bool,
}

impl<'p> Emitter<'p> {
    /// An emitter for a function that changes so many of its first parameters.
    fn new(unit: &'p CompilationUnit<'p>, function: &'p Function, changes: usize) -> Emitter<'p> {
        let uses = Uses::of(function);
        let params = function.body.params.iter().take(changes);
        let owned: Vec<Value> =
            params.filter(|(_, ty)| matches!(ty, Type::Array(..))).map(|(value, _)| *value).collect();
        let storage = Storage::of(function, &owned);
        Emitter {
            unit,
            function,
            uses,
            storage,
            memory: HashMap::default(),
            classes_of_memory: HashMap::default(),
            kernel: Kernel::default(),
            open: vec![OpenBlock::default()],
            made: 0,
            values: HashMap::default(),
            labels: HashMap::default(),
            constants: HashMap::default(),
            opened: Vec::new(),
            digits_of_codes: HashMap::default(),
            inputs: Vec::new(),
            bindings: Vec::new(),
            classes: Vec::new(),
            in_parallel: false,
            in_lanes: false,
        }
    }

    /// The loops of the whole unit.
    fn unit(mut self, built: &Unit) -> Result<Lowered> {
        let body: &'p Block = &self.function.body;
        for (at, ((value, ty), (outside, core_type))) in body.params.iter().zip(&built.inputs).enumerate() {
            let build::Outside { root, path } = outside.clone();
            let (input, core_type) = (Input { root, path, part: None }, self.storage_type(core_type));
            let lowered = match at < built.changes {
                true => self.changed_input(input, &core_type, *value, ty)?,
                false => self.input(input, &core_type, ty)?,
            };
            self.values.insert(*value, lowered);
        }
        self.stmts(&body.stmts)?;
        let End::Yield(value) = body.end else { unreachable!("a function yields its value") };
        let (lowered, ty) = (self.values[&value].clone(), self.uses.types[&value]);
        let results = match (self.unit.region, &lowered, ty) {
            // The evaluator changes such an array where it lies, which costs less than a copy.
            (Region::Term(_), ..) if ty.has_sized_array() && self.reads_sized_array() => {
                return Err(Declined::Arrival);
            }
            (Region::Term(term), ..) => {
                let core_type = self.storage_type(&term.ty);
                vec![self.bind_result(&lowered, ty, &core_type)?]
            }
            (Region::Loop(_), LoweredValue::Tuple(parts), Type::Tuple(types)) if built.changes != 1 => {
                let parts: Vec<(LoweredValue<'p>, &Type)> = parts.iter().cloned().zip(types).collect();
                self.bind_changed_variables(built, &parts)?
            }
            (Region::Loop(_), ..) => self.bind_changed_variables(built, &[(lowered, ty)])?,
            (Region::Call(_, function), LoweredValue::Tuple(parts), Type::Tuple(types))
                if built.changes > 0 =>
            {
                let parts: Vec<(LoweredValue<'p>, &Type)> = parts.iter().cloned().zip(types).collect();
                let core_type = self.storage_type(&function.body.ty);
                let value = self.bind_result(&parts[0].0, parts[0].1, &core_type)?;
                let mut results = vec![value];
                results.extend(self.bind_changed_variables(built, &parts[1..])?);
                results
            }
            (Region::Call(_, function), ..) => {
                let core_type = self.storage_type(&function.body.ty);
                vec![self.bind_result(&lowered, ty, &core_type)?]
            }
        };
        Ok(self.finish(built.changes, results))
    }

    /// Returns true if an input brings its size along.
    fn reads_sized_array(&self) -> bool {
        self.bindings.iter().any(|binding| matches!(binding, InputBinding::Fields(_)))
    }

    /// Binds the final value of each changed variable: in place, or as a result of the kernel.
    fn bind_changed_variables(
        &mut self,
        built: &Unit,
        values: &[(LoweredValue<'p>, &Type)],
    ) -> Result<Vec<ResultSource>> {
        let mut results = Vec::new();
        for (number, ((lowered, ty), (_, core_type))) in values.iter().zip(&built.inputs).enumerate() {
            let own = Origin::InOut(number as u32);
            let array = self.whole_array(lowered).filter(|array| self.kernel.arrays[*array].origin == own);
            results.push(match array {
                Some(_) => ResultSource::Changed(number),
                None => {
                    let core_type = self.storage_type(core_type);
                    self.bind_result(lowered, ty, &core_type)?
                }
            });
        }
        Ok(results)
    }

    fn finish(mut self, changes: usize, results: Vec<ResultSource>) -> Lowered {
        self.kernel.body = self.open.pop().expect("a block is open").stmts;
        self.kernel.constants = self.constants;
        let (mut used, mut written) = (HashSet::default(), HashSet::default());
        crate::loop_ir::for_each_stmt(&self.kernel.body, &mut |stmt| {
            used.extend(stmt.arrays());
            written.extend(stmt.written_arrays());
        });
        for (number, binding) in self.bindings.iter_mut().enumerate() {
            let is_changed =
                |result: &ResultSource| matches!(result, ResultSource::Changed(of) if *of == number);
            match *binding {
                // An input that is not read may be large, and in another form than a kernel reads.
                InputBinding::Read(array, _) | InputBinding::Unbox(array, _) if !used.contains(&array) => {
                    *binding = InputBinding::Nothing;
                }
                InputBinding::Fields(ref mut fields) => {
                    for (_, field) in fields {
                        if let FieldBinding::Sized(array, _, number, _) = *field
                            && !used.contains(&array)
                        {
                            *field = FieldBinding::Size(number);
                        }
                    }
                }
                // A variable whose memory nothing changes is only read.
                InputBinding::Change(array, class)
                    if !written.contains(&array) && !results.iter().any(is_changed) =>
                {
                    self.kernel.arrays[array].origin = Origin::Input(number as u32);
                    *binding = match used.contains(&array) {
                        true => InputBinding::Read(array, class),
                        false => InputBinding::Nothing,
                    };
                }
                _ => {}
            }
        }
        Lowered {
            kernel: self.kernel,
            statements: self.made,
            longest_step: 0,
            inputs: self.inputs,
            bindings: self.bindings,
            changes,
            results,
            classes: self.classes,
        }
    }

    /// A type of the body as its values are stored.
    fn storage_type(&self, ty: &CoreType) -> CoreType {
        storage_type(&(self.unit.concrete)(ty))
    }

    /// The value of a variable outside that changes. It is one input; an array is changed where it
    /// lies, if it may be.
    fn changed_input(
        &mut self,
        input: Input,
        core_type: &CoreType,
        value: Value,
        ty: &Type,
    ) -> Result<LoweredValue<'p>> {
        let layout = self.unit.layouts.of(core_type);
        if ty.has_sized_array() {
            return self.fields_input(input, &layout, ty);
        }
        if ty.has_sum() {
            return self.unboxed_input(input, core_type, ty);
        }
        self.expect_slots(&layout, ty)?;
        match (layout.slots, ty) {
            (0, _) => {
                self.inputs.push(input);
                self.bindings.push(InputBinding::Nothing);
                self.without_slots(ty)
            }
            (1, _) => self.word_input(input, &layout, ty),
            (slots, Type::Array(..)) => {
                let number = self.inputs.len() as u32;
                let array = self.array(Origin::InOut(number), layout.class, slots as u64)?;
                self.assign_memory(value, 0, array);
                self.inputs.push(input);
                self.bindings.push(InputBinding::Change(array, layout.class));
                let base = self.int(0)?;
                self.load(ty, array, base)
            }
            _ => self.array_input(input, &layout, ty),
        }
    }

    /// The components of a large tuple, record or struct as inputs of their own; `None` for any
    /// other value. Fields are stored in memory of their own, and those that nothing reads are not
    /// bound.
    fn separate_parts(
        &mut self,
        input: &Input,
        core_type: &CoreType,
        layout: &Layout,
        ty: &Type,
    ) -> Result<Option<LoweredValue<'p>>> {
        let (Form::Parts(parts), Type::Tuple(types)) = (&layout.form, ty) else { return Ok(None) };
        let components = separable_types(core_type, layout).filter(|all| all.len() == types.len());
        let Some(components) = components else { return Ok(None) };
        let begin = input.part.map_or(0, |(start, _)| start);
        let mut values = Vec::new();
        for (((start, layout), component), ty) in parts.iter().zip(&components).zip(types) {
            let part = Some((begin + start, layout.slots));
            let component = self.storage_type(component);
            values.push(self.input(Input { part, ..input.clone() }, &component, ty)?);
        }
        Ok(Some(LoweredValue::Tuple(values.into())))
    }

    /// The value of a variable outside, or of a part of it.
    fn input(&mut self, input: Input, core_type: &CoreType, ty: &Type) -> Result<LoweredValue<'p>> {
        let layout = self.unit.layouts.of(core_type);
        if ty.has_sized_array() {
            return self.fields_input(input, &layout, ty);
        }
        if let Some(parts) = self.separate_parts(&input, core_type, &layout, ty)? {
            return Ok(parts);
        }
        if ty.has_sum() {
            return self.unboxed_input(input, core_type, ty);
        }
        self.expect_slots(&layout, ty)?;
        match layout.slots {
            0 => self.without_slots(ty),
            1 => self.word_input(input, &layout, ty),
            _ => self.array_input(input, &layout, ty),
        }
    }

    /// An input that is an array with its size, or a tuple of words and such arrays. The arrays are
    /// read: what a loop changes of them it changes in memory of its own.
    fn fields_input(&mut self, input: Input, layout: &Layout, ty: &Type) -> Result<LoweredValue<'p>> {
        let mut fields = Vec::new();
        let value = self.field(0, layout, ty, &mut fields)?;
        self.inputs.push(input);
        self.bindings.push(InputBinding::Fields(fields));
        Ok(value)
    }

    /// A component of an input from one of its slots on.
    fn field(
        &mut self,
        slot: usize,
        layout: &Layout,
        ty: &Type,
        fields: &mut Vec<(usize, FieldBinding)>,
    ) -> Result<LoweredValue<'p>> {
        match (&layout.form, ty) {
            (Form::Packed | Form::Scalar(Scalar::String), _) => {
                let element = sized_element(ty).ok_or(Declined::Arrival)?;
                let (class, stride) = (self.class(element)?, self.slots(element)?);
                if stride == 0 {
                    return Err(Declined::Units);
                }
                // The evaluator boxes sums.
                if element.has_sum() {
                    return Err(Declined::Sum);
                }
                let array = self.array(Origin::Input(self.inputs.len() as u32), class, UNBOUNDED)?;
                self.kernel.scalars.push(ScalarType::I64);
                let number = self.kernel.scalars.len() as u32 - 1;
                fields.push((slot, FieldBinding::Sized(array, class, number, stride)));
                let count = self.set(ScalarType::I64, Op::Scalar(number))?;
                // No size is larger: so ranges of numbers that are compared with it are known.
                let most = self.int(2 * UNBOUNDED - 1)?;
                let count = self.binary(loop_ir::Binary::And, count, most)?;
                let base = self.int(0)?;
                let size = OpenedSize { count, bound: UNBOUNDED };
                Ok(LoweredValue::Packed(size, Rc::new(storage::ArrayValue::Memory { array, base })))
            }
            (Form::Parts(parts), Type::Tuple(types)) if parts.len() == types.len() => {
                let values = parts
                    .iter()
                    .zip(types)
                    .map(|((start, layout), ty)| self.field(slot + start, layout, ty, fields));
                Ok(LoweredValue::Tuple(values.collect::<Result<Vec<_>>>()?.into()))
            }
            _ if layout.slots == 0 => self.without_slots(ty),
            _ if layout.slots == 1 && !ty.has_sum() => {
                self.expect_slots(layout, ty)?;
                let leaf = layout.leaf().ok_or(Declined::Sum)?;
                self.kernel.scalars.push(word(&leaf)?);
                let number = self.kernel.scalars.len() as u32 - 1;
                fields.push((slot, FieldBinding::Scalar(number, code_bound(&leaf))));
                let reg = self.set(self.kernel.scalars[number as usize], Op::Scalar(number))?;
                self.value_of_word(reg, ty)
            }
            _ => Err(Declined::Arrival),
        }
    }

    /// An input of one slot.
    fn word_input(&mut self, input: Input, layout: &Layout, ty: &Type) -> Result<LoweredValue<'p>> {
        let leaf = layout.leaf().ok_or(Declined::Sum)?;
        let scalar = word(&leaf)?;
        self.kernel.scalars.push(scalar);
        let number = self.kernel.scalars.len() as u32 - 1;
        self.inputs.push(input);
        self.bindings.push(InputBinding::Scalar(number, code_bound(&leaf)));
        let reg = self.set(scalar, Op::Scalar(number))?;
        self.value_of_word(reg, ty)
    }

    /// An input of several slots, which is read.
    fn array_input(&mut self, input: Input, layout: &Layout, ty: &Type) -> Result<LoweredValue<'p>> {
        let number = self.inputs.len() as u32;
        let array = self.array(Origin::Input(number), layout.class, layout.slots as u64)?;
        self.inputs.push(input);
        self.bindings.push(InputBinding::Read(array, layout.class));
        let base = self.int(0)?;
        self.load(ty, array, base)
    }

    /// The form of the values of a type with sums as words.
    fn unboxed(&self, core_type: &CoreType, ty: &Type) -> Result<Unboxed> {
        let core_type = build::structural_type(core_type);
        let layout = self.unit.layouts.of(&core_type);
        if !ty.has_sum() {
            self.expect_slots(&layout, ty)?;
            return Ok(Unboxed::of_words(layout.slots, layout.class));
        }
        let cases = |cases: Vec<CoreType>, types: &[Type]| match cases.len() == types.len() {
            true => cases.iter().zip(types).map(|(core, ty)| self.unboxed(core, ty)).collect(),
            false => Err(Declined::Sum),
        };
        match (ty, core_type.kind()) {
            (Type::Array(space, element), TypeKind::Array(core, _)) => {
                let count = usize::try_from(self.count(space)?).map_err(|_| Declined::Width)?;
                let element = self.unboxed(core, element)?;
                Unboxed::repeated(count, element, layout.class).ok_or(Declined::Width)
            }
            (Type::Tuple(types), _) => {
                let parts = core_type.components(MAX_UNBOXED_PARTS).ok_or(Declined::Sum)?;
                Ok(Unboxed::of_parts(cases(parts, types)?, layout.class))
            }
            (Type::Sum(types), TypeKind::Sum(parts)) => match &layout.form {
                Form::Sum(sum) => Ok(Unboxed::of_cases(Some(sum.clone()), cases(parts.clone(), types)?)),
                _ => Err(Declined::Sum),
            },
            (Type::Sum(types), TypeKind::Nominal(nominal, args)) => {
                let parts = nominal.variant_cases(args).ok_or(Declined::Sum)?;
                let parts = parts.into_iter().map(|(_, ty)| ty).collect();
                Ok(Unboxed::of_cases(None, cases(parts, types)?))
            }
            _ => Err(Declined::Sum),
        }
    }

    /// An input of a type with sums, which is read.
    fn unboxed_input(&mut self, input: Input, core_type: &CoreType, ty: &Type) -> Result<LoweredValue<'p>> {
        let (form, number) = (self.unboxed(core_type, ty)?, self.inputs.len() as u32);
        let array = self.array(Origin::Input(number), Class::Word, form.words() as u64)?;
        self.inputs.push(input);
        self.bindings.push(InputBinding::Unbox(array, Arc::new(form)));
        let base = self.int(0)?;
        self.load(ty, array, base)
    }

    /// Declines unless a type has the slots of a layout.
    fn expect_slots(&self, layout: &Layout, ty: &Type) -> Result<()> {
        if layout.slots == TOO_MANY_SLOTS || layout.slots > 1 << 48 {
            return Err(Declined::Width);
        }
        if ty.has_sum() {
            return Err(Declined::Sum);
        }
        let slots = self.slots(ty)?;
        assert_eq!(slots, layout.slots as u64, "the slots of {ty} are those of its layout");
        Ok(())
    }

    /// Makes a value a result of the kernel.
    fn bind_result(
        &mut self,
        lowered: &LoweredValue<'p>,
        ty: &Type,
        core_type: &CoreType,
    ) -> Result<ResultSource> {
        if ty.has_sum() && !ty.has_sized_array() {
            let (form, number) = (self.unboxed(core_type, ty)?, self.classes.len() as u32);
            self.classes.push(Class::Word);
            let array = self.array(Origin::Result(number), Class::Word, form.words() as u64)?;
            let base = self.int(0)?;
            self.store(lowered, ty, array, base)?;
            return Ok(ResultSource::Unboxed(number, Arc::new(form)));
        }
        let layout = self.unit.layouts.of(core_type);
        self.bind_slots(lowered, ty, &layout)
    }

    /// Makes a value of a type without sums a result of the kernel.
    fn bind_slots(&mut self, lowered: &LoweredValue<'p>, ty: &Type, layout: &Layout) -> Result<ResultSource> {
        if ty.has_sized_array() {
            return self.bind_sized(lowered, ty, layout);
        }
        self.expect_slots(layout, ty)?;
        match (layout.slots, lowered, &layout.form) {
            (0, ..) => Ok(ResultSource::Unit),
            (1, ..) => {
                let reg = self.word_of(lowered, ty)?;
                self.kernel.scalar_results.push(reg);
                Ok(ResultSource::Word(self.kernel.scalar_results.len() - 1))
            }
            (_, LoweredValue::Tuple(parts), Form::Parts(layouts)) if parts.len() == layouts.len() => {
                let Type::Tuple(types) = ty else { unreachable!("a tuple has the type of one") };
                let mut given = Vec::new();
                for ((part, ty), (_, layout)) in parts.iter().zip(types).zip(layouts) {
                    given.push(self.bind_slots(part, ty, layout)?);
                }
                Ok(ResultSource::Parts(given, layout.class))
            }
            (slots, ..) => {
                let number = self.classes.len() as u32;
                if let Some(array) = self.as_entire_scratch_array(lowered, slots as u64, layout.class) {
                    self.classes.push(layout.class);
                    self.kernel.arrays[array].origin = Origin::Result(number);
                    return Ok(ResultSource::Array(number, layout.class));
                }
                self.classes.push(layout.class);
                let array = self.array(Origin::Result(number), layout.class, slots as u64)?;
                let base = self.int(0)?;
                self.store(lowered, ty, array, base)?;
                Ok(ResultSource::Array(number, layout.class))
            }
        }
    }

    /// Makes an array with its size, or a tuple that holds such arrays, a result of the kernel.
    fn bind_sized(&mut self, lowered: &LoweredValue<'p>, ty: &Type, layout: &Layout) -> Result<ResultSource> {
        match (lowered, ty, &layout.form) {
            (LoweredValue::Tuple(parts), Type::Tuple(types), Form::Parts(layouts))
                if parts.len() == layouts.len() =>
            {
                let mut given = Vec::new();
                for ((part, ty), (_, layout)) in parts.iter().zip(types).zip(layouts) {
                    given.push(self.bind_slots(part, ty, layout)?);
                }
                Ok(ResultSource::Parts(given, layout.class))
            }
            (LoweredValue::Packed(size, _), _, Form::Packed) => {
                let element = sized_element(ty).ok_or(Declined::Arrival)?;
                if element.has_sum() {
                    return Err(Declined::Sum);
                }
                let stride = self.slots(element)?;
                let is_growable = |array: &Array| self.kernel.arrays[*array].origin == Origin::Growable;
                let array = match self.whole_array(lowered).filter(is_growable) {
                    Some(array) => array,
                    None => {
                        let stored = self.store_in_own_memory(lowered, ty)?;
                        self.whole_array(&stored).expect("an array is stored")
                    }
                };
                self.kernel.scalar_results.push(size.count);
                Ok(ResultSource::Sized(array, self.kernel.scalar_results.len() - 1, stride))
            }
            _ => Err(Declined::Arrival),
        }
    }

    /// Returns the scratch array whose whole contents are this value, if there is one.
    fn as_entire_scratch_array(&self, lowered: &LoweredValue<'p>, slots: u64, class: Class) -> Option<Array> {
        let array = self.whole_array(lowered)?;
        let info = self.kernel.arrays[array];
        let whole = info.origin == Origin::Scratch
            && self.kernel.slots[array] == slots
            && u64::from(info.width) == class.bytes();
        whole.then_some(array)
    }

    // ---- recursive functions --------------------------------------------------------------

    /// The kernel of a function that is not that of the unit.
    fn recursive_function(mut self) -> Result<(Kernel, usize)> {
        self.in_parallel = true;
        let Function { body, changes, result, .. } = self.function;
        let mut locations = Vec::new();
        for (number, (value, ty)) in body.params.iter().enumerate() {
            let is_changed = number < *changes;
            let lowered = self.parameter(ty, is_changed)?;
            if is_changed {
                locations.push(self.location_of_parameter(*value, &lowered, ty, &mut 0)?);
            }
            self.values.insert(*value, lowered);
        }
        self.stmts(&body.stmts)?;
        let End::Yield(value) = body.end else { unreachable!("a function yields its value") };
        let location = match result {
            Type::Tuple(types) if *changes > 0 => {
                locations.insert(0, self.location_of_result(&types[0], &mut 0)?);
                Location::Tuple(locations.into())
            }
            ty => self.location_of_result(ty, &mut 0)?,
        };
        if result.has_array() {
            self.move_to(&location, value)?;
        }
        let lowered = self.values[&value].clone();
        self.give_back(&lowered, result)?;
        self.kernel.body = self.open.pop().expect("a block is open").stmts;
        self.kernel.constants = self.constants;
        let on_heap =
            |origin: Origin| matches!(origin, Origin::Scratch | Origin::ThreadLocal | Origin::Growable);
        if self.kernel.arrays.iter().any(|array| on_heap(array.origin)) {
            return Err(Declined::Stack);
        }
        Ok((self.kernel, self.made))
    }

    /// A parameter of a type: that of a variable that the function changes, or another one.
    fn parameter(&mut self, ty: &Type, is_changed: bool) -> Result<LoweredValue<'p>> {
        if is_array_in_sum(ty) {
            return Err(Declined::Sum);
        }
        Ok(match ty {
            Type::Element(element) => LoweredValue::Word(self.parameter_word(scalar_type(*element))?),
            Type::Index(space) => {
                let mut digits = Vec::new();
                for extent in self.extents(space)? {
                    digits.push(match extent {
                        1 => self.int(0)?,
                        _ => self.parameter_word(ScalarType::I64)?,
                    });
                }
                LoweredValue::Index(digits.into())
            }
            Type::Tuple(types) => {
                let parts = types.iter().map(|ty| self.parameter(ty, is_changed));
                LoweredValue::Tuple(parts.collect::<Result<Vec<_>>>()?.into())
            }
            Type::Sum(types) => {
                let tag = self.parameter_word(ScalarType::I64)?;
                let pieces = types.iter().map(|ty| self.parameter(ty, is_changed));
                let pieces = pieces.collect::<Result<Vec<_>>>()?;
                LoweredValue::Sum(tag, pieces.into())
            }
            Type::Array(..) if self.slots(ty)? == 0 => self.without_slots(ty)?,
            Type::Array(..) => {
                let origin = |number| if is_changed { Origin::InOut(number) } else { Origin::Input(number) };
                let is_alike = |array: &&loop_ir::ArrayInfo| match array.origin {
                    Origin::Input(_) => !is_changed,
                    Origin::InOut(_) => is_changed,
                    _ => false,
                };
                let number = self.kernel.arrays.iter().filter(is_alike).count() as u32;
                let array = self.handed_array(origin(number), ty)?;
                let base = self.int(0)?;
                self.load(ty, array, base)?
            }
            Type::Exists(..) => return Err(Declined::Arrival),
        })
    }

    fn parameter_word(&mut self, ty: ScalarType) -> Result<Reg> {
        self.kernel.scalars.push(ty);
        let number = self.kernel.scalars.len() as u32 - 1;
        self.set(ty, Op::Scalar(number))
    }

    /// An array that a caller hands over for a value of a type.
    fn handed_array(&mut self, origin: Origin, ty: &Type) -> Result<Array> {
        let (class, slots) = (self.class(ty)?, self.slots(ty)?);
        self.array(origin, class, slots)
    }

    /// The location of a result: its arrays lie in memory of the caller; so many arrays do already.
    fn location_of_result(&mut self, ty: &Type, arrays: &mut u32) -> Result<Location> {
        if is_array_in_sum(ty) {
            return Err(Declined::Sum);
        }
        match ty {
            Type::Tuple(types) => {
                let parts = types.iter().map(|ty| self.location_of_result(ty, arrays));
                Ok(Location::Tuple(parts.collect::<Result<Vec<_>>>()?.into()))
            }
            Type::Array(..) if self.slots(ty)? > 0 => {
                let array = self.handed_array(Origin::Result(*arrays), ty)?;
                *arrays += 1;
                Ok(Location::Memory(array))
            }
            Type::Exists(..) => Err(Declined::Arrival),
            ty => self.new_location(ty),
        }
    }

    /// Makes the words of a value results of the function.
    fn give_back(&mut self, lowered: &LoweredValue<'p>, ty: &Type) -> Result<()> {
        match (lowered, ty) {
            (LoweredValue::Word(reg), _) => self.kernel.scalar_results.push(*reg),
            (LoweredValue::Index(digits), Type::Index(space)) => {
                let extents = self.extents(space)?;
                let passed = digits.iter().zip(extents).filter(|(_, extent)| *extent != 1);
                self.kernel.scalar_results.extend(passed.map(|(digit, _)| *digit));
            }
            (LoweredValue::Tuple(parts), Type::Tuple(types)) => {
                for (part, ty) in parts.iter().zip(types) {
                    self.give_back(part, ty)?;
                }
            }
            (LoweredValue::Sum(tag, pieces), Type::Sum(types)) => {
                self.kernel.scalar_results.push(*tag);
                for (piece, ty) in pieces.iter().zip(types) {
                    self.give_back(piece, ty)?;
                }
            }
            (LoweredValue::Array(_), Type::Array(..)) => {}
            _ => return Err(Declined::Arrival),
        }
        Ok(())
    }

    // ---- statements ---------------------------------------------------------------------

    fn emit(&mut self, stmt: Stmt) -> Result<()> {
        self.made += 1;
        if self.made > MAX_STATEMENTS {
            return Err(Declined::Length);
        }
        if self.made.is_multiple_of(POLL_STATEMENTS) && !(self.unit.may_continue)() {
            return Err(Declined::Stopped);
        }
        self.open.last_mut().expect("a block is open").stmts.push(stmt);
        Ok(())
    }

    /// The statements that `make` emits.
    fn block<T>(&mut self, make: impl FnOnce(&mut Self) -> Result<T>) -> Result<(Vec<Stmt>, T)> {
        self.open.push(OpenBlock::default());
        let made = make(self);
        let block = self.open.pop().expect("the block that was opened");
        Ok((block.stmts, made?))
    }

    fn reg(&mut self, ty: ScalarType) -> Reg {
        self.kernel.regs.push(ty)
    }

    /// A register that is set so, perhaps one that has been.
    fn set(&mut self, ty: ScalarType, op: Op) -> Result<Reg> {
        let repeatable = match &op {
            Op::Get(_) => false,
            Op::Load(array, ..) => matches!(self.kernel.arrays[*array].origin, Origin::Input(_)),
            _ => true,
        };
        if repeatable && let Some(reg) = self.open.iter().find_map(|open| open.computed.get(&op)) {
            return Ok(*reg);
        }
        let reg = self.reg(ty);
        if let Op::Const(_, bits) = op {
            self.constants.insert(reg, bits);
        }
        if repeatable {
            self.open.last_mut().expect("a block is open").computed.insert(op.clone(), reg);
        }
        self.emit(Stmt::Let(reg, op))?;
        Ok(reg)
    }

    fn int(&mut self, n: u64) -> Result<Reg> {
        self.set(ScalarType::I64, Op::Const(ScalarType::I64, n))
    }

    /// A size: a constant if it is small.
    fn size(&mut self, n: u64) -> Result<Reg> {
        if n <= MAX_CONSTANT_SIZE {
            return self.int(n);
        }
        let number = self.kernel.size_number(n);
        self.set(ScalarType::I64, Op::Size(number))
    }

    fn known(&self, reg: Reg) -> Option<u64> {
        self.constants.get(&reg).copied()
    }

    fn array(&mut self, origin: Origin, class: Class, slots: u64) -> Result<Array> {
        match class {
            Class::Wide | Class::Any => Err(Declined::Width),
            class => Ok(self.kernel.add_array(origin, class.bytes() as u8, slots)),
        }
    }

    /// A value without slots.
    fn without_slots(&mut self, ty: &Type) -> Result<LoweredValue<'p>> {
        match ty {
            Type::Index(space) => {
                let zero = self.int(0)?;
                Ok(LoweredValue::Index(vec![zero; space.digits.len()].into()))
            }
            Type::Tuple(types) => {
                let parts = types.iter().map(|ty| self.without_slots(ty)).collect::<Result<Vec<_>>>()?;
                Ok(LoweredValue::Tuple(parts.into()))
            }
            Type::Array(space, element) => match self.count(space)? {
                0 => Ok(LoweredValue::Array(Rc::new(storage::ArrayValue::List(Vec::new())))),
                _ => {
                    let only = self.without_slots(element)?;
                    Ok(LoweredValue::Array(Rc::new(storage::ArrayValue::Repeated(only))))
                }
            },
            Type::Element(_) | Type::Sum(_) | Type::Exists(..) => Err(Declined::Sum),
        }
    }
}
