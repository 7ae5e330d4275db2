//! Checkpoints that claim more than they have.

use bqnco_net::{NetError, pytorch_sizes};

/// A zip archive of stored files, as `torch.save` writes it.
fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let offset = bytes.len() as u32;
        let mut common = vec![0; 6]; // flags, method (stored), time
        common.extend([0, 0]); // date
        common.extend(crc32fast::hash(content).to_le_bytes());
        common.extend((content.len() as u32).to_le_bytes());
        common.extend((content.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]); // no extra field
        bytes.extend(b"PK\x03\x04\x14\x00");
        bytes.extend(&common);
        bytes.extend(name.as_bytes());
        bytes.extend(*content);
        directory.extend(b"PK\x01\x02\x14\x00\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]); // comment, disk, attributes
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (start, length) = (bytes.len() as u32, directory.len() as u32);
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06\x00\x00\x00\x00");
    bytes.extend([(files.len() as u16).to_le_bytes(), (files.len() as u16).to_le_bytes()].concat());
    bytes.extend(length.to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

/// `{"net": {"input_emb.weight": view}}`, where the view repeats one number `rows * columns` times.
fn pickle(rows: u32, columns: u32) -> Vec<u8> {
    let text = |word: &str| [&b"X"[..], &(word.len() as u32).to_le_bytes(), word.as_bytes()].concat();
    let int = |number: u32| [&b"J"[..], &number.to_le_bytes()].concat();
    let storage = [
        b"(".to_vec(),
        text("storage"),
        b"ctorch\nFloatStorage\n".to_vec(),
        text("0"),
        text("cpu"),
        b"K\x01tQ".to_vec(),
    ];
    let shape = [b"(".to_vec(), int(rows), int(columns), b"t".to_vec()];
    let tensor = [
        b"ctorch._utils\n_rebuild_tensor_v2\n(".to_vec(),
        storage.concat(),
        b"K\x00".to_vec(),
        shape.concat(),
        b"(K\x00K\x00t\x89ccollections\nOrderedDict\n)RtR".to_vec(),
    ];
    let inner = [b"}".to_vec(), text("input_emb.weight"), tensor.concat(), b"s".to_vec()].concat();
    [b"\x80\x02}".to_vec(), text("net"), inner, b"s.".to_vec()].concat()
}

#[test]
fn a_view_that_repeats_its_numbers_is_refused_before_memory_is_taken() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bombs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("bomb.pt");
    for (rows, columns, words) in [
        (30_000, 30_000, "more numbers than a file of"),
        (2_000_000_000, 2_000_000_000, ""),
        (2, 1, "scores_projection"),
    ] {
        let (pickle, number) = (pickle(rows, columns), 1.0_f32.to_le_bytes());
        let file = archive(&[("a/data.pkl", &pickle), ("a/version", b"3\n"), ("a/data/0", &number)]);
        std::fs::write(&path, file).expect("written");
        match pytorch_sizes(&path) {
            Err(NetError::BadCheckpoint { reason, .. }) => assert!(reason.contains(words), "{reason}"),
            other => panic!("{other:?}"),
        }
    }
    std::fs::remove_dir_all(folder).expect("removed");
}
