//! Storage: which arrays of a function may lie in the same memory.
//!
//! Takes a valid function; gives each array a [`CongruenceClass`], as in the literature on leaving
//! SSA form. Arrays of one class may be kept in one memory: an update then changes an array where
//! it lies, and what becomes the state of a loop or the result of a branch is made where that lies.
//! Nothing is said of how an array is stored.
//!
//! **Nodes.** An array is a value, or stands in a tuple or in a piece of a sum: a value has a node
//! for each array of its type, in order. `tuple` and `part` make no nodes of their own, and the
//! block of a `switch` has those of its piece. The pieces that a value is not of have nodes that
//! nothing reads.
//!
//! **Lazy arrays.** A view, an element that is an array, a list of arrays, a map that is computed
//! where the value of its block is stored, and one that is computed into its place in a
//! concatenation ([`Storage::is_delayed`]) have no memory.
//! Reading one is reading its sources, then.
//!
//! **Parts that stay.** An element that an update stores may have parts of the one that it replaces,
//! in their places ([`Storage::unchanged_parts`]). These are not read, since they lie there.
//!
//! **Live-range splitting.** An element that is read after a copy connects its array with another
//! one would keep the array, so that all of it is copied there. It is copied itself where it is
//! defined ([`Storage::is_copied`]) if nothing else keeps the array: a row costs less than a
//! matrix. Of an element that is a tuple, the arrays are copied that are read so.
//!
//! **Method.** Copies are coalesced as when a program leaves SSA form (Budimlić, Cooper and others
//! 2002; Boissinot and others 2009). Pairs that a copy would connect are: the array of an update
//! and its result; the result of a branch or block and what it ends with; the state of a loop, its
//! first value and its next ones. A sort is an update of all elements. From the innermost loop
//! outward, the classes of a pair become one unless two of their nodes interfere.
//!
//! A call is an update of the arrays of the variables that it changes, one after the other: each is
//! copied to the memory of its result if it does not lie there, and then the function runs. Their
//! last values go to the memory of the parameters that they are in the function.
//!
//! The memory of a parameter is others', and nothing is made there, but for parameters that the
//! caller gives away (`owned`): a loop over a variable outside changes its array where it lies, and a
//! function those of the variables that it changes.
//! That memory has the size of the parameter, so no array of several sizes ([`Storage::grows`])
//! lies there.
//!
//! **Interference.** Two nodes interfere if one is read after the definition of the other, or both
//! are defined at one point. A node is defined where its statement begins, so that what a map or a
//! concatenation reads interferes with it; an update reads its array before; the result of
//! a branch, block or loop is defined at its end, and a state where a round begins. In SSA form
//! two ranges overlap only if one holds the definition of the other, so nodes that do not
//! interfere are never needed at the same time. Behind the end of a block that leaves others comes
//! what is behind those. Copies that are made at one point (the parts of a state) are the caller's:
//! a source that lies where another one goes is saved before.
//!
//! **Work.** Statements times the depth of blocks, times the size of the classes that are joined;
//! beyond [`MAX_WORK`] the rest of the pairs stay apart, which costs copies.

#[cfg(test)]
mod tests;

use super::{Block, End, Function, Label, Op, Stmt, Type, Value};
use crate::hash::{HashMap, HashSet};

/// Questions about pairs of nodes, and uses that lazy arrays hand on, at most.
const MAX_WORK: usize = 400_000;

crate::id::ids! {
    /// The number of a congruence class: the arrays that coalescing has put into one memory.
    CongruenceClass "";
}

/// The classes of the arrays of a function.
#[derive(Debug)]
pub struct Storage {
    delayed: HashSet<Value>,
    /// Arrays of elements, by their positions among those of the value.
    copied: HashSet<(Value, usize)>,
    nodes: HashMap<Value, Vec<usize>>,
    classes: Vec<CongruenceClass>,
    /// The nodes that reading a lazy node reads, by node.
    sources: Vec<Vec<usize>>,
    /// Nodes whose memory is read after a copy of them would be made.
    live_after_copy: HashSet<usize>,
    /// The classes of arrays of several sizes.
    grows: HashSet<CongruenceClass>,
    unchanged: HashMap<Value, Vec<bool>>,
}

