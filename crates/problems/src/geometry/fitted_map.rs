//! A flat map for nodes that are given by a distance matrix only.

/// Larger instances are fitted to so many of their nodes: the time for all would grow with the square of their number,
/// to seconds at 3,000 nodes.
const LANDMARKS: usize = 400;

/// Classical multidimensional scaling: the two leading eigenvectors of the doubly centred squared distances, found by
/// power iteration. Exact for points of a plane, the best planar approximation otherwise. Of large instances some nodes
/// are placed so, and the others by their distances to these (landmark MDS of de Silva and Tenenbaum, 2004).
pub(crate) fn fit(nodes: usize, distances: &[f64]) -> Vec<[f64; 2]> {
    let count = nodes.min(LANDMARKS);
    let landmarks: Vec<usize> = (0..count).map(|k| k * nodes / count).collect();
    let squares = |node: usize| landmarks.iter().map(move |&other| distances[node * nodes + other].powi(2));
    let between: Vec<f64> = landmarks.iter().flat_map(|&node| squares(node)).collect();
    let means: Vec<f64> = between.chunks(count.max(1)).map(|row| row.iter().sum::<f64>() / count as f64).collect();
    let axes = axes(count, centred(count, &between, &means));
    if nodes == count {
        let place = |node: usize| [0, 1].map(|axis| axes[axis].0[node] * axes[axis].1);
        return (0..nodes).map(place).collect();
    }
    (0..nodes)
        .map(|node| {
            let offsets: Vec<f64> = squares(node).zip(&means).map(|(square, mean)| mean - square).collect();
            [0, 1].map(|axis| {
                let (vector, stretch) = &axes[axis];
                let product: f64 = vector.iter().zip(&offsets).map(|(x, offset)| x * offset).sum();
                if *stretch > 0.0 { 0.5 * product / stretch } else { 0.0 }
            })
        })
        .collect()
}

/// The two leading eigenvectors, each with the root of its eigenvalue.
fn axes(nodes: usize, mut gram: Vec<f64>) -> [(Vec<f64>, f64); 2] {
    [(); 2].map(|()| {
        let (vector, value) = leading(nodes, &gram);
        for i in 0..nodes {
            for j in 0..nodes {
                gram[i * nodes + j] -= value * vector[i] * vector[j];
            }
        }
        (vector, value.max(0.0).sqrt())
    })
}

fn centred(nodes: usize, squares: &[f64], means: &[f64]) -> Vec<f64> {
    let mean = means.iter().sum::<f64>() / nodes as f64;
    let entry = |k: usize| -0.5 * (squares[k] - means[k / nodes] - means[k % nodes] + mean);
    (0..squares.len()).map(entry).collect()
}

/// The eigenvector with the largest eigenvalue. A shift by the largest row sum keeps negative eigenvalues behind.
fn leading(nodes: usize, matrix: &[f64]) -> (Vec<f64>, f64) {
    const ROUNDS: usize = 200;
    let row = |i: usize| &matrix[i * nodes..(i + 1) * nodes];
    let shift = (0..nodes).map(|i| row(i).iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max) * 0.5;
    let mut vector: Vec<f64> = (0..nodes).map(|i| (1.0 + i as f64 * 0.618_034).sin()).collect();
    let mut value = 0.0;
    for _ in 0..ROUNDS {
        let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm == 0.0 {
            break;
        }
        vector.iter_mut().for_each(|x| *x /= norm);
        let image: Vec<f64> = (0..nodes).map(|i| row(i).iter().zip(&vector).map(|(m, x)| m * x).sum()).collect();
        value = image.iter().zip(&vector).map(|(y, x)| y * x).sum();
        vector = image.iter().zip(&vector).map(|(y, x)| y + shift * x).collect();
    }
    let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|x| *x /= norm);
    }
    (vector, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random points with their distances, which the map of a large instance keeps.
    #[test]
    fn the_map_of_a_large_instance_keeps_the_distances_of_a_plane() {
        use bqnco_core::random;
        use rand::RngExt;
        let nodes = 2 * LANDMARKS + 7;
        let mut rng = random(1, &[]);
        let points: Vec<[f64; 2]> = (0..nodes).map(|_| [rng.random::<f64>(), rng.random::<f64>()]).collect();
        let distance =
            |places: &[[f64; 2]], a: usize, b: usize| (places[a][0] - places[b][0]).hypot(places[a][1] - places[b][1]);
        let matrix: Vec<f64> = (0..nodes * nodes).map(|k| distance(&points, k / nodes, k % nodes)).collect();
        let map = fit(nodes, &matrix);
        for (a, b) in (0..nodes).flat_map(|a| [(a, a * 7 % nodes), (a, (a + 1) % nodes)]) {
            let (found, expected) = (distance(&map, a, b), matrix[a * nodes + b]);
            assert!((found - expected).abs() < 1e-4, "{a} to {b}: {found}, expected {expected}");
        }
    }

    /// Time limits of a second include the fit: it must not take seconds. All nodes would take 49 times as long.
    #[test]
    fn the_map_of_a_large_instance_takes_little_longer_than_that_of_its_landmarks() {
        let time = |nodes: usize| {
            let matrix: Vec<f64> = (0..nodes * nodes).map(|k| (k / nodes).abs_diff(k % nodes) as f64).collect();
            let started = std::time::Instant::now();
            assert_eq!(fit(nodes, &matrix).len(), nodes);
            started.elapsed()
        };
        let (landmarks, all) = (time(LANDMARKS), time(7 * LANDMARKS));
        assert!(all < 10 * landmarks, "{all:?}, and {landmarks:?} for the landmarks alone");
    }
}
