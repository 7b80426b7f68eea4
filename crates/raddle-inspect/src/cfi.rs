//! One step up the stack by call frame information (`.eh_frame`, DWARF 5 section 6.4).
//!
//! All sixteen general registers are carried from frame to frame and expressions may read memory:
//! functions whose stack was realigned, and the loader's own trampolines, find their caller through
//! registers other than the stack and frame pointers.

use addr2line::gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EhFrameOffset, Encoding, EndianSlice, EvaluationResult, Expression,
    FrameDescriptionEntry, LittleEndian, Location, ParsedEhFrameHdr, Pointer, Register, RegisterRule, UnwindContext,
    UnwindExpression, UnwindSection, Value, X86_64,
};

use super::memory::Memory;

/// The most operations of one expression; those of compilers have fewer than ten.
const OPERATIONS: u32 = 10_000;

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// The general registers and the instruction pointer, under their DWARF numbers; `None` where the
/// value is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Registers([Option<u64>; 17]);

/// What a function keeps for its caller (System V ABI, AMD64, figure 3.4).
const CALLEE_SAVED: [Register; 6] = [X86_64::RBX, X86_64::RBP, X86_64::R12, X86_64::R13, X86_64::R14, X86_64::R15];

impl Registers {
    /// Registers whose values are all known, in the order of their DWARF numbers.
    pub(super) fn new(values: [u64; 17]) -> Self {
        Registers(values.map(Some))
    }

    /// The registers of a fiber that the runtime has parked: it saved what a call must preserve, above
    /// the rounding modes.
    pub(super) fn of_parked_fiber(context: u64, memory: &mut Memory) -> Option<Self> {
        const SAVED: [Register; 7] =
            [X86_64::R15, X86_64::R14, X86_64::R13, X86_64::R12, X86_64::RBX, X86_64::RBP, X86_64::RA];
        let mut registers = Registers([None; 17]);
        for (register, at) in SAVED.into_iter().zip(1..) {
            registers.set(register, Some(memory.word(context + 8 * at)?));
        }
        registers.set(X86_64::RSP, Some(context + 8 * 8));
        Some(registers)
    }

    pub(super) fn get(&self, register: Register) -> Option<u64> {
        self.0.get(usize::from(register.0)).copied().flatten()
    }

    pub(super) fn set(&mut self, register: Register, value: Option<u64>) {
        if let Some(slot) = self.0.get_mut(usize::from(register.0)) {
            *slot = value;
        }
    }

    pub(super) fn ip(&self) -> Option<u64> {
        self.get(X86_64::RA)
    }

    pub(super) fn sp(&self) -> Option<u64> {
        self.get(X86_64::RSP)
    }

    pub(super) fn bp(&self) -> Option<u64> {
        self.get(X86_64::RBP)
    }

    /// The registers as a caller has them if nothing is known but what the ABI promises.
    fn kept_for_caller(&self) -> Self {
        let mut kept = Registers([None; 17]);
        for register in CALLEE_SAVED {
            kept.set(register, self.get(register));
        }
        kept
    }

    /// The caller's registers, given where it goes on and what its stack pointer is.
    pub(super) fn caller(&self, ip: u64, sp: u64) -> Self {
        let mut caller = self.kept_for_caller();
        caller.set(X86_64::RA, Some(ip));
        caller.set(X86_64::RSP, Some(sp));
        caller
    }
}

/// The unwind tables of one program or library, at the addresses that its file gives them.
#[derive(Debug)]
pub(super) struct Tables {
    index: Vec<u8>,
    frames: Vec<u8>,
    /// The address of the frames.
    start: u64,
    bases: BaseAddresses,
}

impl Tables {
    /// From the contents and address of `.eh_frame_hdr`, and a way to read what follows the address
    /// where it says that `.eh_frame` starts.
    pub(super) fn new(index: Vec<u8>, address: u64, read_from: impl FnOnce(u64) -> Option<Vec<u8>>) -> Option<Self> {
        let bases = BaseAddresses::default().set_eh_frame_hdr(address);
        let frames_address = match parse_index(&index, &bases)?.eh_frame_ptr() {
            Pointer::Direct(address) => address,
            // The encodings that linkers use are all direct.
            Pointer::Indirect(_) => return None,
        };
        let frames = read_from(frames_address)?;
        Some(Tables { index, frames, start: frames_address, bases: bases.set_eh_frame(frames_address) })
    }

    /// The registers of the caller of a frame; in those of the outermost frame's caller, which does
    /// not exist, the instruction pointer is lost. `None` when the tables do not cover the address
    /// or what they ask for cannot be read.
    pub(super) fn step(
        &self,
        address: u64,
        registers: &Registers,
        memory: &mut Memory,
        context: &mut UnwindContext<usize>,
    ) -> Option<Registers> {
        let section = EhFrame::new(&self.frames, LittleEndian);
        let entry = self.entry(&section, address)?;
        let row = entry.unwind_info_for_address(&section, &self.bases, context, address).ok()?;
        let mut eval = Eval { section: &section, encoding: entry.cie().encoding(), registers, memory };

        let cfa = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => registers.get(*register)?.checked_add_signed(*offset)?,
            CfaRule::Expression(expression) => eval.expression(expression, None)?,
        };
        let mut caller = registers.kept_for_caller();
        caller.set(X86_64::RSP, Some(cfa));
        for (register, rule) in row.registers() {
            caller.set(*register, eval.register(*register, rule, cfa));
        }
        match row.register(X86_64::RA) {
            RegisterRule::Undefined => Some(caller),
            // A return address that should be there and is not: no end, but a broken stack.
            _ => caller.ip().map(|_| caller),
        }
    }

    fn entry<'a>(&'a self, section: &EhFrame<Slice<'a>>, address: u64) -> Option<FrameDescriptionEntry<Slice<'a>>> {
        match parse_index(&self.index, &self.bases)?.table() {
            Some(table) => {
                let found = table.lookup(address, &self.bases).ok()?.direct().ok()?;
                // What a damaged table leads to may lie before the frames.
                let offset = EhFrameOffset(found.checked_sub(self.start)?.try_into().ok()?);
                let entry = section.fde_from_offset(&self.bases, offset, EhFrame::cie_from_offset).ok()?;
                entry.contains(address).then_some(entry)
            }
            // A linker may leave the search table out; then the entries are gone through.
            None => section.fde_for_address(&self.bases, address, EhFrame::cie_from_offset).ok(),
        }
    }
}

