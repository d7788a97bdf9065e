//! Parties as processes of their own, over TLS on this machine: what each of them prints, what ends
//! them, and what the others are told of it.
//!
//! The limits of time are generous: they only keep a failing test from waiting for ever.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const NAMES: [&str; 3] = ["alice", "bob", "carol"];
/// The time after which a party that should have ended hangs.
const TIMEOUT: Duration = Duration::from_secs(120);
const DECLARED: &str = "party Party = alice | bob | carol;\n";

/// Three parties with a folder of certificates, a configuration and a folder of files for each.
struct PartyFixture {
    names: [String; 3],
    folder: PathBuf,
}

/// The bytes that somebody between the parties has seen.
type Heard = Arc<Mutex<Vec<u8>>>;

/// Passes on all bytes between an address and another one, which is returned: there the party has
/// to listen.
fn listen_between(address: &str, heard: &Heard) -> String {
    let inside = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address");
    let (outside, heard) = (TcpListener::bind(address).expect("the address"), heard.clone());
    std::thread::spawn(move || {
        for stream in outside.incoming().flatten() {
            let Ok(further) = TcpStream::connect(inside) else { continue };
            let halves = |a: &TcpStream, b: &TcpStream| {
                (a.try_clone().expect("a socket"), b.try_clone().expect("a socket"))
            };
            for (mut from, mut to) in [halves(&stream, &further), halves(&further, &stream)] {
                let heard = heard.clone();
                std::thread::spawn(move || {
                    let mut bytes = [0; 4096];
                    while let Ok(count @ 1..) = from.read(&mut bytes) {
                        heard.lock().expect("a lock").extend(&bytes[..count]);
                        if to.write_all(&bytes[..count]).is_err() {
                            break;
                        }
                    }
                    let _ = to.shutdown(Shutdown::Write);
                });
            }
        }
    });
    inside.to_string()
}

/// The output of a party, and its exit code.
struct Ended {
    out: String,
    err: String,
    code: i32,
}

