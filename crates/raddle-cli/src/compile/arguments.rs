//! Understands the command line of a compiler, as far as that takes: which words are files, which are
//! options, and what the compiler is to make of them. gcc and clang agree on all that matters here.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::sanitizers::Sanitizers;

/// The words after the compiler.
#[derive(Debug, Default)]
pub struct Arguments {
    items: Vec<Item>,
}

/// A file, or an option with its value.
#[derive(Debug, PartialEq, Eq)]
pub enum Item {
    /// A file to be compiled or linked.
    Input(Input, OsString),
    /// An option; the value of its own word, if it has one.
    Option(OsString, Option<OsString>),
}

/// What a compiler does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Compiles it: C, C++, or Objective-C.
    Source,
    /// Compiles it: another language, such as Fortran.
    OtherSource,
    /// Precompiles it.
    Header,
    Assembler,
    /// Hands it to the linker.
    Linked,
}

/// What a compiler is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To preprocess, to assemble, to answer a question: nothing that raddle has a part in.
    Other,
    /// To compile, and not to link.
    Compile,
    /// To link, maybe after compiling.
    Link,
}

/// What is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// A program.
    Executable,
    /// A program without a dynamic linker.
    StaticExecutable,
    SharedLibrary,
    /// An object that is linked again.
    Relocatable,
}

/// Options whose value is the next word, when it is not part of the same.
#[rustfmt::skip]
const WITH_VALUE: &[&str] = &[
    "-o", "-x", "-D", "-U", "-I", "-L", "-l", "-B", "-T", "-u", "-z", "-e", "-A", "-F", "-J",
    "-Tbss", "-Tdata", "-Ttext",
    "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-iprefix", "-iwithprefix",
    "-iwithprefixbefore", "-isysroot", "-imultilib", "-iframework", "-ivfsoverlay", "-cxx-isystem",
    "-stdlib++-isystem", "-include-pch",
    "-MF", "-MT", "-MQ", "-MJ",
    "-Xlinker", "-Xpreprocessor", "-Xassembler", "-Xclang", "-Xanalyzer", "-Xthinlto", "-Xopenmp-target",
    "-mllvm", "-mthread-model", "-wrapper", "-aux-info", "-dumpbase", "-dumpbase-ext", "-dumpdir",
    "-target", "-arch", "-framework", "-rpath", "-resource-dir", "-working-directory", "-index-store-path",
    "-serialize-diagnostics", "--serialize-diagnostics", "-dependency-file",
    "--param", "--sysroot", "--output", "--language", "--include", "--include-directory", "--imacros",
    "--define-macro", "--undefine-macro", "--library-directory", "--config", "--target",
];

/// Options that ask for something else than a program or an object.
#[rustfmt::skip]
const QUESTIONS: &[&str] = &[
    "-E", "--preprocess", "-M", "-MM", "--dependencies", "--user-dependencies", "-fsyntax-only", "--analyze", "-###",
    "--version", "-dumpversion", "-dumpfullversion", "-dumpmachine", "-dumpspecs", "--target-help",
    "-cc1", "-cc1as", "-cc1gen-reproducer",
];

/// The beginnings of such options.
const QUESTION_PREFIXES: &[&str] = &["-print-", "--print-", "--help", "-module-file-info"];

impl Arguments {
    /// Reads the words of a command line in which response files are expanded.
    pub fn parse(words: impl IntoIterator<Item = OsString>) -> Arguments {
        let mut words = words.into_iter();
        let mut items = Vec::new();
        let mut language = None;
        let mut options = true;
        while let Some(word) = words.next() {
            let text = word.to_string_lossy().into_owned();
            if options && text == "--" {
                options = false;
            } else if !options && text.starts_with('-') {
                let here = [OsStr::new("./"), &word].into_iter().collect::<OsString>();
                items.push(Item::Input(input(&here, language.as_deref()), here));
            } else if !options || text == "-" || !text.starts_with('-') {
                items.push(Item::Input(input(&word, language.as_deref()), word));
            } else {
                let value = WITH_VALUE.contains(&text.as_str()).then(|| words.next()).flatten();
                let new_language = match (text.as_str(), &value) {
                    ("-x" | "--language", Some(value)) => Some(value.to_string_lossy().into_owned()),
                    _ => text.strip_prefix("-x").or(text.strip_prefix("--language=")).map(str::to_owned),
                };
                if let Some(new) = new_language.filter(|new| !new.is_empty()) {
                    language = (new != "none").then_some(new);
                }
                items.push(Item::Option(word, value));
            }
        }
        Arguments { items }
    }

