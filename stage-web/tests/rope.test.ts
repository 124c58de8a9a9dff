import { describe, expect, it } from 'vitest'
import { hang, solveSinhOverU } from '../src/geometry/rope'

type Point = [number, number, number]

function points(a: Point, b: Point, length: number, n: number, floor = -Infinity): Point[] {
  const out = new Float64Array(3 * (n + 1))
  hang(a, b, length, n, out, floor)
  return Array.from({ length: n + 1 }, (_, i) => [out[3 * i], out[3 * i + 1], out[3 * i + 2]])
}

function lengthOf(curve: Point[]): number {
  return curve.slice(1).reduce((sum, p, i) => sum + Math.hypot(...p.map((x, k) => x - curve[i][k])), 0)
}

const CASES: [name: string, a: Point, b: Point, length: number][] = [
  ['rising', [0, 0, 1], [1, 0, 2], 2],
  ['level, askew', [0, 0, 1], [0.5, 0.5, 1], 0.9],
  ['nearly above each other', [0, 0, 0], [0.001, 0, 1], 1.5],
  ['nearly taut', [0, 0, 2], [2, 0, 2], 2.001],
  ['very slack', [0, 0, 0], [0.7, 0, 3], 30],
  ['falling', [0, 0, 2], [1, -1, 0.5], 4],
]

describe('a slack string', () => {
  it.each(CASES)('%s: has its length and its ends', (_, a, b, length) => {
    const curve = points(a, b, length, 4000)
    expect(lengthOf(curve)).toBeCloseTo(length, 2)
    for (let k = 0; k < 3; k++) {
      expect(curve[0][k]).toBeCloseTo(a[k], 9)
      expect(curve[4000][k]).toBeCloseTo(b[k], 9)
    }
  })

  it('is a catenary: height minus its offset over c is the cosh of the way', () => {
    // c = 0.5, lowest at x = 0, from x = −0.3 to x = 0.8: its length is c (sinh(0.8 / c) + sinh(0.3 / c)).
    const z = (x: number) => 0.5 * Math.cosh(x / 0.5)
    const length = 0.5 * (Math.sinh(1.6) + Math.sinh(0.6))
    for (const [x, , height] of points([-0.3, 0, z(-0.3)], [0.8, 0, z(0.8)], length, 50)) {
      expect(height).toBeCloseTo(z(x), 8)
    }
  })

  it('does not go below the floor', () => {
    const curve = points([0, 0, 1], [1, 0, 1], 4, 100, 0.25)
    expect(Math.min(...curve.map((p) => p[2]))).toBe(0.25)
    const free = points([0, 0, 1], [1, 0, 1], 4, 100)
    expect(Math.min(...free.map((p) => p[2]))).toBeLessThan(0)
  })
})

describe('a taut string', () => {
  it.each([1, Math.sqrt(3), 1.7325])('is straight, even if it is too short (%d m)', (length) => {
    points([0, 0, 0], [1, 1, 1], length, 10).forEach((p, i) => {
      for (const x of p) expect(x).toBeCloseTo(i / 10, 12)
    })
  })
})

describe('solveSinhOverU', () => {
  it.each([1.0001, 1.01, 1.5, 2.9, 3.1, 40, 1e6])('solves sinh(u) / u = %d', (wanted) => {
    const u = solveSinhOverU(wanted)
    expect(Math.sinh(u) / u / wanted).toBeCloseTo(1, 8)
  })
})
