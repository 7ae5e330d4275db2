//! A flat map for nodes that are given by a distance matrix only.

/// Classical multidimensional scaling: the two leading eigenvectors of the doubly centred squared distances, found by
/// power iteration. Exact for points of a plane, the best planar approximation otherwise.
pub(crate) fn fit(nodes: usize, distances: &[f64]) -> Vec<[f64; 2]> {
    let mut gram = centred(nodes, distances);
    let mut map = vec![[0.0; 2]; nodes];
    for axis in 0..2 {
        let (vector, value) = leading(nodes, &gram);
        let stretch = value.max(0.0).sqrt();
        for (place, &coordinate) in map.iter_mut().zip(&vector) {
            place[axis] = coordinate * stretch;
        }
        for i in 0..nodes {
            for j in 0..nodes {
                gram[i * nodes + j] -= value * vector[i] * vector[j];
            }
        }
    }
    map
}

fn centred(nodes: usize, distances: &[f64]) -> Vec<f64> {
    let squares: Vec<f64> = distances.iter().map(|d| d * d).collect();
    let means: Vec<f64> = squares.chunks(nodes.max(1)).map(|row| row.iter().sum::<f64>() / nodes as f64).collect();
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
