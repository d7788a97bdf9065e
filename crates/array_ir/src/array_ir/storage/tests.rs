//! Random walks through random programs, in which memory holds versions instead of elements: what
//! is read is what was written for the array that is read.

use super::super::random;
use super::super::{Block, End, Label, Op, Stmt, Value, print};
use super::{CongruenceClass, Storage};
use crate::hash::HashMap;
use fastrand::Rng;

/// The number of a content of memory.
type Version = u64;

/// The end of a block.
enum Left {
    Yield(Value),
    Next(Label, Value),
    Exit(Label, Value),
}

struct Walk<'f> {
    storage: &'f Storage,
    random: Rng,
    /// The contents of the memory of each class.
    memory: HashMap<CongruenceClass, Version>,
    /// The contents that each node has had since its definition.
    bound: HashMap<usize, Version>,
    /// The bodies of maps that are computed later.
    bodies: HashMap<usize, &'f Block>,
    next: Version,
    reads: usize,
    shared: usize,
}

impl<'f> Walk<'f> {
    fn nodes(&self, value: Value) -> Vec<usize> {
        self.storage.nodes[&value].clone()
    }

    fn class(&self, node: usize) -> CongruenceClass {
        self.storage.classes[node]
    }

    fn fresh(&mut self) -> Version {
        self.next += 1;
        self.next
    }

    fn define(&mut self, node: usize) {
        let version = self.fresh();
        let class = self.class(node);
        self.bound.insert(node, version);
        self.memory.insert(class, version);
    }

    fn read(&mut self, node: usize) {
        if let Some(body) = self.bodies.get(&node).copied() {
            let left = self.block(body);
            self.read_end(&left);
        }
        for source in self.storage.sources[node].clone() {
            self.read(source);
        }
        if let Some(version) = self.bound.get(&node) {
            assert_eq!(self.memory[&self.class(node)], *version, "node {node} has been overwritten");
            self.reads += 1;
        }
    }

    fn read_value(&mut self, value: Value) {
        self.nodes(value).into_iter().for_each(|node| self.read(node));
    }

    fn read_end(&mut self, left: &Left) {
        let (Left::Yield(value) | Left::Next(_, value) | Left::Exit(_, value)) = left;
        self.read_value(*value);
    }

    /// Copies what is not in its place; the memory of sources that die may be given away.
    fn move_to(&mut self, targets: &[usize], value: Value) {
        let sources = self.nodes(value);
        sources.iter().for_each(|source| self.read(*source));
        let is_there = |walk: &Self, (target, source): (usize, usize)| {
            walk.bound.contains_key(&source) && walk.class(target) == walk.class(source)
        };
        let pairs: Vec<(usize, usize)> = targets.iter().copied().zip(sources.iter().copied()).collect();
        let there: Vec<bool> = pairs.iter().map(|pair| is_there(self, *pair)).collect();
        for ((target, source), _) in pairs.iter().zip(&there).filter(|(_, there)| **there) {
            self.bound.insert(*target, self.bound[source]);
            self.shared += 1;
        }
        for (position, pair) in pairs.iter().copied().enumerate() {
            if there[position] {
                continue;
            }
            self.define(pair.0);
            let class = self.class(pair.1);
            let read_elsewhere =
                (0..sources.len()).any(|other| other != position && self.storage.reads(value, other, class));
            // What lies where another one goes is exchanged or saved before.
            let is_target = targets.iter().any(|target| self.class(*target) == class);
            if self.bound.contains_key(&pair.1)
                && self.storage.is_last_use(value, position)
                && !read_elsewhere
                && !is_target
            {
                let garbage = self.fresh();
                self.memory.insert(class, garbage);
            }
        }
        for (target, _) in pairs {
            assert_eq!(self.memory[&self.class(target)], self.bound[&target], "two states in one memory");
        }
    }

    fn block(&mut self, block: &'f Block) -> Left {
        for stmt in &block.stmts {
            if let Some(left) = self.stmt(stmt) {
                return left;
            }
        }
        match block.end {
            End::Yield(value) => Left::Yield(value),
            End::Next(label, value) => Left::Next(label, value),
            End::Exit(label, value) => Left::Exit(label, value),
        }
    }

