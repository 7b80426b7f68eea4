//! From a thread's registers to all its callers.

use addr2line::gimli::{UnwindContext, X86_64};

use super::cfi::Registers;
use super::process::{Images, Process};
use super::signal_frame;

/// More frames than a person reads; a runaway recursion has no end.
pub(super) const MOST_FRAMES: usize = 128;
/// What a frame may plausibly span. A register that is no frame pointer rarely points so near above
/// the stack pointer.
const LARGEST_FRAME: u64 = 16 << 20;

/// One call on the stack.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Where the thread is, or goes on when the call above returns.
    pub address: u64,
    /// The address of the instruction that is being executed: the call, not what follows it. The
    /// code after a call may belong to another line, another function or nobody.
    pub lookup: u64,
    /// Whether this is not a call but the kernel's trampoline under a signal handler.
    pub is_signal: bool,
}

#[derive(Default)]
pub(super) struct Walker {
    // Kept because it is large.
    context: UnwindContext<usize>,
}

impl Walker {
    /// The calls on a stack, innermost first, as far as they can be followed.
    pub(super) fn walk(&mut self, process: &mut Process, images: &mut Images, start: &Registers) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut registers = *start;
        // The instruction pointer of the innermost frame, and of one that a signal interrupted, is
        // that of the instruction itself; all others are return addresses.
        let mut is_exact = true;
        while steps.len() < MOST_FRAMES {
            let Some(address) = registers.ip() else { break };
            let is_signal = signal_frame::is_trampoline(address, &mut process.memory);
            let is_return = !is_exact && !is_signal;
            if is_return && !process.is_code(address) {
                break;
            }
            let lookup = if is_return { address - 1 } else { address };
            steps.push(Step { address, lookup, is_signal });

            let caller = if is_signal {
                signal_frame::interrupted(&registers, &mut process.memory)
            } else {
                self.caller(process, images, &registers, lookup, is_exact)
            };
            // The stack grows downwards, so callers lie above; only a signal may change stacks.
            registers = match caller {
                Some(caller) if is_signal || caller.sp() > registers.sp() => caller,
                _ => break,
            };
            is_exact = is_signal;
        }
        steps
    }

    fn caller(
        &mut self,
        process: &mut Process,
        images: &mut Images,
        registers: &Registers,
        lookup: u64,
        is_exact: bool,
    ) -> Option<Registers> {
        let by_tables = images.find(process, lookup).and_then(|at| {
            let tables = images.get(at).tables.as_ref()?;
            tables.step(at.address, registers, &mut process.memory, &mut self.context)
        });
        by_tables
            .or_else(|| is_exact.then(|| just_called(process, registers)).flatten())
            .or_else(|| by_frame_pointer(process, registers))
    }
}

/// The caller of a function that has put nothing on the stack yet: short assembly, or the landing of
/// a call through a wild pointer, where there is no function at all.
fn just_called(process: &mut Process, registers: &Registers) -> Option<Registers> {
    let sp = registers.sp()?;
    let address = process.memory.word(sp)?;
    follows_call(process, address).then(|| registers.caller(address, sp + 8))
}

/// The caller of a function that keeps a frame pointer, for code without call frame information.
fn by_frame_pointer(process: &mut Process, registers: &Registers) -> Option<Registers> {
    let sp = registers.sp()?;
    let bp = registers.bp().filter(|bp| (sp..sp.saturating_add(LARGEST_FRAME)).contains(bp))?;
    let address = process.memory.word(bp.checked_add(8)?)?;
    if !follows_call(process, address) {
        return None;
    }
    let mut caller = registers.caller(address, bp.checked_add(16)?);
    caller.set(X86_64::RBP, process.memory.word(bp));
    Some(caller)
}

/// Whether a word on the stack looks like a return address: there is a call before it, or it is the
/// trampoline that the kernel lets signal handlers return to.
fn follows_call(process: &mut Process, address: u64) -> bool {
    const LONGEST_CALL: u64 = 8;
    if !process.is_code(address) {
        return false;
    }
    if signal_frame::is_trampoline(address, &mut process.memory) {
        return true;
    }
    let mut code = [0; LONGEST_CALL as usize];
    address
        .checked_sub(LONGEST_CALL)
        .and_then(|start| process.memory.copy(start, &mut code))
        .is_some_and(|()| ends_with_call(&code))
}

/// `call rel32`, or `call r/m64` (`ff /2`) in any of its lengths.
fn ends_with_call(code: &[u8; 8]) -> bool {
    code[3] == 0xe8 || (1..=6).any(|at| code[at] == 0xff && code[at + 1] & 0x38 == 0x10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_recognised() {
        assert!(ends_with_call(&[0, 0, 0, 0xe8, 1, 2, 3, 4]), "call rel32");
        assert!(ends_with_call(&[0, 0, 0, 0, 0, 0, 0xff, 0xd0]), "call *%rax");
        assert!(ends_with_call(&[0, 0, 0xff, 0x15, 1, 2, 3, 4]), "call *offset(%rip)");
        assert!(!ends_with_call(&[0x90; 8]));
    }
}
