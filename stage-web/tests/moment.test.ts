import { describe, expect, it } from 'vitest'
import { readSampleHeader, unpackLiveSample } from '../src/data/moment'
import { pendulum } from './toys'

/** A live sample as the server packs it: see `Packer` in wire.py. */
function pack(number: number, t: number, floats: number[], limits: number[]): DataView {
  const data = new DataView(new ArrayBuffer(16 + 4 * floats.length + limits.length))
  data.setUint8(0, 2)
  data.setUint16(2, 3, true)
  data.setUint32(4, number, true)
  data.setFloat64(8, t, true)
  floats.forEach((value, k) => {
    data.setFloat32(16 + 4 * k, value, true)
  })
  limits.forEach((value, k) => {
    data.setUint8(16 + 4 * floats.length + k, value)
  })
  return data
}

describe('unpackLiveSample', () => {
  const weightless = { ...pendulum(), bodies: [] }
  const data = pack(7, 1.25, [1, 2, 3, 4, 5, 6, 10, 11, 20, 21], [0, 1])
  const sample = unpackLiveSample(data, [pendulum(), weightless], 2)

  it('reads visit, number and time', () => {
    expect(readSampleHeader(data)).toEqual({ visit: 3, number: 7, t: 1.25 })
    expect(sample).toMatchObject({ number: 7, t: 1.25 })
  })

  it('reads q of all figures, then tensions, series and limits', () => {
    const [first, second] = sample.moments
    expect([...first.q]).toEqual([1, 2, 3])
    expect([...second.q]).toEqual([4, 5, 6])
    expect([...(first.tension ?? [])]).toEqual([10])
    expect([...sample.series]).toEqual([20, 21])
    expect([...(first.atLimit ?? [])]).toEqual([0])
    expect([...(second.atLimit ?? [])]).toEqual([1])
  })

  it('has no tensions for a figure without mass', () => {
    expect(sample.moments[1].tension).toBeNull()
  })

  it('reads ropes that lie on bodies', () => {
    const plain = new Uint8Array(data.buffer)
    const bytes = new Uint8Array(plain.length + 6 + 24)
    bytes.set(plain)
    const rest = new DataView(bytes.buffer, plain.length)
    ;[1, 0, 2].forEach((value, k) => {
      rest.setUint16(2 * k, value, true) // figure, rope, points
    })
    for (let k = 0; k < 6; k++) rest.setFloat32(6 + 4 * k, k, true)
    const { moments } = unpackLiveSample(new DataView(bytes.buffer), [pendulum(), weightless], 2)
    expect(moments[0].laid).toBeNull()
    expect([...(moments[1].laid?.get(0) ?? [])]).toEqual([0, 1, 2, 3, 4, 5])
    expect(sample.moments[1].laid).toBeNull()
  })

  it('refuses a sample that is too short', () => {
    expect(() => unpackLiveSample(pack(1, 0, [1, 2], []), [pendulum()], 0)).toThrow(RangeError)
  })
})
