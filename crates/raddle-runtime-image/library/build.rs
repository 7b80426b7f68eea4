//! Passes on how raddle-runtime wants to be linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let arguments = std::env::var("DEP_RADDLE_RUNTIME_LINK_ARGS").expect("set by raddle-runtime");
    for argument in arguments.split(' ') {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
}
