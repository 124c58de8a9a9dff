/** Samples of a recorded piece, and what they say between two of them. */
import type { Figure, Piece } from './model'

export class Columns {
  constructor(readonly data: Float32Array, readonly rows: number, readonly columns: number) {}

  column(k: number): Float32Array {
    const out = new Float32Array(this.rows)
    for (let i = 0; i < this.rows; i++) out[i] = this.data[i * this.columns + k]
    return out
  }
}

export interface TrackSamples {
  q: Columns
  tension?: Columns
  contact?: Columns
}

export interface Samples {
  t: Float64Array
  ghostT: Float64Array | null
  tracks: TrackSamples[]
  series: Float32Array[]
}

export function readSamples(piece: Piece, buffer: ArrayBuffer): Samples {
  let at = 0
  let t = new Float64Array(0)
  let ghostT: Float64Array | null = null
  const tracks: Partial<TrackSamples>[] = piece.tracks.map(() => ({}))
  const series: Float32Array[] = []
  for (const block of piece.blocks) {
    const bytes = block.rows * block.columns * (block.type === 'f8' ? 8 : 4)
    const part = buffer.slice(at, at + bytes) // a copy: blocks are not aligned
    at += bytes
    if (block.field === 't') {
      if (block.ghost) ghostT = new Float64Array(part)
      else t = new Float64Array(part)
    } else if (block.field === 'series') {
      series.push(new Float32Array(part))
    } else {
      tracks[block.track][block.field] = new Columns(new Float32Array(part), block.rows, block.columns)
    }
  }
  return { t, ghostT, tracks: tracks as TrackSamples[], series }
}

/** The last sample that is not after a time. */
export function sampleBefore(t: ArrayLike<number>, time: number): number {
  let low = 0
  let high = t.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (t[middle] <= time) low = middle
    else high = middle - 1
  }
  return low
}

/** Between two samples, along the straight line; an angle that jumps by a turn is not swept through. */
export function interpolate(values: Columns, t: Float64Array, time: number, out: Float32Array, figure?: Figure): void {
  const i = sampleBefore(t, time)
  const j = Math.min(i + 1, t.length - 1)
  const s = j > i ? Math.min(Math.max((time - t[i]) / (t[j] - t[i]), 0), 1) : 0
  const n = values.columns
  for (let k = 0; k < n; k++) {
    const a = values.data[i * n + k]
    const b = values.data[j * n + k]
    const jumps = figure !== undefined && figure.variables[k].unit === 'rad' && Math.abs(b - a) > 3
    out[k] = jumps ? (s < 0.5 ? a : b) : a + s * (b - a)
  }
}
