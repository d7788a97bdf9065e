//! Which known name a misspelled one may have meant: one that takes few changes to get. Knows nothing of what
//! the names stand for.

/// Letters of the longest name that is compared with others: a longer one is no slip.
const LONGEST: usize = 60;

/// The known name closest to a misspelled one, if it is close.
pub fn similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let letters: Vec<char> = name.chars().take(LONGEST + 1).collect();
    if letters.len() > LONGEST {
        return None;
    }
    let limit = (letters.len() / 3).max(1);
    let shared = |k: &str| k.chars().zip(&letters).take_while(|(a, b)| a == *b).count();
    let mut other: Vec<char> = Vec::new();
    known
        .filter_map(|k| {
            other.clear();
            other.extend(k.chars().take(LONGEST + limit));
            // Each change makes a word longer or shorter by one letter at most.
            let far = other.is_empty() || other.len().abs_diff(letters.len()) > limit;
            let changes = if far { None } else { distance(&letters, &other, limit) }?;
            (changes < other.len()).then(|| (changes, std::cmp::Reverse(shared(k)), k))
        })
        .min()
        .map(|(_, _, k)| k.to_string())
}

/// Changes that turn one word into the other: a letter more, less, another, or two exchanged; `None` if they are more than `most`.
fn distance(a: &[char], b: &[char], most: usize) -> Option<usize> {
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
        // Two letters exchanged reach back by a row.
        if next.iter().chain(&row).all(|changes| *changes > most) {
            return None;
        }
        before = std::mem::replace(&mut row, next);
    }
    Some(row[b.len()]).filter(|changes| *changes <= most)
}
