//! The arguments of the command `felis`.

use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// The statically typed array language in which shapes are types, and types are numbers.
///
/// Without arguments, a session: statements and expressions, one after the other.
#[derive(Debug, Parser)]
#[command(name = "felis", version = VERSION, disable_help_subcommand = true, args_conflicts_with_subcommands = true, after_help = EXIT_CODES)]
pub struct Arguments {
    /// The command, if it is not running a program.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Evaluate this and print the value.
    #[arg(short, value_name = "EXPRESSION", allow_hyphen_values = true, conflicts_with = "file")]
    pub evaluate: Option<String>,
    /// The program to run, `-` for standard input.
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The words that the program finds in `args`.
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub rest: Vec<OsString>,
}

impl Arguments {
    /// Reads the arguments of this process. All words after a program are the program's, `--help`
    /// too.
    pub fn read() -> Arguments {
        let mut words: Vec<OsString> = std::env::args_os().collect();
        if let Some(program) = program_position(&words) {
            words.insert(program + 1, "--".into());
        }
        Arguments::parse_from(words)
    }
}

/// Returns the command that is similar to a word.
pub fn similar_command(word: &str) -> Option<String> {
    let command = Arguments::command();
    let names: Vec<&str> = command.get_subcommands().map(|known| known.get_name()).collect();
    felis::session::similar(word, names.into_iter())
}

/// Returns the position of the program to be run among these words.
fn program_position(words: &[OsString]) -> Option<usize> {
    let option = |word: &OsString| word.to_string_lossy().starts_with('-') && word != "-";
    match words.get(1)? {
        run if run == "run" => {
            let takes_a_word =
                |word: &OsString| ["--show", "--as", "--with"].iter().any(|known| word == known);
            (2..words.len()).find(|at| !option(&words[*at]) && !takes_a_word(&words[*at - 1]))
        }
        first if option(first) || first == "help" => None,
        first => {
            let command = Arguments::command();
            let known = command.get_subcommands().any(|known| first == known.get_name());
            if known { None } else { Some(1) }
        }
    }
}

/// The version with the commit and the target that it was built from and for.
const VERSION: &str = env!("FELIS_VERSION");

