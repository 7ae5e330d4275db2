//! Pictures of instances and solutions, as SVG and PNG.
