//! One iteration under control: the body's failure as text, with the place of a panic.
//!
//! A caught panic is a payload and nothing else: only the panic hook learns the location. The hook here remembers it
//! for the thread that runs a body and always goes on to the hook that was there, so panics are printed as usual and
//! the user's hooks work. A hook that is set later and does not call this one costs the location, not the message.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;
use std::thread;

thread_local! {
    /// Whether this thread is running a body. Threads that the body makes are not: the thread that joins them decides
    /// what their panics mean.
    static IN_BODY: Cell<bool> = const { Cell::new(false) };
    /// The last panic in a body of this thread.
    static LAST: RefCell<Option<Seen>> = const { RefCell::new(None) };
}

/// A panic as the hook saw it.
struct Seen {
    message: String,
    location: String,
}

/// Sets the hook, once per process. It stays: taking it away again while other threads panic and set hooks of their own
/// could take away theirs.
pub(crate) fn watch_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            remember(info);
            previous(info);
        }));
    });
}

fn remember(info: &PanicHookInfo<'_>) {
    if !IN_BODY.get() {
        return;
    }
    let Some(location) = info.location() else { return };
    let seen = Seen { message: message(info.payload()).to_owned(), location: location.to_string() };
    LAST.set(Some(seen));
}

/// Runs a body and says why it failed, if it did. It does not unwind.
pub(crate) fn run(body: &dyn Fn() -> Option<String>) -> Option<String> {
    spend_token();
    IN_BODY.set(true);
    // What the body shares with other iterations is its own affair: after a failure there is no next iteration.
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    IN_BODY.set(false);
    match result {
        Ok(failure) => failure,
        Err(payload) => Some(panicked(&*payload, LAST.take())),
    }
}

/// Takes back what another thread may have given to this one in the iteration before, when it was about to park and
/// then did not have to: the channels of the standard library do that. Makes no system call.
fn spend_token() {
    thread::current().unpark();
    thread::park();
}

/// The text of a panic. The hook may have seen another one last: `resume_unwind` does not call it.
fn panicked(payload: &(dyn Any + Send), seen: Option<Seen>) -> String {
    let message = message(payload);
    match seen.filter(|seen| seen.message == message) {
        Some(seen) => format!("the test panicked at {}: {message}", seen.location),
        None => format!("the test panicked: {message}"),
    }
}

/// A panic's message, by the same rule as the standard library's.
fn message(payload: &(dyn Any + Send)) -> &str {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "Box<dyn Any>"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{panic_any, resume_unwind};

    fn failure(body: impl Fn()) -> String {
        watch_panics();
        run(&|| {
            body();
            None
        })
        .expect("a failure")
    }

    #[test]
    fn a_panic_has_its_message_and_its_place() {
        let here = line!() + 1;
        let text = failure(|| panic!("odd: {}", 3));
        assert!(text.starts_with("the test panicked at "), "{text}");
        assert!(text.contains(&format!("iteration.rs:{here}:")), "{text}");
        assert!(text.ends_with(": odd: 3"), "{text}");
    }

    #[test]
    fn other_payloads_are_boxes() {
        assert!(failure(|| panic_any(7)).ends_with(": Box<dyn Any>"));
    }

    #[test]
    fn a_caught_panic_lends_its_place_to_no_other() {
        let text = failure(|| {
            let _ = panic::catch_unwind(|| panic!("caught"));
            resume_unwind(Box::new("from elsewhere"));
        });
        assert_eq!(text, "the test panicked: from elsewhere");
    }

    #[test]
    fn panics_of_other_threads_are_not_the_bodys() {
        let text = failure(|| {
            let thread = std::thread::spawn(|| panic!("theirs"));
            resume_unwind(thread.join().unwrap_err());
        });
        assert_eq!(text, "the test panicked: theirs");
        assert_eq!(
            run(&|| std::thread::spawn(|| panic!("theirs")).join().err().map(|_| "joined".into())).unwrap(),
            "joined"
        );
    }
}
