//! SVG to PNG.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{self, Options, Tree, fontdb};

/// Why a picture could not be rendered.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// A width of zero, or too large for memory.
    #[error("a picture {width} pixels wide cannot be made; expected 1 to {largest}")]
    Width {
        /// The requested width.
        width: u32,
        /// The largest width.
        largest: u32,
    },
    /// The SVG could not be parsed.
    #[error("the picture could not be rendered: {0}")]
    Render(#[from] usvg::Error),
    /// The pixels could not be written.
    #[error("the picture could not be written as PNG: {0}")]
    Encode(String),
}

const LARGEST: u32 = 20_000;

// Roboto, Apache License 2.0; see fonts/README.md.
static FONT: &[u8] = include_bytes!("../fonts/Roboto-Regular-subset.ttf");

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_source(fontdb::Source::Binary(Arc::new(FONT)));
    Arc::new(fonts)
});

/// The PNG file of a document, scaled to a width.
pub(crate) fn render(svg: &str, width: u32) -> Result<Vec<u8>, PlotError> {
    let options = Options { fontdb: Arc::clone(&FONTS), font_family: "Roboto".into(), ..Options::default() };
    let tree = Tree::from_str(svg, &options)?;
    let scale = width as f32 / tree.size().width();
    let height = (tree.size().height() * scale).ceil() as u32;
    let pixels = (1..=LARGEST).contains(&width).then(|| Pixmap::new(width, height)).flatten();
    let mut pixels = pixels.ok_or(PlotError::Width { width, largest: LARGEST })?;
    pixels.fill(Color::WHITE); // the last row may be covered partially
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PlotError::Encode(error.to_string()))
}
