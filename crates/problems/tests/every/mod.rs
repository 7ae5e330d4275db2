//! The one list of problems for tests that hold for all of them.

/// Calls a generic function for every problem: `every_problem!(check(seed, length))`.
macro_rules! every_problem {
    ($check:ident($($argument:expr),* $(,)?)) => {{
        $check::<bqnco_problems::Tsp>($($argument),*);
        $check::<bqnco_problems::Atsp>($($argument),*);
        $check::<bqnco_problems::Cvrp>($($argument),*);
        $check::<bqnco_problems::Op>($($argument),*);
        $check::<bqnco_problems::Knapsack>($($argument),*);
        $check::<bqnco_problems::Pctsp>($($argument),*);
    }};
}
