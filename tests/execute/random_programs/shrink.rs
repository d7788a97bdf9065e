//! Reduction of failing programs: statements are dropped, expressions replaced by parts of them or
//! by the plainest value of their type.

use super::tree::Node;
use super::types::Ty;
use std::time::{Duration, Instant};

/// Returns the smallest program found within a time for which `fails` still holds.
pub fn shrunk(items: &[Node], limit: Duration, fails: &mut dyn FnMut(&[Node]) -> bool) -> Vec<Node> {
    let begin = Instant::now();
    let mut best = items.to_vec();
    let mut changed = true;
    while changed && begin.elapsed() < limit {
        changed = false;
        let mut item = best.len();
        while item > 0 {
            item -= 1;
            let mut fewer = best.clone();
            fewer.remove(item);
            if fails(&fewer) {
                best = fewer;
                changed = true;
            }
        }
        for item in 0..best.len() {
            let mut at = 0;
            while at < best[item].all().len() {
                for by in candidates(best[item].all()[at]) {
                    if begin.elapsed() > limit {
                        return best;
                    }
                    let mut other = best.clone();
                    other[item].replace(&mut { at }, &by);
                    if fails(&other) {
                        best = other;
                        changed = true;
                        break;
                    }
                }
                at += 1;
            }
        }
    }
    best
}

/// Returns smaller replacements for a node.
fn candidates(node: &Node) -> Vec<Node> {
    let all = node.all();
    let below = all[1..].iter().filter(|n| n.ty == node.ty).take(12).map(|n| (*n).clone());
    let mut found: Vec<Node> = Vec::new();
    match &node.ty {
        Ty::Statement => found.push(Node::item(String::new())),
        ty if all.len() > 1 => found.extend(ty.plain().map(|text| super::tree::leaf(ty, text))),
        _ => {}
    }
    found.extend(below);
    found
}
