import { expect, it } from 'vitest'
import { DRIVING_KEYS, SHORTCUTS } from '../src/keys'
import { withDeadZone } from '../src/live/sticks'

it('gives no key two meanings', () => {
  const driving = DRIVING_KEYS.flatMap(({ key }) => (key.length === 1 ? [key, key.toUpperCase()] : [key]))
  const all = [...SHORTCUTS.flatMap((s) => s.keys), ...driving]
  expect(all.filter((key, k) => all.indexOf(key) !== k)).toEqual([])
})

it('has one shortcut for each action', () => {
  const actions = SHORTCUTS.map((s) => s.action)
  expect(new Set(actions).size).toBe(actions.length)
})

it('has keys for both directions of each stick', () => {
  for (const stick of [0, 1, 2, 3, 4, 5, 6]) {
    const directions = DRIVING_KEYS.filter((d) => d.stick === stick).map((d) => d.direction)
    expect(directions.sort()).toEqual([-1, 1])
  }
})

it('is still inside the dead zone, and has the full range from its edge', () => {
  expect(withDeadZone(0.1, 0.2)).toBe(0)
  expect(withDeadZone(-0.2, 0.2)).toBe(0)
  expect(withDeadZone(0.6, 0.2)).toBeCloseTo(0.5, 12)
  expect(withDeadZone(-1, 0.2)).toBe(-1)
  expect(withDeadZone(1.3, 0.2)).toBe(1)
})
