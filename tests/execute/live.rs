//! The library beside SciPy, NumPy, pandas and mpmath on data of a fresh seed: `tests/stdlib/live/live.py` draws them.
//!
//! The Python is that of `FELIS_LIVE_PYTHON`, else `python3`. Where it lacks one of the packages, the comparison is skipped with
//! a printed line, unless `FELIS_LIVE` is `required`, as `.ci/run` sets it.

use std::path::Path;
use std::process::Command;

fn compared(parts: &str) {
    let python = std::env::var("FELIS_LIVE_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let packages = ["-c", "import numpy, scipy, pandas, mpmath"];
    if !Command::new(&python).args(packages).output().is_ok_and(|run| run.status.success()) {
        let required = std::env::var_os("FELIS_LIVE").is_some_and(|v| v == "required");
        assert!(
            !required,
            "the live comparison is required, and `{python}` lacks NumPy, SciPy, pandas or mpmath"
        );
        return println!("skipped: there is no python3 with NumPy, SciPy, pandas and mpmath");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stdlib/live/live.py");
    let run = Command::new(&python)
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_felis"))
        .arg(format!("--only={parts}"))
        .output()
        .expect("Python starts");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    println!("{said}");
}

#[test]
fn special_functions_are_those_of_mpmath() {
    compared("special");
}

#[test]
fn fourier_transforms_are_those_of_longer_numbers() {
    compared("fourier");
}

#[test]
fn linear_algebra_has_small_residuals_and_the_values_of_lapack() {
    compared("linear");
}

#[test]
fn statistics_and_tables_are_those_of_scipy_and_pandas() {
    compared("statistics,tables");
}