/// The maps that nothing reads but the end of the block that defines them, and of no other; and the
/// maps and concatenations of which one concatenation in their block is the only reader.
fn delayed_arrays(function: &Function) -> HashSet<Value> {
    let (mut reads, mut ends) = (HashMap::default(), HashMap::default());
    function.body.for_each_block(&mut |block| {
        let read = &mut |value| *reads.entry(value).or_insert(0) += 1;
        block.stmts.iter().for_each(|stmt| stmt.op.for_each_use(read));
        *ends.entry(block.end.value()).or_insert(0) += 1;
    });
    let reads = |value: &Value| reads.get(value).copied().unwrap_or(0);
    let ends = |value: &Value| ends.get(value).copied().unwrap_or(0);
    let mut found = HashSet::default();
    function.body.for_each_block(&mut |block| {
        let end = block.end.value();
        let mut joined = HashSet::default();
        for stmt in &block.stmts {
            if let Op::Concat(a, b) = stmt.op {
                joined.extend([a, b]);
            }
        }
        let is_delayed = |stmt: &&Stmt| match (&stmt.op, reads(&stmt.value), ends(&stmt.value)) {
            (Op::Map(_), 0, 1) => stmt.value == end,
            (Op::Map(_) | Op::Concat(..), 1, 0) => joined.contains(&stmt.value),
            _ => false,
        };
        found.extend(block.stmts.iter().filter(is_delayed).map(|stmt| stmt.value));
    });
    found
}

/// The number of arrays in the values of a type.
pub fn array_count(ty: &Type) -> usize {
    match ty {
        Type::Array(..) => 1,
        Type::Tuple(types) | Type::Sum(types) => types.iter().map(array_count).sum(),
        Type::Exists(_, inner) => array_count(inner),
        Type::Element(_) | Type::Index(_) => 0,
    }
}

/// The positions, among the arrays in the values of a type, of those that bring their sizes along.
fn sized_arrays(ty: &Type) -> Vec<usize> {
    fn collect(ty: &Type, next: &mut usize, found: &mut Vec<usize>) {
        match ty {
            Type::Tuple(types) | Type::Sum(types) => types.iter().for_each(|ty| collect(ty, next, found)),
            ty => {
                let end = *next + array_count(ty);
                if let Type::Exists(..) = ty {
                    found.extend(*next..end);
                }
                *next = end;
            }
        }
    }
    let mut found = Vec::new();
    collect(ty, &mut 0, &mut found);
    found
}

/// The positions, among the arrays in the values of a type, of those that are the value itself or
/// parts of tuples.
fn plain_arrays(ty: &Type) -> Vec<usize> {
    fn collect(ty: &Type, next: &mut usize, found: &mut Vec<usize>) {
        match ty {
            Type::Tuple(types) => types.iter().for_each(|ty| collect(ty, next, found)),
            ty => {
                if let Type::Array(..) = ty {
                    found.push(*next);
                }
                *next += array_count(ty);
            }
        }
    }
    let mut found = Vec::new();
    collect(ty, &mut 0, &mut found);
    found
}

impl Storage {
    /// The classes of a function that may change the arrays of some parameters.
    pub fn of(function: &Function, owned: &[Value]) -> Storage {
        let mut graph = Graph::new(delayed_arrays(function));
        graph.function(function, owned);
        graph.finish()
    }

    /// Returns true for a map that is computed where the value of its block is stored, and for a map
    /// or a concatenation that is computed where the concatenation is that reads it: nothing else
    /// reads it.
    pub fn is_delayed(&self, value: Value) -> bool {
        self.delayed.contains(&value)
    }

    /// Returns true for an array of an element, by its position, that is copied where the element
    /// is defined.
    pub fn is_copied(&self, value: Value, position: usize) -> bool {
        self.copied.contains(&(value, position))
    }

    /// For each array in the element that an update stores, in order, whether it is the one that
    /// lies there.
    pub fn unchanged_parts(&self, update: Value) -> &[bool] {
        self.unchanged.get(&update).map_or(&[], Vec::as_slice)
    }

