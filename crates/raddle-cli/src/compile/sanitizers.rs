//! The sanitizers that a command line asks for: `-fsanitize=` and `-fno-sanitize=` take lists, and what
//! comes later counts.

/// Those that a compiler does not combine with `thread`, or only with the optimisation at link time that
/// cannot be combined with it.
const EXCLUDING: &[&str] = &[
    "address",
    "hwaddress",
    "kernel-address",
    "kernel-hwaddress",
    "kernel-memory",
    "leak",
    "memory",
    "memtag",
    "memtag-heap",
    "memtag-stack",
    "memtag-globals",
    "dataflow",
    "numerical",
    "pointer-compare",
    "pointer-subtract",
    "realtime",
    "safe-stack",
    "scudo",
    "type",
];

/// Which sanitizers are on.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sanitizers {
    on: Vec<String>,
    thread: Thread,
}

/// What the user says about `thread` itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thread {
    #[default]
    Unsaid,
    /// That it be on.
    On,
    /// That it be off.
    Off,
}

impl Sanitizers {
    /// Reads the list of a `-fsanitize=`.
    pub fn add(&mut self, list: &str) {
        for name in list.split(',') {
            match name {
                "thread" => self.thread = Thread::On,
                name => self.on.push(name.to_owned()),
            }
        }
    }

    /// Reads the list of a `-fno-sanitize=`.
    pub fn remove(&mut self, list: &str) {
        for name in list.split(',') {
            if ["thread", "all"].contains(&name) {
                self.thread = Thread::Off;
            }
            self.on.retain(|on| on != name && name != "all");
        }
    }

    /// What the user says about `thread` itself.
    pub fn thread(&self) -> Thread {
        self.thread
    }

    /// One that is on and cannot be combined with `thread`.
    pub fn excluding(&self) -> Option<&str> {
        let excludes = |name: &str| EXCLUDING.contains(&name) || name == "cfi" || name.starts_with("cfi-");
        self.on.iter().map(String::as_str).find(|name| excludes(name))
    }
}

/// A list without `thread`; `None` when nothing is left.
pub fn without_thread(list: &str) -> Option<String> {
    let rest: Vec<&str> = list.split(',').filter(|name| *name != "thread").collect();
    (!rest.is_empty()).then(|| rest.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &[&str]) -> Sanitizers {
        let mut sanitizers = Sanitizers::default();
        for option in options {
            match option.strip_prefix("no-") {
                Some(list) => sanitizers.remove(list),
                None => sanitizers.add(option),
            }
        }
        sanitizers
    }

    #[test]
    fn what_comes_later_counts() {
        assert_eq!(read(&[]).thread(), Thread::Unsaid);
        assert_eq!(read(&["undefined,thread"]).thread(), Thread::On);
        assert_eq!(read(&["thread", "no-thread"]).thread(), Thread::Off);
        assert_eq!(read(&["no-all", "thread"]).thread(), Thread::On);
        assert_eq!(read(&["address", "no-all"]).excluding(), None);
        assert_eq!(read(&["address", "no-undefined"]).excluding(), Some("address"));
    }

    #[test]
    fn some_exclude_threads() {
        assert_eq!(read(&["undefined,bounds,fuzzer"]).excluding(), None);
        assert_eq!(read(&["undefined,memory"]).excluding(), Some("memory"));
        assert_eq!(read(&["cfi-icall"]).excluding(), Some("cfi-icall"));
    }

    #[test]
    fn lists_lose_a_name() {
        assert_eq!(without_thread("thread"), None);
        assert_eq!(without_thread("thread,undefined"), Some("undefined".to_owned()));
        assert_eq!(without_thread("undefined"), Some("undefined".to_owned()));
    }
}
