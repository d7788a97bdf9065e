//! Recursive functions of a kernel: one function of the module each.
//!
//! The function of a kernel takes the address of the frame, the number of calls that may still be
//! nested, the values of its scalars, and the addresses of the arrays that it reads and writes. It
//! gives a status as a phase does ([`super::partition`]), and its results. A caller that gets
//! another status than [`STATUS_DONE`] leaves with it, so a failure anywhere ends the run of the
//! kernel.
//!
//! **Entry.** A function fails if the stack pointer is below the limit of the thread that runs it
//! ([`STACK_WORD`]), or no call is left
//! ([`CALLS_WORD`](super::partition::CALLS_WORD)), and stops if the run is to stop. Below the
//! limit there is room for what is called besides, and [`MAX_STACK_BYTES`] of a frame.

use super::emit::{Emit, Functions, machine_type};
use super::partition::{Frame, STACK_WORD, STATUS_DONE};
use crate::kernel::Limits;
use crate::loop_ir::validate::{Access, handed_arrays};
use crate::loop_ir::{Kernel, Label, Origin, Stmt, for_each_stmt};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use std::cell::Cell;

/// Bytes of the arrays on the stack of one function, at most.
const MAX_STACK_BYTES: u64 = 32 << 10;

/// Bytes of the stack of a thread of the pool. Only touched pages take memory.
pub(super) const WORKER_STACK_BYTES: usize = 16 << 20;

/// Bytes of it that functions leave to what they call besides.
const WORKER_RESERVE_BYTES: usize = 256 << 10;

thread_local! {
    /// The lowest address at which a function may begin, on a thread of the pool.
    static WORKER_LIMIT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Notes where the stack of a thread of the pool begins, when the thread does.
pub(super) fn begin_worker() {
    let marker = 0u8;
    let begin = std::ptr::from_ref(std::hint::black_box(&marker)) as usize;
    WORKER_LIMIT.set(Some((begin + WORKER_RESERVE_BYTES).saturating_sub(WORKER_STACK_BYTES)));
}

/// The lowest address of the stack of this thread at which a function may begin.
pub(super) fn stack_limit(limits: &Limits<'_>) -> usize {
    WORKER_LIMIT.get().unwrap_or_else(limits.stack_limit)
}

/// Returns true if each round of a loop that goes on calls a function, which asks whether the run
/// is to stop.
pub(super) fn polls_by_call(label: Option<Label>, body: &[Stmt]) -> bool {
    let mut goes_on = false;
    for_each_stmt(body, &mut |stmt| {
        goes_on |= matches!(stmt, Stmt::Continue(next) if Some(*next) == label);
    });
    !goes_on && body.iter().any(|stmt| matches!(stmt, Stmt::Call(_)))
}

/// Parameters of a function in front of those of its kernel: the frame and the number of calls.
const OWN_PARAMS: usize = 2;

/// The signature of a function. No register is saved by a function that is called: what a caller
/// needs later it saves only where it calls.
pub(super) fn signature(function: &Kernel) -> Signature {
    let mut signature = Signature::new(CallConv::Tail);
    let arrays = Access::ALL.into_iter().flat_map(|access| handed_arrays(function, access)).count();
    signature.params.resize(OWN_PARAMS, AbiParam::new(types::I64));
    signature.params.extend(function.scalars.iter().map(|ty| AbiParam::new(machine_type(*ty))));
    signature.params.resize(signature.params.len() + arrays, AbiParam::new(types::I64));
    signature.returns.push(AbiParam::new(types::I64));
    let result = |reg| AbiParam::new(machine_type(function.regs[reg]));
    signature.returns.extend(function.scalar_results.iter().map(|reg| result(*reg)));
    signature
}

/// Returns true if the arrays on the stack of a function are small enough.
pub(super) fn fits_stack(function: &Kernel) -> bool {
    let bytes = function.arrays.iter().map(|array| match array.origin {
        Origin::Stack(slots) => u64::from(slots) * u64::from(array.width),
        _ => 0,
    });
    bytes.sum::<u64>() <= MAX_STACK_BYTES
}

/// The values that a function has been given.
pub(super) struct Given {
    /// The number of calls that may still be nested.
    pub(super) calls: Value,
    /// The values of scalars.
    pub(super) scalars: Vec<Value>,
}

impl<'n, 'f> Emit<'n, 'f> {
    /// Writes a function of a kernel into the function that `b` builds.
    pub(super) fn function(
        b: FunctionBuilder<'f>,
        function: &'n Kernel,
        frame: &'n Frame,
        functions: &'n Functions<'n>,
    ) -> FunctionBuilder<'f> {
        let (mut this, params) = Emit::begin(b, function, frame, functions);
        let (scalars, addresses) = params[OWN_PARAMS..].split_at(function.scalars.len());
        this.given = Some(Given { calls: params[1], scalars: scalars.to_vec() });
        let handed = Access::ALL.into_iter().flat_map(|access| handed_arrays(function, access));
        this.addresses.extend(handed.zip(addresses.iter().copied()));
        this.check_entry(params[1]);
        this.enter(&function.body);
        let mut returned = vec![this.b.ins().iconst(types::I64, STATUS_DONE)];
        if this.stmts(&function.body) {
            returned.extend(function.scalar_results.iter().map(|reg| this.reg(*reg)));
        } else {
            // The return behind it is never reached, but a function ends with one.
            let dead = this.b.create_block();
            this.b.switch_to_block(dead);
            returned[0] = this.b.ins().iconst(types::I64, STATUS_DONE);
            returned.extend(this.no_results());
        }
        this.b.ins().return_(&returned);
        this.finish()
    }

    /// Fails or stops at the entry of a function.
    fn check_entry(&mut self, calls: Value) {
        let limit = self.word(types::I64, STACK_WORD);
        let stack = self.b.ins().get_stack_pointer(types::I64);
        let is_deep = self.b.ins().icmp(IntCC::UnsignedLessThan, stack, limit);
        let on = self.b.create_block();
        self.b.ins().brif(is_deep, self.fail, &[], on, &[]);
        self.b.switch_to_block(on);
        let zero = self.b.ins().iconst(types::I64, 0);
        let is_spent = self.b.ins().icmp(IntCC::SignedLessThan, calls, zero);
        let on = self.b.create_block();
        self.b.ins().brif(is_spent, self.fail, &[], on, &[]);
        self.b.switch_to_block(on);
        self.poll_interrupt();
    }
}