    /// The class of each array of a value, in order.
    pub fn classes(&self, value: Value) -> impl Iterator<Item = CongruenceClass> + '_ {
        self.nodes[&value].iter().map(|node| self.classes[*node])
    }

    /// Returns true for a class of arrays of several sizes, which are known at run time only: the
    /// states of loops, and the results of branches and blocks, that bring their sizes along.
    pub fn grows(&self, class: CongruenceClass) -> bool {
        self.grows.contains(&class)
    }

    /// Returns true if nothing reads the memory of an array of a value, by its position, after
    /// the value has ended a block or begun a loop: then its memory may be given away.
    pub fn is_last_use(&self, value: Value, position: usize) -> bool {
        !self.live_after_copy.contains(&self.nodes[&value][position])
    }

    /// Returns true if reading an array of a value, by its position, reads memory of a class.
    pub fn reads(&self, value: Value, position: usize, class: CongruenceClass) -> bool {
        let mut waiting = vec![self.nodes[&value][position]];
        let mut seen = HashSet::default();
        while let Some(node) = waiting.pop() {
            if self.sources[node].is_empty() && self.classes[node] == class {
                return true;
            }
            if seen.insert(node) {
                waiting.extend(&self.sources[node]);
            }
        }
        false
    }
}

/// A point of a run: behind a position in a block.
#[derive(Clone, Copy, Debug)]
struct Point {
    position: u32,
    block: usize,
}

#[derive(Debug)]
struct Node {
    defined: Point,
    /// The positions at which it is read, in order.
    uses: Vec<u32>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// A parameter of the function whose memory is others'.
    Given,
    /// Kept in memory of its class.
    Stored,
    /// Computed where it is read.
    Lazy,
}

#[derive(Debug)]
struct BlockRange {
    end: u32,
    /// The operation around, with the block that it stands in, and whether the block is run
    /// repeatedly.
    around: Option<(usize, usize, bool)>,
    /// The loop or block that its end leaves or goes on with.
    jump: Option<Jump>,
}

/// The target of the end of a block: an operation, with the block that it stands in.
#[derive(Clone, Copy, Debug)]
struct Jump {
    operation: usize,
    block: usize,
    /// True if another round follows.
    is_next: bool,
}

/// An array that is an element or a part of one, and may be copied.
#[derive(Clone, Copy, Debug)]
struct ArrayElement {
    value: Value,
    /// The position among the arrays of the element.
    place: usize,
    node: usize,
    /// The position at which its array is read then.
    end: u32,
}

/// Two nodes that a copy would connect.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// The loops around the copy.
    loops: u32,
    target: usize,
    source: usize,
    /// The point of the copy.
    at: Point,
}

/// The definition of a value by others, as far as parts of elements are told from it.
enum Composition {
    Tuple(Vec<Value>),
    Part(Value, u32),
    Element(Value, Value),
}

struct Graph {
    delayed: HashSet<Value>,
    compositions: HashMap<Value, Composition>,
    unchanged: HashMap<Value, Vec<bool>>,
    nodes: Vec<Node>,
    sources: Vec<Vec<usize>>,
    of: HashMap<Value, Vec<usize>>,
    types: HashMap<Value, Type>,
    blocks: Vec<BlockRange>,
    /// First and last position of each operation with blocks.
    operations: Vec<(u32, u32)>,
    /// The nodes that an exit or a next state goes to, and the operation with the block around it.
    labels: HashMap<Label, (Vec<usize>, usize, usize)>,
    pairs: Vec<Pair>,
    /// The results of loops with the parameters that are their states, which lie in one memory.
    states: Vec<(usize, usize)>,
    elements: Vec<ArrayElement>,
    /// The nodes of arrays of several sizes.
    grow: HashSet<usize>,
    /// The nodes of parameters that are given away, whose memory does not grow.
    owned: HashSet<usize>,
    position: u32,
    loops: u32,
}

impl Graph {
    fn new(delayed: HashSet<Value>) -> Graph {
        Graph {
            delayed,
            compositions: HashMap::default(),
            unchanged: HashMap::default(),
            nodes: Vec::new(),
            sources: Vec::new(),
            of: HashMap::default(),
            types: HashMap::default(),
            blocks: Vec::new(),
            operations: Vec::new(),
            labels: HashMap::default(),
            pairs: Vec::new(),
            states: Vec::new(),
            elements: Vec::new(),
            grow: HashSet::default(),
            owned: HashSet::default(),
            position: 0,
            loops: 0,
        }
    }

    fn next_position(&mut self) -> u32 {
        self.position += 1;
        self.position
    }

