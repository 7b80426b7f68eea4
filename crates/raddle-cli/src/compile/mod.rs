//! `raddle cc` and `raddle c++`: the real compiler, with ThreadSanitizer's instrumentation switched on when
//! it compiles, and with raddle's hooks in place of ThreadSanitizer's library when it links. The compiler finds
//! `#include <raddle.h>` by itself.

pub mod arguments;
pub mod compiler;
mod header;
pub mod plan;
mod process;
pub mod response_file;
pub mod rustc;
pub mod sanitizers;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use tempfile::TempDir;

use arguments::{Arguments, Purpose};
use compiler::{Compiler, Driver};
use plan::{Plan, Tools, Visible, Word};
use raddle_report::exit_code;

/// The variable that says what is made visible.
const VISIBLE: &str = "RADDLE_VISIBLE";

/// A compiler could not do its work, for a reason that it cannot say itself.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// It is not there.
    #[error("there is no compiler `{compiler}`; RADDLE_CC and RADDLE_CXX name the compilers to use")]
    NotFound {
        /// What was looked for.
        compiler: String,
    },
    #[error("the compiler `{compiler}` cannot be started: {source}")]
    Start { compiler: String, source: io::Error },
    /// It is neither gcc nor clang.
    #[error("`{compiler}` is neither gcc nor clang: to --version it says {said:?}")]
    Unknown {
        compiler: String,
        /// The first line of what it says.
        said: String,
    },
    /// raddle would start itself without end.
    #[error("the compiler is raddle itself; {variable} names the real one")]
    Itself { variable: &'static str },
    /// A signal ended it.
    #[error("the compiler `{compiler}` was ended by signal {signal}{}", name_of(*.signal))]
    Killed { compiler: String, signal: i32 },
    /// `RADDLE_VISIBLE` is wrong.
    #[error("{VISIBLE}={value} is not valid: expected memory or atomics")]
    Visible { value: String },
    /// There is no place for what the linker needs.
    #[error("cannot write the hooks to {}: {source}", std::env::temp_dir().display())]
    Temporary {
        #[from]
        source: io::Error,
    },
}

impl CompileError {
    fn start(compiler: &OsStr, source: io::Error) -> CompileError {
        let compiler = compiler.to_string_lossy().into_owned();
        match source.kind() {
            io::ErrorKind::NotFound => CompileError::NotFound { compiler },
            _ => CompileError::Start { compiler, source },
        }
    }

    /// The exit status that says so; of a compiler that was killed, the one that a shell would give.
    pub fn exit_code(&self) -> u8 {
        match self {
            CompileError::Killed { signal, .. } => 128 + *signal as u8,
            _ => exit_code::USAGE,
        }
    }
}

fn name_of(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => " (segmentation fault)",
        libc::SIGABRT => " (abort)",
        libc::SIGKILL => " (kill; was there enough memory?)",
        libc::SIGBUS => " (bus error)",
        libc::SIGILL => " (illegal instruction)",
        libc::SIGTERM => " (terminate)",
        _ => "",
    }
}

/// Runs a compiler with these words. The exit status is the compiler's.
pub fn run(driver: Driver, words: &[OsString]) -> Result<u8, CompileError> {
    let result = compile(driver, words);
    // By now the temporary files are gone.
    if let Err(CompileError::Killed { signal, .. }) = &result {
        process::end_like_child(*signal);
    }
    result
}

fn compile(driver: Driver, words: &[OsString]) -> Result<u8, CompileError> {
    let (compiler, given) = driver.compiler(words)?;
    let (expanded, from_files) = response_file::expand(&given);
    let Some(plan) = plan_for(&compiler, &Arguments::parse(expanded))? else {
        return execute(&compiler, &given);
    };
    for notice in &plan.notices {
        let warning = console::style("warning:").for_stderr().magenta().bold();
        eprintln!("raddle {}: {warning} {notice}", driver.name());
    }
    let mut folder = Folder::default();
    let mut words = folder.words(&plan)?;
    if from_files {
        // There are such files because a command line may be too long otherwise.
        let file = folder.file("words", &response_file::text(&words))?;
        words = vec![[OsStr::new("@"), &file].into_iter().collect()];
    }
    execute(&compiler, &words)
}

/// What to run; `None` when that is what was given.
fn plan_for(compiler: &Compiler, arguments: &Arguments) -> Result<Option<Plan>, CompileError> {
    if arguments.purpose() == Purpose::Other {
        return Ok(None);
    }
    let tools = Tools {
        family: compiler.family()?,
        gold: arguments.purpose() == Purpose::Link && compiler::links_with_gold(arguments.linker().as_deref()),
    };
    Ok(plan::plan(arguments, tools, visible()?))
}

fn visible() -> Result<Visible, CompileError> {
    let value = std::env::var_os(VISIBLE).unwrap_or_default();
    match value.to_str() {
        Some("" | "memory") => Ok(Visible::Memory),
        Some("atomics") => Ok(Visible::Atomics),
        _ => Err(CompileError::Visible { value: value.to_string_lossy().into_owned() }),
    }
}

fn execute(compiler: &Compiler, words: &[OsString]) -> Result<u8, CompileError> {
    let mut command = compiler.command();
    let missing = header::offer(&mut command).err();
    let result = process::run(command.args(words)).map_err(|error| match error {
        process::ProcessError::Start(source) => CompileError::start(compiler.program(), source),
        process::ProcessError::Killed(signal) => {
            CompileError::Killed { compiler: compiler.program().to_string_lossy().into_owned(), signal }
        }
    });
    // Few programs need the header. Only for one that does not compile may this be the reason.
    if let (Ok(1..), Some(reason)) = (&result, missing) {
        eprintln!("raddle: note: #include <raddle.h> may not have been found: {reason}");
    }
    result
}

/// A temporary folder, made when there is something to put into it.
#[derive(Default)]
struct Folder(Option<TempDir>);

impl Folder {
    /// The words of a plan; the files that they name are there as long as this folder.
    fn words(&mut self, plan: &Plan) -> io::Result<Vec<OsString>> {
        let word = |word: &Word| match word {
            Word::Plain(word) => Ok(word.clone()),
            Word::File(before, file) => {
                let path = self.file(file.name(), file.contents())?;
                Ok([OsStr::new(before), &path].into_iter().collect())
            }
        };
        plan.words.iter().map(word).collect()
    }

    fn file(&mut self, name: &str, contents: &[u8]) -> io::Result<OsString> {
        let folder: &Path = match &self.0 {
            Some(folder) => folder.path(),
            None => self.0.insert(tempfile::Builder::new().prefix("raddle-cc-").tempdir()?).path(),
        };
        let path = folder.join(name);
        std::fs::write(&path, contents)?;
        Ok(path.into_os_string())
    }
}
