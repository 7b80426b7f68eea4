//! `--sync-function NAME`: finds functions of the program by name.
//!
//! A name is the symbol itself (`_ZN4Bank7depositEi`), the function as a person writes it
//! (`Bank::deposit(int)`), or that without its parameters (`Bank::deposit`, all overloads).

use std::io;
use std::path::Path;

use object::{Object, ObjectSymbol, SymbolKind};
use raddle_inspect::names::{demangled, short, without_parameters};
use raddle_protocol::settings::SYNC_FUNCTIONS;

use crate::plan::suggest;

/// Functions whose calls are schedule points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncFunctions {
    /// As the user named them.
    pub names: Vec<String>,
    /// Where they are in the program's file.
    pub addresses: Vec<u64>,
    /// What is at each address, without parameters.
    pub readable: Vec<String>,
    /// Those whose symbols say that they are copies which a compiler has fitted to their callers.
    pub clones: Vec<u64>,
}

/// Why a function is not found.
#[derive(Debug, thiserror::Error)]
pub enum SyncFunctionError {
    /// The program's file cannot be read.
    #[error("the symbols of the program cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    /// A stripped program.
    #[error("--sync-function {0}: the program has no symbols; build it without -s and do not strip it")]
    Stripped(String),
    /// No function of that name.
    #[error("--sync-function {name}: the program has no function of that name{hint}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// What may have been meant.
        hint: String,
    },
    /// More functions than a block has room for.
    #[error("--sync-function: the names mean {count} functions, at most {SYNC_FUNCTIONS} are possible; give fewer")]
    TooMany {
        /// How many they mean.
        count: usize,
    },
}

/// A function of the program.
struct Function {
    symbol: String,
    readable: String,
    address: u64,
}

impl SyncFunctions {
    /// The function at an address, without its parameters.
    pub fn name(&self, address: u64) -> Option<&str> {
        let at = self.addresses.iter().position(|known| *known == address)?;
        Some(&self.readable[at])
    }

    /// Whether a compiler may have changed the parameters of the function at an address.
    pub fn is_clone(&self, address: u64) -> bool {
        self.clones.contains(&address)
    }

    /// Finds functions by name in a program's file.
    pub fn find(program: &Path, names: &[String]) -> Result<SyncFunctions, SyncFunctionError> {
        if names.is_empty() {
            return Ok(SyncFunctions::default());
        }
        let bytes = std::fs::read(program).map_err(SyncFunctionError::Unreadable)?;
        let file = object::File::parse(&*bytes).map_err(io::Error::other).map_err(SyncFunctionError::Unreadable)?;
        let symbols = file.symbols().chain(file.dynamic_symbols());
        let defined = symbols.filter(|s| s.is_definition() && s.kind() == SymbolKind::Text && s.address() != 0);
        let functions = defined.filter_map(|symbol| {
            let name = symbol.name().ok()?;
            let readable = demangled(name);
            Some(Function { symbol: name.to_string(), readable, address: symbol.address() })
        });
        among(&functions.collect::<Vec<_>>(), names)
    }
}

/// Where Rust's standard library starts to unwind, if the program has it.
pub fn panic(program: &Path) -> Option<u64> {
    let names = ["__rustc::rust_panic", "rust_panic"];
    let found = names.iter().find_map(|name| SyncFunctions::find(program, &[(*name).to_string()]).ok())?;
    found.addresses.first().copied()
}