    fn node(&mut self, kind: Kind, defined: Point, sources: Vec<usize>) -> usize {
        self.nodes.push(Node { defined, uses: Vec::new(), kind });
        self.sources.push(sources);
        self.nodes.len() - 1
    }

    /// New nodes for a value of a type.
    fn define(&mut self, ty: &Type, kind: Kind, defined: Point, sources: &[usize]) -> Vec<usize> {
        (0..array_count(ty)).map(|_| self.node(kind, defined, sources.to_vec())).collect()
    }

    fn bind(&mut self, value: Value, ty: &Type, nodes: Vec<usize>) {
        self.types.insert(value, ty.clone());
        self.of.insert(value, nodes);
    }

    fn read(&mut self, value: Value, position: u32) {
        for node in &self.of[&value] {
            self.nodes[*node].uses.push(position);
        }
    }

    fn function(&mut self, function: &Function, owned: &[Value]) {
        let (body, defined) = (&function.body, Point { position: 0, block: 0 });
        for (number, (value, ty)) in body.params.iter().enumerate() {
            let is_owned = number < function.changes || owned.contains(value);
            let kind = if is_owned { Kind::Stored } else { Kind::Given };
            let nodes = self.define(ty, kind, defined, &[]);
            if kind == Kind::Stored {
                self.owned.extend(&nodes);
            }
            self.bind(*value, ty, nodes);
        }
        self.block(body, None, &[]);
        if let (Type::Tuple(types), true) = (&function.result, function.changes > 0) {
            let end = Point { position: self.blocks[0].end, block: 0 };
            let changed = body.params.iter().take(function.changes);
            let targets: Vec<usize> = changed.flat_map(|(value, _)| self.of[value].clone()).collect();
            let sources = self.of[&body.end.value()].iter().skip(array_count(&types[0]));
            let pairs = targets.into_iter().zip(sources);
            let pairs = pairs.map(|(target, source)| Pair { loops: 0, target, source: *source, at: end });
            self.pairs.extend(pairs);
        }
    }

    /// A block; its value goes to the nodes of `yielded`.
    fn block(&mut self, block: &Block, around: Option<(usize, usize, bool)>, yielded: &[usize]) {
        let number = self.blocks.len();
        self.blocks.push(BlockRange { end: 0, around, jump: None });
        self.next_position();
        for (value, ty) in &block.params {
            // Those of the function and of loops are there.
            if !self.of.contains_key(value) {
                let defined = Point { position: self.position, block: number };
                let nodes = self.define(ty, Kind::Stored, defined, &[]);
                self.bind(*value, ty, nodes);
            }
        }
        for stmt in &block.stmts {
            self.stmt(stmt, number);
        }
        let end = self.next_position();
        self.blocks[number].end = end;
        let value = block.end.value();
        self.read(value, end);
        let targets = match block.end {
            End::Yield(_) => yielded.to_vec(),
            End::Next(label, _) | End::Exit(label, _) => {
                let (targets, operation, around) = self.labels[&label].clone();
                let is_next = matches!(block.end, End::Next(..));
                self.blocks[number].jump = Some(Jump { operation, block: around, is_next });
                targets
            }
        };
        let at = Point { position: end, block: number };
        for (target, source) in targets.into_iter().zip(self.of[&value].clone()) {
            self.pairs.push(Pair { loops: self.loops, target, source, at });
        }
    }

