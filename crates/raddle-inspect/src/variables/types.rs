//! Sizes of types, and the way to a byte inside of one.

use std::ops::ControlFlow;

use gimli::AttributeValue;

use super::debug_info::{DebugInfo, Die, Entry};
use super::storage::{self, Operation};

/// How many types may be inside of each other, qualifiers and typedefs included.
const DEPTH: usize = 64;

/// The most dimensions of an array.
const DIMENSIONS: usize = 16;

/// The most bit-fields of one byte that are named.
const BIT_FIELDS: usize = 8;

/// Rust's types around one value, whose member says nothing.
const WRAPPERS: &[&str] = &["UnsafeCell<", "SyncUnsafeCell<", "Cell<", "MaybeUninit<", "ManuallyDrop<"];

/// Rust's atomic types, which have no parts to speak of.
const RUST_ATOMICS: &[&str] = &[
    "AtomicBool",
    "AtomicI8",
    "AtomicI16",
    "AtomicI32",
    "AtomicI64",
    "AtomicI128",
    "AtomicIsize",
    "AtomicU8",
    "AtomicU16",
    "AtomicU32",
    "AtomicU64",
    "AtomicU128",
    "AtomicUsize",
];

/// The size of a variable, if its type tells.
pub(super) fn size_of_variable(info: &DebugInfo, variable: Die) -> Option<u64> {
    let (entry, _) = info.inherited(variable, gimli::DW_AT_type)?;
    size(info, info.refers(&entry, gimli::DW_AT_type)?)
}

/// A type without its qualifiers and other names.
pub(super) fn plain(info: &DebugInfo, mut die: Die) -> Option<Entry> {
    for _ in 0..DEPTH {
        let entry = info.entry(die)?;
        die = match info.refers(&entry, gimli::DW_AT_signature) {
            Some(definition) => definition,
            None if matches!(kind(&entry), Kind::Same) => info.refers(&entry, gimli::DW_AT_type)?,
            None => return Some(entry),
        };
    }
    None
}

/// The size of a type.
fn size(info: &DebugInfo, mut die: Die) -> Option<u64> {
    let mut factor: u64 = 1;
    for _ in 0..DEPTH {
        let entry = info.entry(die)?;
        if let Some(size) = entry.number(gimli::DW_AT_byte_size) {
            return size.checked_mul(factor);
        }
        die = match kind(&entry) {
            Kind::Same => info.refers(&entry, gimli::DW_AT_type)?,
            Kind::Array => {
                for count in dimensions(info, die)? {
                    factor = factor.checked_mul(count?)?;
                }
                info.refers(&entry, gimli::DW_AT_type)?
            }
            Kind::Pointer => {
                let (home, _) = info.home(die);
                return u64::from(home.unit.header.address_size()).checked_mul(factor);
            }
            // A declaration of what a type unit defines.
            Kind::Members | Kind::Other => info.refers(&entry, gimli::DW_AT_signature)?,
        };
    }
    None
}

/// The way to a byte of a variable, such as `.head` or `[3].next`; empty if there is none.
pub(super) fn way(info: &DebugInfo, variable: Die, offset: u64) -> String {
    let mut way = String::new();
    // What was found until the types could not be read any more is still right.
    let _ = find(info, variable, offset, &mut way);
    way
}

fn find(info: &DebugInfo, variable: Die, mut offset: u64, way: &mut String) -> Option<()> {
    let (entry, _) = info.inherited(variable, gimli::DW_AT_type)?;
    let mut die = info.refers(&entry, gimli::DW_AT_type)?;
    for _ in 0..DEPTH {
        let entry = info.entry(die)?;
        if let Some(definition) = info.refers(&entry, gimli::DW_AT_signature) {
            die = definition;
            continue;
        }
        die = match kind(&entry) {
            Kind::Same => info.refers(&entry, gimli::DW_AT_type)?,
            Kind::Array => {
                let element = info.refers(&entry, gimli::DW_AT_type)?;
                let size = size(info, element).filter(|size| *size > 0)?;
                way.push_str(&subscripts(&dimensions(info, die)?, offset / size)?);
                offset %= size;
                element
            }
            Kind::Members => {
                let (home, _) = info.home(die);
                let name = entry.get(gimli::DW_AT_name).and_then(|name| info.text(die, name)).unwrap_or_default();
                if is_atomic(&name, home.is_rust) {
                    return Some(());
                }
                let is_wrapper = home.is_rust && WRAPPERS.iter().any(|wrapper| name.starts_with(wrapper));
                let member = member(info, die, offset)?;
                if let Some(label) = member.label(home.is_rust).filter(|_| !is_wrapper) {
                    way.push('.');
                    way.push_str(&label);
                }
                if member.bits.is_some() {
                    return Some(());
                }
                offset -= member.offset;
                member.kind?
            }
            Kind::Pointer | Kind::Other => return Some(()),
        };
    }
    None
}

