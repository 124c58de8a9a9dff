/** What is known of one figure at one moment, and how a live sample is unpacked into such moments. */
import { hasMass } from '../geometry/kinematics'
import type { Figure } from '../messages'
import type { LaidRopes } from './samples'

export interface Moment {
  q: Float32Array
  /** Tension of each string and wire [N]; null where nothing is known of forces. */
  tension: Float32Array | null
  contact: Float32Array | null
  /** 1 for each string that is pulled to where no configuration reaches. */
  atLimit: Uint8Array | null
  /** Points of ropes that lie on bodies; null where none does. */
  laid: LaidRopes | null
}

export interface LiveSample {
  number: number
  t: number
  moments: Moment[]
  series: Float32Array
}

/** Visit, number and time of a live sample stand in its header. */
export function readSampleHeader(data: DataView): { visit: number; number: number; t: number } {
  return { visit: data.getUint16(2, true), number: data.getUint32(4, true), t: data.getFloat64(8, true) }
}

const HEADER_BYTES = 16

/** Unpacks a binary message: q of every figure, tensions of every figure, series, limits of every figure, ropes on bodies. */
export function unpackLiveSample(data: DataView, figures: Figure[], seriesCount: number): LiveSample {
  let at = data.byteOffset + HEADER_BYTES
  const floats = (n: number) => {
    const out = new Float32Array(data.buffer.slice(at, at + 4 * n) as ArrayBuffer)
    at += 4 * n
    return out
  }
  const bytes = (n: number) => {
    const out = new Uint8Array(data.buffer, at, n)
    at += n
    return out
  }
  const q = figures.map((figure) => floats(figure.variables.length))
  const tension = figures.map((figure) => floats(figure.ropes.length))
  const series = floats(seriesCount)
  const atLimit = figures.map((figure) => bytes(figure.ropes.length))
  const moments = figures.map((figure, k) => ({
    q: q[k],
    tension: hasMass(figure) ? tension[k] : null,
    contact: null,
    atLimit: atLimit[k],
    laid: null as LaidRopes | null,
  }))
  const end = data.byteOffset + data.byteLength
  while (at + 6 <= end) {
    const [figure, rope, count] = new Uint16Array(data.buffer.slice(at, at + 6) as ArrayBuffer)
    at += 6
    const moment = moments[figure]
    moment.laid = (moment.laid ?? new Map<number, Float32Array>()).set(rope, floats(3 * count))
  }
  const { number, t } = readSampleHeader(data)
  return { number, t, moments, series }
}
