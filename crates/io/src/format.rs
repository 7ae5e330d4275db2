//! The file formats.

use std::fmt;
use std::path::Path;

/// A file format, for instances, solutions or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// TSPLIB and its relatives: `.tsp`, `.atsp`, `.vrp` (CVRPLIB), `.oplib`.
    Tsplib,
    /// A TSPLIB tour: `.tour`, `.opt.tour`. Solutions only.
    Tour,
    /// CVRPLIB routes: `.sol`. Solutions only.
    Sol,
    /// Knapsack items of kplib: `.kp`.
    Kp,
    /// Knapsack items after a line `n capacity`, with an optional line of zeros and ones at the end.
    KpText,
    /// A line of zeros and ones, one per knapsack item. Solutions only.
    ZeroOne,
    /// Comma-separated values, one node or item per row.
    Csv,
    /// One JSON object per file, or an array of them; instances and solutions.
    Json,
    /// One JSON object per line.
    JsonLines,
    /// Many instances as numpy arrays, in this project's layout.
    Npz,
    /// Many instances as numpy arrays, as the scripts of the BQ-NCO paper store them.
    NpzBq,
    /// Many instances as numpy arrays, as RL4CO stores them.
    NpzRl4co,
    /// Many instances as pickled lists (Kool et al. 2019).
    Pickle,
    /// Many instances, one per text line (DIFUSCO, LEHD, GOAL).
    Lines,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 14] = [
        Format::Tsplib,
        Format::Tour,
        Format::Sol,
        Format::Kp,
        Format::KpText,
        Format::ZeroOne,
        Format::Csv,
        Format::Json,
        Format::JsonLines,
        Format::Npz,
        Format::NpzBq,
        Format::NpzRl4co,
        Format::Pickle,
        Format::Lines,
    ];

    /// The name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Tsplib => "tsplib",
            Format::Tour => "tour",
            Format::Sol => "sol",
            Format::Kp => "kp",
            Format::KpText => "kp-text",
            Format::ZeroOne => "zero-one",
            Format::Csv => "csv",
            Format::Json => "json",
            Format::JsonLines => "jsonl",
            Format::Npz => "npz",
            Format::NpzBq => "npz-bq",
            Format::NpzRl4co => "npz-rl4co",
            Format::Pickle => "pkl",
            Format::Lines => "lines",
        }
    }

    /// The format with this name.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The format in which a file with this extension is written. Reading detects the format by content instead.
    pub fn from_extension(extension: &str) -> Option<Format> {
        Some(match extension.to_ascii_lowercase().as_str() {
            "tsp" | "atsp" | "vrp" | "oplib" => Format::Tsplib,
            "tour" => Format::Tour,
            "sol" => Format::Sol,
            "kp" => Format::Kp,
            "csv" => Format::Csv,
            "json" => Format::Json,
            "jsonl" => Format::JsonLines,
            "npz" => Format::Npz,
            "pkl" | "pickle" => Format::Pickle,
            "txt" => Format::Lines,
            _ => return None,
        })
    }

    /// The format of a file's name, if it has a known extension.
    pub fn of_name(path: &Path) -> Option<Format> {
        path.extension().and_then(|extension| extension.to_str()).and_then(Format::from_extension)
    }

    /// Whether the format holds solutions and no instances.
    pub fn is_solution_only(self) -> bool {
        matches!(self, Format::Tour | Format::Sol | Format::ZeroOne)
    }

    /// Whether one file holds many instances.
    pub fn holds_many(self) -> bool {
        use Format::*;
        matches!(self, Json | JsonLines | Npz | NpzBq | NpzRl4co | Pickle | Lines)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The usual formats of a problem, with their usual extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NativeFormats {
    /// Format and extension of an instance.
    pub instance: (Format, &'static str),
    /// Format and extension of a solution.
    pub solution: (Format, &'static str),
}
