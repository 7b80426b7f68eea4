//! Formatted text to standard output or standard error, without an allocation.

use core::fmt::{self, Write};

use crate::os::sys;
use crate::syscall;

/// A descriptor to write to; what is written stays in the buffer until it is full or flushed.
pub struct Output {
    descriptor: i32,
    buffer: [u8; 512],
    used: usize,
}

impl Output {
    /// An output to a descriptor.
    pub fn to(descriptor: i32) -> Output {
        Output { descriptor, buffer: [0; 512], used: 0 }
    }

    /// Writes what is in the buffer.
    pub fn flush(&mut self) -> fmt::Result {
        let mut rest = &self.buffer[..self.used];
        while !rest.is_empty() {
            // SAFETY: reads the buffer only.
            match unsafe { syscall!(sys::SYS_write, self.descriptor, rest.as_ptr(), rest.len()) } {
                n if n > 0 => rest = &rest[n as usize..],
                n if n == -(libc::EINTR as isize) => {}
                _ => return Err(fmt::Error),
            }
        }
        self.used = 0;
        Ok(())
    }
}

impl Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for part in text.as_bytes().chunks(self.buffer.len()) {
            if part.len() > self.buffer.len() - self.used {
                self.flush()?;
            }
            self.buffer[self.used..self.used + part.len()].copy_from_slice(part);
            self.used += part.len();
        }
        Ok(())
    }
}