    fn stmt(&mut self, stmt: &Stmt, block: usize) {
        let Stmt { value, ty, op } = stmt;
        let start = self.next_position();
        let here = Point { position: start, block };
        self.compositions.extend(match op {
            Op::Tuple(values) => Some((*value, Composition::Tuple(values.clone()))),
            Op::Part(whole, part) => Some((*value, Composition::Part(*whole, *part))),
            Op::Index(array, at) => Some((*value, Composition::Element(*array, *at))),
            _ => None,
        });
        let nodes = match op {
            Op::Tuple(values) => values.iter().flat_map(|value| self.of[value].clone()).collect(),
            Op::Part(whole, part) => {
                let Type::Tuple(types) = &self.types[whole] else { unreachable!("a part is of a tuple") };
                let first: usize = types[..*part as usize].iter().map(array_count).sum();
                self.of[whole][first..first + array_count(ty)].to_vec()
            }
            Op::Case(Type::Sum(types), case, piece) => {
                let mut nodes = Vec::new();
                for (other, ty) in (0..).zip(types) {
                    nodes.extend(match other == *case {
                        true => self.of[piece].clone(),
                        false => self.define(ty, Kind::Lazy, here, &[]),
                    });
                }
                nodes
            }
            Op::Update(array, ..) | Op::Sort(array) => {
                let end = self.next_position();
                let old = self.of[array][0];
                // A lazy array is copied while it is read.
                let is_lazy = self.nodes[old].kind == Kind::Lazy;
                self.read(*array, if is_lazy { end } else { start });
                if let Op::Update(_, at, element) = op {
                    let mut unchanged = Vec::new();
                    self.compare_parts((*array, *at), *element, &mut Vec::new(), &mut unchanged);
                    for (node, _) in self.of[element].iter().zip(&unchanged).filter(|(_, same)| !**same) {
                        self.nodes[*node].uses.push(end);
                    }
                    self.unchanged.insert(*value, unchanged);
                }
                let nodes = self.define(ty, Kind::Stored, here, &[]);
                self.pairs.push(Pair { loops: self.loops, target: nodes[0], source: old, at: here });
                nodes
            }
            Op::Call { changes: changes @ 1.., values, .. } => self.call(ty, values.split_at(*changes), here),
            // The same arrays, with their sizes or at them.
            Op::Pack(_, _, value) | Op::Open(_, value) => self.of[value].clone(),
            Op::View(_, array, _) => {
                let sources = self.of[array].clone();
                self.define(ty, Kind::Lazy, here, &sources)
            }
            Op::Iota(_) => self.define(ty, Kind::Lazy, here, &[]),
            Op::Index(array, _) if array_count(ty) > 0 => {
                let sources = self.of[array].clone();
                let nodes = self.define(ty, Kind::Lazy, here, &sources);
                let places = plain_arrays(ty);
                if !places.is_empty() {
                    let end = self.next_position();
                    let element = |place| ArrayElement { value: *value, place, node: nodes[place], end };
                    self.elements.extend(places.into_iter().map(element));
                }
                nodes
            }
            Op::Array(element, values) if array_count(element) > 0 => {
                let sources: Vec<usize> = values.iter().flat_map(|value| self.of[value].clone()).collect();
                self.define(ty, Kind::Lazy, here, &sources)
            }
            Op::If(..) | Op::Switch(..) | Op::Block(..) | Op::For { .. } | Op::While { .. } => {
                return self.structured(stmt, here);
            }
            _ => {
                let operation = self.operations.len();
                self.operations.push((start, start));
                self.loops += 1;
                for inner in op.blocks() {
                    self.block(inner, Some((operation, block, true)), &[]);
                }
                self.loops -= 1;
                let end = self.next_position();
                self.operations[operation].1 = end;
                op.for_each_use(&mut |value| self.read(value, end));
                if self.delayed.contains(value) {
                    let sources = self.read_between(start, end);
                    self.define(ty, Kind::Lazy, here, &sources)
                } else {
                    self.define(ty, Kind::Stored, here, &[])
                }
            }
        };
        self.bind(*value, ty, nodes);
    }

    /// The nodes of the result of a call that changes variables with these values, and is given
    /// others.
    fn call(&mut self, ty: &Type, (changed, given): (&[Value], &[Value]), here: Point) -> Vec<usize> {
        let Type::Tuple(types) = ty else { unreachable!("a call that changes variables gives a tuple") };
        let mut results = self.define(&types[0], Kind::Stored, here, &[]);
        let first = results.len();
        for (value, ty) in changed.iter().zip(&types[1..]) {
            let (position, end) = (self.next_position(), self.next_position());
            let at = Point { position, ..here };
            let nodes = self.define(ty, Kind::Stored, at, &[]);
            for (source, target) in self.of[value].clone().into_iter().zip(&nodes) {
                // A lazy array is copied while it is read.
                let is_lazy = self.nodes[source].kind == Kind::Lazy;
                self.nodes[source].uses.push(if is_lazy { end } else { position });
                self.pairs.push(Pair { loops: self.loops, target: *target, source, at });
            }
            results.extend(nodes);
        }
        let end = self.next_position();
        given.iter().for_each(|value| self.read(*value, end));
        // All of them are changed at the same time.
        results[first..].iter().for_each(|node| self.nodes[*node].uses.push(end));
        results
    }

