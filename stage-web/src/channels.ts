/** What can be plotted: variables, tensions, energy, constraint error, each a number over time. */
import { heavy, type Piece } from './model'
import type { Samples } from './samples'
import type { Moment } from './view/actor'

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

const ORDER = ['Tension', 'Energy', 'Constraint error', 'Angles', 'Places', 'Lengths', 'Hands']

function groupOf(series: string, unit: string): string {
  if (unit === 'J') return 'Energy'
  return /constraint/i.test(series) ? 'Constraint error' : series
}

/** Names and groups in a fixed order; what differs is where values come from. */
function build(piece: Piece, values: {
  q: (track: number, k: number) => ArrayLike<number>
  tension: (track: number, k: number) => ArrayLike<number> | null
  series: (k: number) => ArrayLike<number>
}): Channel[] {
  const out: Channel[] = []
  const shown = piece.tracks.map((track, k) => ({ ...track, k })).filter((track) => !track.ghost)
  for (const { name, figure, k } of shown) {
    const f = piece.figures[figure]
    if (!heavy(f) && f.variables.every((v) => v.kinematic)) continue // marks that somebody sets
    const before = shown.length > 1 ? `${name} ` : ''
    if (heavy(f)) f.ropes.forEach((rope, r) => {
      const tension = values.tension(k, r)
      if (tension !== null) out.push({ name: before + rope.name, group: 'Tension', unit: 'N', values: tension })
    })
    const lengths = new Set(f.ropes.filter((r) => r.q >= 0).map((r) => r.q))
    f.variables.forEach((v, i) => {
      const group = lengths.has(i) ? 'Lengths' : v.kinematic ? 'Hands' : v.unit === 'rad' ? 'Angles' : 'Places'
      out.push({ name: before + v.name, group, unit: v.unit, values: values.q(k, i) })
    })
  }
  piece.series.forEach((s, k) => out.push({ name: s.name, group: groupOf(s.name, s.unit), unit: s.unit, values: values.series(k) }))
  const rank = (c: Channel) => (ORDER.indexOf(c.group) + ORDER.length + 1) % (ORDER.length + 1)
  return out.sort((a, b) => rank(a) - rank(b))
}

export function recordedChannels(piece: Piece, samples: Samples): Channels {
  const all = build(piece, {
    q: (track, k) => samples.tracks[track].q.column(k),
    tension: (track, k) => samples.tracks[track].tension?.column(k) ?? null,
    series: (k) => samples.series[k],
  })
  return { t: samples.t, all }
}

const WINDOW = 600 // samples: ten seconds

/** The last seconds of a live figure. */
export class LiveChannels implements Channels {
  t: number[] = []
  readonly all: Channel[]
  private readonly read: ((moments: Moment[], series: ArrayLike<number>) => number)[] = []
  private readonly columns: number[][] = []

  constructor(piece: Piece) {
    const column = (read: (moments: Moment[], series: ArrayLike<number>) => number) => {
      this.read.push(read)
      this.columns.push([])
      return this.columns[this.columns.length - 1]
    }
    this.all = build(piece, {
      q: (track, k) => column((moments) => moments[track].q[k]),
      tension: (track, k) => column((moments) => moments[track].tension?.[k] ?? 0),
      series: (k) => column((_, series) => series[k]),
    })
  }

  add(t: number, moments: Moment[], series: ArrayLike<number>): void {
    if (this.t.length > 0 && t < this.t[this.t.length - 1]) {
      this.t.length = 0
      this.columns.forEach((c) => (c.length = 0))
    }
    this.t.push(t)
    this.read.forEach((read, k) => this.columns[k].push(read(moments, series)))
    if (this.t.length > WINDOW) {
      this.t.shift()
      this.columns.forEach((c) => c.shift())
    }
  }
}
