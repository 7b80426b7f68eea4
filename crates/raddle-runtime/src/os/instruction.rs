//! What must be known of an x86-64 instruction to execute it somewhere else: whether it goes on where it says by itself,
//! and whether it names memory relative to its own address. Its length need not be known; a single step tells that.
//! After the opcode maps of the Intel 64 manual, volume 2, appendix A.

/// The longest instruction.
pub const LONGEST: usize = 15;

/// How an instruction is executed at another place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Instruction {
    /// As it is.
    Anywhere,
    /// With the four bytes at this offset, which count from its own address, changed.
    Relative(usize),
    /// A call of an address that it reads: as above, and the return address that it pushes must be changed, too. The
    /// offset is 0 if nothing counts from its own address.
    CallThrough(usize),
    /// Not at all, because it only changes where the thread goes on.
    Branch(Branch),
}

/// A transfer of control whose target the instruction tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Branch {
    pub kind: BranchKind,
    /// How long the instruction is.
    pub length: usize,
    /// The target, from the end of the instruction.
    pub offset: i32,
}

/// When a branch is taken, and what else it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BranchKind {
    Jump,
    /// The return address is pushed.
    Call,
    /// If a condition holds: the low four bits of the opcode.
    If(u8),
    /// If the count register is, or becomes, zero or not: the opcode.
    Count(u8),
}

/// What a branch needs of the registers, and changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registers {
    pub rip: u64,
    pub rcx: u64,
    pub flags: u64,
}

impl Branch {
    /// Executes the branch at `rip`. A call's return address is the caller's to push.
    pub fn take(&self, registers: &mut Registers) {
        let next = registers.rip.wrapping_add(self.length as u64);
        let taken = match self.kind {
            BranchKind::Jump | BranchKind::Call => true,
            BranchKind::If(condition) => holds(condition, registers.flags),
            BranchKind::Count(opcode) => counts(opcode, registers),
        };
        registers.rip = if taken { next.wrapping_add_signed(self.offset.into()) } else { next };
    }
}

const CARRY: u64 = 1;
const PARITY: u64 = 1 << 2;
const ZERO: u64 = 1 << 6;
const SIGN: u64 = 1 << 7;
const OVERFLOW: u64 = 1 << 11;

/// Whether a condition holds. The lowest bit turns it round.
fn holds(condition: u8, flags: u64) -> bool {
    let is = |flag: u64| flags & flag != 0;
    let less = is(SIGN) != is(OVERFLOW);
    let plain = match condition >> 1 {
        0 => is(OVERFLOW),
        1 => is(CARRY),
        2 => is(ZERO),
        3 => is(CARRY | ZERO),
        4 => is(SIGN),
        5 => is(PARITY),
        6 => less,
        _ => less || is(ZERO),
    };
    plain != (condition & 1 != 0)
}

/// loopne, loope, loop and jrcxz.
fn counts(opcode: u8, registers: &mut Registers) -> bool {
    if opcode == 0xe3 {
        return registers.rcx == 0;
    }
    registers.rcx = registers.rcx.wrapping_sub(1);
    let zero = registers.flags & ZERO != 0;
    registers.rcx != 0 && (opcode == 0xe2 || zero == (opcode == 0xe1))
}

impl Instruction {
    /// Reads an instruction; `None`: it cannot be executed anywhere else.
    pub fn read(bytes: &[u8; LONGEST]) -> Option<Instruction> {
        let is_prefix = |byte: &u8| matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3);
        let prefixes = bytes.iter().take_while(|byte| is_prefix(byte)).count();
        // Short addresses, and short branches, are not what compilers make.
        let shortened = bytes[..prefixes].contains(&0x67);
        let rex = bytes.get(prefixes).is_some_and(|byte| byte & 0xf0 == 0x40);
        let at = prefixes + usize::from(rex);
        let instruction = opcode(bytes, at)?;
        let relative = !matches!(instruction, Instruction::Anywhere | Instruction::CallThrough(0));
        (!shortened || !relative).then_some(instruction)
    }
}

