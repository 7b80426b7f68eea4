//! The table through which instrumented programs call: `raddle-hooks` links it into them, the runtime
//! fills it in. Both sides keep to this layout; [`VERSION`] changes with it.

use core::ffi::c_void;

/// The version of this layout.
pub const VERSION: u32 = 1;

/// Sizes of plain accesses: 1, 2, 4, 8 and 16 bytes.
pub const SIZES: usize = 5;

/// Sizes of atomics that fit a register: 1, 2, 4 and 8 bytes.
pub const WORDS: usize = 4;

/// The type of the ELF note, of the owner "raddle", in an instrumented file; its contents are [`offers`].
pub const NOTE: u32 = 2;

/// What the compiler was asked to make visible.
pub mod offers {
    /// Atomic operations, and the entry and exit of functions.
    pub const ATOMICS: u32 = 1;
    /// Plain accesses.
    pub const MEMORY: u32 = 1 << 1;
    /// The standard library of Rust as well.
    pub const STD: u32 = 1 << 2;
}

/// What a read-modify-write does to the old value and the operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum Operation {
    /// The operand replaces it; the old value is not used.
    Store = 0,
    /// The operand replaces it.
    Exchange,
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// Bits in both.
    And,
    /// Bits in one of them.
    Or,
    /// Bits in one of them only.
    Xor,
    /// The complement of the bits in both.
    Nand,
    /// Sixteen bytes: only looks.
    Load,
    /// Sixteen bytes: compares and exchanges.
    Compare,
}

/// Operations with a slot for each size of word.
pub const OPERATIONS: usize = Operation::Load as usize;

impl Operation {
    /// The operation with this number.
    pub fn from_i32(number: i32) -> Option<Operation> {
        use Operation::*;
        [Store, Exchange, Add, Sub, And, Or, Xor, Nand, Load, Compare].into_iter().find(|o| *o as i32 == number)
    }
}

/// The memory orders of C11, as compilers pass them.
pub mod order {
    /// memory_order_relaxed.
    pub const RELAXED: i32 = 0;
    /// memory_order_acquire.
    pub const ACQUIRE: i32 = 2;
    /// memory_order_release.
    pub const RELEASE: i32 = 3;
    /// memory_order_acq_rel.
    pub const BOTH: i32 = 4;
    /// memory_order_seq_cst.
    pub const TOTAL: i32 = 5;
}

/// A plain access: the address, and where in the program.
pub type Access = unsafe extern "C-unwind" fn(*mut c_void, usize);
/// An access to many bytes: the address, how many, and where in the program.
pub type Range = unsafe extern "C-unwind" fn(*mut c_void, usize, usize);
/// An atomic load: the address, the memory order, and where in the program.
pub type Load = unsafe extern "C-unwind" fn(*mut c_void, i32, usize) -> u64;
/// An atomic read-modify-write: the address, the operand, the memory order, and where in the program.
pub type Modify = unsafe extern "C-unwind" fn(*mut c_void, u64, i32, usize) -> u64;
/// Compares and exchanges: the address, the expected value (replaced by what was there), the new one, the
/// memory orders of success and failure, and where in the program.
pub type Compare = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void, u64, i32, i32, usize) -> i32;
/// Sixteen bytes: the operation, the address, the operand (replaced by what was there), the expected value,
/// the memory order, and where in the program.
pub type Wide = unsafe extern "C-unwind" fn(i32, *mut u128, *mut u128, *mut u128, i32, usize) -> i32;

/// The table.
#[repr(C)]
pub struct Hooks {
    /// [`VERSION`] of the program.
    pub version: u32,
    /// Bytes of the program's table.
    pub size: u32,
    /// What the file that the table lies in makes visible: see [`offers`].
    pub offers: u32,
    /// Padding.
    pub reserved: u32,
    pub read: [Access; SIZES],
    pub write: [Access; SIZES],
    /// A read and a write of the same bytes, by one statement.
    pub read_write: [Access; SIZES],
    /// Reads of volatile variables.
    pub volatile_read: [Access; SIZES],
    /// Writes of volatile variables.
    pub volatile_write: [Access; SIZES],
    /// Reads of many bytes.
    pub range_read: Range,
    /// Writes of many bytes.
    pub range_write: Range,
    /// Atomic loads.
    pub load: [Load; WORDS],
    /// Atomic stores and read-modify-writes, by [`Operation`].
    pub modify: [[Modify; WORDS]; OPERATIONS],
    /// Compare-and-exchange.
    pub compare: [Compare; WORDS],
    /// All atomics on sixteen bytes.
    pub wide: Wide,
    /// Fences: the memory order, and where in the program.
    pub fence: unsafe extern "C-unwind" fn(i32, usize),
    /// A function is entered: where it was called.
    pub enter: unsafe extern "C-unwind" fn(usize),
    /// A function is left.
    pub leave: unsafe extern "C-unwind" fn(),
    /// The program says that what was released here has happened before.
    pub acquire: unsafe extern "C-unwind" fn(*mut c_void),
    /// The program says that what it did so far happens before what follows an acquire here.
    pub release: unsafe extern "C-unwind" fn(*mut c_void),
}
