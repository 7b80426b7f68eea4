//! Compiles the objects that are linked into instrumented programs.

fn main() {
    println!("cargo::rerun-if-changed=src/hooks.c");
    for (name, offers) in [("atomics", "1"), ("memory", "3"), ("atomics-std", "5"), ("memory-std", "7")] {
        let mut build = cc::Build::new();
        // Position independent and without a frame, whatever raddle itself is built with: the hooks are
        // small jumps, and they must fit programs and shared libraries alike.
        build.opt_level(2).debug(false).pic(true).warnings(true).extra_warnings(true);
        for flag in ["-std=gnu11", "-mcx16", "-fomit-frame-pointer", "-fno-stack-protector", "-fcf-protection=none"] {
            build.flag_if_supported(flag);
        }
        build.cargo_metadata(false).file("src/hooks.c").define("RADDLE_OFFERS", offers).compile(name);
    }
}
