//! The position of a point on a Hilbert curve: points that are close on the curve are close in the plane.

/// Returns the position of a point on the Hilbert curve through a square from -2^26 to 2^26 in both directions. The
/// curve has 60 steps, so it is as exact as the numbers. Both degrees and metres are inside the square, and points
/// outside count as on its edge. So points can be ordered without knowing their extent. NaN counts as the least number.
///
/// ```
/// use marquetry_geo::hilbert;
/// let [a, near, far] = [(10.0, 50.0), (10.001, 50.001), (-70.0, -30.0)].map(|(x, y)| hilbert::place(x, y));
/// assert!(a.abs_diff(near) < a.abs_diff(far));
/// ```
pub fn place(x: f64, y: f64) -> u128 {
    let (mut x, mut y) = (cell(x), cell(y));
    let mut out = 0u128;
    for bit in (0..STEPS).rev() {
        let (right, upper) = (x >> bit & 1, y >> bit & 1);
        out = out << 2 | u128::from((3 * right) ^ upper);
        // The curve passes through each quarter in a different direction.
        if upper == 0 {
            if right == 1 {
                (x, y) = (!x, !y);
            }
            (x, y) = (y, x);
        }
    }
    out
}

fn cell(number: f64) -> u64 {
    let share = (number + HALF_SIDE) / (2.0 * HALF_SIDE);
    // Casting clamps numbers outside to the ends, and NaN to zero.
    ((share * CELLS) as u64).min((1 << STEPS) - 1)
}

const STEPS: u32 = 60;
const CELLS: f64 = (1u64 << STEPS) as f64;
const HALF_SIDE: f64 = (1u32 << 26) as f64;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn neighbours_on_the_curve_are_neighbours_in_the_plane() {
        // The 16 x 16 cells that the first four steps of the curve distinguish.
        let step = 2.0 * HALF_SIDE / 16.0;
        let mut cells = HashMap::new();
        for i in 0..16 {
            for j in 0..16 {
                let (x, y) = (f64::from(i) + 0.5, f64::from(j) + 0.5);
                let place = place(x * step - HALF_SIDE, y * step - HALF_SIDE) >> (2 * (STEPS - 4));
                cells.insert(place as i32, (i, j));
            }
        }
        assert_eq!(cells.len(), 256);
        for at in 1..256 {
            let ((a, b), (c, d)) = (cells[&(at - 1)], cells[&at]);
            assert_eq!(i32::abs(a - c) + i32::abs(b - d), 1, "{at}");
        }
    }

    #[test]
    fn any_number_has_a_place() {
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 0.0, -0.0] {
            assert!(place(number, number) < 1 << 120);
        }
    }
}
