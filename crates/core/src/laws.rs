//! The executable laws of the theory.
