//! Builds the runtime library, so that this crate can embed it.
//!
//! The library has no std, its own way to panic and a profile of its own, so a cargo of its own builds it: a small
//! package that is written into OUT_DIR, from the template in `library/`. The sources are those of the raddle-runtime
//! that this crate depends on. The build needs no network, and takes nothing from the environment of the build around
//! it: no flags, no wrappers, no profile.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::{exit, Command, Output};

/// The target of the programs that raddle controls, and so of the library, whatever raddle itself is built for.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The variable that names the linker for [`TARGET`].
const LINKER: &str = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER";

/// Functions begin on a cache line, and loops on half of one, so that what a schedule point costs does not depend on
/// what else was linked. The options are LLVM's: a compiler that does not know them builds the library without.
const ALIGNMENT: &str = "-Cllvm-args=-align-all-functions=6 -x86-experimental-pref-innermost-loop-alignment=5";

fn main() {
    let sources = Sources::find();
    sources.watch();
    let build = Build { folder: PathBuf::from(variable("OUT_DIR")), sources };
    build.choose_libc();
    build.library("libraddle_runtime", &[]);
    if env::var_os("CARGO_FEATURE_VERIFY").is_some() {
        build.library("libraddle_runtime_verify", &["--features", "verify"]);
    }
}

/// Where the sources are.
struct Sources {
    here: PathBuf,
    runtime: PathBuf,
    core: PathBuf,
    protocol: PathBuf,
}

impl Sources {
    fn find() -> Sources {
        let path = |name| PathBuf::from(variable(name));
        Sources {
            here: path("CARGO_MANIFEST_DIR"),
            runtime: path("DEP_RADDLE_RUNTIME_ROOT"),
            core: path("DEP_RADDLE_RUNTIME_CORE"),
            protocol: path("DEP_RADDLE_RUNTIME_PROTOCOL"),
        }
    }

    /// Has cargo build the library again when they change.
    fn watch(&self) {
        let watch = |path: PathBuf| println!("cargo::rerun-if-changed={}", path.display());
        ["build.rs", "library"].into_iter().for_each(|name| watch(self.here.join(name)));
        for root in [&self.runtime, &self.core, &self.protocol] {
            ["Cargo.toml", "build.rs", "src"].into_iter().for_each(|name| watch(root.join(name)));
        }
        self.lock_file().into_iter().for_each(watch);
    }

    /// The lock file of the workspace, or the one that this crate was published with.
    fn lock_file(&self) -> Option<PathBuf> {
        self.here.ancestors().map(|folder| folder.join("Cargo.lock")).find(|path| path.is_file())
    }

    /// The version of libc in the lock file.
    fn locked_libc(&self) -> Option<String> {
        let text = fs::read_to_string(self.lock_file()?).ok()?;
        let (_, entry) = text.split_once("\nname = \"libc\"\nversion = \"")?;
        Some(entry.split_once('"')?.0.to_owned())
    }

    /// Where libc can come from, the best first. The build around this one needs the crate as well, so it is in one of
    /// these places.
    fn libc(&self) -> Vec<Libc> {
        let locked = self.locked_libc();
        let mut places: Vec<_> = self.libc_beside(locked.as_deref()).map(Libc::Folder).into_iter().collect();
        places.extend(locked.map(|version| Libc::Version(format!("={version}"))));
        places.push(Libc::Version("0.2".to_owned()));
        places
    }

    /// The sources of libc beside those of the runtime, where all crates of a registry and all vendored ones lie. They
    /// can be used without asking which registry it is. The locked version is preferred, then the newest one.
    fn libc_beside(&self, locked: Option<&str>) -> Option<PathBuf> {
        let complete = |folder: &Path| [".cargo-ok", ".cargo-checksum.json"].iter().any(|f| folder.join(f).exists());
        let entries = fs::read_dir(self.runtime.parent()?).ok()?.flatten();
        let folders = entries.map(|entry| entry.path()).filter(|folder| complete(folder));
        let known = folders.filter_map(|folder| Some((libc_version(&folder)?, folder)));
        let best = known.max_by_key(|(version, _)| (Some(version.as_str()) == locked, numbers(version)));
        best.map(|(_, folder)| folder)
    }
}

/// The version of libc in a folder; `None` if something else is in it, or a libc that the runtime does not work with.
fn libc_version(folder: &Path) -> Option<String> {
    if !folder.file_name()?.to_str()?.starts_with("libc") {
        return None;
    }
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    let (_, package) = manifest.split_once("[package]")?;
    let value = |key: &str| package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
    let version = value("version")?.trim_matches('"');
    (value("name")? == "\"libc\"" && version.starts_with("0.2.")).then(|| version.to_owned())
}

/// The parts of a version, to be compared.
fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

/// Where libc comes from.
enum Libc {
    /// Sources that are unpacked already.
    Folder(PathBuf),
    /// A version requirement, for the registry that cargo is configured to use.
    Version(String),
}

impl Libc {
    fn describe(&self) -> String {
        match self {
            Libc::Folder(folder) => format!("libc in {}", folder.display()),
            Libc::Version(version) => format!("libc {version} from the registry"),
        }
    }
}

/// The build of the library.
struct Build {
    folder: PathBuf,
    sources: Sources,
}

