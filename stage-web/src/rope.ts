/** The curve of a string: straight where it is taut, hanging with the right length where it is slack. */

/**
 * Writes n + 1 points (xyz) of a rope of a given length between a and b. A slack rope hangs in the vertical plane
 * through its ends: of length L over the height h, a catenary y = c cosh(x / c) has √(L² − h²) = 2 c sinh(d / 2c).
 */
export function hang(a: ArrayLike<number>, b: ArrayLike<number>, length: number, n: number, out: Float64Array, floor: number): void {
  const dx = b[0] - a[0], dy = b[1] - a[1], h = b[2] - a[2]
  const d = Math.hypot(dx, dy)
  const distance = Math.hypot(d, h)
  if (length <= distance * 1.0005 || n < 2) {
    for (let i = 0; i <= n; i++) {
      for (let k = 0; k < 3; k++) out[3 * i + k] = a[k] + ((b[k] - a[k]) * i) / n
    }
    return
  }
  if (d < 0.02 * length) {
    // Nearly above each other: down one side and up the other.
    const low = (length - h) / 2
    for (let i = 0; i <= n; i++) {
      const s = (length * i) / n
      out[3 * i] = a[0] + (dx * i) / n
      out[3 * i + 1] = a[1] + (dy * i) / n
      out[3 * i + 2] = Math.max(s < low ? a[2] - s : a[2] - 2 * low + s, floor)
    }
    return
  }
  const wanted = Math.sqrt(length * length - h * h) / d // = sinh(u) / u with u = d / 2c
  let u = wanted < 3 ? Math.sqrt(6 * (wanted - 1)) : Math.log(2 * wanted) + Math.log(Math.log(2 * wanted))
  for (let k = 0; k < 12; k++) {
    const f = Math.sinh(u) / u - wanted
    const slope = (Math.cosh(u) - Math.sinh(u) / u) / u
    const step = f / slope
    u = Math.max(u - step, 1e-4)
    if (Math.abs(step) < 1e-9) break
  }
  const c = d / (2 * u)
  const x0 = d / 2 - c * Math.atanh(h / length) // the lowest point
  const z0 = a[2] - c * Math.cosh(x0 / c)
  for (let i = 0; i <= n; i++) {
    const x = (d * i) / n
    out[3 * i] = a[0] + (dx * i) / n
    out[3 * i + 1] = a[1] + (dy * i) / n
    out[3 * i + 2] = Math.max(z0 + c * Math.cosh((x - x0) / c), floor)
  }
  for (let k = 0; k < 3; k++) out[3 * n + k] = b[k]
}
