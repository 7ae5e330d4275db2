//! Names of files, and files that are written atomically.

#![allow(clippy::unwrap_used)]

use bqnco_io::Source;

#[test]
fn names_lose_known_extensions_only() {
    for (name, stem) in [
        ("folder/inst_0.5.tsp", "inst_0.5"),
        ("a.opt.tour", "a"),
        ("a.opt.tsp", "a.opt"),
        ("X-n101-k25.VRP", "X-n101-k25"),
        ("v1.2", "v1.2"),
        (".tsp", ".tsp"),
    ] {
        assert_eq!(Source::new(name, "").stem(), stem);
    }
}

#[cfg(unix)]
#[test]
fn links_permissions_and_pipes_survive_writing() {
    use std::fs;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("atomic-{}", std::process::id()));
    fs::create_dir_all(folder.join("inner")).unwrap();
    let real = folder.join("inner/real");
    fs::write(&real, "old").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    for (link, target) in [("link", "inner/real"), ("second", "link"), ("dangling", "inner/new")] {
        symlink(target, folder.join(link)).unwrap();
        bqnco_io::write_atomically(folder.join(link), link.as_bytes()).unwrap();
        assert!(fs::symlink_metadata(folder.join(link)).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(folder.join(target)).unwrap(), link);
    }
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(folder.join("inner")).unwrap().count(), 2); // nothing left behind

    let pipe = folder.join("pipe");
    if std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe).unwrap()
        });
        bqnco_io::write_atomically(&pipe, b"through").unwrap();
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
        assert_eq!(reader.join().unwrap(), "through");
    } else {
        bqnco_testing::skip(bqnco_testing::Absent::Program, "no mkfifo to make a pipe");
    }
    fs::remove_dir_all(&folder).unwrap();
}
