/** The samples of a recorded piece, and the values between two of them. */
import { clamp } from '../geometry/numbers'
import type { Figure, Piece } from '../messages'

/** A table of numbers, one row a sample. */
export class Columns {
  constructor(
    readonly data: Float32Array,
    readonly rows: number,
    readonly columns: number,
  ) {}

  column(k: number): Float32Array {
    const out = new Float32Array(this.rows)
    for (let i = 0; i < this.rows; i++) out[i] = this.data[i * this.columns + k]
    return out
  }

  row(i: number): Float32Array {
    return this.data.subarray(i * this.columns, (i + 1) * this.columns)
  }
}

export interface TrackSamples {
  q: Columns
  tension?: Columns
  contact?: Columns
  /** Where strings lie on bodies, by sample; a sample without any is missing. */
  laid?: Map<number, LaidRopes>
}

/** The points (xyz) of ropes on bodies, from hook to spindle without the ends, by the number of the rope. */
export type LaidRopes = Map<number, Float32Array>

export interface Samples {
  t: Float64Array
  /** Times of the reference, where there is one. */
  ghostT: Float64Array | null
  tracks: TrackSamples[]
  series: Float32Array[]
}

/** Cuts the bytes of a recorded piece into the arrays that `piece.blocks` lists. */
export function readSamples(piece: Pick<Piece, 'tracks' | 'blocks'>, buffer: ArrayBuffer): Samples {
  let at = 0
  let t = new Float64Array(0)
  let ghostT: Float64Array | null = null
  const tracks: Partial<TrackSamples>[] = piece.tracks.map(() => ({}))
  const rows = new Map<number, Float32Array>()
  const series: Float32Array[] = []
  for (const block of piece.blocks) {
    const bytes = block.rows * block.columns * (block.type === 'f8' ? 8 : 4)
    const part = buffer.slice(at, at + bytes) // a copy: typed arrays need aligned bytes, and blocks are not aligned
    at += bytes
    if (block.field === 't') {
      if (block.ghost) ghostT = new Float64Array(part)
      else t = new Float64Array(part)
    } else if (block.field === 'series') {
      series.push(new Float32Array(part))
    } else if (block.field === 'laid') {
      rows.set(block.track, new Float32Array(part))
    } else if (block.field === 'laidPoints') {
      tracks[block.track].laid = laidBySample(rows.get(block.track) ?? new Float32Array(0), new Float32Array(part))
    } else {
      tracks[block.track][block.field] = new Columns(new Float32Array(part), block.rows, block.columns)
    }
  }
  return { t, ghostT, tracks: tracks as TrackSamples[], series }
}

/** Of rows (sample, rope, number of points) and all points. */
function laidBySample(rows: Float32Array, points: Float32Array): Map<number, LaidRopes> {
  const out = new Map<number, LaidRopes>()
  let at = 0
  for (let k = 0; k < rows.length; k += 3) {
    const [sample, rope, count] = rows.subarray(k, k + 3)
    const own = out.get(sample) ?? new Map<number, Float32Array>()
    out.set(sample, own.set(rope, points.subarray(at, at + 3 * count)))
    at += 3 * count
  }
  return out
}

/**
 * Where ropes lie on bodies at a time: between two samples where they lie the same way in both, or else as in the nearer one.
 */
export function laidAt(laid: Map<number, LaidRopes>, t: Float64Array, time: number): LaidRopes | null {
  const i = sampleBefore(t, time)
  const j = Math.min(i + 1, t.length - 1)
  const s = j > i ? clamp((time - t[i]) / (t[j] - t[i]), 0, 1) : 0
  const near = laid.get(s < 0.5 ? i : j)
  if (near === undefined) return null
  const out: LaidRopes = new Map()
  for (const [rope, points] of near) {
    const from = laid.get(i)?.get(rope)
    const to = laid.get(j)?.get(rope)
    const same = from !== undefined && to !== undefined && from.length === to.length
    out.set(rope, same ? from.map((x, k) => x + s * (to[k] - x)) : points)
  }
  return out
}

/** Index of the last sample that is not after a time; 0 where all are. */
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

/** Linear between two samples. With a figure given, an angle that jumps by a turn is not swept through. */
export function interpolate(values: Columns, t: Float64Array, time: number, out: Float32Array, figure?: Figure): void {
  const i = sampleBefore(t, time)
  const j = Math.min(i + 1, t.length - 1)
  const s = j > i ? clamp((time - t[i]) / (t[j] - t[i]), 0, 1) : 0
  const from = values.row(i)
  const to = values.row(j)
  for (let k = 0; k < values.columns; k++) {
    const jumps = figure?.variables[k].unit === 'rad' && Math.abs(to[k] - from[k]) > 3
    if (jumps) out[k] = s < 0.5 ? from[k] : to[k]
    else out[k] = from[k] + s * (to[k] - from[k])
  }
}
