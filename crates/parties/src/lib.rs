//! Connections between parties in different processes.
//!
//! Takes what a party runs and with whom; gives its [`Network`] over TCP and mutual TLS, or the
//! reason why there is none. Knows no values and no programs.
//!
//! [`create_certificate`] makes the two files with which a party proves who it is, [`Config`] is
//! the file `parties.toml` that says where all are, and [`connect`] does the rest.
//!
//! Loopback on two cores, not optimized (`tests/loopback/benchmarks.rs`): 40 ms to connect two or
//! three parties that are all there, 330 MiB/s in one direction or 170 MiB/s in each of both, 40 us
//! for a round of small messages. Of the time that the dependencies take to build, ring and rustls
//! with what they need are 37 s of the processor, rcgen 6 s, basic-toml 2 s.

mod certificate;
mod config;
mod frame;
mod handshake;
mod tls;

pub use certificate::{CertificateError, CreatedFiles, MAX_NAME_BYTES, create_certificate};
pub use config::{Config, ConfigError, Entry};
pub use frame::MAX_PARTIES;
pub use handshake::{ConnectError, Difference, MAX_BUILD_BYTES, hash};
pub use network::Network;
pub use tls::{Limits, Options, connect};

pub(crate) use felis_base::suggest;
pub(crate) use felis_runtime::network;
