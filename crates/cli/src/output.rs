//! Results on standard output, files written atomically.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow};
use bqnco::io::{Format, Route, write_atomically};
use bqnco::plot::Picture;
use bqnco::{InstanceFiles, ProblemName, dispatch};

use crate::failure::Failure;

/// Says something on standard error, like `say!`. A closed or full standard error stops no work.
macro_rules! say {
    ($($text:tt)*) => { $crate::output::tell(&format!($($text)*)) };
}
pub(crate) use say;

/// See [`say!`].
pub fn tell(line: &str) {
    let _ = std::io::stderr().write_all(format!("{}\n", plain(line)).as_bytes());
}

/// Text without what controls terminals, since files may contain it; lines and tabs stay.
pub fn plain(text: &str) -> String {
    text.replace(|c: char| c.is_control() && !matches!(c, '\n' | '\t'), "?")
}

/// Prints results; [`Failure::Unread`] if the reader has closed the pipe.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut standard_output = std::io::stdout().lock();
    match standard_output.write_all(bytes).and_then(|()| standard_output.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::Unread),
        Err(error) => Err(anyhow::Error::new(error).context("cannot print").into()),
        Ok(()) => Ok(()),
    }
}

/// Prints JSON. Strings in it may hold DEL and the controls from U+0080 as they are; these are escaped, since terminals
/// obey them.
pub fn print_json(text: &str) -> Result<(), Failure> {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{7f}'..='\u{9f}' => escaped += &format!("\\u{:04x}", u32::from(c)),
            _ => escaped.push(c),
        }
    }
    print(escaped.as_bytes())
}

/// Names the files of folders that are skipped, on standard error.
pub fn tell_skipped(found: &InstanceFiles) {
    found.skipped.iter().for_each(|reason| say!("note: skipped {reason}"));
}

/// A route as a JSON object.
pub fn route(Route { customers, load, length }: &Route) -> serde_json::Value {
    serde_json::json!({ "customers": customers, "load": load, "length": length })
}

/// Writes a file, or prints it if the path is `-`.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if path == Path::new("-") {
        return print(bytes);
    }
    write_atomically(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

/// Checks that a file can be written in its folder, before any work is done.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    if is_folder(path) {
        return Err(anyhow!("cannot write {}: it is a folder; name a file in it", path.display()).into());
    }
    if path.exists() && !path.is_file() {
        return Ok(()); // a device or a pipe, which is written to in place
    }
    let trial = folder.join(format!(".bqnco-{}.tmp", std::process::id()));
    let tried = std::fs::File::create_new(&trial).and_then(|_| std::fs::remove_file(&trial));
    tried.with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

/// Whether a path denotes a folder, which need not exist yet.
pub fn is_folder(path: &Path) -> bool {
    let ends_in_slash = path.as_os_str().to_string_lossy().ends_with(['/', '\\']);
    path != Path::new("-") && (path.is_dir() || ends_in_slash)
}

/// The output format: as requested, otherwise by the extension, otherwise the default.
pub fn format_for(path: &Path, asked: Option<Format>, default: Format) -> Result<Format, Failure> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().into_owned());
    match (asked, extension) {
        (Some(format), _) => Ok(format),
        (None, Some(extension)) => Format::from_extension(&extension).ok_or_else(|| {
            let names = Format::ALL.map(Format::name).join(", ");
            anyhow!("{}: unknown extension .{extension}; give a format with --format ({names})", path.display()).into()
        }),
        (None, None) => Ok(default),
    }
}

/// Refuses a name with the extension of another problem, which would mislead its readers: `.vrp` for a TSP. Whoever asks
/// for a format may choose any name.
pub fn check_extension(path: &Path, asked: Option<Format>, problem: ProblemName) -> Result<(), Failure> {
    let native = |problem: ProblemName| dispatch!(problem, P => P::NATIVE.instance);
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    // Formats that hold many instances, such as JSON, are those of all problems.
    let has_extension = |other: &ProblemName| !native(*other).0.holds_many() && extension == native(*other).1;
    match ProblemName::ALL.iter().copied().find(has_extension) {
        Some(other) if asked.is_none() && other != problem => {
            let (path, extension, own) = (path.display(), native(other).1, native(problem).1);
            Err(anyhow!(
                "{path}: a .{extension} file holds an instance of {other}, this is one of {problem}; name it .{own}"
            )
            .into())
        }
        _ => Ok(()),
    }
}

/// For clap: a format by its name.
pub fn parse_format(name: &str) -> Result<Format, String> {
    Format::from_name(name).ok_or_else(|| format!("the formats are {}", Format::ALL.map(Format::name).join(", ")))
}

/// Formats a number: integers without decimals, others with five.
pub fn figure(value: f64) -> String {
    if value.fract() == 0.0 { format!("{}", value + 0.0) } else { format!("{value:.5}") }
}

/// A percentage with three decimals, without a negative zero.
pub fn percent(value: f64) -> String {
    format!("{:.3}", if value.abs() < 0.0005 { 0.0 } else { value })
}

/// Rejects unsupported picture extensions before any work is done.
pub fn check_picture_name(path: &Path) -> Result<(), Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg" | "png") => Ok(()),
        _ => Err(anyhow!("{}: a picture's name must end in .svg or .png", path.display()).into()),
    }
}

/// Writes a picture in the format of its extension.
pub fn write_picture(path: &Path, picture: &Picture) -> Result<(), Failure> {
    let is_png = path.extension().is_some_and(|extension| extension == "png");
    let bytes = if is_png { picture.to_png(PICTURE_WIDTH)? } else { picture.to_svg().into_bytes() };
    write(path, &bytes)
}

/// Pixels; wide enough for a slide.
const PICTURE_WIDTH: u32 = 1600;

/// An instance's name as a file name, without path separators: it must not choose the folder. A long name is cut, with a
/// checksum of all of it: names that differ stay different.
pub fn file_name(name: &str) -> String {
    const LONGEST: usize = 200; // bytes; file systems allow 255 with the extension
    let safe = |c: char| if c.is_alphanumeric() || "-_.+".contains(c) { c } else { '_' };
    let cleaned: String = name.chars().map(safe).collect();
    if cleaned.trim_matches('.').is_empty() {
        return "instance".into();
    }
    if cleaned.len() <= LONGEST {
        return cleaned;
    }
    let sum =
        name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)); // FNV-1a
    format!("{}-{sum:016x}", &cleaned[..cleaned.floor_char_boundary(LONGEST - 17)])
}

/// For clap: a duration in seconds, above zero.
pub fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= 1e9 => Ok(Duration::from_secs_f64(number)),
        _ => Err("expected a number of seconds above zero, a billion at most".into()),
    }
}