    /// All files and options, in their order.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// What the compiler is asked to do.
    pub fn purpose(&self) -> Purpose {
        let question = |o: &str| QUESTIONS.contains(&o) || QUESTION_PREFIXES.iter().any(|prefix| o.starts_with(prefix));
        if self.has_option(question) {
            return Purpose::Other;
        }
        if self.stops_before_linking() {
            let compiles = self.has_input(|input| !matches!(input, Input::Assembler | Input::Linked));
            return if compiles { Purpose::Compile } else { Purpose::Other };
        }
        let linked = |o: &str| o.starts_with("-l") || linker_words(o).any(is_library);
        if self.has_input(|_| true) || self.has_option(linked) {
            Purpose::Link
        } else {
            Purpose::Other
        }
    }

    /// Told not to link, or there is nothing but headers.
    fn stops_before_linking(&self) -> bool {
        let stop = ["-c", "-S", "--compile", "--assemble", "--precompile", "-emit-ast"];
        let headers = self.has_input(|_| true) && !self.has_input(|input| input != Input::Header);
        headers || self.has_option(|option| stop.contains(&option))
    }

    /// What is linked; the last option that says something about it counts.
    pub fn product(&self) -> Product {
        let mut product = Product::Executable;
        for (option, value) in self.options() {
            let linker = value.as_deref().filter(|_| option == "-Xlinker").unwrap_or("");
            let relocatable = |word: &str| ["-r", "--relocatable"].contains(&word);
            match option.as_str() {
                "-r" => return Product::Relocatable,
                o if linker_words(o).any(relocatable) || relocatable(linker) => return Product::Relocatable,
                "-shared" | "--shared" => product = Product::SharedLibrary,
                "-static" | "--static" | "-static-pie" | "--static-pie" if product == Product::Executable => {
                    product = Product::StaticExecutable;
                }
                _ => {}
            }
        }
        product
    }

    /// Whether libc is left out, and not named either.
    pub fn without_libc(&self) -> bool {
        let named = self.options().any(|(o, value)| o == "-lc" || (o == "-l" && value.as_deref() == Some("c")));
        let left_out = ["-nostdlib", "--no-standard-libraries", "-nodefaultlibs", "-nolibc"];
        !named && self.has_option(|option| left_out.contains(&option))
    }

    /// The linker that was asked for by name, or by its path.
    pub fn linker(&self) -> Option<String> {
        let named = |(option, _): (String, _)| {
            option.strip_prefix("-fuse-ld=").or(option.strip_prefix("--ld-path=")).map(str::to_owned)
        };
        self.options().filter_map(named).last()
    }

    /// The option that asks for code of another machine than x86-64.
    pub fn other_machine(&self) -> Option<String> {
        let mut other = None;
        for (option, value) in self.options() {
            let target = match (option.as_str(), value) {
                ("-target" | "--target", Some(value)) => Some(value),
                _ => option.strip_prefix("--target=").map(str::to_owned),
            };
            match (option.as_str(), target) {
                ("-m32" | "-mx32" | "-m16", _) => other = Some(option),
                ("-m64", _) => other = None,
                (_, Some(target)) => {
                    let known = target.starts_with("x86_64") || target.starts_with("amd64");
                    other = (!known).then(|| format!("--target={target}"));
                }
                _ => {}
            }
        }
        other
    }

    /// Whether the user has an opinion on debug information.
    pub fn says_debug(&self) -> bool {
        self.has_option(|option| option.starts_with("-g") && !option.starts_with("-gcc"))
    }

    /// Which sanitizers the user asks for.
    pub fn sanitizers(&self) -> Sanitizers {
        let mut sanitizers = Sanitizers::default();
        for (option, _) in self.options() {
            if let Some(list) = option.strip_prefix("-fsanitize=") {
                sanitizers.add(list);
            } else if let Some(list) = option.strip_prefix("-fno-sanitize=") {
                sanitizers.remove(list);
            }
        }
        sanitizers
    }