fn is_atomic(name: &str, is_rust: bool) -> bool {
    if is_rust {
        RUST_ATOMICS.contains(&name) || name.starts_with("Atomic<") || name.starts_with("AtomicPtr<")
    } else {
        name.starts_with("atomic<") || name.starts_with("__atomic_base<") || name == "atomic_flag"
    }
}

/// What a type is, as far as it matters.
enum Kind {
    /// The same as another type: a typedef, or a qualifier.
    Same,
    Array,
    Members,
    Pointer,
    Other,
}

fn kind(entry: &Entry) -> Kind {
    match entry.tag {
        gimli::DW_TAG_typedef
        | gimli::DW_TAG_const_type
        | gimli::DW_TAG_volatile_type
        | gimli::DW_TAG_atomic_type
        | gimli::DW_TAG_restrict_type
        | gimli::DW_TAG_immutable_type
        | gimli::DW_TAG_packed_type
        | gimli::DW_TAG_shared_type => Kind::Same,
        gimli::DW_TAG_array_type => Kind::Array,
        gimli::DW_TAG_structure_type
        | gimli::DW_TAG_class_type
        | gimli::DW_TAG_union_type
        | gimli::DW_TAG_interface_type => Kind::Members,
        gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
            Kind::Pointer
        }
        _ => Kind::Other,
    }
}

