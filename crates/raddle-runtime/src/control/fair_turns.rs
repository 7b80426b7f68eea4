//! The way into the scheduler once a fair schedule has taken over: as [`wait`](super::wait), but so that states can be
//! compared. The thread's registers are on its stack, and what the scheduler does leaves nothing there.

use core::ffi::c_void;

use raddle_core::{Event, ThreadId};

use super::runtime_state::{scheduler, state};
use crate::race;
use crate::scheduler::thread::{Packed, Wait, Wake};
use crate::signals::deliver::deliver;
use crate::switch::{self, own_stack};

/// What a thread is about to do, and how its wait ended.
struct Turn {
    me: ThreadId,
    event: Event,
    wait: Packed,
    deadline: u64,
    wake: Wake,
}

/// A schedule point before an operation that needs something first.
#[cold]
#[inline(never)]
pub fn wait(me: ThreadId, event: Event, wait: Packed, deadline: u64) -> Wake {
    let mut turn = Turn { me, event, wait, deadline, wake: Wake::Go };
    loop {
        // SAFETY: `me` holds the baton; the turn outlives the call.
        unsafe { own_stack::with_registers_on_stack(take_turn, (&raw mut turn).cast()) };
        // SAFETY: `me` holds the baton again.
        if unsafe { scheduler() }.threads[me.index()].signals != 0 {
            deliver(me);
            // While the handler ran, others may have taken what was there.
            if turn.wake == Wake::Go && !matches!(wait.get(), Wait::None) && wait.get().key() != 0 {
                continue;
            }
        }
        return turn.wake;
    }
}

/// Arrives, lets others go first, and goes on.
unsafe extern "C-unwind" fn take_turn(turn: *mut c_void, stack_pointer: usize) {
    // SAFETY: from `wait`, which waits for us.
    let turn = unsafe { &mut *turn.cast::<Turn>() };
    let me = turn.me;
    let next = own_stack::run(|| {
        // SAFETY: `me` holds the baton.
        let it = unsafe { state() };
        it.fair.stack_pointers[me.index()] = stack_pointer;
        if core::mem::take(&mut it.scheduler.trap_again) {
            crate::dispatch::selector(me).store(1, core::sync::atomic::Ordering::Relaxed);
        }
        if it.scheduler.instrumented {
            // SAFETY: as above.
            unsafe { super::arrives_instrumented(me, turn.event.kind) };
        }
        let next = it.scheduler.arrive(me, turn.event, turn.wait, turn.deadline);
        it.scheduler.compare_states(me, next);
        next
    });
    if next != me {
        switch::switch(me, next);
    }
    turn.wake = own_stack::run(|| {
        // SAFETY: `me` holds the baton again.
        let s = unsafe { scheduler() };
        if next != me && s.instrumented {
            s.spin_sampler.reset();
        }
        let wake = s.depart(me);
        if s.detects {
            // SAFETY: as above.
            unsafe { race::through_kernel(me, turn.event.kind, false) };
        }
        wake
    });
}