/// The instruction whose opcode is at `at`.
fn opcode(bytes: &[u8; LONGEST], at: usize) -> Option<Instruction> {
    let byte = |i: usize| bytes.get(i).copied();
    let branch = |kind, bytes: usize, offset| Some(Instruction::Branch(Branch { kind, length: at + bytes, offset }));
    let code = byte(at)?;
    match code {
        0x70..=0x7f => branch(BranchKind::If(code & 15), 2, i32::from(byte(at + 1)? as i8)),
        0xe0..=0xe3 => branch(BranchKind::Count(code), 2, i32::from(byte(at + 1)? as i8)),
        0xeb => branch(BranchKind::Jump, 2, i32::from(byte(at + 1)? as i8)),
        0xe9 => branch(BranchKind::Jump, 5, number(bytes, at + 1)?),
        0xe8 => branch(BranchKind::Call, 5, number(bytes, at + 1)?),
        // Far branches, and interrupts: nothing for a program of 64 bits.
        0x9a | 0xea | 0xcc..=0xcf => None,
        0x0f => match byte(at + 1)? {
            second @ 0x80..=0x8f => branch(BranchKind::If(second & 15), 6, number(bytes, at + 2)?),
            0x38 | 0x3a => Some(operand(bytes, at + 3)),
            second if two_bytes_have_operand(second) => Some(operand(bytes, at + 2)),
            _ => Some(Instruction::Anywhere),
        },
        // VEX and EVEX.
        0xc5 if byte(at + 2)? == 0x77 => Some(Instruction::Anywhere),
        0xc5 => Some(operand(bytes, at + 3)),
        0xc4 => Some(operand(bytes, at + 4)),
        0x62 => Some(operand(bytes, at + 5)),
        0xff => {
            let Instruction::Relative(offset) = operand(bytes, at + 1) else {
                let calls = byte(at + 1)? >> 3 & 7 == 2;
                return Some(if calls { Instruction::CallThrough(0) } else { Instruction::Anywhere });
            };
            let calls = byte(at + 1)? >> 3 & 7 == 2;
            Some(if calls { Instruction::CallThrough(offset) } else { Instruction::Relative(offset) })
        }
        _ if one_byte_has_operand(code) => Some(operand(bytes, at + 1)),
        _ => Some(Instruction::Anywhere),
    }
}

/// Whether the byte at `at`, which says where the operand is, says: relative to the next instruction.
fn operand(bytes: &[u8; LONGEST], at: usize) -> Instruction {
    match bytes.get(at) {
        Some(byte) if byte & 0xc7 == 0x05 => Instruction::Relative(at + 1),
        _ => Instruction::Anywhere,
    }
}

/// Whether an opcode of one byte is followed by a byte that says where its operand is.
fn one_byte_has_operand(code: u8) -> bool {
    match code {
        0x00..=0x3f => code & 7 < 4,
        0x63 | 0x69 | 0x6b | 0x80..=0x8f => true,
        0xc0 | 0xc1 | 0xc6 | 0xc7 | 0xd0..=0xd3 | 0xd8..=0xdf => true,
        0xf6 | 0xf7 | 0xfe | 0xff => true,
        _ => false,
    }
}

/// The same for an opcode that follows the byte 0x0f.
fn two_bytes_have_operand(code: u8) -> bool {
    !matches!(
        code,
        0x05..=0x09 | 0x0b | 0x0e | 0x30..=0x37 | 0x77 | 0x80..=0x8f | 0xa0..=0xa2 | 0xa8..=0xaa | 0xc8..=0xcf
    )
}

