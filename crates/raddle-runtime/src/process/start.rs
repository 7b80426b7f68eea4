//! From exec to main: finds the block, becomes a fork server if asked to, and starts the run.
//!
//! The runtime is entered either by its constructor or by an interposed call that comes earlier.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use raddle_core::policy::Descriptor;
use raddle_core::ThreadId;
use raddle_protocol::settings::flag;
use raddle_protocol::{Block, Fallback};

use super::attach::attach;
use super::environment::Cleaner;
use super::fork_server::{can_serve, refuse_fork_server, serve};
use super::forkable::has_children;
use crate::control::{self, Mode};
use crate::scheduler::names;
use crate::{dispatch, points, real};

type Main = unsafe extern "C-unwind" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

static MAIN: AtomicUsize = AtomicUsize::new(0);
static PREPARED: AtomicBool = AtomicBool::new(false);

#[cfg(not(test))]
extern "C" fn constructor() {
    prepare();
}

// The test harness must not be taken over.
#[cfg(not(test))]
#[used]
#[link_section = ".init_array"]
static CONSTRUCTOR: extern "C" fn() = constructor;

/// Handlers of exit and destructors of static objects have run. What they wrote is looked at, too.
#[cfg(not(test))]
extern "C" fn destructor() {
    if let Some(_me) = control::current() {
        let _leave = control::LeaveOnDrop::armed();
        crate::heap::check_all();
    }
}

#[cfg(not(test))]
#[used]
#[link_section = ".fini_array"]
static DESTRUCTOR: extern "C" fn() = destructor;

/// Makes everything ready for a run; once.
pub fn prepare() {
    attach();
    let Some(block) = control::block() else { return };
    if PREPARED.swap(true, Ordering::Relaxed) {
        return;
    }
    points::find_all();
    points::find_errno();
    points::thread::prepare();
    points::process::prepare();
    points::thread_attributes::prepare();
    dispatch::prepare();
    crate::heap::prepare();
    crate::switch::prepare();
    block.control.attached.store(1, Ordering::Release);
    block.control.followed.store(block.control.execs.load(Ordering::Relaxed), Ordering::Release);
}

/// Stands between libc's start-up and the program's main.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C-unwind" fn __libc_start_main(
    main: usize,
    argc: c_int,
    argv: *mut *mut c_char,
    init: usize,
    fini: usize,
    rtld_fini: usize,
    stack_end: *mut c_void,
) -> c_int {
    MAIN.store(main, Ordering::Relaxed);
    // SAFETY: the real function, with the program's arguments.
    unsafe {
        let real =
            real!(__libc_start_main: fn(usize, c_int, *mut *mut c_char, usize, usize, usize, *mut c_void) -> c_int);
        real(before_main as *const () as usize, argc, argv, init, fini, rtld_fini, stack_end)
    }
}

#[link_section = "raddle_run"]
unsafe extern "C-unwind" fn before_main(argc: c_int, argv: *mut *mut c_char, environment: *mut *mut c_char) -> c_int {
    prepare();
    // SAFETY: libc's arguments; the program's main.
    unsafe {
        crate::process::policies::list_if_asked(environment);
        // The allocator's first call may ask for random bytes, and identities are made with its help:
        // it is made at the same time in every run.
        libc::free(core::hint::black_box(libc::malloc(1)));
        let bound = control::block().is_some_and(|block| block.settings.flags & flag::BIND_NOW != 0);
        Cleaner::new(bound).clean(argv.add(argc as usize + 1), environment);
        let wanted = control::block().is_some_and(|block| block.settings.check_number != 0);
        if wanted && control::mode() == Mode::Before && crate::process::check::find_note() {
            // Control starts inside the checks.
            control::pass_through();
        } else if let Some(block) = control::block() {
            if control::mode() == Mode::Before {
                // No thread was created by a constructor.
                ready_main();
                let policy = if block.settings.flags & flag::FORK_SERVER != 0 && can_serve(block) {
                    serve(block)
                } else {
                    if crate::switch::fibers() {
                        points::new_identity::provide_identities(&block.settings.stacks);
                    }
                    crate::access::racy_places::load(&block.racy_places);
                    control::policy(block)
                };
                begin_run(block, policy);
            } else if block.settings.flags & flag::FORK_SERVER != 0 {
                refuse_fork_server(block, Fallback::Threads);
            }
        }
        let main: Main = core::mem::transmute(MAIN.load(Ordering::Relaxed));
        if control::mode() == Mode::Controlled {
            names::begin(ThreadId::MAIN);
        }
        let status = main(argc, argv, environment);
        points::process::exit(status)
    }
}

/// Makes the calling thread ready to be the main thread of a run: all that a fork copies, so that a fork
/// server does it once for all its runs.
fn ready_main() {
    crate::signals::kernel::take_over();
    crate::signals::kernel::adopt_main();
    points::thread::adopt_main();
    points::thread_attributes::adopt_main();
    points::restartable::adopt_main();
    points::alarm::take_over();
}

/// Starts the run in the calling thread, which is ready.
#[link_section = "raddle_run"]
fn begin_run(block: &'static Block, policy: Option<&'static Descriptor>) {
    control::start_run(block, policy);
    // A fork server has none.
    if block.settings.flags & flag::FORK_SERVER == 0 && has_children() {
        points::process::adopt_children();
    }
    dispatch::arm(ThreadId::MAIN);
    points::sync_function::start_run();
    points::alarm::start_run();
    crate::points::tick::start();
}

/// A constructor creates a thread: the run starts before main.
pub fn begin_early() {
    prepare();
    if let Some(block) = control::block() {
        ready_main();
        begin_run(block, control::policy(block));
    }
}