/// The questions and checks.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check programs without running them
    Check {
        /// Check again whenever a file changes, until Ctrl-C
        #[arg(long)]
        watch: bool,
        /// Write messages to standard output as JSON, one to a line
        #[arg(long)]
        json: bool,
        /// The programs, `-` for standard input, or folders with programs; without any, all below
        /// the working directory
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Begin a program: a folder with a first one, its examples and its tests
    New {
        /// The folder, which is made
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Run a program; its words after FILE are the arguments of its `main`
    Run {
        /// Write messages as JSON, one to a line
        #[arg(long)]
        json: bool,
        /// Then print what its parts became: core, array, loops or clif (with the machine code)
        #[arg(long, value_name = "STAGE", value_parser = ["core", "array", "loops", "clif"])]
        show: Option<String>,
        /// Then say what it took: time, kernels, memory
        #[arg(long)]
        stats: bool,
        /// Run it as this party, with the others in processes of their own
        #[arg(long = "as", value_name = "PARTY", requires = "parties")]
        party: Option<String>,
        /// Addresses and certificates of the parties: see `felis party new`
        #[arg(long = "with", value_name = "FILE", requires = "party")]
        parties: Option<PathBuf>,
        /// The program, `-` for standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Arguments of its `main`, and its `args`
        #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<OsString>,
    },
    /// Make certificates for parties that run programs together
    Party {
        /// The action
        #[command(subcommand)]
        action: PartyAction,
    },
    /// Run the examples in doc comments and the `test` blocks of programs
    Test {
        /// Only those with this text in their name, which for an example is its expression; may be
        /// repeated
        #[arg(long, value_name = "TEXT")]
        only: Vec<String>,
        /// The longest time for each, and for the program before them; more is a failure
        #[arg(long, value_name = "SECONDS", value_parser = super::test::parse_limit)]
        limit: Option<std::time::Duration>,
        /// Tell only of those that fail, and how many there were
        #[arg(long, short, conflicts_with = "json")]
        quiet: bool,
        /// Write how each went as JSON, one to a line
        #[arg(long)]
        json: bool,
        /// The programs, `-` for standard input, or folders with programs; without any, all below
        /// the working directory
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Time the `bench` blocks of programs
    Bench {
        /// Seconds for each block
        #[arg(long, default_value = "1", value_parser = super::test::parse_seconds)]
        seconds: std::time::Duration,
        /// Write what was measured as JSON, one block to a line
        #[arg(long)]
        json: bool,
        /// The programs, `-` for standard input, or folders with programs; without any, all below
        /// the working directory
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Write what doc comments say of a program, or of the library, as HTML; or the book
    Doc {
        /// The program, `-` for standard input
        #[arg(value_name = "FILE", required_unless_present_any = ["std", "site"], conflicts_with_all = ["std", "site"])]
        file: Option<PathBuf>,
        /// The standard library
        #[arg(long)]
        std: bool,
        /// The book, as a site with a search and the pictures of its programs
        #[arg(long, conflicts_with_all = ["std", "markdown"])]
        site: bool,
        /// Write Markdown
        #[arg(long)]
        markdown: bool,
        /// The folder; it is made if it is not there
        #[arg(short, long = "output", value_name = "DIR")]
        output: PathBuf,
    },
    /// Say what a code such as E0302 means, and how to mend what it reports; without one, list all
    Explain {
        /// The code
        #[arg(value_name = "CODE")]
        code: Option<String>,
    },
    /// Show a page of the book, what a name or a code means, or where the book says something
    Help {
        /// A command, the name of a page, a name, a code, or words; without one, this list
        #[arg(value_name = "TOPIC", allow_hyphen_values = true)]
        topic: Vec<String>,
    },
    /// Write the manual page of this command, for `man`
    Man,
    /// Write what completes words of this command in a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Lay programs out: blanks and line breaks change, nothing else
    Fmt {
        /// Change no file, name those that would change; exit code 1 if there are any
        #[arg(long)]
        check: bool,
        /// First write what version 0.1 grouped differently as it is grouped today
        #[arg(long = "from-0.1")]
        from_v01: bool,
        /// The programs, folders with programs, or `-` for standard input, whose result goes to
        /// standard output
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Say how two types are related: equal, natural, isomorphic, different or unknown
    Iso {
        /// Also say why, with the laws used, step by step
        #[arg(long, conflicts_with = "batch")]
        explain: bool,
        /// Read lines `left<TAB>right`, write a verdict for each
        #[arg(long, conflicts_with_all = ["left", "right"])]
        batch: bool,
        /// A type; unknown upper-case names are index types
        #[arg(required_unless_present = "batch", allow_hyphen_values = true)]
        left: Option<String>,
        /// Another
        #[arg(required_unless_present = "batch", allow_hyphen_values = true)]
        right: Option<String>,
    },
    /// Print the type of an expression
    Type {
        /// The expression
        #[arg(allow_hyphen_values = true)]
        expression: String,
    },
    /// Print how values of one type become values of another: same, implicit, explicit or none
    Convert {
        /// The type they have
        #[arg(value_name = "FROM", allow_hyphen_values = true)]
        from: String,
        /// The type they should have
        #[arg(value_name = "TO", allow_hyphen_values = true)]
        to: String,
    },
    /// Say whether a function or operator takes values of these types, and what it does then
    Can {
        /// A function, method or operator; `:`, `:>`, `:>>` for becoming the last type
        #[arg(value_name = "NAME", allow_hyphen_values = true)]
        name: String,
        /// The types of its arguments
        #[arg(value_name = "TYPE")]
        types: Vec<String>,
        /// Declarations to know: a program, which is run first
        #[arg(long, value_name = "FILE")]
        with: Option<PathBuf>,
    },
    /// Try the laws of classes at random values of the instances in a program
    Laws {
        /// The program, `-` for standard input; without one, the library
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// Choices of values for each law
        #[arg(long, default_value_t = 100)]
        cases: u32,
        /// The seed of the values drawn
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Serve an editor: the Language Server Protocol on standard input and output
    Lsp {
        /// Accepted because many editors add it; there is no other transport
        #[arg(long, hide = true)]
        stdio: bool,
    },
    /// Print the number of values of a compact linear type
    Size {
        /// The type; unknown upper-case names are index types
        #[arg(value_name = "TYPE", allow_hyphen_values = true)]
        ty: String,
    },
}

/// The commands about parties.
#[derive(Debug, Subcommand)]
pub enum PartyAction {
    /// Make the certificate and the key of a party, and print its lines of `parties.toml`
    New {
        /// The name of the party, as programs declare it
        #[arg(value_name = "NAME")]
        name: String,
        /// The address at which the others reach it
        #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:4000")]
        address: String,
        /// The folder of the two files
        #[arg(long, value_name = "DIR", default_value = ".")]
        folder: PathBuf,
    },
}

const EXIT_CODES: &str = "`felis help TOPIC` shows a page of the book or what it says of words, \
                          `felis help topics` lists the pages.\n\n\
                          Exit codes: 0 fine, 1 error while running, 2 wrong usage or unreadable file, \
                          3 error in the text or its types, 130 interrupted.";
