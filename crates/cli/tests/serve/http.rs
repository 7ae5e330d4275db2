//! A small HTTP client that can also misbehave.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// A request to be sent.
pub struct Request<'a> {
    address: String,
    method: &'a str,
    path: &'a str,
    headers: Vec<(&'a str, String)>,
    body: Option<&'a [u8]>,
}

/// An answer.
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl<'a> Request<'a> {
    pub fn new(address: &str, method: &'a str, path: &'a str) -> Self {
        Request { address: address.into(), method, path, headers: Vec::new(), body: None }
    }

    pub fn header(mut self, name: &'a str, value: &str) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn body(mut self, body: &'a [u8]) -> Self {
        self.body = Some(body);
        self
    }

    /// Sends the request and leaves the connection open.
    pub fn open(self) -> TcpStream {
        let mut stream = connect(&self.address);
        let mut head =
            format!("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.method, self.path, self.address);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if let Some(body) = self.body {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).expect("the head is sent");
        // The server may answer, and close, before it has read a large body.
        let _ = self.body.map(|body| stream.write_all(body));
        stream
    }

    #[track_caller]
    pub fn send(self) -> Reply {
        let what = format!("{} {}", self.method, self.path);
        read(self.open()).unwrap_or_else(|| panic!("{what}: no answer"))
    }
}

pub fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server accepts");
    stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a timeout");
    stream
}

/// Reads an answer; none if the connection ends before one.
pub fn read(stream: TcpStream) -> Option<Reply> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|&length| length > 0)?;
    let status = line.split(' ').nth(1)?.parse().ok()?;
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_string()));
    }
    let mut reply = Reply { status, headers, body: Vec::new() };
    if reply.header("transfer-encoding") == Some("chunked") {
        reply.body = chunks(&mut reader)?;
    } else if let Some(length) = reply.header("content-length").and_then(|length| length.parse().ok()) {
        reply.body = vec![0; length];
        reader.read_exact(&mut reply.body).ok()?;
    } else {
        let _ = reader.read_to_end(&mut reply.body);
    }
    Some(reply)
}

fn chunks(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let length = usize::from_str_radix(line.trim(), 16).ok()?;
        let mut chunk = vec![0; length + 2]; // and the line's end
        reader.read_exact(&mut chunk).ok()?;
        if length == 0 {
            return Some(body);
        }
        body.extend(&chunk[..length]);
    }
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("UTF-8")
    }

    /// The JSON of an answer with this status.
    #[track_caller]
    pub fn json(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The message of a failed request with this status and kind.
    #[track_caller]
    pub fn failure(&self, status: u16, kind: &str) -> String {
        let answer = self.json(status);
        assert_eq!(answer["error"]["kind"], kind, "{answer}");
        answer["error"]["message"].as_str().expect("a sentence").to_string()
    }

    /// Server-sent events: names and data.
    pub fn events(&self) -> Vec<(String, Value)> {
        let text = self.text();
        let field = |block: &str, name: &str| {
            block.lines().find_map(|line| line.strip_prefix(name).map(|value| value.trim().to_string()))
        };
        let event = |block: &str| {
            let data = field(block, "data:")?;
            Some((field(block, "event:")?, serde_json::from_str(&data).expect("JSON")))
        };
        text.split("\n\n").filter_map(event).collect()
    }
}
