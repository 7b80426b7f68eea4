//! What is between the parentheses of `#[raddle::test(…)]`.

use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, ExprLit, ExprPath, Lit, LitInt, LitStr, Path, Result, Token};

/// The options of a test. Literals are kept as they were written, so that errors point at them.
#[derive(Default)]
pub struct Options {
    pub runs: Option<LitInt>,
    pub policy: Option<LitStr>,
    pub seed: Option<LitInt>,
    pub max_steps: Option<LitInt>,
    /// The path of the crate `raddle`.
    pub krate: Option<Path>,
}

impl Options {
    /// Reads the options, and finds all errors in them.
    pub fn parse(arguments: TokenStream) -> Result<Options> {
        let settings = Punctuated::<Setting, Token![,]>::parse_terminated.parse2(arguments)?;
        let mut options = Options::default();
        let mut errors: Option<Error> = None;
        for setting in settings {
            if let Err(error) = options.take(setting) {
                match &mut errors {
                    Some(errors) => errors.combine(error),
                    None => errors = Some(error),
                }
            }
        }
        errors.map_or(Ok(options), Err)
    }

    fn take(&mut self, Setting { key, value }: Setting) -> Result<()> {
        match key.to_string().as_str() {
            "runs" => once(&mut self.runs, &key, number(&key, value, 1)?),
            "policy" => once(&mut self.policy, &key, text(&key, value)?),
            "seed" => once(&mut self.seed, &key, number(&key, value, 0)?),
            "max_steps" => once(&mut self.max_steps, &key, number(&key, value, 1)?),
            "crate" => once(&mut self.krate, &key, path(&key, value)?),
            _ => {
                let known = "`runs`, `policy`, `seed`, `max_steps` and `crate`";
                Err(Error::new_spanned(&key, format!("unknown option `{key}`: #[raddle::test] knows {known}")))
            }
        }
    }
}

/// `key = value`, with any expression for a value.
struct Setting {
    key: Ident,
    value: Expr,
}

impl Parse for Setting {
    fn parse(input: ParseStream<'_>) -> Result<Setting> {
        // `crate` is a keyword.
        let key = Ident::parse_any(input)
            .map_err(|error| Error::new(error.span(), "expected an option, such as `runs = 10_000`"))?;
        if !input.peek(Token![=]) {
            return Err(Error::new_spanned(&key, format!("expected a value: `{key} = …`")));
        }
        input.parse::<Token![=]>()?;
        Ok(Setting { key, value: input.parse()? })
    }
}

fn once<T>(place: &mut Option<T>, key: &Ident, value: T) -> Result<()> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Error::new_spanned(key, format!("`{key}` is given twice"))),
    }
}

fn number(key: &Ident, value: Expr, least: u64) -> Result<LitInt> {
    let wrong = format!("`{key}` wants a number from {least} to {}, such as `{key} = 1_000`", u64::MAX);
    match value {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. })
            if matches!(number.suffix(), "" | "u64") && number.base10_parse::<u64>().is_ok_and(|n| n >= least) =>
        {
            Ok(number)
        }
        other => Err(Error::new_spanned(other, wrong)),
    }
}

fn text(key: &Ident, value: Expr) -> Result<LitStr> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if !text.value().is_empty() => Ok(text),
        other => Err(Error::new_spanned(other, format!("`{key}` wants a string, such as `{key} = \"pct:d=3\"`"))),
    }
}

fn path(key: &Ident, value: Expr) -> Result<Path> {
    match value {
        Expr::Path(ExprPath { path, qself: None, .. }) => Ok(path),
        other => Err(Error::new_spanned(other, format!("`{key}` wants a path, such as `{key} = my_raddle`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    fn parse(text: &str) -> Result<Options, Vec<String>> {
        let errors = |error: syn::Error| error.into_iter().map(|error| error.to_string()).collect();
        Options::parse(text.parse().expect("tokens")).map_err(errors)
    }

    fn error(text: &str) -> String {
        let errors = parse(text).err().unwrap_or_else(|| panic!("{text} is accepted"));
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors.into_iter().next().unwrap()
    }

    #[test]
    fn all_options() {
        let options =
            parse("runs = 10_000, policy = \"pct:d=3\", seed = 0x7, max_steps = 1000u64, crate = a::b,").unwrap();
        assert_eq!(options.runs.unwrap().base10_digits(), "10000");
        assert_eq!(options.policy.unwrap().value(), "pct:d=3");
        assert_eq!(options.seed.unwrap().base10_digits(), "7");
        assert_eq!(options.max_steps.unwrap().base10_digits(), "1000");
        assert_eq!(options.krate.unwrap().segments.len(), 2);
        assert!(parse("").unwrap().runs.is_none());
        assert!(parse("seed = 0, crate = crate").is_ok());
    }

    #[test]
    fn wrong_keys() {
        assert_eq!(
            error("run = 5"),
            "unknown option `run`: #[raddle::test] knows `runs`, `policy`, `seed`, `max_steps` and `crate`"
        );
        assert_eq!(error("runs = 5, seed = 1, runs = 6"), "`runs` is given twice");
        assert_eq!(error("runs"), "expected a value: `runs = …`");
        assert_eq!(error("runs(5)"), "expected a value: `runs = …`");
        assert_eq!(error("5"), "expected an option, such as `runs = 10_000`");
    }

    #[test]
    fn wrong_values() {
        let range = "`runs` wants a number from 1 to 18446744073709551615, such as `runs = 1_000`";
        for value in ["0", "-1", "1.5", "\"5\"", "MANY", "5u8", "18446744073709551616", "true"] {
            assert_eq!(error(&format!("runs = {value}")), range, "{value}");
        }
        assert!(error("seed = -1").starts_with("`seed` wants a number from 0 to"));
        assert!(error("max_steps = 0").starts_with("`max_steps` wants a number from 1 to"));
        for value in ["pct", "3", "\"\"", "b\"pct\""] {
            assert_eq!(error(&format!("policy = {value}")), "`policy` wants a string, such as `policy = \"pct:d=3\"`");
        }
        assert_eq!(error("crate = \"raddle\""), "`crate` wants a path, such as `crate = my_raddle`");
    }

    #[test]
    fn all_errors_at_once() {
        let errors = parse("run = 5, seed = \"x\", policy = 1").err().unwrap();
        assert_eq!(errors.len(), 3);
    }
}
