/** Layers of a take on the page: the same curves as the library's (bunraku.motion.layers), for what is seen while a hand still drags. */
import type { Curve, Layer } from '../messages'
import { sampleBefore } from './samples'

export type TakeKey = [t: number, offset: number]

/** Slopes of a monotone cubic spline (Fritsch and Butland): 0 at both ends, and where neighbouring chords differ in sign. */
export function slopes(keys: TakeKey[]): number[] {
  return keys.map(([t, y], k) => {
    if (k === 0 || k === keys.length - 1) return 0
    const [before, after] = [t - keys[k - 1][0], keys[k + 1][0] - t]
    const a = (y - keys[k - 1][1]) / before
    const b = (keys[k + 1][1] - y) / after
    if (Math.sign(a) * Math.sign(b) <= 0) return 0
    const [wa, wb] = [before + 2 * after, 2 * before + after]
    return (wa + wb) / (wa / a + wb / b)
  })
}

/** The offset of a curve through keys, sorted by time, at a time; constant before the first and after the last. */
export function offsetAt(keys: TakeKey[], time: number, slope = slopes(keys)): number {
  const last = keys.length - 1
  if (last < 0) return 0
  if (time <= keys[0][0]) return keys[0][1]
  if (time >= keys[last][0]) return keys[last][1]
  const k = sampleBefore(
    keys.map(([t]) => t),
    time,
  )
  const [[t, y], [next, goal]] = [keys[k], keys[k + 1]]
  const h = next - t
  const s = (time - t) / h
  const rise = s * s * (3 - 2 * s)
  return y + (goal - y) * rise + h * (slope[k] * s * (1 - s) ** 2 + slope[k + 1] * s * s * (s - 1))
}

export function curveOf(layer: Layer | undefined, track: number, variable: number): Curve | undefined {
  return layer?.curves.find((curve) => curve.track === track && curve.variable === variable)
}

/** What all layers together add to a variable, at each of some times. */
export function offsets(layers: Layer[], track: number, variable: number, times: ArrayLike<number>): Float64Array {
  const out = new Float64Array(times.length)
  for (const layer of layers) {
    const curve = layer.muted ? undefined : curveOf(layer, track, variable)
    if (curve === undefined) continue
    const slope = slopes(curve.keys)
    for (let i = 0; i < times.length; i++) out[i] += layer.weight * offsetAt(curve.keys, times[i], slope)
  }
  return out
}

/** Variables of a track that any of some layers moves. */
export function movedVariables(layers: Layer[], track: number): number[] {
  const curves = layers.flatMap((layer) => layer.curves).filter((curve) => curve.track === track)
  return [...new Set(curves.map((curve) => curve.variable))]
}

/** The layers with one of them changed. */
export function withLayer(layers: Layer[], which: number, change: Partial<Layer>): Layer[] {
  return layers.map((layer, k) => (k === which ? { ...layer, ...change } : layer))
}

/** A layer with a key moved to another time and offset. */
export function withMovedKey(layer: Layer, curve: Curve, from: number, to: TakeKey): Layer {
  const keys = [...curve.keys.filter(([t]) => t !== from && t !== to[0]), to].sort((a, b) => a[0] - b[0])
  return { ...layer, curves: layer.curves.map((one) => (one === curve ? { ...curve, keys } : one)) }
}
