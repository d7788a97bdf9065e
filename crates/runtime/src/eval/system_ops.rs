//! Primitives that ask the machine: its clock, standard input, variables, folders.
//!
//! Takes the machine of the host; a host without one is a failure of the program.

use super::code::PrimTypes;
use super::error::Failure;
use super::existential_prims::string_vector;
use super::machine::Host;
use super::prim::{MAX_STRING_BYTES, result_case};
use crate::core::Prim;
use crate::data::Limits;
use crate::system::SystemError;
use crate::types::encoding::Code;
use crate::value::Value;
use std::time::Duration;

/// Evaluates a primitive that asks the machine.
pub(super) fn eval_system_primitive(
    prim: Prim,
    types: &PrimTypes,
    args: &[Value],
    host: &mut Host<'_>,
) -> Result<Value, Failure> {
    let limits = Limits { memory: host.memory, interrupt: host.interrupt };
    if prim == Prim::Exit {
        return Err(match u8::try_from(args[0].as_int()) {
            Ok(status) => Failure::Exit { status },
            Err(_) => {
                Failure::Failed { message: format!("{} is no exit code from 0 to 255", args[0].as_int()) }
            }
        });
    }
    let system = host.system.ok_or(Failure::NoSystem)?;
    let most = host.memory.min(MAX_STRING_BYTES as u64);
    let refused = |what: &'static str| {
        move |error| match error {
            SystemError::Interrupted => Failure::Interrupted,
            SystemError::Refused(why) => Failure::SystemRefused { what: what.to_string(), why },
        }
    };
    let option = |found: Option<String>| match found {
        Some(text) => result_case(types, Code::Small(1), Value::str(text)),
        None => result_case(types, Code::ZERO, Value::UNIT),
    };
    match prim {
        Prim::ReadLine => system
            .read_line(most, host.interrupt)
            .map(option)
            .map_err(refused("standard input cannot be read")),
        Prim::ReadInput => {
            let text = system.read_input(most, host.interrupt);
            text.map(Value::str).map_err(refused("standard input cannot be read"))
        }
        Prim::Environment => {
            system.environment(args[0].as_str()).map(option).map_err(refused("the variable cannot be read"))
        }
        Prim::Now => Ok(Value::int(system.now())),
        Prim::Ticks => Ok(Value::int(system.ticks())),
        Prim::ListDir => {
            let path = args[0].as_str();
            let names = system.list_dir(path).map_err(|error| match error {
                SystemError::Interrupted => Failure::Interrupted,
                SystemError::Refused(why) => {
                    Failure::SystemRefused { what: format!("the folder `{path}` cannot be read"), why }
                }
            });
            let mut names = names?;
            names.sort_unstable();
            string_vector(names.iter().map(String::as_str), limits)
        }
        Prim::Sleep => {
            let nanoseconds = u64::try_from(args[0].as_int().max(0)).unwrap_or(0);
            let slept = system.sleep(Duration::from_nanos(nanoseconds), host.interrupt);
            slept.map(|()| Value::UNIT).map_err(refused("waiting was refused"))
        }
        Prim::PrintError => {
            let written = system.print_error(args[0].as_str());
            written.map(|()| Value::UNIT).map_err(refused("standard error cannot be written"))
        }
        _ => Err(Failure::Internal { message: "a primitive that asks nothing of the machine" }),
    }
}
