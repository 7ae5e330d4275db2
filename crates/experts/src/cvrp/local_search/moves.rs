//! Moves around a customer u and a near stop v: relocations, swaps, 2-opt and 2-opt*.
//!
//! In the comments p and x are before and after u, w and y before and after v; xx follows x, yy follows y.

use super::LocalSearch;

/// A change of routes that involves u and v.
#[derive(Clone, Copy, Debug)]
enum Move {
    /// u after v.
    Relocate,
    /// u, x after v.
    RelocatePair,
    /// x, u after v.
    RelocateReversed,
    /// u and v swap places.
    Swap,
    /// u, x and v swap places.
    SwapPair,
    /// u, x and v, y swap places.
    SwapPairs,
    /// Within a route: x .. v reversed.
    Reverse,
    /// Within a route, v its depot: y .. u reversed.
    ReverseHead,
    /// Between routes: the heads up to u and v joined, and the tails.
    JoinHeads,
    /// Between routes: the tails after u and v exchanged.
    SwapTails,
}

/// Data shared by all moves of a customer.
struct Hub {
    u: usize,
    x: usize,
    p: usize,
    route: usize,
    places: [usize; 4], // of p, u, x, xx
    pair: bool,         // x is a customer
    without_u: f64,     // change of length when u is removed
    without_pair: f64,  // change of length when u and x are removed
    p_u: f64,
    u_x: f64,
    x_xx: f64,
    demand: f64,      // of u
    pair_demand: f64, // of u and x
}

