//! The name of a variable, and where it is declared.

use super::debug_info::{number, DebugInfo, Die};
use super::index::{self, Index, Stored};
use super::line_files;
use crate::names::{demangled, ANONYMOUS};

/// The name of a variable.
pub(super) struct Named {
    pub(super) name: String,
    /// The function whose static variable it is.
    pub(super) function: Option<Function>,
}

/// The function that a static variable is in.
pub(super) enum Function {
    Named(String),
    /// clang forgets the name of a function that was inlined everywhere.
    Unnamed,
}

/// The name of a variable, if it has one.
pub(super) fn of(info: &DebugInfo, index: &Index, stored: &Stored) -> Option<Named> {
    let name = text(info, stored.die, gimli::DW_AT_name);
    if let Some(function) = index.scopes(stored).find(|scope| scope.is_function) {
        let function = full_name(info, function.die).or_else(|| text(info, function.die, gimli::DW_AT_name));
        return Some(Named { name: name?, function: Some(function.map_or(Function::Unnamed, Function::Named)) });
    }
    let name = full_name(info, stored.die).or_else(|| qualified(info, index, stored, name?));
    Some(Named { name: name?, function: None })
}

/// The function in the symbol of a static variable: `function()::name` in C++, `function.name` in
/// clang's C.
pub(super) fn function_of_symbol<'a>(symbol: &'a str, name: &str) -> Option<&'a str> {
    let rest = symbol.strip_suffix(name)?;
    rest.strip_suffix("::").or_else(|| rest.strip_suffix('.')).filter(|function| !function.is_empty())
}

/// A name with those of the scopes around it: of the declaration, if there is one apart from the
/// definition. gcc writes no mangled names of variables that the linker is not told of.
fn qualified(info: &DebugInfo, index: &Index, stored: &Stored, mut name: String) -> Option<String> {
    let (declaration, _) = info.inherited(stored.die, gimli::DW_AT_name)?;
    let scopes: Vec<Die> = match declaration.die == stored.die {
        true => index.scopes(stored).map(|scope| scope.die).collect(),
        false => index::scopes_around(info, declaration.die)?,
    };
    for scope in scopes {
        let outer = text(info, scope, gimli::DW_AT_name);
        name = format!("{}::{name}", outer.as_deref().unwrap_or(ANONYMOUS));
    }
    Some(name)
}

/// The file and the line of a variable's declaration.
pub(super) fn declared(info: &DebugInfo, variable: Die) -> Option<(String, u32)> {
    let (_, line) = info.inherited(variable, gimli::DW_AT_decl_line)?;
    let line = u32::try_from(number(&line)?).ok().filter(|line| *line > 0)?;
    let (entry, file) = info.inherited(variable, gimli::DW_AT_decl_file)?;
    let (home, dwarf) = info.home(entry.die);
    Some((line_files::name(dwarf, home, number(&file)?)?, line))
}

/// The demangled name that the linker knows something by, if that is a mangled one.
fn full_name(info: &DebugInfo, die: Die) -> Option<String> {
    let mangled = text(info, die, gimli::DW_AT_linkage_name)
        .or_else(|| text(info, die, gimli::DW_AT_MIPS_linkage_name))
        .filter(|name| name.starts_with("_Z") || name.starts_with("_R"))?;
    let name = demangled(&mangled);
    (name != mangled).then_some(name)
}

fn text(info: &DebugInfo, die: Die, name: gimli::DwAt) -> Option<String> {
    let (entry, value) = info.inherited(die, name)?;
    info.text(entry.die, &value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_symbols() {
        assert_eq!(function_of_symbol("Method::run()::runs", "runs"), Some("Method::run()"));
        assert_eq!(function_of_symbol("step.calls", "calls"), Some("step"));
        assert_eq!(function_of_symbol("calls.0", "calls"), None);
        assert_eq!(function_of_symbol("calls", "calls"), None);
    }
}
