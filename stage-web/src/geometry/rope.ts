/** The curve of a string: straight where it is taut, hanging with the right length where it is slack. */

const TAUT = 1.0005 // length over distance up to which a string is drawn straight
const STEEP = 0.02 // horizontal distance over length below which a string hangs straight down and up again

/**
 * Writes n + 1 points (xyz) of a rope of a given length between a and b; no point is lower than `floor`.
 *
 * A slack rope hangs in the vertical plane through its ends, as a catenary z = z₀ + c cosh((x − x₀) / c).
 */
export function hang(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  length: number,
  n: number,
  out: Float64Array,
  floor: number,
): void {
  const across = Math.hypot(b[0] - a[0], b[1] - a[1])
  const distance = Math.hypot(across, b[2] - a[2])
  let height: (s: number) => number // at the fraction s of the way, which is even from above
  if (length <= distance * TAUT || n < 2) height = (s) => a[2] + s * (b[2] - a[2])
  else if (across < STEEP * length) height = folded(a[2], b[2], length, floor)
  else height = catenary(a[2], b[2], across, length, floor)
  for (let i = 0; i <= n; i++) {
    const s = i / n
    out[3 * i] = a[0] + s * (b[0] - a[0])
    out[3 * i + 1] = a[1] + s * (b[1] - a[1])
    out[3 * i + 2] = height(s)
  }
  out[3 * n + 2] = b[2] // an end stays where it is, whatever rounding and the floor say
}

/** Ends nearly above each other: down one side and up the other. */
function folded(za: number, zb: number, length: number, floor: number): (s: number) => number {
  const down = (length - (zb - za)) / 2
  return (s) => Math.max(s * length < down ? za - s * length : za - 2 * down + s * length, floor)
}

function catenary(za: number, zb: number, across: number, length: number, floor: number): (s: number) => number {
  const rise = zb - za
  // Of length L over the height h and the width d, it has √(L² − h²) = 2 c sinh(d / 2c): with u = d / 2c, sinh(u) / u.
  const u = solveSinhOverU(Math.sqrt(length * length - rise * rise) / across)
  const c = across / (2 * u)
  const lowest = across / 2 - c * Math.atanh(rise / length)
  const z0 = za - c * Math.cosh(lowest / c)
  return (s) => Math.max(z0 + c * Math.cosh((s * across - lowest) / c), floor)
}

/** The u > 0 with sinh(u) / u = wanted, for wanted > 1: Newton's method from the series or from the asymptote. */
export function solveSinhOverU(wanted: number): number {
  let u = wanted < 3 ? Math.sqrt(6 * (wanted - 1)) : Math.log(2 * wanted) + Math.log(Math.log(2 * wanted))
  for (let k = 0; k < 12; k++) {
    const value = Math.sinh(u) / u
    const slope = (Math.cosh(u) - value) / u
    const step = (value - wanted) / slope
    u = Math.max(u - step, 1e-4)
    if (Math.abs(step) < 1e-9) break
  }
  return u
}
