import { Vector3 } from 'three'
import { describe, expect, it } from 'vitest'
import { letOut, way } from '../src/geometry/wrap'

const TURN = 2 * Math.PI
const at = (x: number, y: number, z: number) => new Vector3(x, y, z)
const length = (points: Vector3[]) => points.slice(1).reduce((sum, p, i) => sum + p.distanceTo(points[i]), 0)

describe('way', () => {
  it('goes over a sheave, half way round', () => {
    const { points, length: exact } = way([
      { at: at(-1, 0, -2) },
      { at: at(0, 0, 0), radius: 1, axis: at(0, 1, 0), turn: 1 },
      { at: at(1, 0, -2) },
    ])
    expect(exact).toBeCloseTo(4 + Math.PI, 12)
    expect(length(points)).toBeGreaterThan(0.995 * (4 + Math.PI))
    expect(length(points)).toBeLessThan(4 + Math.PI)
    expect(Math.max(...points.map((p) => p.z))).toBeCloseTo(1, 2)
  })

  it('is straight where it misses', () => {
    const pulley = { at: at(0, 0, 0), radius: 1, axis: at(0, 1, 0) }
    expect(way([{ at: at(-2, 0, 2) }, pulley, { at: at(2, 0, 2) }]).points).toHaveLength(2)
  })

  it('takes the side of the side point', () => {
    const pulley = (z: number) => ({ at: at(0, 0, 0), radius: 1, axis: at(0, 1, 0), side: at(0, 0, z) })
    const over = (z: number) => way([{ at: at(-3, 0, 0.1) }, pulley(z), { at: at(3, 0, 0.1) }]).points.map((p) => p.z)
    expect(Math.max(...over(2))).toBeCloseTo(1, 1)
    expect(Math.min(...over(-2))).toBeCloseTo(-1, 1)
  })

  it('touches a sphere at its radius', () => {
    const { points } = way([{ at: at(-2, 0.1, 0.3) }, { at: at(0, 0, 0), radius: 1 }, { at: at(2, 0, 0.2) }])
    for (const p of points.slice(1, -1)) expect(p.length()).toBeCloseTo(1, 9)
    expect(points.length).toBeGreaterThan(4)
  })

  it('bends at a ring, where that is shortest', () => {
    const ring = { at: at(0, 0, 0), radius: 1, axis: at(0, 1, 0), side: at(0, 0, 0.5) }
    const { points } = way([{ at: at(-2, 0, 2) }, ring, { at: at(2, 0, 2) }])
    expect(points).toHaveLength(3)
    expect(points[1].distanceTo(at(0, 0, 1))).toBeLessThan(1e-6)
  })

  it('ends on a drum along a tangent', () => {
    const drum = { at: at(0, 0, 0), radius: 1, axis: at(0, 1, 0), turn: 1, drum: true, towards: at(-1, 0, 0) }
    const { points, length: exact } = way([{ at: at(-1, 0, -2) }, drum])
    expect(exact).toBeCloseTo(2 + Math.PI / 2, 12)
    expect(points[1].distanceTo(at(-1, 0, 0))).toBeLessThan(1e-9)
  })

  it('runs over two sheaves in a row', () => {
    const sheave = (x: number, z: number, turn: number) => ({ at: at(x, 0, z), radius: 0.5, axis: at(0, 1, 0), turn })
    const { points, length: whole } = way([
      { at: at(-0.5, 0, 3) },
      sheave(0, 0, -1),
      sheave(1, 3, 1),
      { at: at(1.5, 0, 0) },
    ])
    const exact = 3 + 3 + 3 + Math.PI
    expect(length(points)).toBeGreaterThan(0.995 * exact)
    expect(length(points)).toBeLessThan(exact + 1e-9)
    expect(whole).toBeCloseTo(exact, 12)
  })
})

describe('letOut', () => {
  it('takes more with every layer', () => {
    const rate = (turns: number) =>
      (letOut(0.1, 4, 0.02, -TURN * turns + 1e-4) - letOut(0.1, 4, 0.02, -TURN * turns)) / 1e-4
    expect([2, 6, 10].map(rate).map((r) => r.toFixed(6))).toEqual(['0.100000', '0.120000', '0.140000'])
    expect(letOut(0.1, 4, 0.02, 3)).toBeCloseTo(0.3, 12)
    expect(letOut(0.1, 4, 0.02, -TURN * 6)).toBeCloseTo(-TURN * (6 * 0.1 + 2 * 0.02), 12)
  })
})
