//! Numbers values, labels and sites anew, from 0 in the order of the text, and leaves out sites
//! that no operation names: for people, after passes have taken statements away.

use super::visit::PartMut;
use super::{Block, End, Label, Program, Site, SiteId, Value};
use crate::hash::HashMap;

/// Numbers values and labels of each function, and the sites of the program.
pub fn renumber(program: &mut Program) {
    let mut sites =
        Sites { old: std::mem::take(&mut program.sites), new: Vec::new(), ids: HashMap::default() };
    for function in &mut program.functions {
        let mut names = Names { values: HashMap::default(), labels: HashMap::default() };
        number(&mut function.body, &mut names, &mut sites);
    }
    program.sites = sites.new;
}

/// The new numbers of a function.
struct Names {
    values: HashMap<Value, Value>,
    labels: HashMap<Label, Label>,
}

/// The sites that are named, with their new numbers.
struct Sites {
    old: Vec<Site>,
    new: Vec<Site>,
    ids: HashMap<SiteId, SiteId>,
}

fn number(block: &mut Block, names: &mut Names, sites: &mut Sites) {
    for (value, _) in &mut block.params {
        define(value, names);
    }
    for stmt in &mut block.stmts {
        stmt.op.for_each_part_mut(&mut |part| match part {
            PartMut::Use(value) => *value = names.values[value],
            PartMut::Label(label) => {
                let new = Label(names.labels.len() as u32);
                *label = *names.labels.entry(*label).or_insert(new);
            }
            PartMut::Site(site) => {
                let Sites { old, new, ids } = sites;
                *site = *ids.entry(*site).or_insert_with(|| {
                    new.push(old[site.index()].clone());
                    SiteId(new.len() as u32 - 1)
                });
            }
            PartMut::Block(block) => number(block, names, sites),
            _ => {}
        });
        define(&mut stmt.value, names);
    }
    let value = block.end.value_mut();
    *value = names.values[value];
    if let End::Next(label, _) | End::Exit(label, _) = &mut block.end {
        *label = names.labels[label];
    }
}

fn define(value: &mut Value, names: &mut Names) {
    let new = Value(names.values.len() as u32);
    names.values.insert(*value, new);
    *value = new;
}
