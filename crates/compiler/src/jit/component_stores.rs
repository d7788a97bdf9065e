//! Stores to slots at a distance, by AVX-512 and AVX2: the components of records in an array, all of
//! which are stored together.

use super::asm_x64::{Assembler, Mask, Pointer, Vector};
use super::vector_plan::{Plan, has_components};
use super::vector_registers::{Loop, Registers, Word};
use crate::hash::HashMap;
use crate::loop_ir::{Array, Kernel, Op, Origin, Reg, Stmt};

/// Groups of stores to slots that lie side by side, of all components of records in an array, by the
/// last one of each: the statements in the order of the slots. They are done where the last is.
pub(super) fn interleaved_stores(kernel: &Kernel, body: &[Stmt], plan: &Plan) -> HashMap<usize, Vec<usize>> {
    let mut groups: HashMap<usize, Vec<usize>> = HashMap::default();
    // A load by a second name may be one of the first slot, and so may one inside a statement.
    let has_aliases = kernel.arrays.iter().any(|info| matches!(info.origin, Origin::Alias(_)));
    if has_aliases || body.iter().any(|stmt| !stmt.bodies().is_empty()) {
        return groups;
    }
    // Groups that lack stores, each with the distances of these from the first one.
    let mut waiting: Vec<Vec<(i64, usize)>> = Vec::new();
    for (number, stmt) in body.iter().enumerate() {
        match stmt {
            Stmt::Let(_, Op::Load(array, ..)) => {
                waiting.retain(|group| body[group[0].1].written_arrays() != [*array])
            }
            Stmt::Store(array, at, _) if has_components(kernel.arrays[*array].width, plan.stride(*at)) => {
                let distance = |group: &[(i64, usize)]| match &body[group[0].1] {
                    Stmt::Store(other, before, _) if other == array => plan.distance(*before, *at),
                    _ => None,
                };
                // A store that this one overwrites stays before it.
                waiting.retain(|group| {
                    distance(group).is_none_or(|own| group.iter().all(|(other, _)| *other != own))
                });
                let stride = plan.stride(*at);
                let is_beside = |group: &[(i64, usize)], own: i64| {
                    group.iter().all(|(other, _)| (own - other).abs() < stride)
                };
                let found = waiting.iter().enumerate().find_map(|(at, group)| {
                    distance(group).filter(|own| is_beside(group, *own)).map(|own| (at, own))
                });
                let Some((at, own)) = found else {
                    waiting.push(vec![(0, number)]);
                    continue;
                };
                waiting[at].push((own, number));
                if waiting[at].len() as i64 == stride {
                    let mut group = waiting.remove(at);
                    group.sort_unstable();
                    groups.insert(number, group.into_iter().map(|(_, number)| number).collect());
                }
            }
            _ => {}
        }
    }
    groups
}

impl Loop<'_> {
    /// A vector to slots at a distance.
    pub(super) fn store_strided(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        (to, place): (Pointer, Reg),
        from: Vector,
        mask: Option<Mask>,
    ) -> Option<()> {
        let other = self.take(asm, registers)?;
        let bytes = self.plan.width as i32 * self.plan.stride(place) as i32;
        match self.plan.width {
            4 => asm.store_strided_short((to, bytes), from, other, mask),
            _ => asm.store_strided((to, bytes), from, other, mask),
        }
        registers.vectors.push(other);
        Some(())
    }

    /// The stores of a group, in the order of their slots.
    pub(super) fn store_components(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        group: &[usize],
        mask: Option<Mask>,
    ) -> Option<()> {
        let body = self.body;
        let stores = group.iter().map(|number| match &body[*number] {
            Stmt::Store(array, place, value) => (*array, *place, *value),
            _ => unreachable!("a group of stores"),
        });
        let stores: Vec<(Array, Reg, Reg)> = stores.collect();
        let values: Vec<Reg> = stores.iter().map(|(_, _, value)| *value).collect();
        let mut vectors = Vec::new();
        for value in &values {
            vectors.push(self.vector(asm, registers, *value)?);
        }
        if mask.is_some() {
            for ((array, place, _), from) in stores.iter().zip(&vectors) {
                let to = self.pointer(asm, Word::Place(*array, *place));
                self.store_strided(asm, registers, (to, *place), *from, mask)?;
            }
        } else {
            let others = [self.take(asm, registers)?, self.take(asm, registers)?];
            let (array, place, value) = stores[0];
            let to = self.pointer(asm, Word::Place(array, place));
            asm.store_interleaved(self.lane(value), to, &vectors, others);
            registers.vectors.extend(others);
        }
        self.release(registers, &values, &vectors);
        Some(())
    }
}
