//! Parties over loopback, each with its own network, as threads of this process.

mod benchmarks;
mod communication;
mod failures;
mod fixture;
mod setup;
mod wire;