    /// Adds for each array of a value, in order, whether it is that at a path in an element of an
    /// array.
    fn compare_parts(
        &self,
        element: (Value, Value),
        value: Value,
        path: &mut Vec<u32>,
        unchanged: &mut Vec<bool>,
    ) {
        let arrays = array_count(&self.types[&value]);
        if self.is_at(element, value, path) {
            return unchanged.extend(std::iter::repeat_n(true, arrays));
        }
        let Some(Composition::Tuple(parts)) = self.compositions.get(&value) else {
            return unchanged.extend(std::iter::repeat_n(false, arrays));
        };
        for (number, part) in (0..).zip(parts) {
            path.push(number);
            self.compare_parts(element, *part, path, unchanged);
            path.pop();
        }
    }

    /// Returns true for the value at a path in an element of an array.
    fn is_at(&self, element: (Value, Value), value: Value, path: &[u32]) -> bool {
        match (self.compositions.get(&value), path) {
            (Some(Composition::Element(array, at)), []) => (*array, *at) == element,
            (Some(Composition::Part(whole, part)), [path @ .., last]) => {
                part == last && self.is_at(element, *whole, path)
            }
            _ => false,
        }
    }

    /// The nodes from before a position that are read behind it, also by lazy ones from behind it.
    fn read_between(&self, start: u32, end: u32) -> Vec<usize> {
        let is_read = |node: &Node| node.uses.last().is_some_and(|last| (start..=end).contains(last));
        let mut read: Vec<usize> = (0..self.nodes.len()).filter(|node| is_read(&self.nodes[*node])).collect();
        let mut seen: HashSet<usize> = read.iter().copied().collect();
        let mut next = 0;
        while next < read.len() {
            if self.nodes[read[next]].defined.position >= start {
                read.extend(self.sources[read[next]].iter().filter(|source| seen.insert(**source)));
            }
            next += 1;
        }
        read.retain(|node| self.nodes[*node].defined.position < start);
        read
    }

    /// A branch, block or loop, whose result is defined at its end.
    fn structured(&mut self, stmt: &Stmt, here: Point) {
        let Stmt { value, ty, op } = stmt;
        let results = self.define(ty, Kind::Stored, here, &[]);
        self.grow.extend(sized_arrays(ty).into_iter().map(|position| results[position]));
        let operation = self.operations.len();
        self.operations.push((here.position, here.position));
        op.for_each_use(&mut |value| self.read(value, here.position));
        match op {
            Op::For { label, state, body, .. } | Op::While { label, state, body, .. } => {
                self.labels.insert(*label, (results.clone(), operation, here.block));
                let own: Vec<&Block> = op.blocks();
                self.loops += 1;
                for inner in own {
                    // The state is the last parameter.
                    let around = Some((operation, here.block, true));
                    let (param, ty) = inner.params.last().expect("a loop has a state");
                    let point = Point { position: self.position + 1, block: self.blocks.len() };
                    let nodes = self.define(ty, Kind::Stored, point, &[]);
                    // The state lies where the result does.
                    self.states.extend(results.iter().copied().zip(nodes.iter().copied()));
                    self.bind(*param, ty, nodes);
                    let is_body = std::ptr::eq(inner, body);
                    self.block(inner, around, if is_body { &results } else { &[] });
                }
                self.loops -= 1;
                let first = results.iter().copied().zip(self.of[state].clone());
                let loops = self.loops;
                self.pairs.extend(first.map(|(target, source)| Pair { loops, target, source, at: here }));
            }
            Op::Block(label, body) => {
                self.labels.insert(*label, (results.clone(), operation, here.block));
                self.block(body, Some((operation, here.block, false)), &results);
            }
            _ => {
                let mut pieces = match op {
                    Op::Switch(value, _) => self.of[value].clone(),
                    _ => Vec::new(),
                };
                for inner in op.blocks() {
                    if let [(param, ty)] = &inner.params[..] {
                        let rest = pieces.split_off(array_count(ty));
                        self.bind(*param, ty, std::mem::replace(&mut pieces, rest));
                    }
                    self.block(inner, Some((operation, here.block, false)), &results);
                }
            }
        }
        let end = self.next_position();
        self.operations[operation].1 = end;
        for result in &results {
            self.nodes[*result].defined = Point { position: end, block: here.block };
        }
        self.bind(*value, ty, results);
    }

