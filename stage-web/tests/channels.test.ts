import { describe, expect, it } from 'vitest'
import { LiveChannels, recordedChannels } from '../src/data/channels'
import type { Moment } from '../src/data/moment'
import { Columns, type Samples } from '../src/data/samples'
import { pendulum, piece } from './toys'

const samples: Samples = {
  t: Float64Array.of(0, 1),
  ghostT: null,
  tracks: [
    { q: new Columns(Float32Array.of(1, 2, 3, 4, 5, 6), 2, 3), tension: new Columns(Float32Array.of(7, 8), 2, 1) },
    { q: new Columns(Float32Array.of(0, 0, 0, 0, 0, 0), 2, 3) },
  ],
  series: [Float32Array.of(9, 10), Float32Array.of(11, 12), Float32Array.of(13, 14)],
}

function moment(q: number[], tension: number[] | null = null): Moment {
  return {
    q: Float32Array.from(q),
    tension: tension && Float32Array.from(tension),
    contact: null,
    atLimit: null,
    laid: null,
  }
}

describe('channels of a recorded piece', () => {
  const { all } = recordedChannels(piece(), samples)

  it('come in the order of their groups, without the ghost', () => {
    expect(all.map((c) => [c.group, c.name, c.unit])).toEqual([
      ['Tension', 'string', 'N'],
      ['Energy', 'kinetic energy', 'J'],
      ['Constraint error', 'constraint error', 'mm'],
      ['Angles', 'turn', 'rad'],
      ['Lengths', 'wound', 'm'],
      ['Kinematic', 'slide', 'm'],
      ['clearance', 'clearance', 'm'],
    ])
  })

  it('have their values', () => {
    expect(all.map((c) => [...(c.values as Float32Array)])).toEqual([
      [7, 8],
      [9, 10],
      [11, 12],
      [1, 4],
      [3, 6],
      [2, 5],
      [13, 14],
    ])
  })

  it('are named after their figure where there are several', () => {
    const tracks = ['Ada', 'Bob'].map((name) => ({ name, ghost: false, figure: 0 }))
    const names = recordedChannels(piece({ tracks }), samples).all.map((c) => c.name)
    expect(names.slice(0, 2)).toEqual(['Ada string', 'kinetic energy']) // Bob has no tensions
    expect(names).toContain('Bob turn')
  })

  it('leave out figures that somebody only places', () => {
    const marker = { ...pendulum(), bodies: [] }
    for (const variable of marker.variables) variable.kinematic = true
    const groups = recordedChannels(piece({ figures: [marker] }), samples).all.map((c) => c.group)
    expect(groups).toEqual(['Energy', 'Constraint error', 'clearance'])
  })
})

describe('channels of a live piece', () => {
  const live = () => new LiveChannels(piece({ live: true, tracks: [{ name: 'pendulum', ghost: false, figure: 0 }] }))

  it('grow with each sample', () => {
    const channels = live()
    channels.add(0, [moment([1, 2, 3], [4])], [5, 6, 7])
    channels.add(0.1, [moment([11, 12, 13])], [15, 16, 17])
    expect(channels.t).toEqual([0, 0.1])
    expect(channels.all.map((c) => c.values)).toEqual([
      [4, 0],
      [5, 15],
      [6, 16],
      [1, 11],
      [3, 13],
      [2, 12],
      [7, 17],
    ])
  })

  it('keep the last ten seconds', () => {
    const channels = live()
    for (let i = 0; i < 1000; i++) channels.add(i / 60, [moment([i, 0, 0])], [0, 0, 0])
    expect(channels.t.length).toBe(600)
    const turn = channels.all.find((c) => c.name === 'turn')
    expect([turn?.values[0], turn?.values[599]]).toEqual([400, 999])
  })

  it('start anew after a reset', () => {
    const channels = live()
    channels.add(5, [moment([1, 0, 0])], [0, 0, 0])
    channels.add(0, [moment([2, 0, 0])], [0, 0, 0])
    expect(channels.t).toEqual([0])
    expect(channels.all.every((c) => c.values.length === 1)).toBe(true)
  })
})
