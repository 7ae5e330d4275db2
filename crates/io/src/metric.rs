//! TSPLIB's distance functions, the exact Euclidean one, and great circles.

/// How coordinates become distances. Rounding happens per edge, before any sum, as TSPLIB prescribes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Euclidean, not rounded: the metric of random instances.
    Exact,
    /// Euclidean, rounded to the nearest integer, halves up.
    Euc2d,
    /// Euclidean, rounded up.
    Ceil2d,
    /// Pseudo-Euclidean: divided by the root of ten, rounded up.
    Att,
    /// Kilometres on the sphere from coordinates DDD.MM (degrees and minutes).
    Geo,
    /// Manhattan, rounded to the nearest integer.
    Man2d,
    /// Maximum norm, rounded to the nearest integer.
    Max2d,
    /// Euclidean in space, rounded to the nearest integer.
    Euc3d,
    /// Kilometres along great circles from longitude and latitude in decimal degrees, not rounded.
    GreatCircle,
}

/// Earth's radius in kilometres, as defined by TSPLIB.
const RADIUS: f64 = 6378.388;
/// Earth's mean radius in kilometres (IUGG), for great circles.
const MEAN_RADIUS: f64 = 6371.0088;
/// Pi, as defined by TSPLIB.
#[allow(clippy::approx_constant)] // the optima depend on these six digits
const PI: f64 = 3.141592;

impl Metric {
    /// All metrics.
    pub const ALL: [Metric; 9] = [
        Metric::Exact,
        Metric::Euc2d,
        Metric::Ceil2d,
        Metric::Att,
        Metric::Geo,
        Metric::Man2d,
        Metric::Max2d,
        Metric::Euc3d,
        Metric::GreatCircle,
    ];

    /// The name in `EDGE_WEIGHT_TYPE`. `EXACT_2D` (also used by VRP tools) and `GREAT_CIRCLE` are ours: TSPLIB has no
    /// unrounded metrics.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Exact => "EXACT_2D",
            Metric::Euc2d => "EUC_2D",
            Metric::Ceil2d => "CEIL_2D",
            Metric::Att => "ATT",
            Metric::Geo => "GEO",
            Metric::Man2d => "MAN_2D",
            Metric::Max2d => "MAX_2D",
            Metric::Euc3d => "EUC_3D",
            Metric::GreatCircle => "GREAT_CIRCLE",
        }
    }

    /// The metric with this `EDGE_WEIGHT_TYPE`.
    pub fn from_name(name: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Whether all distances are integers.
    pub fn is_integral(self) -> bool {
        !matches!(self, Metric::Exact | Metric::GreatCircle)
    }

    /// Whether distances are, up to rounding, those between the places on the map.
    pub fn is_euclidean(self) -> bool {
        matches!(self, Metric::Exact | Metric::Euc2d | Metric::Ceil2d | Metric::Att)
    }

    /// Whether coordinates are angles on the globe, so that those of near points may be far apart.
    pub fn is_spherical(self) -> bool {
        matches!(self, Metric::Geo | Metric::GreatCircle)
    }

    /// The distance between two different nodes at these points (the third coordinate is zero in the plane).
    ///
    /// [`Metric::Geo`] puts different nodes at the same point one kilometre apart, as TSPLIB's formula does.
    #[inline]
    pub fn distance(self, a: [f64; 3], b: [f64; 3]) -> f64 {
        let [dx, dy, dz] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
        let squares = dx * dx + dy * dy;
        match self {
            Metric::Exact => squares.sqrt(),
            Metric::Euc2d => nearest(squares.sqrt()),
            Metric::Ceil2d => up(squares.sqrt()),
            Metric::Att => up((squares / 10.0).sqrt()),
            Metric::Geo => geographic(a, b),
            Metric::Man2d => nearest(dx.abs() + dy.abs()),
            Metric::Max2d => nearest(dx.abs()).max(nearest(dy.abs())),
            Metric::Euc3d => nearest((squares + dz * dz).sqrt()),
            Metric::GreatCircle => haversine(a, b),
        }
    }

    /// A point's place on a flat map whose unit is about that of the distances.
    pub fn on_the_map(self, point: [f64; 3]) -> [f64; 2] {
        match self {
            Metric::Geo => [RADIUS * radians(point[1]), RADIUS * radians(point[0])], // longitude is x
            Metric::GreatCircle => [MEAN_RADIUS * point[0].to_radians(), MEAN_RADIUS * point[1].to_radians()],
            Metric::Att => [point[0] / 10f64.sqrt(), point[1] / 10f64.sqrt()],
            _ => [point[0], point[1]],
        }
    }
}

/// TSPLIB's nint of a non-negative number: halves are rounded up.
#[inline]
fn nearest(value: f64) -> f64 {
    whole_part(value + 0.5)
}

/// Ceiling of a non-negative number.
#[inline]
fn up(value: f64) -> f64 {
    let whole = whole_part(value);
    if whole < value { whole + 1.0 } else { whole }
}

/// Truncates by conversion: several times faster than `floor`, which is a function call on older targets.
#[inline]
fn whole_part(value: f64) -> f64 {
    const ALL_ARE_WHOLE: f64 = (1u64 << 52) as f64;
    if value < ALL_ARE_WHOLE { value as i64 as f64 } else { value }
}

/// Degrees are truncated, not rounded: TSPLIB's text says round, its optima imply truncation.
fn radians(coordinate: f64) -> f64 {
    let degrees = coordinate.trunc();
    PI * (degrees + 5.0 * (coordinate - degrees) / 3.0) / 180.0
}

fn geographic(a: [f64; 3], b: [f64; 3]) -> f64 {
    let [[lat_a, lon_a], [lat_b, lon_b]] = [[radians(a[0]), radians(a[1])], [radians(b[0]), radians(b[1])]];
    let (q1, q2, q3) = ((lon_a - lon_b).cos(), (lat_a - lat_b).cos(), (lat_a + lat_b).cos());
    (RADIUS * (0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)).clamp(-1.0, 1.0).acos() + 1.0).floor()
}

/// The haversine formula, which is exact for near points, too. Longitude comes first.
fn haversine([lon_a, lat_a, _]: [f64; 3], [lon_b, lat_b, _]: [f64; 3]) -> f64 {
    let half_sine = |a: f64, b: f64| (0.5 * (a - b).to_radians()).sin();
    let (across, along) = (half_sine(lon_a, lon_b), half_sine(lat_a, lat_b));
    let square = along * along + lat_a.to_radians().cos() * lat_b.to_radians().cos() * across * across;
    2.0 * MEAN_RADIUS * square.sqrt().min(1.0).asin()
}
