/** The page as scripts and tests see it: `window.bunraku`. */
import type { Vector3 } from 'three'
import type { Actions } from './actions'
import type { Entries } from './entries'
import { hang } from './geometry/rope'
import type { ActionName } from './keys'
import type { LiveDesk } from './live/live-desk'
import type { Player } from './player'
import type { ScoreDesk } from './score/score-desk'
import type { TakeEditor } from './takes/take-editor'
import type { TakeDesk } from './ui/take-desk'
import type { View } from './view/view'

export interface ScriptTargets {
  entries: Pick<Entries, 'opened' | 'open'>
  player: Pick<Player, 'time' | 'playing' | 'seek'>
  view: Pick<View, 'actors' | 'ropes' | 'pins' | 'canvas' | 'seat' | 'quality' | 'fixQuality'>
  live: Pick<LiveDesk, 'time' | 'samples' | 'driving'> | null
  takes: Pick<TakeDesk, 'saving'> | null
  editor: Pick<TakeEditor, 'posing'> | null
  score: Pick<ScoreDesk, 'busy'> | null
  actions: Actions
}

export function createScriptApi({ entries, player, view, live, takes, editor, score, actions }: ScriptTargets): object {
  const drawnRope = (name: string) => {
    const found = view.ropes?.drawn.find((r) => r.rope.name === name)
    if (found === undefined) throw new Error(`no string is called ${name}`)
    return found
  }
  const origin = (frame: string, track: number) => {
    const actor = view.actors[track]
    return actor.origin(actor.figure.frames.findIndex((f) => f.name === frame))
  }
  /** Pixels of the window. */
  const pixel = (at: Vector3) => {
    const { left, top, width, height } = view.canvas.getBoundingClientRect()
    const p = at.clone().project(view.seat.camera)
    return [left + ((p.x + 1) / 2) * width, top + ((1 - p.y) / 2) * height]
  }
  return {
    /** Whether an entry is open and shown. */
    get ready() {
      return entries.opened !== null && !document.body.classList.contains('loading')
    },
    get entry() {
      return entries.opened?.piece.id ?? null
    },
    get time() {
      return entries.opened?.piece.live ? (live?.time ?? 0) : player.time
    },
    get playing() {
      return player.playing
    },
    /** How many samples of the live figure have come. */
    get samples() {
      return live?.samples ?? 0
    },
    /** Whether this page has control of the live figure. */
    get driving() {
      return live?.driving ?? false
    },
    /** Whether an edit of a take or show is on its way. */
    get saving() {
      return (takes?.saving ?? 0) > 0 || (score?.busy ?? false)
    },
    /** Whether a dragged limb of a take is on its way to the hand. */
    get posing() {
      return editor?.posing ?? false
    },
    /** How many bodies are pinned. */
    get pins() {
      return view.pins.length
    },
    /** From what is looked at to the eye [m]. */
    get distance() {
      return view.seat.camera.position.distanceTo(view.seat.controls.target)
    },
    get quality() {
      return view.quality
    },
    act: (name: ActionName) => actions[name](),
    open: (id: string) => entries.open(id),
    seek: (time: number) => player.seek(time),
    fixQuality: (level: number) => view.fixQuality(level),
    q: (track = 0) => [...view.actors[track].moment.q],
    /** Where a frame is in the world. */
    place: (frame: string, track = 0) => origin(frame, track).toArray(),
    /** X_WF of every frame, 16 numbers each, column-major. */
    frames: (track = 0) => [...view.actors[track].X],
    string: (name: string) => {
      const { tension, taut, gap, length, atLimit } = drawnRope(name)
      return { tension, taut, gap, length, atLimit }
    },
    /** Where a mouse would grab an end of a string. */
    screen: (name: string, part: 'hook' | 'spindle') => pixel(drawnRope(name)[part]),
    /** Where a mouse would grab a frame. */
    screenOf: (frame: string, track = 0) => pixel(origin(frame, track)),
    /** The curve of a slack string, for checks. */
    hang: (a: number[], b: number[], length: number, n: number) => {
      const out = new Float64Array(3 * (n + 1))
      hang(a, b, length, n, out, -Infinity)
      return [...out]
    },
  }
}
