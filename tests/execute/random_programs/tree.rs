//! Texts as trees: a node is text with nodes between, and knows its type, so that it may be
//! replaced by another node of this type. Knows no syntax.

use super::types::Ty;

/// A piece of a program.
#[derive(Clone)]
pub struct Node {
    /// The type.
    pub(super) ty: Ty,
    pub(super) parts: Vec<Part>,
}

/// A piece of a node.
#[derive(Clone)]
pub(super) enum Part {
    Text(String),
    Node(Node),
}

impl Node {
    pub(super) fn item(text: String) -> Node {
        Node { ty: Ty::Statement, parts: vec![Part::Text(text)] }
    }

    /// Returns this node and all below, in a fixed order.
    pub(super) fn all(&self) -> Vec<&Node> {
        let mut found = vec![self];
        for part in &self.parts {
            if let Part::Node(node) = part {
                found.extend(node.all());
            }
        }
        found
    }

    /// Replaces the node at a position of that order.
    pub(super) fn replace(&mut self, at: &mut usize, by: &Node) -> bool {
        if *at == 0 {
            *self = by.clone();
            return true;
        }
        *at -= 1;
        self.parts.iter_mut().any(|part| match part {
            Part::Node(node) => node.replace(at, by),
            Part::Text(_) => false,
        })
    }

    fn write(&self, out: &mut String) {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Node(node) => node.write(out),
            }
        }
    }
}

/// Makes a node whose children replace the `{}` of the pattern.
pub(super) fn node(ty: Ty, pattern: &str, children: Vec<Node>) -> Node {
    let mut parts = Vec::new();
    let mut texts = pattern.split("{}");
    parts.push(Part::Text(texts.next().unwrap_or_default().to_string()));
    let mut children = children.into_iter();
    for text in texts {
        parts.push(Part::Node(children.next().expect("a child for each `{}`")));
        parts.push(Part::Text(text.to_string()));
    }
    assert!(children.next().is_none(), "a `{{}}` for each child: {pattern}");
    Node { ty, parts }
}

/// Makes a node without children.
pub(super) fn leaf(ty: &Ty, text: impl Into<String>) -> Node {
    Node { ty: ty.clone(), parts: vec![Part::Text(text.into())] }
}

/// Returns a program as text.
pub fn text(items: &[Node]) -> String {
    let mut out = String::new();
    items.iter().for_each(|item| item.write(&mut out));
    out
}
