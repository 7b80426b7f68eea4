// pass: parking_lot::RwLock: whole updates, downgrade, upgradable reads that do not lose an update
// uncontrolled: uncontended locks are not schedule points

use parking_lot::{RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard};
use std::thread;

fn main() {
    let pair = RwLock::new((0, 0));
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..3 {
                let mut guard = pair.write();
                guard.0 += 1;
                thread::yield_now(); // A reader that got in now would see half an update.
                guard.1 += 1;
                let seen = guard.0;
                let guard = RwLockWriteGuard::downgrade(guard);
                // Nobody can write between the write and the read.
                assert_eq!(*guard, (seen, seen));
            }
        });
        scope.spawn(|| {
            for _ in 0..3 {
                let guard = pair.upgradable_read();
                let (left, right) = *guard;
                thread::yield_now(); // Readers may come, writers and other upgraders may not.
                let mut guard = RwLockUpgradableReadGuard::upgrade(guard);
                *guard = (left + 1, right + 1);
            }
        });
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..3 {
                    let guard = pair.read();
                    thread::yield_now();
                    assert_eq!(guard.0, guard.1);
                }
            });
        }
    });
    assert_eq!(*pair.read(), (6, 6));
}
