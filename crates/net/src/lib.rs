//! The policy networks of BQ-NCO on Burn.
