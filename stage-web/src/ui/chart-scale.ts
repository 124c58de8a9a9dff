/** The mathematics of a chart, apart from drawing it: ranges, ticks, labels, and which channels to show first. */
import type { Channel } from '../data/channels'
import { roundUp } from '../geometry/numbers'

export interface Range {
  low: number
  high: number
}

/** Lowest and highest of some values, every `stride`-th; null where there are none. */
export function rangeOf(values: ArrayLike<number>, stride = 1): Range | null {
  if (values.length === 0) return null
  let low = Infinity
  let high = -Infinity
  for (let i = 0; i < values.length; i += stride) {
    low = Math.min(low, values[i])
    high = Math.max(high, values[i])
  }
  return { low, high }
}

/** The range of a vertical axis: all values with a margin; around a constant, a tenth of it to each side. */
export function valueAxis(all: ArrayLike<number>[]): Range {
  const ranges = all.map((values) => rangeOf(values)).filter((range) => range !== null)
  if (ranges.length === 0) return { low: -0.06, high: 1.06 }
  let low = Math.min(...ranges.map((range) => range.low))
  let high = Math.max(...ranges.map((range) => range.high))
  if (high - low < 1e-6 * Math.max(Math.abs(high), 1)) {
    const half = Math.max(0.1 * Math.abs(high), 1e-3)
    low -= half
    high += half
  }
  const margin = 0.06 * (high - low)
  return { low: low - margin, high: high + margin }
}

/** The range of a horizontal axis; from 0 to 1 while there are no samples. */
export function timeAxis(t: ArrayLike<number>): Range {
  const low = t.length > 0 ? t[0] : 0
  const high = t.length > 0 ? t[t.length - 1] : 1
  return { low, high: Math.max(high, low + 1e-3) }
}

/** Round values inside a range, about so many, with their labels. */
export function ticks({ low, high }: Range, about: number): { value: number; label: string }[] {
  const step = roundUp((high - low) / about)
  const out = []
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) {
    const rounded = Math.abs(value) < 1e-9 * step ? 0 : value
    out.push({ value: rounded, label: tickLabel(rounded, step) })
  }
  return out
}

/** As many digits as the distance between two ticks needs. */
function tickLabel(value: number, step: number): string {
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9))
  return Math.abs(value) >= 1e5 ? value.toExponential(0) : value.toFixed(Math.min(digits, 4))
}

/** Three digits, and 0 for what is only rounding. */
export function shortNumber(value: number): string {
  return Math.abs(value) < 1e-9 ? '0' : value.toPrecision(3)
}

/** Indices of the channels that change most, at most `most`; in their own order. */
export function busiest(channels: Channel[], most: number): number[] {
  const spans = channels.map(({ values }, k) => {
    const range = rangeOf(values, Math.max(Math.floor(values.length / 500), 1))
    return { k, span: range === null ? 0 : range.high - range.low }
  })
  return spans
    .sort((a, b) => b.span - a.span)
    .slice(0, most)
    .map(({ k }) => k)
    .sort((a, b) => a - b)
}
