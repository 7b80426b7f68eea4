//! A hash of the layout of shared memory: builds that would not understand each other refuse each other.

/// What the hash knows of a field: its name, where it is, and its size.
pub type Field = (&'static str, usize, usize);

/// The layout of one type.
pub const fn of(name: &str, size: usize, fields: &[Field]) -> u64 {
    let mut hash = mix(bytes(FIRST, name.as_bytes()), size as u64);
    let mut i = 0;
    while i < fields.len() {
        let (name, offset, size) = fields[i];
        hash = mix(mix(bytes(hash, name.as_bytes()), offset as u64), size as u64);
        i += 1;
    }
    hash
}

/// The layouts of several types.
pub const fn all(layouts: &[u64]) -> u64 {
    let mut hash = FIRST;
    let mut i = 0;
    while i < layouts.len() {
        hash = mix(hash, layouts[i]);
        i += 1;
    }
    hash
}

/// The start of FNV-1a with 64 bits.
const FIRST: u64 = 0xcbf2_9ce4_8422_2325;

const fn bytes(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}

const fn mix(hash: u64, number: u64) -> u64 {
    bytes(hash, &number.to_le_bytes())
}

/// The layout of a type that is defined elsewhere.
#[macro_export]
#[doc(hidden)]
macro_rules! layout_of {
    ($type:path { $($field:ident),* }) => {
        $crate::layout::of(
            stringify!($type),
            ::core::mem::size_of::<$type>(),
            &[$((stringify!($field), ::core::mem::offset_of!($type, $field), 0)),*],
        )
    };
}

/// Defines a type of shared memory, whose layout counts in [`crate::block::LAYOUT`].
#[macro_export]
#[doc(hidden)]
macro_rules! shared {
    ($(#[$attribute:meta])* pub struct $name:ident {
        $($(#[$field_attribute:meta])* $visibility:vis $field:ident: $type:ty,)*
    }) => {
        $(#[$attribute])*
        #[repr(C)]
        pub struct $name {
            $($(#[$field_attribute])* $visibility $field: $type,)*
        }

        impl $name {
            /// What the layout of this type hashes to.
            pub(crate) const LAYOUT: u64 = $crate::layout::of(
                stringify!($name),
                ::core::mem::size_of::<$name>(),
                &[$((
                    stringify!($field),
                    ::core::mem::offset_of!($name, $field),
                    ::core::mem::size_of::<$type>(),
                ),)*],
            );
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_of_a_layout_shows() {
        let one = of("Settings", 16, &[("run", 0, 8), ("seed", 8, 8)]);
        let others = [
            of("Settings", 24, &[("run", 0, 8), ("seed", 8, 8)]),
            of("Settings", 16, &[("seed", 0, 8), ("run", 8, 8)]),
            of("Settings", 16, &[("run", 0, 8), ("seed", 8, 4)]),
            of("Settings", 16, &[("run", 0, 8), ("seed", 12, 4)]),
            of("Results", 16, &[("run", 0, 8), ("seed", 8, 8)]),
        ];
        assert!(others.iter().all(|other| *other != one));
        assert_ne!(all(&[one, others[0]]), all(&[others[0], one]));
    }
}