    fn finish(mut self) -> Storage {
        let mut work = MAX_WORK;
        let copied = self.propagate_lazy_uses(&mut work);
        let mut classes = Classes::new(self.nodes.len());
        for (result, state) in std::mem::take(&mut self.states) {
            classes.join(result, state);
        }
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.sort_by_key(|pair| std::cmp::Reverse(pair.loops));
        for pair in &pairs {
            let (a, b) = (classes.members(pair.target), classes.members(pair.source));
            if classes.of[pair.target] != classes.of[pair.source] && self.may_join(a, b, &mut work) {
                classes.join(pair.target, pair.source);
            }
        }
        let mut live_after_copy = HashSet::default();
        for pair in &pairs {
            let members = classes.members(pair.source);
            work = work.saturating_sub(members.len());
            let is_stored = self.nodes[pair.source].kind == Kind::Stored;
            if work == 0 || !is_stored || members.iter().any(|node| self.is_live(*node, pair.at)) {
                live_after_copy.insert(pair.source);
            }
        }
        let grows = self.grow.iter().map(|node| classes.of[*node]).collect();
        let Graph { delayed, of: nodes, sources, .. } = self;
        Storage {
            delayed,
            copied,
            nodes,
            classes: classes.of,
            sources,
            live_after_copy,
            grows,
            unchanged: self.unchanged,
        }
    }

    /// Makes uses of lazy nodes those of their sources; returns the elements that are copied
    /// instead.
    fn propagate_lazy_uses(&mut self, work: &mut usize) -> HashSet<(Value, usize)> {
        let mut connected: HashMap<usize, Vec<Point>> = HashMap::default();
        for pair in &self.pairs {
            connected.entry(pair.source).or_default().push(pair.at);
        }
        // A lazy array is made after its sources.
        let mut elements = std::mem::take(&mut self.elements);
        let mut kept_back = Vec::new();
        for node in (0..self.nodes.len()).rev() {
            let element = elements.pop_if(|element| element.node == node);
            if self.nodes[node].kind != Kind::Lazy {
                continue;
            }
            let sources = self.all_sources(node, work);
            match element {
                Some(element) if self.connections(node, &sources, &connected, work).next().is_some() => {
                    kept_back.push((element, sources));
                }
                _ => self.use_at(&sources, &self.nodes[node].uses.clone(), work),
            }
            if *work == 0 {
                break;
            }
        }
        let mut copied = HashSet::default();
        for (ArrayElement { value, place, node, end }, sources) in kept_back {
            let is_alone = |(array, at): (usize, Point)| !self.is_live(array, at);
            if self.connections(node, &sources, &connected, work).any(is_alone) {
                self.nodes[node].kind = Kind::Stored;
                self.sources[node].clear();
                self.use_at(&sources, &[end], work);
                copied.insert((value, place));
            } else {
                self.use_at(&sources, &self.nodes[node].uses.clone(), work);
            }
        }
        copied
    }

    /// The nodes that reading a node reads, the lazy ones among them too.
    fn all_sources(&self, node: usize, work: &mut usize) -> Vec<usize> {
        let mut seen = HashSet::default();
        let mut found = self.sources[node].clone();
        let mut next = 0;
        found.retain(|source| seen.insert(*source));
        while next < found.len() && *work > 0 {
            let inner = &self.sources[found[next]];
            *work = work.saturating_sub(inner.len());
            found.extend(inner.iter().copied().filter(|source| seen.insert(*source)));
            next += 1;
        }
        found
    }

