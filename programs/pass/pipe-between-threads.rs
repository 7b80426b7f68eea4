// pass: a pipe and a pair of Unix sockets between threads: reads wait for writes, and end when the writer is gone
// uncontrolled: uncontended locks are not schedule points

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;

fn main() {
    let (mut reader, mut writer) = io::pipe().unwrap();
    let producer = thread::spawn(move || {
        for chunk in ["one ", "two ", "three"] {
            writer.write_all(chunk.as_bytes()).unwrap();
        }
        // The end of the thread drops the writer, and the reader sees the end of the file.
    });
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "one two three");
    producer.join().unwrap();

    let (mut near, mut far) = UnixStream::pair().unwrap();
    let echo = thread::spawn(move || {
        let mut byte = [0];
        while far.read(&mut byte).unwrap() == 1 {
            far.write_all(&[byte[0] + 1]).unwrap();
        }
    });
    for value in 0..3 {
        let mut answer = [0];
        near.write_all(&[value]).unwrap();
        near.read_exact(&mut answer).unwrap();
        assert_eq!(answer, [value + 1]);
    }
    drop(near);
    echo.join().unwrap();
}
