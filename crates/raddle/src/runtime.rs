//! The C interface of the runtime, as `include/raddle.h` describes it.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::ptr;

use crate::iteration;
use crate::settings::{c_string, Settings};

/// `struct raddle_options`. A field that is zero is not set.
#[repr(C)]
struct Options {
    size: usize,
    name: *const c_char,
    runs: u64,
    policy: *const c_char,
    seed: u64,
    has_seed: c_int,
    max_steps: u64,
}

type Body = unsafe extern "C" fn(*mut c_void) -> c_int;
type CheckFunction = unsafe extern "C" fn(*const Options, Body, *mut c_void) -> c_int;
type FailedFunction = unsafe extern "C" fn(*const c_char, usize);
type ReportFunction = unsafe extern "C" fn(*mut c_char, usize) -> usize;

/// The runtime that raddle has loaded into this process.
pub(crate) struct Runtime {
    check: CheckFunction,
    failed: FailedFunction,
    report: ReportFunction,
}

/// What the runtime hands back to every iteration.
struct Iteration<'a> {
    body: &'a dyn Fn() -> Option<String>,
    failed: FailedFunction,
}

impl Runtime {
    /// The runtime, or `None` if the program does not run under raddle. The error is for the user.
    pub fn find() -> Result<Option<Runtime>, String> {
        let Some(check) = symbol(c"raddle_runtime_check") else { return Ok(None) };
        let needed = |name| {
            symbol(name).ok_or_else(|| {
                let name = name.to_string_lossy();
                format!("the loaded runtime of raddle and the crate raddle are of different releases: it has no {name}")
            })
        };
        let (failed, report) = (needed(c"raddle_runtime_failed")?, needed(c"raddle_runtime_report")?);
        // SAFETY: the symbols are functions of the types that the contract gives them.
        let runtime = unsafe {
            Runtime {
                check: std::mem::transmute::<*mut c_void, CheckFunction>(check),
                failed: std::mem::transmute::<*mut c_void, FailedFunction>(failed),
                report: std::mem::transmute::<*mut c_void, ReportFunction>(report),
            }
        };
        Ok(Some(runtime))
    }

    /// Runs the body under control again and again. The error is the report.
    pub fn check(&self, settings: &Settings, body: &dyn Fn() -> Option<String>) -> Result<(), String> {
        let text = |what, text: &Option<String>| text.as_ref().map(|text| c_string(what, text)).transpose();
        let (name, policy) = (text("name", &settings.name)?, text("policy", &settings.policy)?);
        let options = Options {
            size: size_of::<Options>(),
            name: name.as_ref().map_or(ptr::null(), |name| name.as_ptr()),
            runs: settings.runs.unwrap_or(0),
            policy: policy.as_ref().map_or(ptr::null(), |policy| policy.as_ptr()),
            seed: settings.seed.unwrap_or(0),
            has_seed: settings.seed.is_some().into(),
            max_steps: settings.max_steps.unwrap_or(0),
        };
        iteration::watch_panics();
        let iteration = Iteration { body, failed: self.failed };
        // SAFETY: the options, their strings and the iteration live until the call returns. The runtime calls `iterate`
        // on this thread, so the body need not be `Send`, and with the pointer to the iteration.
        let result = unsafe { (self.check)(&options, iterate, (&raw const iteration).cast_mut().cast()) };
        match result {
            0 => Ok(()),
            _ => Err(self.report()),
        }
    }

    /// The report of the check that just failed.
    fn report(&self) -> String {
        // SAFETY: nothing is copied into a buffer of size 0.
        let length = unsafe { (self.report)(ptr::null_mut(), 0) };
        let mut buffer = vec![0; length + 1];
        // SAFETY: the buffer has as many bytes as it says.
        unsafe { (self.report)(buffer.as_mut_ptr().cast(), buffer.len()) };
        let text = CStr::from_bytes_until_nul(&buffer).unwrap_or_default().to_string_lossy();
        match text.trim_end() {
            "" => "raddle: the check failed, and there is no report".to_owned(),
            text => text.to_owned(),
        }
    }
}

/// One iteration, as the runtime wants it: 0 when all is well.
///
/// # Safety
///
/// `arg` points to an `Iteration`.
unsafe extern "C" fn iterate(arg: *mut c_void) -> c_int {
    // SAFETY: as promised by the caller.
    let iteration = unsafe { &*arg.cast::<Iteration<'_>>() };
    match iteration::run(iteration.body) {
        None => 0,
        Some(text) => {
            // SAFETY: the text lives until the call returns.
            unsafe { (iteration.failed)(text.as_ptr().cast(), text.len()) };
            1
        }
    }
}

/// What has this name in the process. A weak symbol would do as well, if stable Rust had them.
#[cfg(all(target_os = "linux", not(miri)))]
fn symbol(name: &CStr) -> Option<*mut c_void> {
    extern "C" {
        fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    }
    const RTLD_DEFAULT: *mut c_void = ptr::null_mut();
    // SAFETY: the name ends with a zero byte.
    let address = unsafe { dlsym(RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// raddle is not there: tests run natively.
#[cfg(not(all(target_os = "linux", not(miri))))]
fn symbol(_name: &CStr) -> Option<*mut c_void> {
    None
}