/// The dimensions of an array; one that is not known is `None`.
fn dimensions(info: &DebugInfo, array: Die) -> Option<Vec<Option<u64>>> {
    let mut counts = Vec::new();
    info.children(array, |child| {
        if child.tag == gimli::DW_TAG_subrange_type {
            // The lower bound of C, C++ and Rust is 0, and not written down.
            let upper =
                |value: u64| value.checked_sub(child.number(gimli::DW_AT_lower_bound).unwrap_or(0))?.checked_add(1);
            counts.push(child.number(gimli::DW_AT_count).or_else(|| upper(child.number(gimli::DW_AT_upper_bound)?)));
        }
        match counts.len() < DIMENSIONS {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })?;
    Some(counts)
}

/// The subscripts of an element; the first of them may have any value if its bound is not known.
fn subscripts(counts: &[Option<u64>], mut element: u64) -> Option<String> {
    let (first, inner) = counts.split_first()?;
    let mut text = String::new();
    for count in inner.iter().rev() {
        let count = count.filter(|count| *count > 0)?;
        text = format!("[{}]{text}", element % count);
        element /= count;
    }
    if first.is_some_and(|count| element >= count) {
        return None;
    }
    Some(format!("[{element}]{text}"))
}

/// A member of a structure, class or union; a base class has no name.
struct Member {
    names: Vec<String>,
    offset: u64,
    /// For a bit-field, its first and last byte.
    bits: Option<(u64, u64)>,
    kind: Option<Die>,
}

impl Member {
    fn label(&self, is_rust: bool) -> Option<String> {
        match &self.names[..] {
            [] => None,
            // The fields of Rust's tuples.
            [name] if is_rust => Some(name.strip_prefix("__").filter(|rest| is_number(rest)).unwrap_or(name).into()),
            [name] => Some(name.clone()),
            names => Some(format!("{{{}}}", names.join(","))),
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The first member that has a byte. Of bit-fields, all that share the byte: nothing tells which
/// of them was meant.
fn member(info: &DebugInfo, die: Die, offset: u64) -> Option<Member> {
    let mut found: Option<Member> = None;
    // A member of unknown size, such as an array at the end of a structure, has what is left.
    let mut open: Option<Member> = None;
    info.children(die, |child| {
        let Some(candidate) = placed(info, &child) else {
            return ControlFlow::Continue(());
        };
        let has_byte = match (candidate.bits, candidate.kind.and_then(|kind| size(info, kind))) {
            (Some((first, last)), _) => first <= offset && offset <= last,
            (None, Some(size)) => offset.checked_sub(candidate.offset).is_some_and(|into| into < size),
            (None, None) => {
                if candidate.offset <= offset {
                    open = Some(candidate);
                }
                return ControlFlow::Continue(());
            }
        };
        match &mut found {
            _ if !has_byte => ControlFlow::Continue(()),
            Some(first) if candidate.bits.is_some() && first.names.len() < BIT_FIELDS => {
                first.names.extend(candidate.names);
                ControlFlow::Continue(())
            }
            Some(_) => ControlFlow::Break(()),
            None => {
                let is_bit_field = candidate.bits.is_some();
                found = Some(candidate);
                if is_bit_field {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            }
        }
    })?;
    found.or(open)
}

/// A child of a structure that takes up space in it, and where.
fn placed(info: &DebugInfo, child: &Entry) -> Option<Member> {
    let is_member = matches!(child.tag, gimli::DW_TAG_member | gimli::DW_TAG_inheritance);
    let is_static = child.is(gimli::DW_AT_external) || child.is(gimli::DW_AT_declaration);
    if !is_member || is_static {
        return None;
    }
    let offset = match child.get(gimli::DW_AT_data_member_location) {
        // Members of unions, and those whose place is told in bits.
        None => 0,
        Some(AttributeValue::Exprloc(expression)) => {
            match storage::operations(expression).as_deref() {
                Some(&[Operation::Plus(offset)]) => offset,
                // A virtual base class is wherever the object's own table says.
                _ => return None,
            }
        }
        Some(_) => child.number(gimli::DW_AT_data_member_location)?,
    };
    let kind = info.refers(child, gimli::DW_AT_type);
    let bits = match child.number(gimli::DW_AT_bit_size) {
        None => None,
        Some(size) => Some(bit_field(info, child, offset, size, kind)?),
    };
    let name = child.get(gimli::DW_AT_name).filter(|_| child.tag == gimli::DW_TAG_member);
    let names = name.and_then(|name| info.text(child.die, name)).into_iter().collect();
    Some(Member { names, offset, bits, kind })
}

/// The first and the last byte of a bit-field.
fn bit_field(info: &DebugInfo, child: &Entry, offset: u64, size_in_bits: u64, kind: Option<Die>) -> Option<(u64, u64)> {
    let start = offset.checked_mul(8)?;
    let first = match (child.number(gimli::DW_AT_data_bit_offset), child.number(gimli::DW_AT_bit_offset)) {
        (Some(bits), _) => start.checked_add(bits)?,
        // Until DWARF 3, and in gcc's DWARF 4, counted from the most significant bit of the storage.
        (None, Some(bits)) => {
            let storage = child.number(gimli::DW_AT_byte_size).or_else(|| size(info, kind?))?;
            start.checked_add(storage.checked_mul(8)?)?.checked_sub(bits.checked_add(size_in_bits)?)?
        }
        (None, None) => start,
    };
    let last = first.checked_add(size_in_bits.checked_sub(1)?)?;
    Some((first / 8, last / 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscripts_of_an_element() {
        assert_eq!(subscripts(&[Some(4)], 3).as_deref(), Some("[3]"));
        assert_eq!(subscripts(&[Some(4)], 4), None);
        assert_eq!(subscripts(&[Some(2), Some(3), Some(5)], 29).as_deref(), Some("[1][2][4]"));
        assert_eq!(subscripts(&[None], 100).as_deref(), Some("[100]"));
        assert_eq!(subscripts(&[Some(2), None], 1), None);
        assert_eq!(subscripts(&[Some(2), Some(0)], 1), None);
        assert_eq!(subscripts(&[], 0), None);
    }

    #[test]
    fn atomic_types() {
        assert!(is_atomic("AtomicBool", true));
        assert!(is_atomic("AtomicPtr<u8>", true));
        assert!(is_atomic("atomic<int>", false));
        assert!(!is_atomic("AtomicQueue", true));
        assert!(!is_atomic("AtomicBool", false));
    }
}