    /// Whether one of the files is like this.
    pub fn has_input(&self, like: impl Fn(Input) -> bool) -> bool {
        self.items.iter().any(|item| matches!(item, Item::Input(input, _) if like(*input)))
    }

    fn has_option(&self, like: impl Fn(&str) -> bool) -> bool {
        self.options().any(|(option, _)| like(&option))
    }

    fn options(&self) -> impl Iterator<Item = (String, Option<String>)> + '_ {
        self.items.iter().filter_map(|item| match item {
            Item::Option(option, value) => {
                let value = value.as_ref().map(|value| value.to_string_lossy().into_owned());
                Some((option.to_string_lossy().into_owned(), value))
            }
            Item::Input(..) => None,
        })
    }
}

/// What `-Wl,` hands to the linker.
fn linker_words(option: &str) -> impl Iterator<Item = &str> {
    option.strip_prefix("-Wl,").unwrap_or("").split(',')
}

fn is_library(word: &str) -> bool {
    word.starts_with("-l") || (!word.starts_with('-') && (word.ends_with(".a") || word.ends_with(".o")))
}

/// What a compiler does with a file, by the language of `-x` or by the file's name.
fn input(file: &OsStr, language: Option<&str>) -> Input {
    match language {
        Some("assembler" | "assembler-with-cpp") => Input::Assembler,
        Some(language) if language.ends_with("-header") => Input::Header,
        Some(language) if ["c", "objective-c", "c++", "objective-c++"].iter().any(|c| language.starts_with(c)) => {
            Input::Source
        }
        Some("cpp-output") => Input::Source,
        Some(_) => Input::OtherSource,
        None if file.as_bytes() == b"-" => Input::Source,
        None => by_name(file),
    }
}

