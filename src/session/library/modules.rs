//! Modules of the library: texts of `stdlib/modules/` that a program imports by name.
//!
//! Takes names; gives the embedded texts and the names that they export. A statement of a module is
//! parsed and checked when an importer first needs one of its names
//! (`session/library_modules.rs`). The exports of all modules are found by lexing, at the first
//! question about a name that no imported text has.

use felis_base::source::{Source, SourceMap, Span};
use felis_syntax::syntax;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The modules, by the names messages give to their texts.
const MODULES: &[(&str, &str)] = &[
    ("stdlib/modules/random.flx", include_str!("../../../stdlib/modules/random.flx")),
    ("stdlib/modules/linalg.flx", include_str!("../../../stdlib/modules/linalg.flx")),
    ("stdlib/modules/fft.flx", include_str!("../../../stdlib/modules/fft.flx")),
    ("stdlib/modules/numeric.flx", include_str!("../../../stdlib/modules/numeric.flx")),
    ("stdlib/modules/stats.flx", include_str!("../../../stdlib/modules/stats.flx")),
    ("stdlib/modules/regex.flx", include_str!("../../../stdlib/modules/regex.flx")),
    ("stdlib/modules/json.flx", include_str!("../../../stdlib/modules/json.flx")),
    ("stdlib/modules/date.flx", include_str!("../../../stdlib/modules/date.flx")),
    ("stdlib/modules/image.flx", include_str!("../../../stdlib/modules/image.flx")),
    ("stdlib/modules/system.flx", include_str!("../../../stdlib/modules/system.flx")),
    ("stdlib/modules/table.flx", include_str!("../../../stdlib/modules/table.flx")),
    ("stdlib/modules/dict.flx", include_str!("../../../stdlib/modules/dict.flx")),
    ("stdlib/modules/set.flx", include_str!("../../../stdlib/modules/set.flx")),
    ("stdlib/modules/heap.flx", include_str!("../../../stdlib/modules/heap.flx")),
    ("stdlib/modules/graph.flx", include_str!("../../../stdlib/modules/graph.flx")),
];

/// Names that other languages give to functions, each with the word here: of the prelude or of a
/// module. Words that need a sentence are in `check/foreign_names.rs`.
pub const RENAMED: &[(&str, &str)] = &[
    ("Counter", "value_counts"),
    ("CubicSpline", "cubic_spline"),
    ("PriorityQueue", "empty_heap"),
    ("UnionFind", "disjoint_set"),
    ("allclose", "all_close"),
    ("argsort", "order"),
    ("betai", "betainc"),
    ("bfill", "carry_backward"),
    ("bfs", "breadth_first"),
    ("binom", "binomial"),
    ("bisect", "find_root"),
    ("bisect_left", "lower_bound"),
    ("bit_count", "popcount"),
    ("brentq", "find_root"),
    ("cho_factor", "cholesky"),
    ("choose", "binomial"),
    ("circshift", "rotate"),
    ("clip", "clamp"),
    ("comb", "binomial"),
    ("conv", "convolve"),
    ("corrcoef", "corr"),
    ("count_ones", "popcount"),
    ("date_range", "dates_between"),
    ("defaultdict", "empty_dict"),
    ("depth_first", "depth_first_order"),
    ("deque", "queue_of"),
    ("dfs", "depth_first_order"),
    ("dijkstra", "shortest"),
    ("drop_duplicates", "unique"),
    ("dropna", "present"),
    ("dumps", "json_text"),
    ("eachcol", "cols"),
    ("eachrow", "rows"),
    ("eigh_values", "eigh"),
    ("eigvals", "eig"),
    ("endswith", "ends_with"),
    ("environ", "env"),
    ("ffill", "carry_forward"),
    ("fftconvolve", "convolve"),
    ("fillna", "or_else"),
    ("fmin", "minimize"),
    ("fminsearch", "minimize"),
    ("from_json_string", "parse_json"),
    ("fzero", "find_root"),
    ("getenv", "env"),
    ("groupby", "group_by"),
    ("gsub", "replace_all"),
    ("heapify", "heap_of"),
    ("heappop", "take_least"),
    ("heappush", "push"),
    ("interp1d", "interp"),
    ("invmod", "inverse_mod"),
    ("is_alpha", "is_letter"),
    ("isalpha", "is_letter"),
    ("isapprox", "all_close"),
    ("isclose", "all_close"),
    ("isdigit", "is_digit"),
    ("isnumeric", "is_digit"),
    ("kruskal", "spanning_tree"),
    ("leading_zeros", "clz"),
    ("ljust", "pad_right"),
    ("loads", "parse_json"),
    ("lu_factor", "lu"),
    ("minimize_scalar", "minimize"),
    ("minimum_spanning_tree", "spanning_tree"),
    ("mod_inverse", "inverse_mod"),
    ("modinv", "inverse_mod"),
    ("modpow", "pow_mod"),
    ("mst", "spanning_tree"),
    ("nchoosek", "binomial"),
    ("ndtr", "normal_cdf"),
    ("newton", "find_root"),
    ("nlargest", "top_k"),
    ("nsmallest", "top_k"),
    ("odeint", "ode45"),
    ("percentile", "quantile"),
    ("percentiles", "quantile"),
    ("pivot_table", "pivot"),
    ("pnorm", "normal_cdf"),
    ("polyroots", "roots"),
    ("polyval", "horner"),
    ("powmod", "pow_mod"),
    ("priority_queue", "empty_heap"),
    ("prod", "product"),
    ("quantiles", "quantile"),
    ("read_json", "parse_json"),
    ("replace_text", "replace_all"),
    ("rjust", "pad_left"),
    ("rk4", "ode45"),
    ("roll", "rotate"),
    ("root_scalar", "find_root"),
    ("searchsorted", "lower_bound"),
    ("shortest_path", "shortest"),
    ("solve_ivp", "ode45"),
    ("solve_triangular", "solve_lower"),
    ("sort_values", "sort_on"),
    ("split_whitespace", "words"),
    ("splitlines", "lines"),
    ("startswith", "starts_with"),
    ("stdevp", "deviation"),
    ("strftime", "format_date"),
    ("strptime", "parse_date"),
    ("to_datetime", "parse_datetime"),
    ("topological_sort", "topological_order"),
    ("toposort", "topological_order"),
    ("topsort", "topological_order"),
    ("trailing_zeros", "ctz"),
    ("trapezoid", "trapz"),
    ("tril", "lower_part"),
    ("ttest", "ttest_ind"),
    ("union_find", "disjoint_set"),
    ("where", "select"),
    ("zfill", "pad_left"),
];