impl LocalSearch<'_> {
    /// Applies every improving move of a customer that may have become possible since the last time.
    pub(super) fn try_customer(&mut self, u: usize) {
        let tested = std::mem::replace(&mut self.nodes[u].tested, self.clock);
        let mut hub = self.hub(u);
        for k in 0..self.near.of(u).len() {
            let v = self.near.of(u)[k] as usize;
            let route = self.nodes[v].route as usize;
            if self.routes[hub.route].modified.max(self.routes[route].modified) <= tested {
                continue;
            }
            let mut at = v;
            let mut found = self.find(&hub, v);
            let before = self.nodes[v].prev as usize;
            if found.is_none() && self.is_depot(before) {
                at = before;
                found = self.find_at_depot(&hub, before);
            }
            if let Some(found) = found {
                self.apply(found, u, at);
                hub = self.hub(u);
            }
        }
        let Some(&spare) = self.spare.first() else { return };
        let spare = self.routes[spare as usize];
        if self.routes[hub.route].modified.max(spare.modified) > tested {
            let depot = spare.depot as usize;
            if let Some(found) = self.find_at_depot(&hub, depot) {
                self.apply(found, u, depot);
            }
        }
    }

    fn hub(&self, u: usize) -> Hub {
        let (p, x) = (self.nodes[u].prev as usize, self.nodes[u].next as usize);
        let xx = self.nodes[x].next as usize;
        let places = [p, u, x, xx].map(|node| self.nodes[node].place as usize);
        let (p_u, u_x, x_xx) = (self.nodes[p].to_next, self.nodes[u].to_next, self.nodes[x].to_next);
        Hub {
            u,
            x,
            p,
            route: self.nodes[u].route as usize,
            pair: !self.is_depot(x),
            without_u: self.data.distance(places[0], places[2]) - p_u - u_x,
            without_pair: self.data.distance(places[0], places[3]) - p_u - x_xx,
            places,
            p_u,
            u_x,
            x_xx,
            demand: self.nodes[u].demand,
            pair_demand: self.nodes[u].demand + self.nodes[x].demand,
        }
    }

    /// Whether a change of length is an improvement if `shift` units of load move from the route of u to that of v.
    #[inline]
    fn pays(&self, hub: &Hub, route: usize, bar: f64, change: f64, shift: f64) -> bool {
        change < bar
            && (route == hub.route
                || change
                    + self.price(self.routes[hub.route].load - shift)
                    + self.price(self.routes[route].load + shift)
                    < bar)
    }

    /// The bound that a change of length plus the new penalties must stay below to be an improvement.
    #[inline]
    fn bar(&self, hub: &Hub, route: usize) -> f64 {
        if route == hub.route {
            -self.data.tolerance
        } else {
            self.routes[hub.route].penalty + self.routes[route].penalty - self.data.tolerance
        }
    }

    /// The first improving move for a customer v.
    #[inline]
    fn find(&self, hub: &Hub, v: usize) -> Option<Move> {
        let node_v = &self.nodes[v];
        let (w, y, route) = (node_v.prev as usize, node_v.next as usize, node_v.route as usize);
        let (node_w, node_y) = (&self.nodes[w], &self.nodes[y]);
        let [p_at, u_at, x_at, xx_at] = hub.places;
        let [w_at, v_at, y_at] = [w, v, y].map(|node| self.nodes[node].place as usize);
        let bar = self.bar(hub, route);
        let pays = |change: f64, shift: f64| self.pays(hub, route, bar, change, shift);
        let distance = |a: usize, b: usize| self.data.distance(a, b);
        let (w_v, v_y) = (node_w.to_next, node_v.to_next);
        let [u_v, u_y, x_v, x_y] =
            [distance(u_at, v_at), distance(u_at, y_at), distance(x_at, v_at), distance(x_at, y_at)];

        if v != hub.p && pays(hub.without_u + u_v + u_y - v_y, hub.demand) {
            return Some(Move::Relocate);
        }
        if hub.pair && v != hub.p && v != hub.x {
            if pays(hub.without_pair + u_v + x_y - v_y, hub.pair_demand) {
                return Some(Move::RelocatePair);
            }
            if pays(hub.without_pair + x_v + u_y - v_y, hub.pair_demand) {
                return Some(Move::RelocateReversed);
            }
        }
        if v != hub.p && v != hub.x {
            let (p_v, u_w) = (distance(p_at, v_at), distance(u_at, w_at));
            let out = p_v + u_w - hub.p_u - w_v;
            if hub.u < v && pays(out + x_v + u_y - hub.u_x - v_y, hub.demand - node_v.demand) {
                return Some(Move::Swap);
            }
            if hub.pair && w != hub.x {
                let xx_v = distance(xx_at, v_at);
                if pays(out + xx_v + x_y - hub.x_xx - v_y, hub.pair_demand - node_v.demand) {
                    return Some(Move::SwapPair);
                }
                if hub.u < v && !self.is_depot(y) && y != hub.p {
                    let yy_at = self.nodes[node_y.next as usize].place as usize;
                    let change = out + distance(xx_at, y_at) + distance(x_at, yy_at) - hub.x_xx - node_y.to_next;
                    if pays(change, hub.pair_demand - node_v.demand - node_y.demand) {
                        return Some(Move::SwapPairs);
                    }
                }
            }
        }
        if route == hub.route {
            let ahead = self.nodes[hub.u].position < node_v.position && v != hub.x;
            return (ahead && pays(u_v + x_y - hub.u_x - v_y, 0.0)).then_some(Move::Reverse);
        }
        if hub.u < v { self.find_crossing(hub, v, [u_v, u_y, x_v, x_y]) } else { None }
    }

    /// Both variants of 2-opt*.
    #[inline]
    fn find_crossing(&self, hub: &Hub, v: usize, [u_v, u_y, x_v, x_y]: [f64; 4]) -> Option<Move> {
        let node_v = &self.nodes[v];
        let route = node_v.route as usize;
        let bar = self.bar(hub, route);
        let cut = -hub.u_x - node_v.to_next;
        let tail = self.routes[hub.route].load - self.nodes[hub.u].load;
        if self.pays(hub, route, bar, cut + u_v + x_y, tail - node_v.load) {
            return Some(Move::JoinHeads);
        }
        let other_tail = self.routes[route].load - node_v.load;
        if self.pays(hub, route, bar, cut + u_y + x_v, tail - other_tail) {
            return Some(Move::SwapTails);
        }
        None
    }

    /// The first improving move at the start of a route, v being its depot.
    fn find_at_depot(&self, hub: &Hub, v: usize) -> Option<Move> {
        let node_v = &self.nodes[v];
        let (y, route) = (node_v.next as usize, node_v.route as usize);
        let [_, u_at, x_at, _] = hub.places;
        let y_at = self.nodes[y].place as usize;
        let bar = self.bar(hub, route);
        let pays = |change: f64, shift: f64| self.pays(hub, route, bar, change, shift);
        let distance = |a: usize, b: usize| self.data.distance(a, b);
        let [u_v, u_y, x_v, x_y] = [distance(u_at, 0), distance(u_at, y_at), distance(x_at, 0), distance(x_at, y_at)];
        let v_y = node_v.to_next;
        if v != hub.p {
            if pays(hub.without_u + u_v + u_y - v_y, hub.demand) {
                return Some(Move::Relocate);
            }
            if hub.pair && pays(hub.without_pair + u_v + x_y - v_y, hub.pair_demand) {
                return Some(Move::RelocatePair);
            }
            if hub.pair && pays(hub.without_pair + x_v + u_y - v_y, hub.pair_demand) {
                return Some(Move::RelocateReversed);
            }
        }
        if route == hub.route {
            return (v != hub.p && pays(u_v + x_y - hub.u_x - v_y, 0.0)).then_some(Move::ReverseHead);
        }
        self.find_crossing(hub, v, [u_v, u_y, x_v, x_y])
    }

    fn apply(&mut self, found: Move, u: usize, v: usize) {
        let [p, x] = [self.nodes[u].prev as usize, self.nodes[u].next as usize];
        let [w, y] = [self.nodes[v].prev as usize, self.nodes[v].next as usize];
        let [xx, yy] = [x, y].map(|node| self.nodes[node].next as usize);
        let routes = [u, v].map(|node| self.nodes[node].route as usize);
        match found {
            Move::Relocate => self.relink(&[(p, x), (v, u), (u, y)]),
            Move::RelocatePair => self.relink(&[(p, xx), (v, u), (x, y)]),
            Move::RelocateReversed => self.relink(&[(p, xx), (v, x), (x, u), (u, y)]),
            Move::Swap => self.relink(&[(p, v), (v, x), (w, u), (u, y)]),
            Move::SwapPair => self.relink(&[(p, v), (v, xx), (w, u), (x, y)]),
            Move::SwapPairs => self.relink(&[(p, v), (y, xx), (w, u), (x, yy)]),
            Move::Reverse => {
                self.reverse(x, v);
                self.relink(&[(u, v), (x, y)]);
            }
            Move::ReverseHead => {
                self.reverse(y, u);
                self.relink(&[(v, u), (y, x)]);
            }
            Move::JoinHeads => self.join_heads(u, v, routes),
            Move::SwapTails => self.swap_tails(u, v, routes),
        }
        self.clock += 1;
        let before = self.cost_of(routes);
        self.refresh(routes[0]);
        if routes[1] != routes[0] {
            self.refresh(routes[1]);
        }
        debug_assert!(self.cost_of(routes) < before, "{found:?} is no improvement");
    }

    fn relink(&mut self, links: &[(usize, usize)]) {
        for &(a, b) in links {
            self.link(a, b);
        }
    }

    /// Reverses the path; its outer links are left to the caller.
    fn reverse(&mut self, from: usize, to: usize) {
        let mut at = from;
        let (mut next, mut length) = (self.nodes[at].next as usize, self.nodes[at].to_next);
        while at != to {
            let after = (self.nodes[next].next as usize, self.nodes[next].to_next);
            self.nodes[next].next = at as u32;
            self.nodes[next].to_next = length;
            self.nodes[at].prev = next as u32;
            at = next;
            (next, length) = after;
        }
    }

    /// Head of u's route, then v's head reversed; u's tail reversed, then v's tail.
    fn join_heads(&mut self, u: usize, v: usize, routes: [usize; 2]) {
        let [depot_u, depot_v] = routes.map(|route| self.routes[route].depot as usize);
        let [x, y] = [u, v].map(|node| self.nodes[node].next as usize);
        let (last_u, first_v) = (self.nodes[depot_u].prev as usize, self.nodes[depot_v].next as usize);
        if v == depot_v {
            self.link(u, depot_u);
        } else {
            self.reverse(first_v, v);
            self.relink(&[(u, v), (first_v, depot_u)]);
        }
        if x == depot_u {
            self.link(depot_v, y);
        } else {
            self.reverse(x, last_u);
            self.relink(&[(depot_v, last_u), (x, y)]);
        }
    }

    /// Head of u's route, then v's tail; v's head, then u's tail.
    fn swap_tails(&mut self, u: usize, v: usize, routes: [usize; 2]) {
        let [depot_u, depot_v] = routes.map(|route| self.routes[route].depot as usize);
        let [x, y] = [u, v].map(|node| self.nodes[node].next as usize);
        let [last_u, last_v] = [depot_u, depot_v].map(|depot| self.nodes[depot].prev as usize);
        if y == depot_v {
            self.link(u, depot_u);
        } else {
            self.relink(&[(u, y), (last_v, depot_u)]);
        }
        if x == depot_u {
            self.link(v, depot_v);
        } else {
            self.relink(&[(v, x), (last_u, depot_v)]);
        }
    }
}