fn among(functions: &[Function], names: &[String]) -> Result<SyncFunctions, SyncFunctionError> {
    let mut found = Vec::new();
    for name in names {
        if functions.is_empty() {
            return Err(SyncFunctionError::Stripped(name.clone()));
        }
        let meant = functions.iter().filter(|function| function.is_called(name));
        let before = found.len();
        found.extend(meant.map(|function| (function.address, without_parameters(&function.readable))));
        if found.len() == before {
            let known = functions.iter().map(|function| without_parameters(&function.readable));
            let nearest = suggest::nearest(name, known);
            let hint = nearest.map_or(String::new(), |nearest| format!("; did you mean `{nearest}`?"));
            return Err(SyncFunctionError::Unknown { name: name.clone(), hint });
        }
    }
    found.sort_unstable();
    found.dedup_by_key(|(address, _)| *address);
    if found.len() > SYNC_FUNCTIONS {
        return Err(SyncFunctionError::TooMany { count: found.len() });
    }
    let is_found = |address: &u64| found.iter().any(|(known, _)| known == address);
    let clones = functions.iter().filter(|function| is_clone(&function.symbol)).map(|function| function.address);
    let clones = clones.filter(is_found).collect();
    let (addresses, readable) = found.into_iter().map(|(address, name)| (address, name.to_string())).unzip();
    Ok(SyncFunctions { names: names.to_vec(), addresses, readable, clones })
}

/// gcc calls a copy of `f` that has lost parameters `f.isra.0` or `f.constprop.0`.
fn is_clone(symbol: &str) -> bool {
    [".isra.", ".constprop.", ".part.", ".cold"].iter().any(|part| symbol.contains(part))
}

impl Function {
    fn is_called(&self, name: &str) -> bool {
        let readable = &self.readable;
        name == self.symbol || name == readable || name == without_parameters(readable) || name == short(readable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Vec<Function> {
        let function = |symbol: &str, readable: &str, address| Function {
            symbol: symbol.into(),
            readable: readable.into(),
            address,
        };
        vec![
            function("main", "main", 0x10),
            function("_ZN4Bank7depositEi", "Bank::deposit(int)", 0x20),
            function("_ZN4Bank7depositEd", "Bank::deposit(double)", 0x30),
            function("_ZN4Bank5closeEi.isra.0", "Bank::close(int) [clone .isra.0]", 0x40),
        ]
    }

    #[test]
    fn a_c_function_is_not_a_type() {
        let functions = [Function { symbol: "w".into(), readable: demangled("w"), address: 0x50 }];
        assert!(among(&functions, &["wchar_t".to_string()]).is_err());
        assert_eq!(among(&functions, &["w".to_string()]).map(|found| found.readable).ok(), Some(vec!["w".to_string()]));
    }

    fn find(names: &[&str]) -> Result<Vec<u64>, String> {
        let names: Vec<_> = names.iter().map(|name| (*name).to_string()).collect();
        among(&program(), &names).map(|found| found.addresses).map_err(|error| error.to_string())
    }

    #[test]
    fn finds_symbols_functions_and_overloads() {
        assert_eq!(find(&["_ZN4Bank7depositEi"]), Ok(vec![0x20]));
        assert_eq!(find(&["Bank::deposit(double)"]), Ok(vec![0x30]));
        assert_eq!(find(&["Bank::deposit", "main", "main"]), Ok(vec![0x10, 0x20, 0x30]));
    }

    #[test]
    fn copies_that_were_fitted_are_known() {
        let found = among(&program(), &["Bank::close".into(), "Bank::deposit".into()]).expect("found");
        assert_eq!((found.name(0x20), found.name(0x50)), (Some("Bank::deposit"), None));
        assert!(found.is_clone(0x40) && !found.is_clone(0x20));
    }

    #[test]
    fn suggests_what_may_have_been_meant() {
        assert_eq!(
            find(&["Bank::depost"]),
            Err("--sync-function Bank::depost: the program has no function of that name; \
                 did you mean `Bank::deposit`?"
                .to_string())
        );
        assert!(among(&[], &["f".into()]).expect_err("stripped").to_string().contains("has no symbols"));
    }

    #[test]
    fn reads_this_very_program() {
        let this = std::env::current_exe().expect("a path");
        let found = SyncFunctions::find(&this, &["main".to_string()]).expect("has a main");
        assert_eq!(found.addresses.len(), 1);
    }
}
