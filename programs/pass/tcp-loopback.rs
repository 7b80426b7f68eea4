// pass: a server and two clients over TCP on the loopback interface, all threads of this program
// uncontrolled: uncontended locks are not schedule points

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

fn main() {
    // Port 0: the system chooses, so that runs beside each other do not collide.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();

    let server = thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            stream.write_all(line.to_uppercase().as_bytes()).unwrap();
            // Closing tells the client that this was all.
        }
    });
    let clients: Vec<_> = ["warp\n", "weft\n"]
        .into_iter()
        .map(|word| {
            thread::spawn(move || {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.write_all(word.as_bytes()).unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).unwrap();
                assert_eq!(answer, word.to_uppercase());
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
    server.join().unwrap();
}
