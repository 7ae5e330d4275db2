//! Colours, chosen to be distinguishable with colour blindness.

use std::fmt;

/// A colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color(pub u8, pub u8, pub u8);

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

impl Color {
    /// Background.
    pub const WHITE: Color = Color(255, 255, 255);
    /// Titles and nodes.
    pub const INK: Color = Color(33, 37, 41);
    /// Captions, labels and nodes outside a solution.
    pub const GREY: Color = Color(108, 117, 125);
    /// Grids and frames.
    pub const PALE: Color = Color(222, 226, 230);
    /// Solutions.
    pub const BLUE: Color = SERIES[0];
    /// Ends of routes, and violated limits.
    pub const VERMILION: Color = SERIES[1];
}

/// Ten colours for series and routes: those of Okabe and Ito (2008) that stand out on white, then some of Tol's "muted"
/// (2021), of different lightness.
pub const SERIES: [Color; 10] = [
    Color(0x00, 0x72, 0xB2), // blue
    Color(0xD5, 0x5E, 0x00), // vermilion
    Color(0x00, 0x9E, 0x73), // green
    Color(0xCC, 0x79, 0xA7), // pink
    Color(0xE6, 0x9F, 0x00), // orange
    Color(0x56, 0xB4, 0xE9), // sky
    Color(0x33, 0x22, 0x88), // indigo
    Color(0x88, 0x22, 0x55), // wine
    Color(0x99, 0x99, 0x33), // olive
    Color(0x4D, 0x4D, 0x4D), // dark grey
];

// Viridis (Smith and van der Walt 2015, CC0) at equal distances: its lightness rises steadily.
const VIRIDIS: [Color; 5] = [
    Color(0x44, 0x01, 0x54),
    Color(0x3B, 0x52, 0x8B),
    Color(0x21, 0x91, 0x8C),
    Color(0x5E, 0xC9, 0x62),
    Color(0xFD, 0xE7, 0x25),
];

/// From dark violet at 0 to bright yellow at 1.
pub fn heat(level: f64) -> Color {
    let at = level.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f64;
    let below = (at as usize).min(VIRIDIS.len() - 2); // NaN becomes 0
    let (a, b, t) = (VIRIDIS[below], VIRIDIS[below + 1], at - below as f64);
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * t).round() as u8;
    Color(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}
