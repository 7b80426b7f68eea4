//! The parameters of a function and what it returns, as far as they are in integer registers.
//!
//! The rules are those of the System V ABI for x86-64, section 3.2.3. What it leaves to the language (a class
//! with a copy constructor, a slice of Rust) is not known, and neither is what comes after it.

use std::ops::ControlFlow;

use gimli::AttributeValue;

use super::debug_info::{check, DebugInfo, Die, Entry, Unit};
use super::types;

/// What passes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// An integer register.
    Integer {
        /// Bytes.
        size: u32,
        /// How it is written.
        form: Form,
    },
    /// A vector register or the x87 stack, and no integer register.
    Float,
    /// Memory, to which an integer register points when it is a result.
    Memory,
    /// Nobody knows.
    Unknown,
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A number that may be negative.
    Signed,
    /// A number that may not.
    Unsigned,
    Boolean,
    Address,
}

/// The parameters and the result of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    pub parameters: Vec<Value>,
    /// Whether more may follow.
    pub is_open: bool,
    /// The result, if there is one.
    pub result: Option<Value>,
}

/// What stands for an argument that is in no integer register, or for all that follow.
const HIDDEN: &str = "…";

impl Signature {
    /// The arguments of a call, from the integer registers at its beginning: `1, 0x4040c0, …`.
    pub fn arguments(&self, registers: &[u64]) -> String {
        // The first register says where a result in memory goes.
        let mut registers = match self.result {
            Some(Value::Memory) => registers.get(1..).unwrap_or_default(),
            Some(Value::Unknown) => &[],
            _ => registers,
        }
        .iter();
        let mut shown = Vec::new();
        for parameter in &self.parameters {
            shown.push(match parameter {
                Value::Integer { size, form } => registers.next().map(|value| written(*value, *size, *form)),
                Value::Float => Some(HIDDEN.to_string()),
                Value::Memory | Value::Unknown => None,
            });
        }
        let known = shown.iter().position(Option::is_none).unwrap_or(shown.len());
        let is_cut = known < shown.len() || self.is_open;
        let mut texts: Vec<_> = shown.into_iter().take(known).flatten().collect();
        texts.extend(is_cut.then(|| HIDDEN.to_string()));
        texts.join(", ")
    }

    /// The result, from the register rax at the return.
    pub fn returned(&self, rax: u64) -> Option<String> {
        match self.result? {
            Value::Integer { size, form } => Some(written(rax, size, form)),
            Value::Float | Value::Memory | Value::Unknown => None,
        }
    }
}

/// A value that fills the lower bytes of a register; the others may be anything.
fn written(register: u64, size: u32, form: Form) -> String {
    let unused = 64 - 8 * size.clamp(1, 8);
    let value = register << unused >> unused;
    match form {
        Form::Signed => ((register << unused) as i64 >> unused).to_string(),
        Form::Unsigned => value.to_string(),
        Form::Boolean => (value & 0xff != 0).to_string(),
        Form::Address => format!("{value:#x}"),
    }
}

/// The signature of the function that begins at an address.
pub(super) fn at(info: &DebugInfo, address: u64) -> Option<Signature> {
    info.refuel_for_all();
    let function = info.units().find_map(|(unit, root)| function_at(info, unit, root, address))?;
    of(info, function)
}

fn function_at(info: &DebugInfo, unit: &Unit, root: Die, address: u64) -> Option<Die> {
    let mut entries = unit.unit.entries_raw(None).ok()?;
    while !entries.is_empty() {
        let offset = entries.next_offset();
        let Some(abbreviation) = entries.read_abbreviation().ok()? else {
            continue;
        };
        check(abbreviation)?;
        if abbreviation.tag() != gimli::DW_TAG_subprogram {
            entries.skip_attributes(abbreviation.attributes()).ok()?;
            continue;
        }
        let mut start = None;
        for &specification in abbreviation.attributes() {
            let attribute = entries.read_attribute(specification).ok()?;
            if attribute.name() == gimli::DW_AT_low_pc {
                start = match attribute.value() {
                    AttributeValue::Addr(address) => Some(address),
                    AttributeValue::DebugAddrIndex(index) => info.address(unit, index.0 as u64),
                    _ => None,
                };
            }
        }
        if start == Some(address) {
            return Some(root.with(offset));
        }
    }
    None
}

fn of(info: &DebugInfo, function: Die) -> Option<Signature> {
    let convention = info.inherited(function, gimli::DW_AT_calling_convention).map(|(_, value)| value);
    // clang's word for a function that was fitted to its callers.
    if matches!(convention, Some(AttributeValue::CallingConvention(gimli::DW_CC_nocall))) {
        return Some(Signature { parameters: Vec::new(), is_open: true, result: Some(Value::Unknown) });
    }
    let mut signature = Signature { parameters: Vec::new(), is_open: false, result: result(info, function) };
    info.children(function, |child| {
        match child.tag {
            gimli::DW_TAG_formal_parameter => signature.parameters.push(parameter(info, &child)),
            gimli::DW_TAG_unspecified_parameters => signature.is_open = true,
            _ => {}
        }
        ControlFlow::Continue(())
    })?;
    Some(signature)
}