/// What a compiler does with a file of this name.
pub fn by_name(file: &OsStr) -> Input {
    match Path::new(file).extension().and_then(OsStr::to_str).unwrap_or("") {
        "c" | "i" | "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" | "ii" => Input::Source,
        "m" | "mi" | "mm" | "M" | "mii" => Input::Source,
        "cppm" | "ccm" | "cxxm" | "c++m" | "ixx" => Input::Source,
        "h" | "hh" | "H" | "hp" | "hxx" | "hpp" | "HPP" | "h++" | "tcc" => Input::Header,
        "s" | "S" | "sx" => Input::Assembler,
        "f" | "for" | "ftn" | "F" | "FOR" | "fpp" | "FPP" | "FTN" => Input::OtherSource,
        "f90" | "f95" | "f03" | "f08" | "F90" | "F95" | "F03" | "F08" => Input::OtherSource,
        "ads" | "adb" | "d" | "di" | "dd" | "go" | "ll" | "bc" | "cu" | "cui" | "cl" | "hip" => Input::OtherSource,
        _ => Input::Linked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Purpose::{Compile, Link, Other};

    fn parse(line: &str) -> Arguments {
        Arguments::parse(line.split_whitespace().map(OsString::from))
    }

    fn inputs(line: &str) -> Vec<(Input, String)> {
        let arguments = parse(line);
        let files = arguments.items().iter().filter_map(|item| match item {
            Item::Input(input, word) => Some((*input, word.to_string_lossy().into_owned())),
            Item::Option(..) => None,
        });
        files.collect()
    }

    #[test]
    fn purposes() {
        for (line, purpose) in [
            ("", Other),
            ("-v", Other),
            ("-V", Other),
            ("--version", Other),
            ("--help", Other),
            ("--help=params", Other),
            ("-dumpmachine", Other),
            ("-print-prog-name=ld", Other),
            ("-Wl,--version", Other),
            ("-E a.c", Other),
            ("-E -x c -", Other),
            ("-E -dM -x c /dev/null", Other),
            ("-M a.c", Other),
            ("-MM -MF deps a.c", Other),
            ("-fsyntax-only a.c", Other),
            ("-### -c a.c", Other),
            ("-c a.s", Other),
            ("-c a.S -o a.o", Other),
            ("-x assembler-with-cpp -c a.txt", Other),
            ("-c a.o", Other),
            ("-cc1 a.c", Other),
            ("-c a.c", Compile),
            ("-S a.c", Compile),
            ("-MD -MF a.d -MT a.o -c a.c -o a.o", Compile),
            ("-MMD -c a.c", Compile),
            ("-dumpbase a -c a.c", Compile),
            ("-v -c a.c", Compile),
            ("-c a.s a.c", Compile),
            ("-x c -c -", Compile),
            ("a.h", Compile),
            ("-x c++-header all.txt", Compile),
            ("a.c", Link),
            ("-x c -", Link),
            ("a.o -lm", Link),
            ("a.s", Link),
            ("-Wl,--whole-archive -lmain", Link),
            ("-Wl,--whole-archive,libmain.a -o a", Link),
            ("-v a.o", Link),
            ("-o -c a.o", Link),
        ] {
            assert_eq!(parse(line).purpose(), purpose, "{line}");
        }
    }

    #[test]
    fn values_are_no_files() {
        use Input::{Assembler, Header, Linked, OtherSource, Source};
        let of = |list: &[(Input, &str)]| list.iter().map(|(i, s)| (*i, s.to_string())).collect::<Vec<_>>();
        let line = "-o x.c -I a.c -isystem b.c -MF c.c -Xlinker d.o -mllvm e -include f.h -u g -D h --param i=1 main.c";
        assert_eq!(inputs(line), of(&[(Source, "main.c")]));
        assert_eq!(inputs("-Ia.c -ofoo.c -lb -DX=a.c libx.so.1 x.a"), of(&[(Linked, "libx.so.1"), (Linked, "x.a")]));
        assert_eq!(
            inputs("a.f90 a.S b.txt -x c b.txt -x none b.txt -xc++ - -x c-header q"),
            of(&[
                (OtherSource, "a.f90"),
                (Assembler, "a.S"),
                (Linked, "b.txt"),
                (Source, "b.txt"),
                (Linked, "b.txt"),
                (Source, "-"),
                (Header, "q")
            ])
        );
        assert_eq!(inputs("-c -- -a.c b.c"), of(&[(Source, "./-a.c"), (Source, "b.c")]));
    }

    #[test]
    fn a_missing_value_is_left_to_the_compiler() {
        assert_eq!(parse("-c a.c -o").items().last(), Some(&Item::Option("-o".into(), None)));
    }

    #[test]
    fn products() {
        for (line, product) in [
            ("a.o", Product::Executable),
            ("-pie a.o", Product::Executable),
            ("-shared a.o", Product::SharedLibrary),
            ("-static a.o", Product::StaticExecutable),
            ("-static-pie a.o", Product::StaticExecutable),
            ("-static-libgcc a.o", Product::Executable),
            ("-shared -static a.o", Product::SharedLibrary),
            ("-r a.o", Product::Relocatable),
            ("-nostdlib -Wl,-r a.o", Product::Relocatable),
            ("-Xlinker -r a.o", Product::Relocatable),
        ] {
            assert_eq!(parse(line).product(), product, "{line}");
        }
    }

    #[test]
    fn machines() {
        for (line, other) in [
            ("a.c", None),
            ("-m32", Some("-m32")),
            ("-m32 -m64", None),
            ("--target=x86_64-linux-gnu", None),
            ("-target aarch64-linux-gnu", Some("--target=aarch64-linux-gnu")),
        ] {
            assert_eq!(parse(line).other_machine().as_deref(), other, "{line}");
        }
    }

    #[test]
    fn debug_information_and_linkers() {
        assert!(parse("-g0 a.c").says_debug());
        assert!(parse("-ggdb3 a.c").says_debug());
        assert!(!parse("-O2 -gcc-toolchain x").says_debug());
        assert_eq!(parse("-fuse-ld=bfd -fuse-ld=gold").linker().as_deref(), Some("gold"));
        assert_eq!(parse("--ld-path=/usr/bin/ld.lld").linker().as_deref(), Some("/usr/bin/ld.lld"));
        assert!(parse("-nodefaultlibs").without_libc());
        assert!(!parse("-nostdlib -lgcc -lc").without_libc());
    }
}
