import { describe, expect, it } from 'vitest'
import { convexHull, isAbove } from '../src/geometry/convex-hull'
import { clamp, roundDown, roundUp } from '../src/geometry/numbers'
import { distanceToSegment } from '../src/live/picking'
import type { Vec3 } from '../src/messages'

describe('the convex hull', () => {
  const corners: Vec3[] = [
    [0, 0, 0],
    [2, 0, 0],
    [2, 1, 0],
    [0, 1, 0],
  ]
  const points: Vec3[] = [[1, 0.5, 0], corners[2], corners[0], [1, 0, 0], corners[3], corners[1]]

  it('has the outer points only, anticlockwise', () => {
    expect(convexHull(points)).toEqual(corners)
  })

  it('says what is above it', () => {
    expect(isAbove(corners, [1, 0.5, 9])).toBe(true)
    expect(isAbove(corners, [2.01, 0.5, 9])).toBe(false)
  })

  it('is no area for points on a line', () => {
    const line: Vec3[] = [
      [0, 0, 0],
      [2, 2, 0],
      [1, 1, 0],
    ]
    expect(convexHull(line)).toEqual([line[0], line[1]])
    expect(isAbove(convexHull(line), [1, 1, 1])).toBe(false)
    expect(convexHull([])).toEqual([])
  })
})

describe('numbers', () => {
  it.each([
    [0.011, 0.02, 0.01],
    [3, 5, 2],
    [7, 10, 5],
    [1, 1, 1],
    [1999, 2000, 1000],
  ])('%d: up to %d, down to %d', (value, up, down) => {
    expect(roundUp(value)).toBeCloseTo(up, 12)
    expect(roundDown(value)).toBeCloseTo(down, 12)
  })

  it('are clamped', () => {
    expect([clamp(-1, 0, 2), clamp(1, 0, 2), clamp(3, 0, 2)]).toEqual([0, 1, 2])
  })
})

describe('the distance from a segment', () => {
  it.each([
    [1, 3, 3], // beside it
    [-4, 3, 5], // beyond its start
    [5, 4, 5], // beyond its end
  ])('of (%d, %d) is %d', (x, y, distance) => {
    expect(distanceToSegment(x, y, [0, 0], [2, 0])).toBeCloseTo(distance, 9)
  })

  it('is that from the point where both ends are one', () => {
    expect(distanceToSegment(3, 4, [0, 0], [0, 0])).toBeCloseTo(5, 9)
  })
})
