//! Reading a file takes at most 64 MB and 50 times its size, whatever the file claims.
//!
//! Every case runs in a process of its own, which tells its peak: memory that an allocator keeps would hide others.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Command, Stdio};

use bqnco::Reader;

/// The beginning of a file, what is repeated until it is large, and its end.
type Case = (&'static str, &'static [u8], &'static [u8], &'static [u8]);

const CASES: [Case; 30] = [
    ("objects.json", b"[{}", b",{}", b"]"),
    ("objects.jsonl", b"{}", b"\n{}", b""),
    ("fields.json", b"[{\"\":0}", b",{\"\":0}", b"]"),
    ("names.json", b"{\"a\":0", b",\"\\u00001\":0", b"}"),
    ("numbers.json", b"{\"coordinates\":[[0,0]", b",[0,0]", b"]}"),
    ("lists.json", b"{\"coordinates\":[[]", b",[]", b"]}"),
    ("flat.json", b"{\"values\":[0", b",0", b"]}"),
    ("solution.json", b"{\"coordinates\":[[0,0],[1,1]],\"solution\":[0", b",0", b"]}"),
    ("routes.json", b"{\"coordinates\":[[0,0],[1,1]],\"solution\":[[]", b",[]", b"]}"),
    ("deep.json", b"{\"coordinates\":", b"[", b""),
    ("instances.jsonl", b"", b"{\"coordinates\":[[0,0],[1,1]]}\n", b""),
    ("cells.csv", b"x,y\n", b"0,", b"\n"),
    ("rows.csv", b"x,y\n", b"0\n", b""),
    ("pairs.csv", b"x,y\n", b"0,0\n", b""),
    ("headerless.csv", b"0,0\n", b"0,0\n", b""),
    ("words.csv", b"x,y\n", b"a,b\n", b""),
    ("comments.csv", b"x,y\n", b"#\n", b"0,0\n"),
    ("lines.txt", b"0 0 0 0\n", b"0 0\n", b""),
    ("line.txt", b"0 0 0 0", b" 0", b"\n"),
    ("keyed.txt", b"depot,0,0,customer,1,1", b",1,1", b"\n"),
    ("many.txt", b"depot,0,0", b"\ndepot,0,0", b"\n"),
    ("nodes.tsp", b"TYPE : TSP\nDIMENSION : 3000000\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n", b"1 0 0\n", b""),
    ("headers.tsp", b"TYPE : TSP\n", b"COMMENT\n", b""),
    ("sections.tsp", b"TYPE : TSP\n", b"A_SECTION\n", b""),
    ("matrix.tsp", b"TYPE : TSP\nDIMENSION : 2000\nEDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_SECTION\n", b"0 ", b"\n"),
    ("items.kp", b"3000000\n9\n", b"1 1\n", b""),
    ("lists.pkl", b"\x80\x02](", b"]", b"e."),
    ("memo.pkl", b"\x80\x04]", b"\x94", b"."),
    ("shared.pkl", b"\x80\x02](]q\x00", b"h\x00", b"e."),
    ("truths.pkl", b"\x80\x02](", b"\x88", b"e."),
];

/// Bytes of the repeated part.
const SIZE: usize = 4 << 20;

fn file(case: &Case) -> Vec<u8> {
    let (_, start, middle, end) = case;
    [start, &middle.repeat(SIZE / middle.len())[..], end].concat()
}

/// A first row that is as long as the file has rows: their product is not the size of a matrix.
fn wide_csv() -> Vec<u8> {
    [&b"0,".repeat(1 << 20)[..], &b"0\n".repeat(1 << 20)].concat()
}

/// An archive with one array of bytes, stored, and its name.
fn npz(name: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut array = b"\x93NUMPY\x01\x00".to_vec();
    array.extend((header.len() as u16).to_le_bytes());
    array.extend(header.as_bytes());
    array.extend(data);
    stored(&format!("{name}.npy"), &array)
}

/// A zip archive of one stored file.
fn stored(name: &str, content: &[u8]) -> Vec<u8> {
    let mut common = vec![0; 8]; // flags, method, time, date
    common.extend(crc32fast::hash(content).to_le_bytes());
    common.extend([content.len() as u32, content.len() as u32].map(u32::to_le_bytes).concat());
    common.extend((name.len() as u16).to_le_bytes());
    common.extend([0, 0]);
    let local = [&b"PK\x03\x04\x14\x00"[..], &common, name.as_bytes(), content].concat();
    let central = [&b"PK\x01\x02\x14\x00\x14\x00"[..], &common, &[0; 14], name.as_bytes()].concat();
    let mut end = b"PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00".to_vec();
    end.extend([central.len() as u32, local.len() as u32].map(u32::to_le_bytes).concat());
    end.extend([0, 0]);
    [local, central, end].concat()
}

/// All files by name.
fn files() -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = CASES.iter().map(|case| (case.0.to_string(), file(case))).collect();
    files.push(("wide.csv".into(), wide_csv()));
    for (name, shape) in
        [("values", format!("({SIZE}, 1)")), ("values", format!("(1, {SIZE})")), ("values", "(2048, 2048)".into())]
    {
        files.push((format!("{name}{shape}.npz"), npz(name, &shape, &vec![0; SIZE])));
    }
    files
}

/// The most memory that this process has had.
fn peak() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.split_whitespace().next().expect("a number").parse::<usize>().expect("a number") * 1024
}

#[test]
fn reading_takes_at_most_64_mb_and_50_times_the_file() {
    const NAME: &str = "memory::reading_takes_at_most_64_mb_and_50_times_the_file"; // in tests/main.rs
    if let Some(path) = std::env::var_os("BQNCO_TEST_READ") {
        let outcome = Reader::default().read(path).map(|instances| instances.len());
        let outcome = outcome.map_or_else(|error| error.to_string(), |count| format!("{count} instances"));
        println!("PEAK {} {outcome}", peak());
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let program = std::env::current_exe().expect("this program");
    let mut above = Vec::new();
    for (name, bytes) in files() {
        let path = folder.path().join(&name);
        fs::write(&path, &bytes).expect("written");
        let mut child = Command::new(&program);
        child.args(["--exact", NAME, "--nocapture"]).env("BQNCO_TEST_READ", &path).stdin(Stdio::null());
        let output = child.output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = said.lines().find_map(|line| line.split_once("PEAK ")).map_or("0 aborted", |(_, line)| line);
        let (peak, outcome) = line.split_once(' ').expect("a peak and an outcome");
        let (peak, most) = (peak.parse::<usize>().expect("bytes"), (64 << 20) + 50 * bytes.len());
        if peak == 0 || peak > most {
            let times = peak.saturating_sub(64 << 20) / bytes.len();
            above.push(format!("{name}: {} MB, {times} times the file beyond 64 MB: {outcome:.100}", peak >> 20));
        }
        fs::remove_file(path).expect("removed");
    }
    assert!(above.is_empty(), "{}", above.join("\n"));
}