    /// The sources in memory that a copy connects at a point at which a node of theirs is live.
    fn connections<'g>(
        &'g self,
        node: usize,
        sources: &'g [usize],
        connected: &'g HashMap<usize, Vec<Point>>,
        work: &mut usize,
    ) -> impl Iterator<Item = (usize, Point)> + use<'g> {
        let points = |source: &usize| connected.get(source).map_or(&[][..], Vec::as_slice);
        *work = work.saturating_sub(sources.iter().map(|source| points(source).len()).sum());
        let in_memory = sources.iter().filter(|source| self.nodes[**source].kind == Kind::Stored);
        let all = in_memory.flat_map(move |source| points(source).iter().map(|at| (*source, *at)));
        all.filter(move |(_, at)| self.is_live(node, *at))
    }

    /// Records reads of `nodes` at `positions`.
    fn use_at(&mut self, nodes: &[usize], positions: &[u32], work: &mut usize) {
        *work = work.saturating_sub(nodes.len() * positions.len());
        for node in nodes {
            let own = &mut self.nodes[*node].uses;
            own.extend(positions);
            own.sort_unstable();
            own.dedup();
        }
    }

    fn may_join(&self, a: &[usize], b: &[usize], work: &mut usize) -> bool {
        let is_stored = |nodes: &[usize]| nodes.iter().all(|node| self.nodes[*node].kind == Kind::Stored);
        *work = work.saturating_sub(a.len() * b.len());
        let has = |own: &HashSet<usize>| a.iter().chain(b).any(|node| own.contains(node));
        *work > 0
            && is_stored(a)
            && is_stored(b)
            && !(has(&self.owned) && has(&self.grow))
            && !a.iter().any(|a| b.iter().any(|b| self.interfere(*a, *b)))
    }

    fn interfere(&self, a: usize, b: usize) -> bool {
        let (one, other) = (&self.nodes[a], &self.nodes[b]);
        one.defined.position == other.defined.position
            || self.is_live(a, other.defined)
            || self.is_live(b, one.defined)
    }

    /// Returns true if a node that is defined before a point is read after it.
    fn is_live(&self, node: usize, at: Point) -> bool {
        let node = &self.nodes[node];
        if node.defined.position > at.position {
            return false;
        }
        let used = |after: u32, until: u32| {
            let first = node.uses.partition_point(|used| *used <= after);
            node.uses.get(first).is_some_and(|used| *used <= until)
        };
        let Point { mut position, mut block } = at;
        loop {
            if used(position, self.blocks[block].end) {
                return true;
            }
            let next = match self.blocks[block].jump {
                Some(Jump { operation, block, is_next }) => Some((operation, block, is_next)),
                None => self.blocks[block].around,
            };
            let Some((operation, around, repeated)) = next else { return false };
            let (start, end) = self.operations[operation];
            // The next round reads what is from outside.
            if repeated && node.defined.position < start && used(start, end) {
                return true;
            }
            (position, block) = (end, around);
        }
    }
}

/// A partition of nodes.
struct Classes {
    of: Vec<CongruenceClass>,
    members: Vec<Vec<usize>>,
}

impl Classes {
    /// Each node by itself.
    fn new(count: usize) -> Classes {
        Classes {
            of: (0..count).map(CongruenceClass::new).collect(),
            members: (0..count).map(|node| vec![node]).collect(),
        }
    }

    /// The nodes of the class of one.
    fn members(&self, node: usize) -> &[usize] {
        &self.members[self.of[node].index()]
    }

    /// Makes one class of two.
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of[a].index(), self.of[b].index());
        if a == b {
            return;
        }
        let (kept, gone) = if self.members[a].len() < self.members[b].len() { (b, a) } else { (a, b) };
        for node in std::mem::take(&mut self.members[gone]) {
            self.of[node] = CongruenceClass::new(kept);
            self.members[kept].push(node);
        }
    }
}

/// The number of updates in loops that copy their array, since it is read after them.
pub fn copies_in_loops(function: &Function) -> usize {
    fn of_block(storage: &Storage, block: &Block, in_loop: bool) -> usize {
        let of_stmt = |stmt: &Stmt| {
            let copies = match &stmt.op {
                Op::Update(array, ..) if in_loop => {
                    storage.classes(stmt.value).zip(storage.classes(*array)).filter(|(a, b)| a != b).count()
                }
                _ => 0,
            };
            let in_loop = in_loop || !matches!(stmt.op, Op::If(..) | Op::Switch(..) | Op::Block(..));
            let blocks = stmt.op.blocks();
            copies + blocks.into_iter().map(|inner| of_block(storage, inner, in_loop)).sum::<usize>()
        };
        block.stmts.iter().map(of_stmt).sum()
    }
    of_block(&Storage::of(function, &[]), &function.body, false)
}
