//! Names of functions and variables: from the linker's form to one for a person.
//!
//! Only a name that carries the mark of a mangling scheme is demangled. C has names such as `w`, `f` and `Ss`, and
//! the grammar of C++'s scheme reads them as the types `wchar_t`, `float` and `std::string`.

use std::borrow::Cow;

use cpp_demangle::{DemangleOptions, Symbol};

/// What a namespace without a name is called.
pub const ANONYMOUS: &str = "(anonymous namespace)";

/// Longer names lose the arguments of their templates.
const LONG: usize = 80;

/// Namespaces that standard libraries keep versions of themselves in.
const VERSIONS: &[(&str, &str)] = &[("std::__cxx11::", "std::"), ("std::__1::", "std::"), ("::_V2::", "::")];

/// Arguments that templates of the standard library have by default, by their beginnings.
const DEFAULTS: &[&str] =
    &["std::allocator<", "std::char_traits<", "std::default_delete<", "std::equal_to<", "std::hash<", "std::less<"];

/// Durations by the unit in which they count.
const DURATIONS: &[(&str, &str)] = &[
    ("std::ratio<1l, 1000000000l>", "std::chrono::nanoseconds"),
    ("std::ratio<1l, 1000000l>", "std::chrono::microseconds"),
    ("std::ratio<1l, 1000l>", "std::chrono::milliseconds"),
    ("std::ratio<1l, 1l>", "std::chrono::seconds"),
];

/// The readable form of a name of the linker: with parameters, without the type of the result. A name that is not
/// mangled stays as it is.
pub fn demangled(symbol: &str) -> String {
    let rust = ["_R", "_ZN", "__ZN"].iter().any(|mark| symbol.starts_with(mark));
    if let Some(name) = rustc_demangle::try_demangle(symbol).ok().filter(|_| rust) {
        // Names of variables have no parameters, so this scheme reads those of C++, too.
        return format!("{name:#}").replace("_GLOBAL__N_1", ANONYMOUS);
    }
    let cpp = Symbol::new(symbol).ok().filter(|_| symbol.starts_with("_Z"));
    let name = cpp.and_then(|name| name.demangle(&DemangleOptions::new().no_return_type()).ok());
    name.map_or_else(|| symbol.to_string(), |name| name.replace("_GLOBAL__N_1", ANONYMOUS))
}

/// `Bank::deposit(int) const` without its parameters and what comes after them.
pub fn without_parameters(name: &str) -> &str {
    let mut rest = name;
    while let Some(at) = rest.rfind(" [clone ") {
        rest = &rest[..at];
    }
    while let Some(shorter) = [" const", " volatile", " &", " &&"].iter().find_map(|mark| rest.strip_suffix(mark)) {
        rest = shorter;
    }
    if !rest.ends_with(')') {
        return rest;
    }
    let mut depth = 0;
    for (at, character) in rest.char_indices().rev() {
        match character {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            // `operator()` and `(anonymous namespace)` have parentheses of their own.
            let is_list = at > 0 && !rest[..at].ends_with("operator") && !rest[..at].ends_with("::");
            return if is_list { &rest[..at] } else { rest };
        }
    }
    rest
}

/// `<bank::Account>::close` without the brackets, which say nothing. What implements a trait keeps them.
pub fn without_brackets(name: &str) -> Cow<'_, str> {
    let Some((inner, end)) = Some(name).filter(|name| name.starts_with('<')).and_then(arguments) else {
        return name.into();
    };
    match inner[..] {
        [one] if !one.is_empty() && !one.contains(" as ") => format!("{one}{}", &name[end..]).into(),
        _ => name.into(),
    }
}

/// A readable name as a report has it: without parameters, and with the types of C++'s standard library as a programmer
/// writes them.
pub fn short(name: &str) -> String {
    if name == "operator()" {
        // Debug information does not say which one.
        return "{lambda}".to_string();
    }
    let mut name = without_brackets(without_parameters(name));
    for (version, plain) in VERSIONS {
        if name.contains(version) {
            name = name.replace(version, plain).into();
        }
    }
    let name = without_inner_parameters(&name);
    if !name.contains('<') {
        return name;
    }
    let whole = rewritten(&name, &arguments_without_defaults);
    match whole.chars().count() > LONG {
        true => rewritten(&whole, &|template, arguments| match template.is_empty() {
            // `<T as Trait>::f` has no other name.
            true => format!("<{}>", arguments.join(", ")),
            false => format!("{template}<…>"),
        }),
        false => whole,
    }
}

