//! From a location expression to the addresses of a variable.
//!
//! An expression that computes a value instead of telling where it is stored is none of ours, with
//! one exception: LLVM keeps a variable that only ever has two values in one byte, and says how to
//! compute the value from that byte.
//!
//! Only the operations that such expressions consist of are known here; with any other, an expression
//! tells no address.

use gimli::{Expression, Reader as _};

use super::debug_info::Reader;

/// Bytes of a variable that are stored together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bytes {
    pub(super) start: u64,
    /// How many; all of the variable if nothing is said.
    pub(super) size: Option<u64>,
    /// How many bytes of the variable come before them.
    pub(super) bias: u64,
    /// Whether the variable is computed from them.
    pub(super) computed: bool,
}

/// An operation of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Address(u64),
    /// An address, by its index in the unit's part of `.debug_addr`.
    Index(u64),
    Plus(u64),
    /// What was told so far has so many bytes; the next part of the variable follows.
    Piece(u64),
    /// Reads so many bytes.
    Load(u64),
    Compute,
    /// What was computed is the value, not where it is.
    Value,
}

/// The most operations that are looked at: optimizers split structures into a piece for each member.
const OPERATIONS: usize = 1024;

/// The operations of an expression, if all of them are known.
pub(super) fn operations(expression: &Expression<Reader>) -> Option<Vec<Operation>> {
    let mut bytes = expression.0.clone();
    let mut operations = Vec::new();
    while !bytes.is_empty() && operations.len() < OPERATIONS {
        operations.push(operation(&mut bytes).ok()??);
    }
    bytes.is_empty().then_some(operations)
}

fn operation(bytes: &mut Reader) -> gimli::Result<Option<Operation>> {
    let known = match gimli::DwOp(bytes.read_u8()?) {
        gimli::DW_OP_addr => Operation::Address(bytes.read_u64()?),
        gimli::DW_OP_addrx | gimli::DW_OP_GNU_addr_index => Operation::Index(bytes.read_uleb128()?),
        gimli::DW_OP_plus_uconst => Operation::Plus(bytes.read_uleb128()?),
        gimli::DW_OP_piece => Operation::Piece(bytes.read_uleb128()?),
        gimli::DW_OP_deref => Operation::Load(8),
        gimli::DW_OP_deref_size => Operation::Load(bytes.read_u8()?.into()),
        gimli::DW_OP_stack_value => Operation::Value,
        gimli::DW_OP_constu | gimli::DW_OP_convert => {
            bytes.read_uleb128()?;
            Operation::Compute
        }
        gimli::DW_OP_consts => {
            bytes.read_sleb128()?;
            Operation::Compute
        }
        gimli::DwOp(code) => {
            let is_literal = (gimli::DW_OP_lit0.0..=gimli::DW_OP_lit31.0).contains(&code);
            let is_arithmetic = (gimli::DW_OP_abs.0..=gimli::DW_OP_xor.0).contains(&code);
            return Ok((is_literal || is_arithmetic).then_some(Operation::Compute));
        }
    };
    Ok(Some(known))
}

/// The addresses that operations tell, if they tell any.
pub(super) fn bytes(operations: &[Operation], indexed: impl Fn(u64) -> Option<u64>) -> Vec<Bytes> {
    let address = |operation: &Operation| match *operation {
        Operation::Address(address) => Some(address),
        Operation::Index(index) => indexed(index),
        _ => None,
    };
    let start = |part: &[Operation]| match part {
        [first] => address(first),
        [first, Operation::Plus(value)] => address(first)?.checked_add(*value),
        _ => None,
    };
    if let [first, Operation::Load(size), .., Operation::Value] = operations {
        let computed = |start| Bytes { start, size: Some(*size), bias: 0, computed: true };
        return address(first).map(computed).into_iter().collect();
    }
    let mut found = Vec::new();
    let mut bias: u64 = 0;
    for part in operations.split_inclusive(|operation| matches!(operation, Operation::Piece(_))) {
        let (part, size) = match part {
            [part @ .., Operation::Piece(size)] => (part, Some(*size)),
            part => (part, None),
        };
        found.extend(start(part).map(|start| Bytes { start, size, bias, computed: false }));
        bias = bias.saturating_add(size.unwrap_or(0));
    }
    found
}

#[cfg(test)]
mod tests {
    use gimli::LittleEndian;

    use super::Operation::*;
    use super::*;

    fn stored(operations: &[Operation]) -> Vec<(u64, Option<u64>, u64)> {
        let found = bytes(operations, |index| Some(1000 * index));
        found.iter().map(|bytes| (bytes.start, bytes.size, bytes.bias)).collect()
    }

    fn decoded(bytes: &[u8]) -> Option<Vec<Operation>> {
        operations(&Expression(Reader::new(bytes.into(), LittleEndian)))
    }

    #[test]
    fn an_address_is_where_a_variable_is() {
        assert_eq!(stored(&[Address(8)]), [(8, None, 0)]);
        assert_eq!(stored(&[Index(2)]), [(2000, None, 0)]);
        assert_eq!(stored(&[Address(8), Plus(4)]), [(12, None, 0)]);
        assert_eq!(stored(&[Address(u64::MAX), Plus(4)]), []);
    }

    #[test]
    fn a_value_is_no_place() {
        assert_eq!(stored(&[Address(8), Value]), []);
        assert_eq!(stored(&[Address(8), Load(8)]), []);
        assert_eq!(stored(&[]), []);
        assert_eq!(stored(&[Address(8), Load(1), Compute, Value]), [(8, Some(1), 0)]);
    }

    #[test]
    fn pieces_follow_each_other() {
        // The second one was optimized away.
        let operations = [Address(100), Piece(4), Piece(4), Address(300), Piece(8)];
        assert_eq!(stored(&operations), [(100, Some(4), 0), (300, Some(8), 8)]);
        let operations = [Address(100), Piece(u64::MAX), Address(300), Piece(u64::MAX), Address(400)];
        assert_eq!(stored(&operations).len(), 3);
    }

    #[test]
    fn operations_of_an_expression() {
        assert_eq!(decoded(&[3, 8, 0, 0, 0, 0, 0, 0, 0, 0x93, 4]), Some(vec![Address(8), Piece(4)]));
        assert_eq!(
            decoded(&[0xa1, 5, 0x94, 1, 0x10, 9, 0x1e, 0x9f]),
            Some(vec![Index(5), Load(1), Compute, Compute, Value])
        );
        assert_eq!(decoded(&[3, 8, 0, 0, 0, 0, 0, 0, 0, 0xe0]), None, "thread-local");
        assert_eq!(decoded(&[3, 8]), None, "cut off");
        assert_eq!(decoded(&[0x9f; 2 * OPERATIONS]), None);
        assert_eq!(decoded(&[]), Some(vec![]));
    }
}
