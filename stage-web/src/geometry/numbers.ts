/** Small helpers for numbers: limits, and values that read well (1, 2 or 5 times a power of ten). */

export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return power * ([1, 2, 5].find((s) => s * power >= value) ?? 10)
}

export function roundDown(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return power * (value / power < 2 ? 1 : value / power < 5 ? 2 : 5)
}

export function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high)
}
