//! Which known name a misspelt one may have meant: one that takes few changes to get. Knows nothing of what
//! the names stand for.

/// The known name closest to a misspelt one, if it is close.
pub fn similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let limit = (name.chars().count() / 3).max(1);
    let shared = |k: &str| k.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    known
        .filter(|k| !k.is_empty())
        .map(|k| (distance(name, k), std::cmp::Reverse(shared(k)), k))
        .filter(|(d, _, k)| *d <= limit && *d < k.chars().count())
        .min()
        .map(|(_, _, k)| k.to_string())
}

/// Changes that turn one word into the other: a letter more, less, another, or two exchanged.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut next = vec![i + 1];
        for j in 0..b.len() {
            let replaced = row[j] + usize::from(a[i] != b[j]);
            let mut least = replaced.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}
