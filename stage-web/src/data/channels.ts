/** What can be plotted: variables, tensions, energy, constraint error, each a number over time. */
import { hasMass } from '../geometry/kinematics'
import type { Figure, Piece } from '../messages'
import type { Moment } from './moment'
import type { Samples } from './samples'
import { inWords } from './words'

export interface Channel {
  name: string
  group: string
  unit: string
  values: ArrayLike<number>
}

export interface Channels {
  t: ArrayLike<number>
  all: Channel[]
}

/** Groups in the order of the plots; any other group comes after them. */
const ORDER = ['Tension', 'Energy', 'Constraint error', 'Angles', 'Positions', 'Lengths', 'Kinematic']

/** Where the values of a channel come from: recorded samples, or columns that grow. */
interface ValueSource {
  q(track: number, k: number): ArrayLike<number>
  tension(track: number, k: number): ArrayLike<number> | null
  series(k: number): ArrayLike<number>
}

export function recordedChannels(piece: Piece, samples: Samples): Channels {
  const all = listChannels(piece, {
    q: (track, k) => samples.tracks[track].q.column(k),
    tension: (track, k) => samples.tracks[track].tension?.column(k) ?? null,
    series: (k) => samples.series[k],
  })
  return { t: samples.t, all }
}

function listChannels(piece: Piece, source: ValueSource): Channel[] {
  const shown = piece.tracks.map((track, k) => ({ ...track, k })).filter((track) => !track.ghost)
  const ofTracks = shown.flatMap(({ name, figure, k }) =>
    trackChannels(piece.figures[figure], k, shown.length > 1 ? `${name} ` : '', source),
  )
  const ofSeries = piece.series.map((s, k) => ({
    name: s.name,
    group: seriesGroup(s.name, s.unit),
    unit: s.unit,
    values: source.series(k),
  }))
  const rank = (c: Channel) => (ORDER.includes(c.group) ? ORDER.indexOf(c.group) : ORDER.length)
  return [...ofTracks, ...ofSeries].sort((a, b) => rank(a) - rank(b))
}

function trackChannels(figure: Figure, track: number, prefix: string, source: ValueSource): Channel[] {
  // Such a figure is a marker that somebody places, of no interest in a plot.
  if (!hasMass(figure) && figure.variables.every((v) => v.kinematic)) return []
  const tensions = (hasMass(figure) ? figure.ropes : []).flatMap((rope, r) => {
    const values = source.tension(track, r)
    return values === null ? [] : [{ name: prefix + inWords(rope.name), group: 'Tension', unit: 'N', values }]
  })
  const lengths = new Set(figure.ropes.map((rope) => rope.q))
  const variables = figure.variables.map((v, i) => {
    const dynamic = v.unit === 'rad' ? 'Angles' : 'Positions'
    const group = lengths.has(i) ? 'Lengths' : v.kinematic ? 'Kinematic' : dynamic
    return { name: prefix + inWords(v.name), group, unit: v.unit, values: source.q(track, i) }
  })
  return [...tensions, ...variables]
}

function seriesGroup(name: string, unit: string): string {
  if (unit === 'J') return 'Energy'
  return /constraint/i.test(name) ? 'Constraint error' : name
}

const WINDOW = 600 // samples: ten seconds at 60 a second

type ReadValue = (moments: Moment[], series: ArrayLike<number>) => number

/** The last seconds of a live figure. */
export class LiveChannels implements Channels {
  readonly t: number[] = []
  readonly all: Channel[]
  private readonly columns: { read: ReadValue; values: number[] }[] = []

  constructor(piece: Piece) {
    const column = (read: ReadValue) => {
      const values: number[] = []
      this.columns.push({ read, values })
      return values
    }
    this.all = listChannels(piece, {
      q: (track, k) => column((moments) => moments[track].q[k]),
      tension: (track, k) => column((moments) => moments[track].tension?.[k] ?? 0),
      series: (k) => column((_, series) => series[k]),
    })
  }

  add(t: number, moments: Moment[], series: ArrayLike<number>): void {
    const last = this.t.at(-1)
    if (last !== undefined && t < last) this.clear() // after a reset
    this.t.push(t)
    for (const { read, values } of this.columns) values.push(read(moments, series))
    if (this.t.length <= WINDOW) return
    this.t.shift()
    for (const { values } of this.columns) values.shift()
  }

  private clear(): void {
    this.t.length = 0
    for (const { values } of this.columns) values.length = 0
  }
}
