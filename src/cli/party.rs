//! `felis party new` and `felis run --as`: parties in processes of their own.
//!
//! Takes the name of a party and the file `parties.toml`; connects the session with the processes
//! of the other parties before the program runs. All of them compare the text of the program and of
//! its modules, the version, the arguments and the certificates, never data.

use super::arguments::PartyAction;
use super::data::DataFiles;
use super::output::{display_path, print_error};
use super::{Shell, exit};
use felis_parties::{Config, Limits, Options};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The environment variable that limits how many seconds the parties wait for each other.
const WAIT_VARIABLE: &str = "FELIS_PARTY_WAIT";
/// The environment variable that limits how many seconds a party may be silent.
const SILENCE_VARIABLE: &str = "FELIS_PARTY_SILENCE";

impl Shell {
    /// Carries out a command about parties; returns the exit code.
    pub(super) fn run_party_command(&mut self, action: &PartyAction) -> u8 {
        let PartyAction::New { name, address, folder } = action;
        match felis_parties::create_certificate(folder, name, address) {
            Ok(created) => {
                self.output.write(&format!(
                    "made {} and {}; keep the second to yourself\n\nIn `parties.toml` of {name}:\n\n{}\n\
                     In that of the others, with the first file beside it:\n\n{}",
                    display_path(&created.certificate),
                    display_path(&created.key),
                    created.own_lines,
                    created.others_lines
                ));
                exit::OK
            }
            Err(error) => {
                print_error(&format!("felis: {error}"));
                exit::USAGE
            }
        }
    }

    /// Runs a file as one of the parties of the program; returns the exit code.
    pub(super) fn run_as_party(&mut self, me: &str, parties: &Path, file: &Path, args: &[OsString]) -> u8 {
        if let Some(code) = self.connect_as(me, parties, file, args) {
            return code;
        }
        self.run_file(file, args)
    }

    /// Connects with the other parties. Returns the exit code if that fails.
    fn connect_as(&mut self, me: &str, parties: &Path, file: &Path, args: &[OsString]) -> Option<u8> {
        let refused = |why: String| {
            print_error(&format!("felis: {why}"));
            Some(exit::USAGE)
        };
        let text = match super::input::read(file) {
            Ok(source) => source.text,
            Err(refusal) => return Some(self.report_input_error(&refusal)),
        };
        let names = self.session.declared_parties(&text);
        if names.is_empty() {
            return refused(format!(
                "{} declares no parties: `party Party = alice | bob;`",
                display_path(file)
            ));
        }
        let config = match Config::read(parties) {
            Ok(config) => config,
            Err(error) => return refused(error.to_string()),
        };
        if let Some(folder) = config.entry(me).ok().and_then(|entry| entry.folder.clone()) {
            let files = DataFiles::new(self.session.interrupt_flag()).inside(folder.clone());
            self.session.set_files(Arc::new(files));
            self.session.set_system(Arc::new(super::system::Machine::new().inside(folder)));
        }
        self.session.set_loader(Box::new(super::FileLoader::relative_to(file)));
        let texts = self.session.program_texts(&display_path(file), &text);
        let options = Options {
            config,
            parties: names,
            me: me.to_string(),
            build: env!("CARGO_PKG_VERSION").to_string(),
            program: felis_parties::hash(texts.iter().map(String::as_bytes)),
            args: args.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            limits: limits(),
        };
        let interrupt = self.session.interrupt_flag();
        match felis_parties::connect(&options, &interrupt) {
            Ok(network) => {
                self.session.join_parties(network);
                None
            }
            Err(error) => refused(error.to_string()),
        }
    }
}

/// Returns the limits of time, as the environment sets them.
fn limits() -> Limits {
    let seconds = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok().map(Duration::from_secs);
    let default = Limits::default();
    Limits {
        connect: seconds(WAIT_VARIABLE).unwrap_or(default.connect),
        silence: seconds(SILENCE_VARIABLE).unwrap_or(default.silence),
        ..default
    }
}
