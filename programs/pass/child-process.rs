// pass: a child process between two threads: one feeds its standard input, the other reads what comes back
// outside: yes
// uncontrolled: uncontended locks are not schedule points

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;

fn main() {
    let mut child = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = child.stdout.take().unwrap();

    // Two threads, because a child that fills its output while it is being fed would block both.
    let feeder = thread::spawn(move || {
        for line in ["warp\n", "weft\n"] {
            input.write_all(line.as_bytes()).unwrap();
        }
    });
    let reader = thread::spawn(move || {
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        text
    });
    feeder.join().unwrap();
    assert_eq!(reader.join().unwrap(), "warp\nweft\n");
    assert!(child.wait().unwrap().success());

    // Two children at once: each thread gets the status of its own.
    let codes: Vec<_> = [3, 4]
        .map(|code| {
            thread::spawn(move || {
                Command::new("sh")
                    .args(["-c", &format!("exit {code}")])
                    .status()
                    .unwrap()
            })
        })
        .into_iter()
        .map(|handle| handle.join().unwrap().code())
        .collect();
    assert_eq!(codes, [Some(3), Some(4)]);
}
