/** The page as scripts see it: `window.bunraku`. */
import { Vector3 } from 'three'
import type { App } from './app'
import { point } from './kinematics'
import { hang } from './rope'

export function remote(app: App): object {
  const rope = (name: string) => app.view.ropes?.drawn.find((r) => r.rope.name === name)
  const screen = (p: Vector3) => {
    const { left, top, width, height } = app.view.canvas.getBoundingClientRect()
    const n = p.clone().project(app.view.seat.camera)
    return [left + ((n.x + 1) / 2) * width, top + ((1 - n.y) / 2) * height]
  }
  return {
    get ready() {
      return app.opened !== null && !document.body.classList.contains('loading')
    },
    get entry() {
      return app.opened?.piece.id ?? null
    },
    get time() {
      return app.opened?.piece.live ? (app.live?.time ?? 0) : app.player.time
    },
    get playing() {
      return app.player.playing
    },
    get samples() {
      return app.live?.samples ?? 0
    },
    get driving() {
      const control = app.live?.control
      return control !== null && control !== undefined && control.driver === control.you
    },
    get quality() {
      return app.view.quality
    },
    act: (name: string) => app.act(name),
    open: (id: string) => app.open(id),
    seek: (time: number) => app.player.seek(time),
    fixQuality: (level: number) => app.view.fixQuality(level),
    q: (track = 0) => [...app.view.actors[track].moment.q],
    /** Frame's place in the world, by name. */
    place: (frame: string, track = 0) => {
      const actor = app.view.actors[track]
      const k = actor.figure.frames.findIndex((f) => f.name === frame)
      return [...point(actor.X, { frame: k, position: [0, 0, 0] })]
    },
    frames: (track = 0) => [...app.view.actors[track].X],
    string: (name: string) => {
      const drawn = rope(name)
      return drawn && { tension: drawn.tension, taut: drawn.taut, gap: drawn.gap, length: drawn.length, atLimit: drawn.atLimit }
    },
    /** Pixels of the window: where a mouse would grab. */
    screen: (name: string, part: 'hook' | 'spindle') => screen(rope(name)![part]),
    screenOf: (frame: string, track = 0) => {
      const actor = app.view.actors[track]
      const k = actor.figure.frames.findIndex((f) => f.name === frame)
      return screen(new Vector3().fromArray(point(actor.X, { frame: k, position: [0, 0, 0] }) as number[]))
    },
    /** The curve of a slack string, for checks. */
    hang: (a: number[], b: number[], length: number, n: number) => {
      const out = new Float64Array(3 * (n + 1))
      hang(a, b, length, n, out, -Infinity)
      return [...out]
    },
  }
}
