//! How the shared object is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A fork pays for each mapping: the tables of addresses lie with the other data, and stay writable.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,norelro");
    // Nothing of the compiler's start-up files is needed, and what they do at the end of a process touches
    // two pages more.
    println!("cargo::rustc-cdylib-link-arg=-nostartfiles");
}
