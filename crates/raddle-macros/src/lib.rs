//! The attribute of the crate `raddle`. Depend on that one: its documentation says what the attribute does.

mod expand;
mod options;

use proc_macro::TokenStream;

/// `#[raddle::test]`: makes a test of a function, and its body the body of a check.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(arguments.into(), item.into()).into()
}