fn number(bytes: &[u8; LONGEST], at: usize) -> Option<i32> {
    let four = bytes.get(at..at + 4)?;
    Some(i32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(code: &[u8]) -> Option<Instruction> {
        let mut bytes = [0x90; LONGEST];
        bytes[..code.len()].copy_from_slice(code);
        Instruction::read(&bytes)
    }

    #[test]
    fn prologues_run_anywhere() {
        let plain: [&[u8]; 11] = [
            &[0xf3, 0x0f, 0x1e, 0xfa],             // endbr64
            &[0x55],                               // push rbp
            &[0x41, 0x57],                         // push r15
            &[0x48, 0x83, 0xec, 0x18],             // sub rsp, 24
            &[0x48, 0x89, 0xe5],                   // mov rbp, rsp
            &[0x31, 0xc0],                         // xor eax, eax
            &[0xb8, 5, 0, 0, 0],                   // mov eax, 5
            &[0xc3],                               // ret
            &[0xf6, 0x45, 0x05, 1],                // test byte [rbp + 5], 1
            &[0xc5, 0xf8, 0x77],                   // vzeroupper
            &[0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0], // mov rax, [0]: an address, by way of a second byte
        ];
        for code in plain {
            assert_eq!(read(code), Some(Instruction::Anywhere), "{code:x?}");
        }
    }

    #[test]
    fn operands_relative_to_the_instruction_are_found() {
        use Instruction::{CallThrough, Relative};
        let cases: [(&[u8], Instruction); 9] = [
            (&[0x8b, 0x05, 1, 2, 3, 4], Relative(2)),                   // mov eax, [rip + …]
            (&[0x48, 0x8d, 0x3d, 1, 2, 3, 4], Relative(3)),             // lea rdi, [rip + …]
            (&[0xc7, 0x05, 1, 2, 3, 4, 5, 0, 0, 0], Relative(2)),       // mov dword [rip + …], 5
            (&[0xf2, 0x0f, 0x10, 0x05, 1, 2, 3, 4], Relative(4)),       // movsd xmm0, [rip + …]
            (&[0x66, 0x0f, 0x38, 0x17, 0x05, 1, 2, 3, 4], Relative(5)), // ptest xmm0, [rip + …]
            (&[0xc5, 0xfb, 0x10, 0x05, 1, 2, 3, 4], Relative(4)),       // vmovsd
            (&[0xc4, 0xe2, 0x79, 0x18, 0x05, 1, 2, 3, 4], Relative(5)), // vbroadcastss
            (&[0xff, 0x15, 1, 2, 3, 4], CallThrough(2)),                // call [rip + …]
            (&[0xff, 0x25, 1, 2, 3, 4], Relative(2)),                   // jmp [rip + …]
        ];
        for (code, expected) in cases {
            assert_eq!(read(code), Some(expected), "{code:x?}");
        }
        assert_eq!(read(&[0xff, 0xd0]), Some(CallThrough(0)));
        assert_eq!(read(&[0xff, 0xe0]), Some(Instruction::Anywhere));
        assert_eq!(read(&[0x67, 0x8b, 0x05, 1, 2, 3, 4]), None);
        assert_eq!(read(&[0xcc]), None);
    }

    fn go(code: &[u8], flags: u64, rcx: u64) -> (u64, u64) {
        let Some(Instruction::Branch(branch)) = read(code) else { panic!("{code:x?} is a branch") };
        let mut registers = Registers { rip: 0x1000, rcx, flags };
        branch.take(&mut registers);
        (registers.rip, registers.rcx)
    }

    #[test]
    fn branches_go_where_they_go() {
        assert_eq!(go(&[0xeb, 0xfe], 0, 0).0, 0x1000);
        assert_eq!(go(&[0xf2, 0xe9, 4, 0, 0, 0], 0, 0).0, 0x100a);
        assert_eq!(go(&[0xe8, 0xfb, 0xff, 0xff, 0xff], 0, 0).0, 0x1000);
        for (code, flags) in [(0x70, OVERFLOW), (0x72, CARRY), (0x74, ZERO), (0x78, SIGN), (0x7a, PARITY)] {
            assert_eq!(go(&[code, 0x10], flags, 0).0, 0x1012);
            assert_eq!(go(&[code, 0x10], !flags, 0).0, 0x1002);
            assert_eq!(go(&[code + 1, 0x10], flags, 0).0, 0x1002);
            assert_eq!(go(&[0x0f, code + 0x10, 0, 1, 0, 0], flags, 0).0, 0x1106);
        }
        for (flags, below_or_equal, less, less_or_equal) in
            [(0, 0, 0, 0), (CARRY, 1, 0, 0), (ZERO, 1, 0, 1), (SIGN, 0, 1, 1), (SIGN | OVERFLOW, 0, 0, 0)]
        {
            for (code, taken) in [(0x76, below_or_equal), (0x7c, less), (0x7e, less_or_equal)] {
                assert_eq!(go(&[code, 0x10], flags, 0).0, 0x1002 + 0x10 * taken, "{code:x} {flags:x}");
            }
        }
        assert_eq!(go(&[0xe3, 0x10], 0, 0), (0x1012, 0));
        assert_eq!(go(&[0xe2, 0x10], 0, 2), (0x1012, 1));
        assert_eq!(go(&[0xe2, 0x10], 0, 1), (0x1002, 0));
        assert_eq!(go(&[0xe1, 0x10], ZERO, 2), (0x1012, 1));
        assert_eq!(go(&[0xe0, 0x10], ZERO, 2), (0x1002, 1));
    }
}
