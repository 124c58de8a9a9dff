import { describe, expect, it } from 'vitest'
import { offsetAt, offsets, type TakeKey, withMovedKey } from '../src/data/layers'
import type { Layer } from '../src/messages'

// From bunraku.motion.layers: Curve(...).at(...)
const KEYS: TakeKey[] = [
  [0, 0],
  [0.5, 1],
  [0.7, 1.2],
  [1.5, -0.4],
]
const EXPECTED: [number, number][] = [
  [0.1, 0.08363636363636366],
  [0.3, 0.5563636363636364],
  [0.55, 1.0670454545454546],
  [0.65, 1.1806818181818182],
  [0.9, 0.9499999999999998],
  [1.3, -0.15000000000000058],
]

describe('curves of layers', () => {
  it('are those of the library', () => {
    for (const [t, value] of EXPECTED) expect(offsetAt(KEYS, t)).toBeCloseTo(value, 12)
  })

  it('pass through their keys and are constant outside', () => {
    for (const [t, value] of KEYS) expect(offsetAt(KEYS, t)).toBeCloseTo(value, 12)
    expect(offsetAt(KEYS, -3)).toBe(0)
    expect(offsetAt(KEYS, 9)).toBe(-0.4)
    expect(offsetAt([[1, 0.3]], 5)).toBe(0.3)
    expect(offsetAt([], 5)).toBe(0)
  })
})

describe('layers', () => {
  const layer: Layer = { name: 'a', weight: 0.5, muted: false, curves: [{ track: 0, variable: 2, keys: KEYS }] }

  it('add up, and muted ones do not count', () => {
    expect(offsets([layer, layer], 0, 2, [0.5])[0]).toBeCloseTo(1, 12)
    expect(offsets([layer, { ...layer, muted: true }], 0, 2, [0.5])[0]).toBeCloseTo(0.5, 12)
    expect(offsets([layer], 1, 2, [0.5])[0]).toBe(0)
  })

  it('move a key in time and value, over another if it must be', () => {
    const moved = withMovedKey(layer, layer.curves[0], 0.5, [0.7, 2])
    expect(moved.curves[0].keys).toEqual([
      [0, 0],
      [0.7, 2],
      [1.5, -0.4],
    ])
    expect(layer.curves[0].keys).toBe(KEYS)
  })
})