fn parse_index<'a>(index: &'a [u8], bases: &BaseAddresses) -> Option<ParsedEhFrameHdr<Slice<'a>>> {
    EhFrameHdr::new(index, LittleEndian).parse(bases, 8).ok()
}

/// The evaluation of one frame's rules.
struct Eval<'e, 'a> {
    section: &'e EhFrame<Slice<'a>>,
    encoding: Encoding,
    registers: &'e Registers,
    memory: &'e mut Memory,
}

impl Eval<'_, '_> {
    fn register(&mut self, register: Register, rule: &RegisterRule<usize>, cfa: u64) -> Option<u64> {
        match rule {
            RegisterRule::SameValue => self.registers.get(register),
            RegisterRule::Register(other) => self.registers.get(*other),
            RegisterRule::Offset(offset) => self.memory.word(cfa.checked_add_signed(*offset)?),
            RegisterRule::ValOffset(offset) => cfa.checked_add_signed(*offset),
            RegisterRule::Expression(expression) => {
                let address = self.expression(expression, Some(cfa))?;
                self.memory.word(address)
            }
            RegisterRule::ValExpression(expression) => self.expression(expression, Some(cfa)),
            RegisterRule::Constant(value) => Some(*value),
            _ => None,
        }
    }

    fn expression(&mut self, expression: &UnwindExpression<usize>, initial: Option<u64>) -> Option<u64> {
        let Expression(bytes) = expression.get(self.section).ok()?;
        let mut evaluation = Expression(bytes).evaluation(self.encoding);
        // An expression can jump back to its start.
        evaluation.set_max_iterations(OPERATIONS);
        if let Some(value) = initial {
            evaluation.set_initial_value(value);
        }
        let mut result = evaluation.evaluate().ok()?;
        loop {
            result = match result {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    let value = self.registers.get(register)?;
                    evaluation.resume_with_register(Value::Generic(value)).ok()?
                }
                EvaluationResult::RequiresMemory { address, size, .. } => {
                    let mut bytes = [0; 8];
                    self.memory.copy(address, bytes.get_mut(..usize::from(size))?)?;
                    let value = Value::Generic(u64::from_le_bytes(bytes));
                    evaluation.resume_with_memory(value).ok()?
                }
                // Nothing else can stand in call frame information.
                _ => return None,
            };
        }
        match evaluation.result().first()?.location {
            Location::Address { address } => Some(address),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::{Object, ObjectSection};

    /// The tables of this program, and where its code lies in the file.
    fn own() -> (Vec<u8>, u64, Vec<u8>, std::ops::Range<u64>) {
        let bytes = std::fs::read("/proc/self/exe").unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let section = |name| file.section_by_name(name).unwrap();
        let (index, frames, text) = (section(".eh_frame_hdr"), section(".eh_frame"), section(".text"));
        // More would only make each copy slower.
        let frames = frames.data().unwrap();
        let code = text.address()..text.address() + text.size();
        (index.data().unwrap().to_vec(), index.address(), frames[..frames.len().min(1 << 16)].to_vec(), code)
    }

    #[test]
    fn damaged_tables_end_a_walk() {
        let (index, address, frames, code) = own();
        let mut memory = Memory::of(std::process::id() as i32);
        let mut context = UnwindContext::new();
        let mut numbers = 0x9e37_79b9_7f4a_7c15u64;
        let mut number = |below: usize| {
            numbers ^= numbers << 13;
            numbers ^= numbers >> 7;
            numbers ^= numbers << 17;
            (numbers >> 3) as usize % below
        };
        let here = &raw const address as u64;
        for case in 0..2_000 {
            let (mut index, mut frames) = (index.clone(), frames.clone());
            for _ in 0..number(40) {
                let (at, byte) = (number(frames.len()), number(256) as u8);
                frames[at] = byte;
                // The first entries of the index lead to the frames that there are.
                if case % 3 == 0 {
                    let at = number(index.len().min(64));
                    index[at] = byte;
                }
            }
            let Some(tables) = Tables::new(index, address, |_| Some(frames)) else { continue };
            let registers = Registers::new([here; 17]);
            for _ in 0..4 {
                let at = code.start + number((code.end - code.start) as usize) as u64;
                let _ = tables.step(at, &registers, &mut memory, &mut context);
            }
        }
    }

    #[test]
    fn an_expression_that_jumps_back_ends() {
        // DW_OP_skip, three bytes back: to itself.
        const LOOP: &[u8] = &[0x2f, 0xfd, 0xff];
        let section = EhFrame::new(LOOP, LittleEndian);
        let expression = UnwindExpression { offset: 0, length: LOOP.len() };
        let encoding = Encoding { format: addr2line::gimli::Format::Dwarf32, version: 1, address_size: 8 };
        let mut memory = Memory::of(std::process::id() as i32);
        let registers = Registers::default();
        let mut eval = Eval { section: &section, encoding, registers: &registers, memory: &mut memory };
        assert_eq!(eval.expression(&expression, Some(0)), None);
    }
}
