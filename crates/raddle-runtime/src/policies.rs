//! The policies that this runtime knows: those of raddle-core and those that were registered.

use core::cell::UnsafeCell;

use raddle_core::policies;
use raddle_core::policy::Descriptor;

const MOST: usize = 16;

struct Registered(UnsafeCell<[Option<&'static Descriptor>; MOST]>);

// SAFETY: written only by constructors, before there are threads.
unsafe impl Sync for Registered {}

static REGISTERED: Registered = Registered(UnsafeCell::new([None; MOST]));

/// Adds a policy; called by [`register!`](crate::register) before main.
pub fn register(descriptor: &'static Descriptor) {
    // SAFETY: constructors run one after the other.
    let registered = unsafe { &mut *REGISTERED.0.get() };
    if let Some(free) = registered.iter_mut().find(|r| r.is_none()) {
        *free = Some(descriptor);
    }
}

/// The policy with this name.
pub fn find(name: &str) -> Option<&'static Descriptor> {
    // SAFETY: nobody writes after the constructors.
    let registered = unsafe { &*REGISTERED.0.get() };
    registered.iter().flatten().copied().find(|d| d.name == name).or_else(|| policies::find(name))
}

/// Registers a policy of a runtime built out of tree.
#[macro_export]
macro_rules! register {
    ($descriptor:expr) => {
        const _: () = {
            static DESCRIPTOR: $crate::policies::Description = $descriptor;
            extern "C" fn add() {
                $crate::policies::register(&DESCRIPTOR);
            }
            #[used]
            #[link_section = ".init_array"]
            static ADD: extern "C" fn() = add;
        };
    };
}

/// What [`register!`](crate::register) takes.
pub type Description = Descriptor;
