//! Suggestions: the known name that a misspelled one may stand for, one that takes few changes to
//! get. Knows nothing of what the names stand for.

/// Letters of the longest name that is compared with others: a longer one is no slip.
const MAX_NAME_CHARS: usize = 60;

/// The known name closest to a misspelled one, if it is close. A change is a letter more, less,
/// another, or two neighbors exchanged.
pub fn similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let letters = name.chars().take(MAX_NAME_CHARS + 1).count();
    if letters > MAX_NAME_CHARS {
        return None;
    }
    let limit = (letters / 3).max(1);
    let shared = |k: &str| k.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    known
        .filter_map(|k| {
            // Each change makes a word longer or shorter by one letter at most.
            let others = k.chars().take(letters + limit + 1).count();
            let near = others.abs_diff(letters) <= limit;
            let changes = near.then(|| strsim::osa_distance(name, k))?;
            (changes <= limit && changes < others).then(|| (changes, std::cmp::Reverse(shared(k)), k))
        })
        .min()
        .map(|(_, _, k)| k.to_string())
}
