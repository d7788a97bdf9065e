//! Connections between parties in different processes.
//!
//! Takes what a party runs and with whom; gives its [`Network`] over TCP and mutual TLS, or the
//! reason why there is none. Knows no values and no programs.
//!
//! [`create_certificate`] makes the two files with which a party proves who it is, [`Config`] is the
//! file `parties.toml` that says where all are, and [`connect`] does the rest.

mod certificate;
mod config;
mod frame;
mod handshake;
mod tls;

pub use certificate::{CertificateError, Created, create_certificate};
pub use config::{Config, ConfigError, Entry};
pub use felis_runtime::network::Network;
pub use handshake::{ConnectError, Difference};
pub use tls::{Limits, Options, connect};
