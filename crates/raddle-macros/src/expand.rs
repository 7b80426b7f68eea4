//! What `#[raddle::test]` turns a function into.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{AttrStyle, Attribute, Error, Item, ItemFn, Path, Result, ReturnType, Signature};

use crate::options::Options;

/// The test, or the errors and the function as it was: without it, every use of it would be an error as well.
pub fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let test = Options::parse(arguments).and_then(|options| generate(options, function(item.clone())?));
    test.unwrap_or_else(|error| {
        let errors = error.into_compile_error();
        quote! { #errors #item }
    })
}

fn function(item: TokenStream) -> Result<ItemFn> {
    match syn::parse2(item)? {
        Item::Fn(function) => Ok(function),
        other => Err(Error::new_spanned(
            other,
            "#[raddle::test] turns a function into a test, but this is not a \
                                                function",
        )),
    }
}

/// The user's function stays as it is, inside of the test that checks it: that keeps its return type, whatever it is,
/// and the lines of its panics.
fn generate(options: Options, function: ItemFn) -> Result<TokenStream> {
    check_signature(&function.sig)?;
    check_attributes(&function.attrs)?;

    let ItemFn { attrs, vis, sig, block } = function;
    let (outer, inner): (Vec<_>, Vec<_>) =
        attrs.into_iter().partition(|attribute| matches!(attribute.style, AttrStyle::Outer));
    let body = ItemFn { attrs: inner, vis: syn::Visibility::Inherited, sig, block };
    let ident = &body.sig.ident;
    let name = ident.unraw().to_string();

    let Options { runs, policy, seed, max_steps, krate } = options;
    let krate: Path = krate.unwrap_or_else(|| syn::parse_quote!(::raddle));
    let runs = runs.map(|runs| quote! { .runs(#runs) });
    let policy = policy.map(|policy| quote! { .policy(#policy) });
    let seed = seed.map(|seed| quote! { .seed(#seed) });
    let max_steps = max_steps.map(|steps| quote! { .max_steps(#steps) });
    // A return type that is not an outcome is reported where it was written.
    let span = match &body.sig.output {
        ReturnType::Default => ident.span(),
        ReturnType::Type(_, output) => output.span(),
    };
    let run = quote_spanned! { span => .run(#ident) };

    Ok(quote! {
        #[::core::prelude::v1::test]
        #(#outer)*
        #vis fn #ident() {
            #body
            #krate::Check::new()
                .name(::core::concat!(::core::module_path!(), "::", #name))
                #runs #policy #seed #max_steps
                #run
        }
    })
}

fn check_signature(signature: &Signature) -> Result<()> {
    let Signature { asyncness, unsafety, abi, generics, inputs, variadic, .. } = signature;
    if let Some(asyncness) = asyncness {
        let text = "a raddle test cannot be async: make it a plain function that runs the future, with an executor \
                    that it starts and ends";
        return Err(Error::new_spanned(asyncness, text));
    }
    if let Some(unsafety) = unsafety {
        return Err(Error::new_spanned(unsafety, "a raddle test cannot be unsafe: write an unsafe block in it"));
    }
    if let Some(abi) = abi {
        return Err(Error::new_spanned(abi, "a raddle test is a Rust function: it has no other ABI"));
    }
    if !generics.params.is_empty() {
        return Err(Error::new_spanned(
            generics,
            "a raddle test cannot be generic: it has no caller that could choose \
                                                 the type",
        ));
    }
    if let Some(clause) = &generics.where_clause {
        return Err(Error::new_spanned(
            clause,
            "a raddle test cannot be generic: it has no caller that could choose the \
                                               type",
        ));
    }
    if !inputs.is_empty() || variadic.is_some() {
        return Err(Error::new_spanned(
            inputs,
            "a raddle test cannot take arguments: it has no caller that could pass \
                                               them",
        ));
    }
    Ok(())
}

/// Two test attributes would make two tests, one inside of the other.
fn check_attributes(attributes: &[Attribute]) -> Result<()> {
    let is_test = |attribute: &&Attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "test");
    match attributes.iter().find(is_test) {
        Some(second) => {
            Err(Error::new_spanned(second, "#[raddle::test] makes the test already: remove this attribute"))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> TokenStream {
        text.parse().expect("tokens")
    }

    /// A function as its tokens are printed after parsing, so that spaces do not matter.
    fn printed(function: TokenStream) -> String {
        let function: ItemFn = syn::parse2(function).expect("a function");
        quote! { #function }.to_string()
    }

    #[track_caller]
    fn assert_expands(arguments: &str, item: &str, expected: &str) {
        assert_eq!(printed(expand(tokens(arguments), tokens(item))), printed(tokens(expected)));
    }

    /// The error, which must be the only one, and must leave the function there.
    #[track_caller]
    fn error(item: &str) -> String {
        let error = function(tokens(item)).and_then(|function| generate(Options::default(), function)).unwrap_err();
        assert_eq!(error.clone().into_iter().count(), 1);
        let expansion = expand(TokenStream::new(), tokens(item)).to_string();
        assert!(expansion.contains("compile_error !"), "{expansion}");
        assert!(expansion.ends_with(&tokens(item).to_string()), "{expansion}");
        error.to_string()
    }

    #[test]
    fn a_plain_test() {
        assert_expands(
            "",
            "fn works() { assert!(true); }",
            r#"#[::core::prelude::v1::test]
            fn works() {
                fn works() { assert!(true); }
                ::raddle::Check::new().name(::core::concat!(::core::module_path!(), "::", "works")).run(works)
            }"#,
        );
    }

    #[test]
    fn options_attributes_and_a_result() {
        assert_expands(
            "crate = my::raddle, seed = 7, runs = 10_000, max_steps = 5, policy = \"random\"",
            "#[should_panic] #[ignore = \"slow\"] pub(crate) fn r#try() -> Result<(), E> { #![allow(dead_code)] Ok(()) }",
            r#"#[::core::prelude::v1::test]
            #[should_panic] #[ignore = "slow"]
            pub(crate) fn r#try() {
                fn r#try() -> Result<(), E> { #![allow(dead_code)] Ok(()) }
                my::raddle::Check::new().name(::core::concat!(::core::module_path!(), "::", "try"))
                    .runs(10_000).policy("random").seed(7).max_steps(5).run(r#try)
            }"#,
        );
    }

    #[test]
    fn functions_that_cannot_be_tests() {
        assert!(error("async fn f() {}").starts_with("a raddle test cannot be async"));
        assert!(error("unsafe fn f() {}").starts_with("a raddle test cannot be unsafe"));
        assert!(error("extern \"C\" fn f() {}").starts_with("a raddle test is a Rust function"));
        assert!(error("fn f<T>() {}").starts_with("a raddle test cannot be generic"));
        assert!(error("fn f() where u8: Copy {}").starts_with("a raddle test cannot be generic"));
        assert!(error("fn f(n: u8) {}").starts_with("a raddle test cannot take arguments"));
        assert!(error("struct S;").starts_with("#[raddle::test] turns a function into a test"));
    }

    #[test]
    fn a_second_test_attribute() {
        for attribute in ["#[test]", "#[tokio::test]", "#[raddle::test(runs = 5)]"] {
            let text = error(&format!("{attribute} fn f() {{}}"));
            assert_eq!(text, "#[raddle::test] makes the test already: remove this attribute");
        }
        let expansion = expand(TokenStream::new(), tokens("#[cfg(test)] fn f() {}")).to_string();
        assert!(!expansion.contains("compile_error"), "{expansion}");
    }

    #[test]
    fn wrong_options_leave_the_function() {
        let expansion = expand(tokens("runs = 0"), tokens("fn f() {}")).to_string();
        assert!(expansion.contains("`runs` wants a number"), "{expansion}");
        assert!(expansion.ends_with("fn f () { }"), "{expansion}");
    }
}
