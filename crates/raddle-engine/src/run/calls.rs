//! The calls of functions named by `--sync-function` that a thread is in or has made, in words.
//!
//! Debug information tells how many parameters a function has and which of them are in integer registers.
//! Where there is none, the registers are shown under their own names: an argument may be somewhere else.

use raddle_protocol::{NamedCall, ThreadReport};

use crate::plan::Plan;
use raddle_inspect::builds::Builds;
use raddle_inspect::variables::Signature;

/// Registers that are shown of a function whose parameters are not known.
const REGISTERS: [&str; 4] = ["rdi", "rsi", "rdx", "rcx"];

/// What is known of a function's parameters and result.
enum Shape {
    Known(Signature),
    /// There is no debug information.
    Registers,
    /// A compiler has changed them.
    Changed,
}

/// The lines about a thread: `add(1, 2) returned 3`, `in add(3, 4)`.
pub fn lines(report: &ThreadReport, plan: &Plan, builds: &Builds) -> Vec<String> {
    let functions = &plan.sync_functions;
    let build = || builds.at(&plan.target.program.path);
    let shape = |call: &NamedCall| match functions.is_clone(call.function) {
        true => Shape::Changed,
        false => {
            let signature = build().and_then(|build| builds.signature(build, call.function));
            signature.map_or(Shape::Registers, Shape::Known)
        }
    };
    let name = |call: &NamedCall| functions.name(call.function);
    let returned = name(&report.returned).map(|name| after(name, &report.returned, &shape(&report.returned)));
    let inside = name(&report.call).map(|name| format!("in {}", text(name, &report.call, &shape(&report.call))));
    returned.into_iter().chain(inside).collect()
}

fn after(name: &str, call: &NamedCall, shape: &Shape) -> String {
    let text = text(name, call, shape);
    match shape {
        Shape::Known(signature) => match signature.returned(call.value) {
            Some(value) => format!("{text} returned {value}"),
            None => format!("{text} returned"),
        },
        Shape::Registers => format!("{text} returned, rax {:#x}", call.value),
        Shape::Changed => format!("{text} returned"),
    }
}

fn text(name: &str, call: &NamedCall, shape: &Shape) -> String {
    let arguments = match shape {
        Shape::Known(signature) => signature.arguments(&call.arguments),
        Shape::Registers => {
            let shown: Vec<_> =
                REGISTERS.iter().zip(call.arguments).map(|(name, value)| format!("{name} {value:#x}")).collect();
            format!("{}, …", shown.join(", "))
        }
        Shape::Changed => "…".to_string(),
    };
    format!("{name}({arguments})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_debug_information_registers_have_their_own_names() {
        let call = NamedCall { function: 0x10, arguments: [1, 2, 3, 4, 5, 6], value: 7 };
        assert_eq!(after("f", &call, &Shape::Registers), "f(rdi 0x1, rsi 0x2, rdx 0x3, rcx 0x4, …) returned, rax 0x7");
        assert_eq!(after("f", &call, &Shape::Changed), "f(…) returned");
    }
}