fn felis(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_felis"));
    command.args(arguments).env_remove("RUST_BACKTRACE").env("NO_COLOR", "1");
    command
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

impl PartyFixture {
    fn new(name: &str) -> PartyFixture {
        PartyFixture::named(NAMES.map(str::to_string), name, None)
    }

    /// The same of parties with these names, with somebody between them, if any: who gets all bytes
    /// that pass.
    fn named(names: [String; 3], name: &str, heard: Option<&Heard>) -> PartyFixture {
        let folder = std::env::temp_dir().join(format!("felis-parties-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let fixture = PartyFixture { names, folder };
        // All are bound at once, so that they are different.
        let listeners =
            fixture.names.each_ref().map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let addresses = listeners.map(|free| free.local_addr().expect("an address").to_string());
        for (name, address) in fixture.names.iter().zip(&addresses) {
            let made =
                felis(&["party", "new", name, "--address", address, "--folder", text(&fixture.folder)])
                    .output()
                    .expect("felis runs");
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
            std::fs::create_dir(fixture.folder.join(name)).expect("a folder");
        }
        for me in &fixture.names {
            let mut lines = String::new();
            for (name, address) in fixture.names.iter().zip(&addresses) {
                lines += &format!("[{name}]\naddress = \"{address}\"\ncertificate = \"{name}.pem\"\n");
                if name == me {
                    lines += &format!("key = \"{name}.key\"\nfolder = \"{name}\"\n");
                    if let Some(heard) = heard {
                        lines += &format!("listen = \"{}\"\n", listen_between(address, heard));
                    }
                }
            }
            fixture.write(&format!("{me}.toml"), &lines);
        }
        fixture
    }

    /// Writes a file; returns its path.
    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.join(name);
        std::fs::write(&path, content).expect("a file");
        path
    }

    /// Starts a party.
    fn start(&self, me: &str, program: &Path, words: &[&str]) -> Child {
        let config = self.folder.join(format!("{me}.toml"));
        let arguments = ["run", "--as", me, "--with", text(&config), text(program)];
        felis(&[&arguments, words].concat())
            .env("FELIS_PARTY_WAIT", "60")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("felis starts")
    }

    /// Runs a program as all three; returns what each has written.
    fn run(&self, program: &str) -> [Ended; 3] {
        self.run_file(&self.write("program.flx", &format!("{DECLARED}{program}")))
    }

    /// Runs the program of a file as all three; returns what each has written.
    fn run_file(&self, path: &Path) -> [Ended; 3] {
        self.names.each_ref().map(|me| self.start(me, path, &[])).map(end)
    }
}

impl Drop for PartyFixture {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Reads what a party writes, until it ends.
fn reading(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        from.read_to_string(&mut text).expect("text");
        text
    })
}

/// Waits until a party ends.
fn end(mut party: Child) -> Ended {
    let out = party.stdout.take().map(reading);
    let err = party.stderr.take().map(reading);
    let until = Instant::now() + TIMEOUT;
    let status = loop {
        match party.try_wait().expect("a status") {
            Some(status) => break status,
            None if Instant::now() > until => {
                let _ = party.kill();
                panic!("a party hangs");
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let text =
        |reader: Option<JoinHandle<String>>| reader.map_or_else(String::new, |r| r.join().expect("read"));
    Ended { out: text(out), err: text(err), code: status.code().unwrap_or(-1) }
}

#[test]
fn each_party_prints_what_is_public_and_what_is_hers() {
    let fixture = PartyFixture::new("prints");
    for (name, cells) in NAMES.iter().zip(["1\n2", "10\n20\n30", "100"]) {
        fixture.write(&format!("{name}/numbers.csv"), &format!("n\n{cells}\n"));
    }
    let [alice, bob, carol] = fixture.run(
        r#"
fun total[N:COMPACTLINEAR](rows:(n:int) ^ N):int => sum [ row.n for row in rows ];
println "begin";
val own : int @ Party = at Party { val rows : (n:int) ^ ?N = csv "numbers.csv"; total rows };
at bob { println ("bob has", own); }
val all = own.collect[carol];
val sums = at carol { sum all };
println (sums.reveal);
at {alice, carol} { print "end "; println own; }
"#,
    );
    for party in [&alice, &bob, &carol] {
        assert_eq!((party.code, party.err.as_str()), (0, ""));
    }
    assert_eq!(alice.out, "begin\n163\nend 3\n");
    assert_eq!(bob.out, "begin\n(bob has, 60)\n163\n");
    assert_eq!(carol.out, "begin\n163\nend 100\n");
}

#[test]
fn who_stops_is_named_and_nothing_else_of_her_is_told() {
    let fixture = PartyFixture::new("fails");
    let [alice, bob, carol] = fixture.run(
        r#"
val x = at bob { 3141592 };
println "begin";
val y = at bob { x :>> 7 };
val z = y.send[alice];
val w = (at carol { 1 }).send[alice];
println "end";
"#,
    );
    assert_eq!((bob.code, bob.out.as_str()), (1, "begin\n"));
    assert!(bob.err.contains("[E0502]") && bob.err.contains("3141592"), "{}", bob.err);
    assert_eq!((alice.code, alice.out.as_str()), (1, "begin\n"));
    assert!(alice.err.contains("[E0530] Error: bob stopped"), "{}", alice.err);
    assert!(carol.err.contains("[E0530] Error: bob stopped"), "{}", carol.err);
    assert_eq!(carol.code, 1);
    for other in [&alice, &carol] {
        assert!(!other.err.contains("3141592") && !other.err.contains("E0502"), "{}", other.err);
    }
}

/// The program of parties that wait for carol, who computes without end.
const ENDLESS: &str = r#"
println "begin";
at carol { write_text ("begun", ""); }
val x = at carol { var n = 1; while n > 0 do n = (n + 1) % 1000 + 1; done n };
println (x.reveal);
"#;

/// Starts all three, lets something happen to the third once she runs, and returns how they end.
fn with_carol(name: &str, happens: impl FnOnce(&mut Child)) -> [Ended; 3] {
    let fixture = PartyFixture::new(name);
    let path = fixture.write("program.flx", &format!("{DECLARED}{ENDLESS}"));
    let mut parties = NAMES.map(|me| fixture.start(me, &path, &[]));
    let until = Instant::now() + TIMEOUT;
    while !fixture.folder.join("carol/begun").exists() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    happens(&mut parties[2]);
    parties.map(end)
}

#[test]
fn a_killed_party_is_lost() {
    let [alice, bob, _] = with_carol("killed", |carol| carol.kill().expect("killed"));
    for party in [alice, bob] {
        assert_eq!(party.code, 1);
        // One of them may hear of it from the other.
        let lost = party.err.contains("[E0531] Error: the connection with carol has ended");
        assert!(lost || party.err.contains("[E0530] Error: carol stopped"), "{}", party.err);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_party_stops_all() {
    let [alice, bob, carol] = with_carol("interrupted", |carol| {
        let done = Command::new("kill").args(["-INT", &carol.id().to_string()]).status();
        assert!(done.expect("kill runs").success());
    });
    assert_eq!(carol.code, 130);
    assert!(carol.err.contains("interrupted"), "{}", carol.err);
    for party in [alice, bob] {
        assert_eq!(party.code, 1);
        assert!(party.err.contains("[E0530] Error: carol stopped"), "{}", party.err);
    }
}

#[test]
fn parties_with_different_programs_do_not_begin() {
    let fixture = PartyFixture::new("differs");
    let one = fixture.write("one.flx", &format!("{DECLARED}println (at alice {{ 1 }}).reveal;\n"));
    let other = fixture.write("other.flx", &format!("{DECLARED}println (at alice {{ 2 }}).reveal;\n"));
    let programs = [&one, &one, &other];
    let mut started = NAMES.iter().zip(programs).map(|(me, program)| fixture.start(me, program, &[]));
    let parties: [Child; 3] = std::array::from_fn(|_| started.next().expect("three"));
    for party in parties.map(end) {
        assert_eq!((party.code, party.out.as_str()), (2, ""), "{}", party.err);
        assert!(party.err.starts_with("felis: "), "{}", party.err);
    }
}

#[test]
fn parties_with_different_arguments_do_not_begin() {
    let fixture = PartyFixture::new("arguments");
    let program = format!("{DECLARED}proc main(n:int) {{ println n; }}\n");
    let path = fixture.write("program.flx", &program);
    let mut started = NAMES.iter().zip(["1", "1", "2"]).map(|(me, word)| fixture.start(me, &path, &[word]));
    let parties: [Child; 3] = std::array::from_fn(|_| started.next().expect("three"));
    for party in parties.map(end) {
        assert_eq!((party.code, party.out.as_str()), (2, ""), "{}", party.err);
        assert!(party.err.contains("argument"), "{}", party.err);
    }
}

#[test]
fn random_words_are_known_to_those_who_have_them_in_common() {
    let fixture = PartyFixture::new("words");
    let program = r#"
val common = #common_words[Party, 2];
val own = #own_words[Party, 2];
at Party { println (common.0); println (common.1); println own; }
"#;
    let lines = |party: &Ended| party.out.lines().map(str::to_string).collect::<Vec<String>>();
    let first = fixture.run(program).each_ref().map(lines);
    for at in 0..3 {
        let (here, next) = (&first[at], &first[(at + 1) % 3]);
        assert_eq!(here.len(), 3);
        assert_eq!(here[0], next[1], "what a party has in common with the next one");
        for (i, one) in here.iter().enumerate() {
            assert!(here[i + 1..].iter().all(|other| other != one));
        }
        assert!(!next.contains(&here[2]) && !next.contains(&here[1]));
    }
    let again = fixture.run(program).each_ref().map(lines);
    for (before, after) in first.iter().zip(&again) {
        assert!(before.iter().all(|words| !after.contains(words)), "no run has the words of another");
    }
}

#[test]
fn paths_begin_at_the_own_folder() {
    let fixture = PartyFixture::new("folders");
    fixture.write("bob/a.txt", "of bob");
    let [alice, bob, carol] = fixture.run(
        r#"
at bob { println (read_text "a.txt"); }
at alice { write_text ("b.txt", "of alice"); }
at alice { println (read_text "a.txt"); }
"#,
    );
    assert_eq!(bob.out, "of bob\n");
    assert_eq!(std::fs::read_to_string(fixture.folder.join("alice/b.txt")).expect("written"), "of alice");
    assert!(alice.err.contains("[E1001]"), "{}{}", alice.out, alice.err);
    for other in [&bob, &carol] {
        assert!(other.err.contains("[E0530] Error: alice stopped"), "{}", other.err);
    }
}

#[test]
fn the_wire_shows_no_values() {
    let heard = Heard::default();
    let fixture = PartyFixture::named(NAMES.map(str::to_string), "wire", Some(&heard));
    // Each value is long enough not to be there by chance.
    let text = "a word that nobody else is told";
    let number = 0x0123_4567_89ab_cdef_u64;
    let ended = fixture.run(&format!(
        "val t = at alice {{ {text:?} }};\nval u = t.send[bob];\nat bob {{ println u; }}\n\
         val x = at bob {{ {number}u64 }};\nval y = x.give[Party];\nat carol {{ println y; }}\n"
    ));
    for party in &ended {
        assert_eq!((party.code, party.err.as_str()), (0, ""));
    }
    assert_eq!(
        ended.each_ref().map(|party| party.out.clone()),
        [String::new(), format!("{text}\n"), format!("{number}\n")]
    );
    let bytes = heard.lock().expect("a lock");
    assert!(bytes.len() > 3 * 1000, "{} bytes have passed", bytes.len());
    let shows = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    assert!(!shows(text.as_bytes()) && !shows(&number.to_le_bytes()) && !shows(&number.to_be_bytes()));
    // The names of the parties, which the certificates hold, are not shown either: this is TLS 1.3.
    assert!(NAMES.iter().all(|name| !shows(name.as_bytes())));
}

/// The examples that compute with secrets, or with values at places.
fn examples_with_parties() -> Vec<(PathBuf, [String; 3])> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut paths = vec![folder.clone()];
    // Those of two parties are run by `tests/execute/ciphers.rs`.
    if cfg!(feature = "ciphers") {
        paths.push(folder.join("ciphers"));
    }
    let mut found = Vec::new();
    for entry in paths.iter().flat_map(|folder| std::fs::read_dir(folder).expect("the examples")) {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "flx") {
            continue;
        }
        let program = std::fs::read_to_string(&path).expect("an example");
        let declared = program.lines().find_map(|line| line.strip_prefix("party ")?.split_once('='));
        if let Some((_, places)) = declared {
            let names: Vec<String> =
                places.trim_end_matches(';').split('|').map(|name| name.trim().to_string()).collect();
            match names.try_into() {
                Ok(names) => found.push((path, names)),
                Err(names) => assert!(path.starts_with(folder.join("ciphers")), "{names:?}"),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn examples_print_the_same_as_processes() {
    let examples = examples_with_parties();
    assert!(examples.len() >= 8, "{examples:?}");
    for (path, names) in examples {
        let wanted = std::fs::read_to_string(path.with_extension("out")).expect("its output");
        let fixture = PartyFixture::named(names, "examples", None);
        let ended = fixture.run_file(&path);
        for (me, party) in fixture.names.iter().zip(&ended) {
            assert_eq!((party.code, party.err.as_str()), (0, ""), "{me} of {}", path.display());
            // In one process, what is printed at a place has the name of the place before it.
            let own = format!("{me}: ");
            let others = |line: &&str| {
                !fixture.names.iter().any(|name| name != me && line.starts_with(&format!("{name}: ")))
            };
            let lines = wanted.lines().filter(others);
            let wanted: Vec<&str> = lines.map(|line| line.strip_prefix(&own).unwrap_or(line)).collect();
            assert_eq!(party.out.lines().collect::<Vec<_>>(), wanted, "{me} of {}", path.display());
        }
    }
}

#[test]
fn a_run_tells_the_bytes_rounds_and_time_of_each_party() {
    let fixture = PartyFixture::new("stats");
    let text = "val x = at alice { iota 100 };\nval y = x.send[bob];\nprintln ((at bob { sum y }).reveal);\n";
    let path = fixture.write("program.flx", &format!("{DECLARED}{text}"));
    let ended = felis(&["run", "--stats", self::text(&path)]).output().expect("felis runs");
    let out = String::from_utf8(ended.stdout).expect("a text");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((ended.status.code(), lines[0]), (Some(0), "4950"), "{out}");
    let time = lines[1].strip_prefix("took ").and_then(|time| time.split_once(' '));
    let (number, unit) = time.unwrap_or_else(|| panic!("{out}"));
    assert!(number.parse::<f64>().is_ok_and(|time| time > 0.0), "{out}");
    assert!(["µs", "ms", "s"].contains(&unit), "{out}");
    assert_eq!(
        lines[lines.len() - 3..],
        [
            "alice sent 809 bytes in 1 message, received 8 bytes in 1 message; 1 round",
            "bob sent 16 bytes in 2 messages, received 809 bytes in 1 message; 0 rounds",
            "carol sent 0 bytes in 0 messages, received 8 bytes in 1 message; 0 rounds",
        ]
    );
}