/// `Bank::close(int)::{lambda(int)#1}::operator()` becomes `Bank::close::{lambda#1}`.
fn without_inner_parameters(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find(['(', '[']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.strip_prefix("[abi:").and_then(|rest| rest.find(']')).map(|at| at + "[abi:".len() + 1);
        let end = end.or_else(|| {
            let is_name = out.ends_with(|c: char| c.is_alphanumeric() || "_>".contains(c));
            let is_list = (is_name && !out.ends_with("operator")) || out.ends_with("operator()");
            let (_, end) = arguments(rest).filter(|_| is_list && rest.starts_with('('))?;
            let constant = if rest[end..].starts_with(" const::") { " const".len() } else { 0 };
            let is_inner = out.ends_with("{lambda") || rest[end + constant..].starts_with("::");
            is_inner.then_some(end + constant)
        });
        // What stays begins with one character.
        out.push_str(&rest[..usize::from(end.is_none())]);
        rest = &rest[end.unwrap_or(1)..];
    }
    out.push_str(rest);
    match out.strip_suffix("::operator()") {
        Some(lambda) if lambda.ends_with('}') => lambda.to_string(),
        _ => out,
    }
}

/// Gives each template with its arguments in a name the form that `form` makes of the two.
fn rewritten(name: &str, form: &dyn Fn(&str, &[String]) -> String) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if out.ends_with("operator") {
            let end = rest.find(|c| !"<>=-*".contains(c)).unwrap_or(rest.len());
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let Some((arguments, end)) = arguments(rest) else { break };
        let arguments: Vec<_> = arguments.iter().map(|argument| rewritten(argument, form)).collect();
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let start = out.char_indices().rev().take_while(|(_, c)| is_part(*c)).last().map_or(out.len(), |(at, _)| at);
        let template = out.split_off(start);
        out.push_str(&form(&template, &arguments));
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// The arguments in the brackets that a text begins with, and where they end. `None`: they do not.
fn arguments(text: &str) -> Option<(Vec<&str>, usize)> {
    if !text.starts_with(['<', '(', '[', '{']) {
        return None;
    }
    let (mut found, mut depth, mut start, mut before) = (Vec::new(), 0, 1, ' ');
    for (at, character) in text.char_indices() {
        match character {
            '<' | '(' | '[' | '{' => depth += 1,
            // An arrow is no bracket.
            '>' if before == '-' || before == '=' => {}
            '>' | ')' | ']' | '}' => depth -= 1,
            ',' if depth == 1 => {
                found.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        if depth == 0 {
            found.push(text[start..at].trim());
            return Some((found, at + 1));
        }
        before = character;
    }
    None
}

/// A template with those of its arguments that a programmer writes, or the name that the standard library has for it.
fn arguments_without_defaults(template: &str, arguments: &[String]) -> String {
    let standard = template.starts_with("std::");
    let is_default = |argument: &String| standard && DEFAULTS.iter().any(|name| argument.starts_with(name));
    let written: Vec<_> = arguments
        .iter()
        .enumerate()
        .filter(|(at, argument)| *at == 0 || !is_default(argument))
        .map(|(_, argument)| argument.as_str())
        .collect();
    match (template, &written[..]) {
        ("std::chrono::duration", ["long", unit]) => {
            if let Some((_, name)) = DURATIONS.iter().find(|(ratio, _)| ratio == unit) {
                return (*name).to_string();
            }
        }
        (_, ["char"]) if template.starts_with("std::basic_") => return template.replace("std::basic_", "std::"),
        (_, ["wchar_t"]) if template.starts_with("std::basic_") => return template.replace("std::basic_", "std::w"),
        _ => {}
    }
    format!("{template}<{}>", written.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_mangled_is_demangled() {
        for c in ["w", "f", "Ss", "main", "_start", "Sa", "x", "NSt3fooE", "ZN4Bank5closeEv", "_Rx", "_Zebra", "_"] {
            assert_eq!(demangled(c), c);
        }
        assert_eq!(demangled("_ZN4Bank7depositEi"), "Bank::deposit(int)");
        assert_eq!(demangled("_ZN4bank5close17h0123456789abcdefE"), "bank::close");
        assert_eq!(demangled("_RNvCs1234_4bank4main"), "bank::main");
    }

    #[test]
    fn the_type_of_a_result_is_not_part_of_a_name() {
        // std::string render<int>(int): the result must not make it a function of the standard library.
        assert_eq!(demangled("_Z6renderIiENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEET_"), "render<int>(int)");
    }

    #[test]
    fn namespaces_without_a_name() {
        assert_eq!(demangled("_ZN2ns12_GLOBAL__N_16hiddenE"), "ns::(anonymous namespace)::hidden");
        assert_eq!(demangled("_ZN12_GLOBAL__N_14workEi"), "(anonymous namespace)::work(int)");
        assert_eq!(demangled("counter"), "counter");
    }

    #[test]
    fn parameters_are_left_out() {
        for (whole, bare) in [
            ("Bank::deposit(int)", "Bank::deposit"),
            ("Bank::close(int) [clone .isra.0]", "Bank::close"),
            ("Bank::total() const", "Bank::total"),
            ("(anonymous namespace)::work(int)", "(anonymous namespace)::work"),
            ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"),
            ("Less::operator()", "Less::operator()"),
            ("call(void (*)(int), int)", "call"),
            ("bank::main::{closure#0}", "bank::main::{closure#0}"),
            ("main", "main"),
        ] {
            assert_eq!(without_parameters(whole), bare);
        }
    }

    #[test]
    fn types_are_named_as_a_programmer_does() {
        for (whole, brief) in [
            (
                "Queue<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >::push(int)",
                "Queue<std::string>::push",
            ),
            (
                "std::map<int, std::vector<int, std::allocator<int> >, std::less<int>, std::allocator<std::pair<int \
                 const, std::vector<int, std::allocator<int> > > > >::at(int const&)",
                "std::map<int, std::vector<int>>::at",
            ),
            (
                "std::function<void (int, char)>::operator()(int, char) const",
                "std::function<void (int, char)>::operator()",
            ),
            ("void_t<std::allocator<int> >", "void_t<std::allocator<int>>"),
            ("Set<int, std::less<int> >::add(int)", "Set<int, std::less<int>>::add"),
            ("std::operator<< <std::char_traits<char> >(int)", "std::operator<< <std::char_traits<char>>"),
            (
                "Bank<long>::each[abi:cxx11](std::mutex&) const::{lambda(int)#2}::operator()(int) const",
                "Bank<long>::each::{lambda#2}",
            ),
            ("main::{lambda()#1}::operator()() const", "main::{lambda#1}"),
            ("(anonymous namespace)::f(int)::g(char)", "(anonymous namespace)::f::g"),
            ("Less::operator()(int)::Inner::f()", "Less::operator()::Inner::f"),
            ("Key::operator<(Key const&) const", "Key::operator<"),
            ("ptr<A>::operator->() const", "ptr<A>::operator->"),
            (
                "std::this_thread::sleep_for<long, std::ratio<1l, 1000l> >(int)",
                "std::this_thread::sleep_for<long, std::ratio<1l, 1000l>>",
            ),
            ("wait<std::chrono::duration<long, std::ratio<1l, 1000l> > >(int)", "wait<std::chrono::milliseconds>"),
            ("<bank::Account as core::fmt::Debug>::fmt", "<bank::Account as core::fmt::Debug>::fmt"),
            ("<bank::Account<u32>>::close", "bank::Account<u32>::close"),
            ("operator()", "{lambda}"),
            ("bank::each::<fn(u32) -> u32>", "bank::each::<fn(u32) -> u32>"),
        ] {
            assert_eq!(short(whole), brief);
        }
    }

    #[test]
    fn a_name_that_fills_a_line_loses_its_arguments() {
        let long = format!("run<{}>::call<int>(int)", "Argument, ".repeat(20));
        assert_eq!(short(&long), "run<…>::call<…>");
        for odd in ["broken<int", "<", "(", "a(", "a)", "operator<", ">", "<>", "{lambda(", "f[abi:", "<é>::ü<ö(", ""]
        {
            assert_eq!(short(odd).is_empty(), odd.is_empty(), "{odd}");
        }
    }
}