impl Build {
    fn package(&self) -> PathBuf {
        self.folder.join("library")
    }

    /// Writes the package, with a libc that cargo can use without a network.
    fn choose_libc(&self) {
        let mut refused = String::new();
        for libc in self.sources.libc() {
            self.write_package(&libc);
            let output = self.cargo("fetch", &[], "");
            if output.status.success() {
                return;
            }
            refused += &format!("\n{}:\n{}", libc.describe(), String::from_utf8_lossy(&output.stderr));
        }
        fail(&format!(
            "the runtime library needs the crate libc, and no version of it can be used without a network; run \
             `cargo fetch` and build again. What was tried:\n{refused}"
        ));
    }

    fn write_package(&self, libc: &Libc) {
        let (version, patch) = match libc {
            Libc::Folder(folder) => ("0.2", format!("libc = {{ path = {} }}", quoted(folder))),
            Libc::Version(version) => (version.as_str(), String::new()),
        };
        let manifest = include_str!("library/Cargo.toml.in")
            .replace("{runtime}", &quoted(&self.sources.runtime))
            .replace("{core}", &quoted(&self.sources.core))
            .replace("{protocol}", &quoted(&self.sources.protocol))
            .replace("{libc-version}", &format!("\"{version}\""))
            .replace("{libc-patch}", &patch);
        let package = self.package();
        create_folder(&package);
        write(&package.join("Cargo.toml"), &manifest);
        write(&package.join("lib.rs"), include_str!("library/lib.rs"));
        write(&package.join("build.rs"), include_str!("library/build.rs"));
        write(&package.join("profile.toml"), include_str!("library/profile.toml"));
        // It may be left from an earlier build or an earlier candidate for libc. There is none in the first build.
        let _ = fs::remove_file(package.join("Cargo.lock"));
    }

    /// Builds the library, copies it to OUT_DIR under a name, and tells the crate the hash of its content.
    fn library(&self, name: &str, features: &[&str]) {
        let arguments = [&["--release"], features].concat();
        let mut output = self.cargo("build", &arguments, ALIGNMENT);
        if !output.status.success() {
            output = self.cargo("build", &arguments, "");
        }
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            fail(&format!("the runtime library could not be built; cargo's output was:\n{said}"));
        }
        let built = self.folder.join("target").join(TARGET).join("release/libraddle_runtime_library.so");
        let bytes = fs::read(&built).unwrap_or_else(|error| fail(&format!("{}: {error}", built.display())));
        let path = self.folder.join(format!("{name}.so"));
        fs::write(&path, &bytes).unwrap_or_else(|error| fail(&format!("{}: {error}", path.display())));
        let mut hasher = DefaultHasher::new();
        hasher.write(&bytes);
        println!("cargo::rustc-env={}_HASH={:016x}", name.to_uppercase(), hasher.finish());
    }

    /// Runs a command of cargo on the package.
    fn cargo(&self, command: &str, arguments: &[&str], flags: &str) -> Output {
        let mut cargo = Command::new(variable("CARGO"));
        for (name, _) in env::vars_os().filter(|(name, _)| !is_inherited(name)) {
            cargo.env_remove(name);
        }
        // These override configuration files, too.
        cargo.env("CARGO_ENCODED_RUSTFLAGS", flags).env("CARGO_INCREMENTAL", "0");
        cargo.env("RUSTC_WRAPPER", "").env("RUSTC_WORKSPACE_WRAPPER", "");
        if let Some(linker) = env::var_os("RUSTC_LINKER").filter(|_| variable("TARGET") == TARGET) {
            cargo.env(LINKER, linker);
        }
        // The configuration files are those of this crate's folder: they say where crates come from, if it is vendored.
        cargo.current_dir(&self.sources.here);
        cargo
            .args([command, "--offline", "--target", TARGET, "--manifest-path"])
            .arg(self.package().join("Cargo.toml"));
        cargo.arg("--config").arg(self.package().join("profile.toml"));
        if command == "build" {
            cargo.arg("--target-dir").arg(self.folder.join("target"));
        }
        let output = cargo.args(arguments).output();
        output.unwrap_or_else(|error| fail(&format!("{} cannot be run: {error}", variable("CARGO"))))
    }
}

/// Whether the inner cargo sees a variable. Cargo, its wrappers and coverage tools use variables to say how the build
/// around this one compiles; the library is always compiled in the same way.
fn is_inherited(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return true };
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let kept = ["CARGO_HOME", "CARGO_MAKEFLAGS", LINKER, "RUSTC"].contains(&name)
        || starts(&["CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR", "CARGO_SOURCE_", "RUSTUP_"]);
    kept || !starts(&["CARGO", "__CARGO", "RUST", "CLIPPY_", "DEP_", "LLVM_PROFILE_FILE"])
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|error| fail(&format!("{name}: {error}")))
}

/// A path as a string of TOML.
fn quoted(path: &Path) -> String {
    let Some(text) = path.to_str() else { fail(&format!("{} is not UTF-8, which cargo needs", path.display())) };
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn create_folder(path: &Path) {
    fs::create_dir_all(path).unwrap_or_else(|error| fail(&format!("{}: {error}", path.display())));
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| fail(&format!("{}: {error}", path.display())));
}

fn fail(message: &str) -> ! {
    eprintln!("error: {message}");
    exit(1);
}