    fn stmt(&mut self, stmt: &'f Stmt) -> Option<Left> {
        let nodes = self.nodes(stmt.value);
        match &stmt.op {
            Op::Tuple(_) | Op::Part(..) | Op::View(..) | Op::Case(..) | Op::Pack(..) | Op::Open(..) => {}
            Op::Index(..) | Op::Array(..) if nodes.iter().any(|node| self.is_lazy(*node)) => {}
            Op::Update(array, ..) | Op::Sort(array) => {
                self.read_value(*array);
                if let Op::Update(.., element) = &stmt.op {
                    self.read_value(*element);
                }
                self.shared += usize::from(self.class(nodes[0]) == self.class(self.nodes(*array)[0]));
                self.define(nodes[0]);
            }
            Op::Call { changes: changes @ 1.., values, .. } => self.call(&nodes, values.split_at(*changes)),
            Op::If(..) | Op::Switch(..) => {
                let blocks = stmt.op.blocks();
                let chosen = blocks[self.random.usize(..blocks.len())];
                match self.block(chosen) {
                    Left::Yield(value) => self.move_to(&nodes, value),
                    left => return Some(left),
                }
            }
            Op::Block(label, body) => match self.block(body) {
                Left::Yield(value) => self.move_to(&nodes, value),
                Left::Exit(own, value) if own == *label => self.move_to(&nodes, value),
                left => return Some(left),
            },
            Op::For { label, state, body, .. } => return self.rounds(&nodes, *label, *state, None, body),
            Op::While { label, state, condition, body } => {
                return self.rounds(&nodes, *label, *state, Some(condition), body);
            }
            Op::Map(body) if self.storage.is_delayed(stmt.value) => drop(self.bodies.insert(nodes[0], body)),
            Op::Concat(..) if self.storage.is_delayed(stmt.value) => {}
            op => {
                // The result is written while the operation reads.
                nodes.iter().for_each(|node| self.define(*node));
                for block in op.blocks() {
                    for _ in 0..self.random.usize(..3) {
                        let left = self.define_params_and_run(block);
                        self.read_end(&left);
                    }
                }
                let mut used = Vec::new();
                op.for_each_use(&mut |value| used.push(value));
                used.into_iter().for_each(|value| self.read_value(value));
            }
        }
        None
    }

    /// A call that changes variables with these values, and is given others.
    fn call(&mut self, results: &[usize], (changed, given): (&[Value], &[Value])) {
        let arrays: usize = changed.iter().map(|value| self.nodes(*value).len()).sum();
        let (own, targets) = results.split_at(results.len() - arrays);
        own.iter().for_each(|node| self.define(*node));
        let sources: Vec<usize> = changed.iter().flat_map(|value| self.nodes(*value)).collect();
        for (source, target) in sources.into_iter().zip(targets) {
            let stays = self.bound.contains_key(&source) && self.class(source) == self.class(*target);
            if self.is_lazy(source) || self.bodies.contains_key(&source) {
                self.define(*target);
                self.read(source);
            } else {
                self.read(source);
                self.define(*target);
            }
            self.shared += usize::from(stays);
        }
        given.iter().for_each(|value| self.read_value(*value));
        results.iter().for_each(|node| self.read(*node));
        targets.iter().for_each(|node| self.define(*node));
    }

    fn define_params_and_run(&mut self, block: &'f Block) -> Left {
        for (param, _) in &block.params {
            self.nodes(*param).into_iter().for_each(|node| self.define(node));
        }
        self.block(block)
    }

    fn is_lazy(&self, node: usize) -> bool {
        !self.storage.sources[node].is_empty()
    }

    fn rounds(
        &mut self,
        results: &[usize],
        label: Label,
        state: Value,
        condition: Option<&'f Block>,
        body: &'f Block,
    ) -> Option<Left> {
        self.move_to(results, state);
        let now = |walk: &mut Self, block: &Block| {
            let (param, _) = block.params.last().expect("a loop has a state");
            for (node, result) in walk.nodes(*param).into_iter().zip(results) {
                let version = walk.bound[result];
                walk.bound.insert(node, version);
            }
        };
        for _ in 0..self.random.usize(..4) {
            if let Some(condition) = condition {
                now(self, condition);
                let left = self.block(condition);
                self.read_end(&left);
            }
            now(self, body);
            match self.block(body) {
                Left::Yield(value) => self.move_to(results, value),
                Left::Next(own, value) if own == label => self.move_to(results, value),
                Left::Exit(own, value) if own == label => {
                    self.move_to(results, value);
                    return None;
                }
                left => return Some(left),
            }
        }
        None
    }
}

#[test]
fn what_is_read_is_what_was_written() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = number("FELIS_SEED").unwrap_or(0);
    let (mut reads, mut shared) = (0, 0);
    for seed in first..first + number("FELIS_RANDOM").unwrap_or(600) {
        let program = random::case(seed).program;
        println!("seed {seed}\n{}", print::program(&program));
        for function in &program.functions {
            let params: Vec<Value> = function.body.params.iter().map(|(value, _)| *value).collect();
            for walk in 0..8 {
                // In every other walk the function may change its parameters.
                let owned = if walk % 2 == 0 { &[] } else { &params[..] };
                let storage = Storage::of(function, owned);
                let mut walk = Walk {
                    storage: &storage,
                    random: Rng::with_seed(seed * 8 + walk),
                    memory: HashMap::default(),
                    bound: HashMap::default(),
                    bodies: HashMap::default(),
                    next: 0,
                    reads: 0,
                    shared: 0,
                };
                let changed = function.body.params.iter().take(function.changes).map(|(value, _)| value);
                for param in owned.iter().chain(changed) {
                    walk.nodes(*param).into_iter().for_each(|node| walk.define(node));
                }
                let left = walk.block(&function.body);
                walk.read_end(&left);
                reads += walk.reads;
                shared += walk.shared;
            }
        }
    }
    println!("{reads} reads, {shared} copies left out");
    assert!(reads > 10_000 && shared > 1_000, "{reads} reads, {shared} copies left out");
}
