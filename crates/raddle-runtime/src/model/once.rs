//! pthread_once. The real function does the work, exceptions and cancellation included; the model
//! only keeps threads out while one is inside, so that the real function never blocks.

/// glibc's pthread_once_t: bit 0 is set while a thread runs the routine, bit 1 when it is done.
#[repr(transparent)]
#[derive(Debug)]
pub struct Once(u32);

impl Once {
    /// Whether a call can go on: no thread runs the routine.
    pub fn ready(&self) -> bool {
        self.0 & 3 != 1
    }

    /// Whether the routine has run.
    pub fn done(&self) -> bool {
        self.0 & 2 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_running_one_blocks() {
        assert!(Once(0).ready() && Once(2).ready());
        assert!(!Once(1).ready() && !Once(5).ready());
        assert!(Once(2).done() && !Once(0).done() && !Once(5).done());
    }
}
