//! Instance, solution and dataset files of the problems of BQ-NCO.
