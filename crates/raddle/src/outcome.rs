//! What the body of a check may return.

use std::fmt::Debug;

/// What the body of a check returns: nothing, or a `Result` whose error can be printed.
#[diagnostic::on_unimplemented(
    message = "a raddle test cannot return `{Self}`",
    label = "expected `()` or a `Result<(), E>` with `E: Debug`"
)]
pub trait Outcome {
    /// Why the run failed, if it did.
    fn failure(self) -> Option<String>;
}

impl Outcome for () {
    fn failure(self) -> Option<String> {
        None
    }
}

impl<T: Outcome, E: Debug> Outcome for Result<T, E> {
    fn failure(self) -> Option<String> {
        match self {
            Ok(outcome) => outcome.failure(),
            Err(error) => Some(format!("the test returned an error: {error:?}")),
        }
    }
}

impl Outcome for never::Never {
    fn failure(self) -> Option<String> {
        self
    }
}

/// A name for the type `!`. Rust 2024 gives it to a closure that ends in `panic!()`, and stable Rust cannot write it
/// where a type is expected, except as what a function pointer returns.
mod never {
    pub type Never = <fn() -> ! as Returns>::Type;

    pub trait Returns {
        type Type;
    }

    impl<T> Returns for fn() -> T {
        type Type = T;
    }
}

#[cfg(test)]
mod tests {
    use super::Outcome;

    #[test]
    fn only_errors_are_failures() {
        assert_eq!(().failure(), None);
        assert_eq!(Ok::<(), u8>(()).failure(), None);
        assert_eq!(Err::<(), _>("late").failure().unwrap(), "the test returned an error: \"late\"");
        assert_eq!(Ok::<_, u8>(Err::<(), u8>(3)).failure().unwrap(), "the test returned an error: 3");
    }
}