/// Returns the name that the library has for a function that other languages call so.
pub fn renamed(name: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(other, _)| *other == name).map(|(_, word)| *word)
}

/// Returns the name of a module, of that of its text.
pub fn module_name(file: &str) -> Option<&str> {
    file.rsplit('/').next()?.strip_suffix(".flx")
}

/// Returns the names of the modules.
pub fn names() -> impl Iterator<Item = &'static str> {
    MODULES.iter().filter_map(|(file, _)| module_name(file))
}

/// Returns the text of a module with its name in messages.
pub fn text(name: &str) -> Option<(&'static str, &'static str)> {
    MODULES.iter().find(|(file, _)| module_name(file) == Some(name)).copied()
}

/// The prefix of the id of a module of the library, which no path of a file has.
pub const ID_PREFIX: &str = "library:";

/// Returns all texts with their names in messages.
pub fn texts() -> &'static [(&'static str, &'static str)] {
    MODULES
}

/// Returns true for the text of a module, with its name in messages.
pub fn is_text(name: &str, text: &str) -> bool {
    MODULES.iter().any(|(file, of_module)| *file == name && *of_module == text)
}

/// Returns the modules that export each name.
fn exports() -> &'static BTreeMap<String, Vec<&'static str>> {
    static EXPORTS: OnceLock<BTreeMap<String, Vec<&'static str>>> = OnceLock::new();
    EXPORTS.get_or_init(|| {
        let mut exports: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
        let mut sources = SourceMap::new();
        for (file, text) in MODULES {
            let source = sources.add(*file, *text);
            for chunk in syntax::chunks(&source).iter().filter(|chunk| chunk.exported) {
                for name in &chunk.defines {
                    let modules = exports.entry(name.to_string()).or_default();
                    modules.extend(module_name(file).filter(|module| modules.last() != Some(module)));
                }
            }
        }
        exports
    })
}

/// Returns the modules that export a name.
pub fn exporting(name: &str) -> &'static [&'static str] {
    exports().get(name).map_or(&[], Vec::as_slice)
}

/// Returns the names that a module exports, sorted.
pub fn exported_names(module: &str) -> Vec<String> {
    let of_module = exports().iter().filter(|(_, modules)| modules.contains(&module));
    of_module.map(|(name, _)| name.clone()).collect()
}

/// Returns the edit that adds an import to a text: behind its imports, or before its first
/// statement and the comment of that.
pub fn insertion(source: &Source, import: &str) -> (Span, String) {
    let chunks = syntax::chunks(source);
    let end = if source.text.trim_end().contains('\n') { "\n" } else { " " };
    let (at, text) = match chunks.iter().rev().find(|chunk| &source.text[chunk.word_at.range()] == "import") {
        Some(last) => (last.span.range().end, format!("{end}{import}")),
        None => {
            let first = chunks.first().map(|chunk| chunk.range_with_comment(&source.text).start);
            (first.unwrap_or(0), format!("{import}{end}"))
        }
    };
    (Span { source: source.id, start: at as u32, end: at as u32 }, text)
}
