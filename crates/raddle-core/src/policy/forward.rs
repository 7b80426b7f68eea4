//! Forwarding: a policy that wraps another one.

/// Forwards methods of [`Policy`](crate::policy::Policy) to another policy, in an `impl Policy for` block.
///
/// The other policy is given as one place, `self => self.inner;`, or as two expressions, for methods that take `&mut self`
/// and for methods that take `&self`. The names of the methods follow.
///
/// ```
/// use raddle_core::policy::{Point, Policy, Run};
/// use raddle_core::{forward_policy, ThreadId};
///
/// /// Starts every run with the same seed.
/// struct Fixed<P>(P);
///
/// impl<P: Policy> Policy for Fixed<P> {
///     fn start(&mut self, run: &Run<'_>) {
///         self.0.start(&Run { seed: 7, ..*run });
///     }
///     forward_policy!(self => self.0; choose, created, lower, lease, pass, end);
/// }
/// ```
#[macro_export]
macro_rules! forward_policy {
    ($this:ident => $policy:expr; $($method:ident),+ $(,)?) => {
        $($crate::forward_policy!(@ $method $this ($policy) ($policy));)+
    };
    ($this:ident => $exclusive:expr, $shared:expr; $($method:ident),+ $(,)?) => {
        $($crate::forward_policy!(@ $method $this ($exclusive) ($shared));)+
    };
    (@ start $this:ident ($policy:expr) ($shared:expr)) => {
        fn start(&mut $this, run: &$crate::policy::Run<'_>) {
            $policy.start(run)
        }
    };
    (@ choose $this:ident ($policy:expr) ($shared:expr)) => {
        fn choose(&mut $this, point: &$crate::policy::Point<'_>) -> $crate::ThreadId {
            $policy.choose(point)
        }
    };
    (@ created $this:ident ($policy:expr) ($shared:expr)) => {
        fn created(&mut $this, parent: $crate::ThreadId, child: $crate::ThreadId) {
            $policy.created(parent, child)
        }
    };
    (@ lower $this:ident ($policy:expr) ($shared:expr)) => {
        fn lower(&mut $this, thread: $crate::ThreadId) {
            $policy.lower(thread)
        }
    };
    (@ lease $this:ident ($exclusive:expr) ($policy:expr)) => {
        fn lease(&$this, current: $crate::ThreadId, steps: u64, most: u64) -> u64 {
            $policy.lease(current, steps, most)
        }
    };
    (@ pass $this:ident ($policy:expr) ($shared:expr)) => {
        fn pass(&mut $this, steps: u64) {
            $policy.pass(steps)
        }
    };
    (@ end $this:ident ($policy:expr) ($shared:expr)) => {
        fn end(&mut $this) {
            $policy.end()
        }
    };
    (@ sees_every_point $this:ident ($exclusive:expr) ($policy:expr)) => {
        fn sees_every_point(&$this) -> bool {
            $policy.sees_every_point()
        }
    };
    (@ no_choice $this:ident ($policy:expr) ($shared:expr)) => {
        fn no_choice(&mut $this, point: &$crate::policy::Point<'_>) {
            $policy.no_choice(point)
        }
    };
    (@ member $this:ident ($exclusive:expr) ($policy:expr)) => {
        fn member(&$this) -> u32 {
            $policy.member()
        }
    };
    (@ choose_waiter $this:ident ($policy:expr) ($shared:expr)) => {
        fn choose_waiter(&mut $this, waiters: u64) -> ::core::option::Option<$crate::ThreadId> {
            $policy.choose_waiter(waiters)
        }
    };
    (@ pass_time $this:ident ($policy:expr) ($shared:expr)) => {
        fn pass_time(&mut $this, deadlines: u32) -> u32 {
            $policy.pass_time(deadlines)
        }
    };
    (@ run_discarded $this:ident ($policy:expr) ($shared:expr)) => {
        fn run_discarded(&mut $this) {
            $policy.run_discarded()
        }
    };
    (@ bound $this:ident ($exclusive:expr) ($policy:expr)) => {
        fn bound(&$this) -> ::core::option::Option<u32> {
            $policy.bound()
        }
    };
    (@ gaps $this:ident ($exclusive:expr) ($policy:expr)) => {
        fn gaps(&$this) -> u32 {
            $policy.gaps()
        }
    };
    (@ exhausted $this:ident ($exclusive:expr) ($policy:expr)) => {
        fn exhausted(&$this) -> ::core::option::Option<$crate::policy::Explored> {
            $policy.exhausted()
        }
    };
    (@ may_run $this:ident ($exclusive:expr) ($policy:expr)) => {
        fn may_run(&$this, thread: $crate::ThreadId, point: &$crate::policy::ParallelPoint<'_>) -> bool {
            $policy.may_run(thread, point)
        }
    };
    (@ step_taken $this:ident ($policy:expr) ($shared:expr)) => {
        fn step_taken(&mut $this, thread: $crate::ThreadId, step: u64) {
            $policy.step_taken(thread, step)
        }
    };
    (@ sleep_nanoseconds $this:ident ($policy:expr) ($shared:expr)) => {
        fn sleep_nanoseconds(&mut $this) -> u64 {
            $policy.sleep_nanoseconds()
        }
    };
    (@ spreads_over_cores $this:ident ($exclusive:expr) ($policy:expr)) => {
        fn spreads_over_cores(&$this) -> bool {
            $policy.spreads_over_cores()
        }
    };
    (@ patience $this:ident ($exclusive:expr) ($policy:expr)) => {
        fn patience(&$this) -> u64 {
            $policy.patience()
        }
    };
}

#[cfg(test)]
impl<P: super::Policy + ?Sized> super::Policy for Box<P> {
    forward_policy!(
        self => **self;
        start, choose, created, lower, lease, pass, end, sees_every_point, no_choice, member, choose_waiter, pass_time,
        run_discarded, bound, gaps, exhausted, may_run, step_taken, sleep_nanoseconds, spreads_over_cores, patience,
    );
}
