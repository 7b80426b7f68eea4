//! The policies that this runtime knows: those of raddle-core and those that were registered.
//!
//! The command line asks for them by starting a program, itself, with the runtime and the variable
//! [`policy_list::VARIABLE`]: the list is written to standard output and the process ends.

use core::cell::UnsafeCell;
use core::ffi::{c_char, CStr};

use raddle_core::policies;
use raddle_core::policy::{Descriptor, Kind};
use raddle_protocol::block::FD_VARIABLE;
use raddle_protocol::policy_list;
use raddle_protocol::settings::SEARCH_BYTES;

use crate::os::output::Output;
use crate::os::sys;

const MOST: usize = 16;

/// The most bytes that a policy's state may have.
pub const STATE_SIZE: usize = 1 << 20;

struct Registered(UnsafeCell<[Option<&'static Descriptor>; MOST]>);

// SAFETY: written only by constructors, before there are threads.
unsafe impl Sync for Registered {}

static REGISTERED: Registered = Registered(UnsafeCell::new([None; MOST]));

/// Adds a policy; called by [`register!`](crate::register) before main.
pub fn register(descriptor: &'static Descriptor) {
    // SAFETY: constructors run one after the other.
    let registered = unsafe { &mut *REGISTERED.0.get() };
    match registered.iter_mut().find(|r| r.is_none()) {
        Some(free) => *free = Some(descriptor),
        None => sys::complain("raddle: a runtime has at most 16 policies of its own; one is left out\n"),
    }
}

/// All policies, the registered ones first.
fn all() -> impl Iterator<Item = &'static Descriptor> {
    // SAFETY: only constructors write.
    let registered = unsafe { &*REGISTERED.0.get() };
    registered.iter().flatten().copied().chain(policies::ALL)
}

/// The policy with this name.
pub fn find(name: &str) -> Option<&'static Descriptor> {
    all().find(|d| d.name == name)
}

/// Stops the build if the runtime could not use the policy.
pub const fn validated(descriptor: &'static Descriptor) -> &'static Descriptor {
    policy_list::assert_valid(descriptor);
    let outlives_runs = matches!(descriptor.kind, Kind::Systematic);
    let most = if outlives_runs { SEARCH_BYTES } else { STATE_SIZE };
    assert!(descriptor.layout.size() <= most, "a policy's state is at most 1 MiB, that of a systematic one 64 MiB");
    assert!(descriptor.layout.align() <= 64, "a policy's state is aligned to a cache line at most");
    descriptor
}

/// Makes a runtime library with policies of its own: `register!(DESCRIPTOR);`, or all of them, separated by commas. It
/// is used once in a crate of type `cdylib`, and includes [`runtime!`](crate::runtime).
#[macro_export]
macro_rules! register {
    ($($descriptor:expr),+ $(,)?) => {
        $crate::runtime!();
        const _: () = {
            extern "C" fn __raddle_register() {
                // No item of ours is named here, so the expression means what it means at the caller's.
                $($crate::macro_support::register(const { $crate::macro_support::validated(&$descriptor) });)+
            }
            #[used]
            #[link_section = ".init_array"]
            static __RADDLE_REGISTER: extern "C" fn() = __raddle_register;
        };
    };
}

/// Lists the policies and ends the process, if the environment asks for that.
///
/// # Safety
/// `environment` is a list of strings that is ended by null.
pub unsafe fn list_if_asked(environment: *mut *mut c_char) {
    // SAFETY: the caller's promise.
    let (asked, under_control) =
        unsafe { (value(environment, policy_list::VARIABLE), value(environment, FD_VARIABLE)) };
    if asked != Some(b"1") || under_control.is_some() {
        return;
    }
    let mut out = Output::to(1);
    let written = policy_list::write(&mut out, all()).and_then(|()| out.flush());
    sys::exit_group(written.is_err().into());
}

/// The value of a variable.
///
/// # Safety
/// As for [`list_if_asked`].
unsafe fn value<'a>(mut environment: *mut *mut c_char, name: &str) -> Option<&'a [u8]> {
    // SAFETY: the caller's promise.
    unsafe {
        while !(*environment).is_null() {
            let entry = CStr::from_ptr(*environment).to_bytes();
            if let Some([b'=', value @ ..]) = entry.strip_prefix(name.as_bytes()) {
                return Some(value);
            }
            environment = environment.add(1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    // The name is the one that the macro must not have for itself.
    const DESCRIPTOR: Descriptor = Descriptor { name: "of-the-test", ..policies::random::DESCRIPTOR };
    const SECOND: Descriptor = Descriptor { summary: "replaced", ..policies::random::DESCRIPTOR };

    crate::register!(DESCRIPTOR, SECOND);

    #[test]
    fn registered_policies_come_first() {
        assert_eq!(find("of-the-test").map(|d| d.name), Some("of-the-test"));
        assert_eq!(find("random").map(|d| d.summary), Some("replaced"));
        assert_eq!(find("pct").map(|d| d.name), Some("pct"));
        assert!(find("nothing").is_none());
    }

    #[test]
    fn variables_are_found_by_their_whole_name() {
        let texts = [c"RADDLE_POLICIES_=1", c"B=RADDLE_POLICIES=1", c"A="].map(|text| text.as_ptr().cast_mut());
        let mut environment = [texts[0], texts[1], texts[2], core::ptr::null_mut()];
        // SAFETY: ended by null.
        let mut value = |name| unsafe { value(environment.as_mut_ptr(), name) };
        assert_eq!(value("A"), Some(&b""[..]));
        assert_eq!(value("B"), Some(&b"RADDLE_POLICIES=1"[..]));
        assert_eq!(value("RADDLE_POLICIES"), None);
    }
}
