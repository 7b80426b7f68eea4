//! Which variables have an address, and where.

use std::ops::Range;

use gimli::AttributeValue;

use super::debug_info::{check, DebugInfo, Die, Unit};
use super::storage::{self, Bytes};
use super::{covering, types, Span};

/// Bytes of a variable, at an address.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) start: u64,
    /// How many bytes are there; 0 if that is not known.
    size: u64,
    /// How many bytes of the variable come before these.
    pub(super) bias: u64,
    /// The size of the whole variable; 0 if it is not known.
    pub(super) whole: u64,
    pub(super) die: Die,
    /// The innermost scope around it, in [`Index::scopes`].
    scope: Option<usize>,
}

impl Span for Stored {
    fn start(&self) -> u64 {
        self.start
    }

    fn end(&self) -> u64 {
        self.start.saturating_add(self.size)
    }
}

/// An entry that gives a variable inside of it a longer name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope {
    pub(super) die: Die,
    pub(super) is_function: bool,
    parent: Option<usize>,
}

/// All variables with an address.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Sorted by their start.
    stored: Vec<Stored>,
    scopes: Vec<Scope>,
}

/// How many scopes may be inside of each other; names leave out deeper ones.
const SCOPES: usize = 64;

/// A scope that the walk is in.
struct Open {
    depth: isize,
    die: Die,
    is_function: bool,
    /// Its index in [`Index::scopes`], once there was a variable in it.
    known: Option<usize>,
}

impl Index {
    /// Walks through all units, and keeps what lies in one of the sections that hold data: a linker
    /// that drops a variable leaves its entry, with an address that means nothing.
    pub(super) fn new(info: &DebugInfo, sections: &[Range<u64>]) -> Index {
        let mut index = Index::default();
        info.refuel_for_all();
        for (unit, root) in info.units() {
            // A damaged unit ends where it is damaged.
            let _ = index.add_unit(info, unit, root);
        }
        let inside =
            |stored: &Stored| covering(sections, stored.start).is_some_and(|section| stored.end() <= section.end);
        index.stored.retain(inside);
        index.stored.sort_by_key(|stored| (stored.start, stored.size, stored.bias));
        // The same inline variable or template is described in every unit that uses it.
        index.stored.dedup_by_key(|stored| (stored.start, stored.size, stored.bias));
        index
    }

    /// The variable that has an address.
    pub(super) fn covering(&self, address: u64) -> Option<&Stored> {
        covering(&self.stored, address)
    }

    /// The variable that begins at an address, whatever its size.
    pub(super) fn starting_at(&self, address: u64) -> Option<&Stored> {
        let first = self.stored.partition_point(|stored| stored.start < address);
        self.stored.get(first).filter(|stored| stored.start == address && stored.bias == 0)
    }

    /// The scopes around a variable, the innermost first.
    pub(super) fn scopes(&self, stored: &Stored) -> impl Iterator<Item = Scope> + '_ {
        let scope = |index: Option<usize>| index.map(|index| self.scopes[index]);
        std::iter::successors(scope(stored.scope), move |inner| scope(inner.parent))
    }

    fn add_unit(&mut self, info: &DebugInfo, unit: &Unit, root: Die) -> Option<()> {
        let mut entries = unit.unit.entries_raw(None).ok()?;
        let mut open: Vec<Open> = Vec::new();
        while !entries.is_empty() {
            let (offset, depth) = (entries.next_offset(), entries.next_depth());
            let Some(abbreviation) = entries.read_abbreviation().ok()? else {
                continue;
            };
            check(abbreviation)?;
            while open.last().is_some_and(|scope| scope.depth >= depth) {
                open.pop();
            }
            if abbreviation.tag() != gimli::DW_TAG_variable {
                entries.skip_attributes(abbreviation.attributes()).ok()?;
                let is_scope = abbreviation.has_children() && open.len() < SCOPES;
                if let Some(is_function) = scope_kind(abbreviation.tag()).filter(|_| is_scope) {
                    open.push(Open { depth, die: root.with(offset), is_function, known: None });
                }
                continue;
            }
            let mut location = None;
            for &specification in abbreviation.attributes() {
                let attribute = entries.read_attribute(specification).ok()?;
                if attribute.name() == gimli::DW_AT_location {
                    location = Some(attribute.value());
                }
            }
            if let Some(AttributeValue::Exprloc(expression)) = location {
                let operations = storage::operations(&expression).unwrap_or_default();
                let bytes = storage::bytes(&operations, |index| info.address(unit, index));
                self.add_variable(info, root.with(offset), &bytes, &mut open);
            }
        }
        Some(())
    }

    fn add_variable(&mut self, info: &DebugInfo, die: Die, bytes: &[Bytes], open: &mut [Open]) {
        if bytes.is_empty() {
            return;
        }
        let in_function = open.iter().any(|scope| scope.is_function);
        let size = types::size_of_variable(info, die).unwrap_or(0);
        let scope = self.scope(open);
        // Inside a function, what is computed from memory is an ordinary local variable.
        for bytes in bytes.iter().filter(|bytes| !bytes.computed || !in_function) {
            let whole = if bytes.computed { bytes.size.unwrap_or(size) } else { size };
            let size = bytes.size.unwrap_or(size);
            self.stored.push(Stored { start: bytes.start, size, bias: bytes.bias, whole, die, scope });
        }
    }

    /// Keeps the scopes that the walk is in, each once, and returns the innermost.
    fn scope(&mut self, open: &mut [Open]) -> Option<usize> {
        let known = open.iter().rposition(|scope| scope.known.is_some());
        let mut parent = known.and_then(|known| open[known].known);
        for scope in &mut open[known.map_or(0, |known| known + 1)..] {
            self.scopes.push(Scope { die: scope.die, is_function: scope.is_function, parent });
            parent = Some(self.scopes.len() - 1);
            scope.known = parent;
        }
        parent
    }
}

/// Whether an entry is a scope, and if so whether it is a function.
fn scope_kind(tag: gimli::DwTag) -> Option<bool> {
    match tag {
        gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine => Some(true),
        gimli::DW_TAG_namespace
        | gimli::DW_TAG_module
        | gimli::DW_TAG_structure_type
        | gimli::DW_TAG_class_type
        | gimli::DW_TAG_union_type => Some(false),
        _ => None,
    }
}

/// The namespaces and types around an entry, the innermost first.
pub(super) fn scopes_around(info: &DebugInfo, die: Die) -> Option<Vec<Die>> {
    let (home, _) = info.home(die);
    let mut entries = home.unit.entries_raw(None).ok()?;
    let mut open: Vec<(isize, Die)> = Vec::new();
    while !entries.is_empty() {
        let (here, depth) = (die.with(entries.next_offset()), entries.next_depth());
        let Some(abbreviation) = entries.read_abbreviation().ok()? else {
            continue;
        };
        check(abbreviation)?;
        entries.skip_attributes(abbreviation.attributes()).ok()?;
        while open.last().is_some_and(|(outer, _)| *outer >= depth) {
            open.pop();
        }
        if here == die {
            return Some(open.into_iter().rev().map(|(_, scope)| scope).collect());
        }
        let is_scope = abbreviation.has_children() && open.len() < SCOPES;
        if is_scope && scope_kind(abbreviation.tag()) == Some(false) {
            open.push((depth, here));
        }
    }
    None
}
