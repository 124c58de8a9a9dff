import { describe, expect, it } from 'vitest'
import { busiest, shortNumber, ticks, timeAxis, valueAxis } from '../src/ui/chart-scale'

const channel = (values: number[]) => ({ name: '', group: '', unit: '', values })

describe('axes', () => {
  it('hold all values with a margin', () => {
    const { low, high } = valueAxis([
      [1, 3],
      [2, 11],
    ])
    expect(low).toBeCloseTo(0.4, 12)
    expect(high).toBeCloseTo(11.6, 12)
  })

  it('show a constant in the middle', () => {
    const { low, high } = valueAxis([[5, 5, 5]])
    expect((low + high) / 2).toBeCloseTo(5, 12)
    expect(high - low).toBeCloseTo(1.12, 12)
  })

  it('are never empty', () => {
    expect(valueAxis([])).toEqual({ low: -0.06, high: 1.06 })
    expect(valueAxis([[]])).toEqual({ low: -0.06, high: 1.06 })
    expect(timeAxis([])).toEqual({ low: 0, high: 1 })
    expect(timeAxis([4])).toEqual({ low: 4, high: 4.001 })
    expect(timeAxis([4, 5, 6])).toEqual({ low: 4, high: 6 })
  })
})

describe('ticks', () => {
  it('are round numbers inside the range, with as many digits as they need', () => {
    expect(ticks({ low: -0.13, high: 0.41 }, 3).map((tick) => tick.label)).toEqual(['0.0', '0.2', '0.4'])
    expect(ticks({ low: 0, high: 10 }, 5).map((tick) => tick.label)).toEqual(['0', '2', '4', '6', '8', '10'])
    expect(ticks({ low: 0, high: 3e6 }, 3).map((tick) => tick.label)).toEqual(['0', '1e+6', '2e+6', '3e+6'])
  })
})

describe('short numbers', () => {
  it('have three digits', () => {
    expect([1.23456, 0, 1e-12, -271.8].map(shortNumber)).toEqual(['1.23', '0', '0', '-272'])
  })
})

describe('the busiest channels', () => {
  it('are those that change most, in their own order', () => {
    const channels = [channel([0, 1]), channel([5, 5]), channel([-9, 9]), channel([0, 2])]
    expect(busiest(channels, 2)).toEqual([2, 3])
    expect(busiest(channels, 9)).toEqual([0, 1, 2, 3])
  })

  it('are the first ones while there are no samples', () => {
    expect(busiest([channel([]), channel([]), channel([])], 2)).toEqual([0, 1])
  })
})
