/** The mathematics of a score, apart from drawing it. */
import type { Cue } from '../messages'

/** Edits go by quarters of a count. */
const FINEST = 4

export function snap(counts: number): number {
  return Math.round(counts * FINEST) / FINEST
}

/** One step of an arrow key [counts]. */
export const STEP = 1 / FINEST

/** In which row of its track each cue is drawn: cues that overlap go into different rows, the earlier one above. */
export function rowsOf(cues: Cue[]): number[] {
  const rows = new Array<number>(cues.length).fill(0)
  const ends = new Map<number, number[]>()
  const order = cues.map((_, k) => k).sort((a, b) => cues[a].begin - cues[b].begin || a - b)
  for (const k of order) {
    const { track, begin, end } = cues[k]
    const taken = ends.get(track) ?? []
    ends.set(track, taken)
    const free = taken.findIndex((until) => until <= begin + 1e-6)
    rows[k] = free < 0 ? taken.length : free
    taken[rows[k]] = end
  }
  return rows
}

/** A cue that was dragged by so many counts, by its middle or by its end; it stays on the stage and keeps some length. */
export function dragged(cue: Cue, by: number, part: 'middle' | 'end', count: number): Cue {
  if (part === 'end') return { ...cue, end: Math.max(cue.begin + STEP * count, cue.end + by * count) }
  const shift = Math.max(by * count, -cue.begin)
  return { ...cue, begin: cue.begin + shift, end: cue.end + shift }
}
