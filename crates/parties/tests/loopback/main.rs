//! Parties over loopback, each with its own network, as threads of this process.

mod company;
mod failures;
mod figures;
mod setup;
mod wire;
mod work;