/// What a function returns; `None` for nothing.
fn result(info: &DebugInfo, function: Die) -> Option<Value> {
    let (entry, _) = info.inherited(function, gimli::DW_AT_type)?;
    let Some(kind) = info.refers(&entry, gimli::DW_AT_type) else {
        return Some(Value::Unknown);
    };
    Some(value(info, kind))
}

fn parameter(info: &DebugInfo, child: &Entry) -> Value {
    // gcc lists parameters of constructors that are not passed.
    if child.is(gimli::DW_AT_artificial) || info.inherited(child.die, gimli::DW_AT_artificial).is_some() {
        let name = info.inherited(child.die, gimli::DW_AT_name);
        let name = name.and_then(|(entry, name)| info.text(entry.die, &name));
        if name.as_deref() != Some("this") {
            return Value::Unknown;
        }
    }
    let kind = info.inherited(child.die, gimli::DW_AT_type);
    let kind = kind.and_then(|(entry, _)| info.refers(&entry, gimli::DW_AT_type));
    match kind.map(|kind| value(info, kind)) {
        // C has a large structure on the stack; others pass its address, which no one can tell from here.
        Some(Value::Memory) | None => Value::Unknown,
        Some(value) => value,
    }
}

/// The largest value that is returned in registers.
const REGISTER_PAIR: u64 = 16;

fn value(info: &DebugInfo, kind: Die) -> Value {
    let Some(entry) = types::plain(info, kind) else {
        return Value::Unknown;
    };
    let size = entry.number(gimli::DW_AT_byte_size);
    let form = match entry.tag {
        gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
            return Value::Integer { size: 8, form: Form::Address };
        }
        gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
            return match size {
                Some(size) if size > REGISTER_PAIR => Value::Memory,
                _ => Value::Unknown,
            };
        }
        gimli::DW_TAG_base_type => match encoding(&entry) {
            // long double and complex numbers are in memory as arguments, and in x87 registers as results.
            Some(gimli::DW_ATE_float) => return if size <= Some(8) { Value::Float } else { Value::Unknown },
            Some(gimli::DW_ATE_boolean) => Form::Boolean,
            Some(gimli::DW_ATE_signed | gimli::DW_ATE_signed_char) => Form::Signed,
            Some(gimli::DW_ATE_unsigned | gimli::DW_ATE_unsigned_char | gimli::DW_ATE_UTF) => Form::Unsigned,
            _ => return Value::Unknown,
        },
        gimli::DW_TAG_enumeration_type => match encoding(&entry).or_else(|| underlying(info, &entry)) {
            Some(gimli::DW_ATE_signed | gimli::DW_ATE_signed_char) => Form::Signed,
            _ => Form::Unsigned,
        },
        _ => return Value::Unknown,
    };
    match size {
        Some(size @ (1 | 2 | 4 | 8)) => Value::Integer { size: size as u32, form },
        _ => Value::Unknown,
    }
}

fn encoding(entry: &Entry) -> Option<gimli::DwAte> {
    match entry.get(gimli::DW_AT_encoding)? {
        AttributeValue::Encoding(encoding) => Some(*encoding),
        _ => None,
    }
}

fn underlying(info: &DebugInfo, entry: &Entry) -> Option<gimli::DwAte> {
    encoding(&types::plain(info, info.refers(entry, gimli::DW_AT_type)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT: Value = Value::Integer { size: 4, form: Form::Signed };
    const ADDRESS: Value = Value::Integer { size: 8, form: Form::Address };

    fn signature(parameters: &[Value], result: Option<Value>) -> Signature {
        Signature { parameters: parameters.to_vec(), is_open: false, result }
    }

    #[test]
    fn what_is_above_a_value_does_not_count() {
        assert_eq!(written(0xdead_beef_ffff_fffe, 4, Form::Signed), "-2");
        assert_eq!(written(0xdead_beef_ffff_fffe, 4, Form::Unsigned), "4294967294");
        assert_eq!(written(0xff00, 1, Form::Boolean), "false");
        assert_eq!(written(0xff01, 1, Form::Boolean), "true");
        assert_eq!(written(0x7fff_0000_1234, 8, Form::Address), "0x7fff00001234");
        assert_eq!(written(u64::MAX, 8, Form::Signed), "-1");
    }

    #[test]
    fn arguments_that_are_in_no_integer_register_take_none() {
        let registers = [1, 2, 3, 4, 5, 6];
        let shown = |parameters: &[Value], result| signature(parameters, result).arguments(&registers);
        assert_eq!(shown(&[INT, Value::Float, ADDRESS], None), "1, …, 0x2");
        assert_eq!(shown(&[INT, Value::Unknown, INT], Some(INT)), "1, …");
        assert_eq!(shown(&[INT; 7], None), "1, 2, 3, 4, 5, 6, …");
        assert_eq!(shown(&[], None), "");
        // The address of the result comes first.
        assert_eq!(shown(&[INT, INT], Some(Value::Memory)), "2, 3");
        assert_eq!(shown(&[INT, INT], Some(Value::Unknown)), "…");
        assert_eq!(shown(&[INT], Some(Value::Float)), "1");
    }

    #[test]
    fn only_integers_are_in_rax() {
        assert_eq!(signature(&[], Some(INT)).returned(7).as_deref(), Some("7"));
        for result in [None, Some(Value::Float), Some(Value::Memory), Some(Value::Unknown)] {
            assert_eq!(signature(&[], result).returned(7), None);
        }
    }
}
