/** The editor of a take: the curve of a joint, keys, layers, mirror and loop. Poses that are dragged become keys. */
import { curveOf, movedVariables, offsets, type TakeKey, withLayer, withMovedKey } from '../data/layers'
import { type Samples, sampleBefore } from '../data/samples'
import { inWords } from '../data/words'
import { clamp } from '../geometry/numbers'
import type { Figure, Layer, PageMessage, Piece, TakeEdit } from '../messages'
import { button, h } from '../ui/dom'
import { CurveView, type ShownKey } from './curve-view'
import { LayerList } from './layer-list'
import { askLoop } from './loop-dialog'
import { PoseDrag } from './pose-drag'

/** What the editor needs of the page. */
export interface EditorHost {
  player: {
    readonly time: number
    readonly playing: boolean
    readonly duration: number
    pause(): void
    seek(time: number): void
  }
  view: {
    /** What is shown of a track. */
    shown(track: number): number[]
    /** Shows a track in another configuration, until null takes it back. */
    pose(track: number, q: number[] | null): void
  }
  hands: { allowed: ReadonlySet<string>; flush(send: (message: PageMessage) => void): void; drop(): void }
  /** False if it was refused. */
  edit(edit: TakeEdit): Promise<boolean>
  notices: { show(text: string, level?: string): void; fail(problem: unknown): void }
  /** The editor was opened or closed. */
  toggled(open: boolean): void
}

const MOVED = 1e-5 // rad or m: less than that is rounding
const BODIES: ReadonlySet<string> = new Set(['body'])

export class TakeEditor {
  readonly element: HTMLElement
  open = false
  private readonly curve: CurveView
  private readonly layers: LayerList
  private readonly drag: PoseDrag
  private readonly joints = h('select', { id: 'joint', aria: { label: 'Joint' } })
  private readonly value = h('input', { type: 'number', step: 'any', id: 'joint-value' })
  private readonly unit = h('span', { class: 'unit' })
  private readonly setKey = button('diamond', 'Set a key at the playhead (V)', () => void this.set(), {
    text: 'Set key',
    id: 'set-key',
  })
  private readonly deleteKey = button('bin', 'Delete this key (Delete)', () => void this.removeKey(), {
    id: 'delete-key',
  })
  private readonly zeroKey = button('zero', 'Key without offset: from here on as recorded', () => void this.zero(), {
    text: 'Zero key',
    id: 'zero-key',
  })
  private readonly notes = h('p', { class: 'editor-notes', id: 'take-notes', role: 'status' })
  private piece: Piece | null = null
  private samples: Samples | null = null
  private track = 0
  private variable = 0
  private layer = 0
  /** Time of the key that is chosen. */
  private key: number | null = null
  /** Whether a moved key is on its way to the server: an arrow key that is held does not move it from where it was. */
  private moving = false
  /** Layers as they would be if what a hand drags stayed there. */
  private trial: Layer[] | null = null

  constructor(private readonly host: EditorHost) {
    this.curve = new CurveView({
      seek: (time) => {
        host.player.pause()
        host.player.seek(this.sampleTime(time))
      },
      select: (key) => this.select(key),
      drag: (from, to) => this.dragKey(from, to),
      drop: (from, to) => void this.dropKey(from, to),
      remove: (key) => void this.removeKey(key.t),
    })
    this.layers = new LayerList({
      choose: (which) => this.choose(which),
      weigh: (which, weight) => this.preview(withLayer(this.known, which, { weight })),
      change: (which, change) => void this.changeLayer(which, change),
      merge: (layer) => void this.merge(layer),
      remove: (layer) => void host.edit({ edit: 'remove layer', layer }),
      add: () => void this.add(),
    })
    this.drag = new PoseDrag({
      shown: (track) => host.view.shown(track),
      address: () => `/api/takes/${this.piece?.id}`,
      posed: () => this.posed(),
      fail: (problem) => host.notices.fail(problem),
    })
    this.joints.onchange = () => {
      const [track, variable] = this.joints.value.split(' ').map(Number)
      this.chooseJoint(track, variable)
    }
    this.value.onchange = () => void this.setValue()
    this.element = this.build()
  }

  private build(): HTMLElement {
    const tools = h(
      'div',
      { class: 'editor-tools' },
      this.joints,
      h(
        'label',
        { class: 'joint-value' },
        h('span', { class: 'unseen' }, 'Value at the playhead'),
        this.value,
        this.unit,
      ),
      this.setKey,
      this.zeroKey,
      this.deleteKey,
      h('span', { class: 'gap' }),
      button('mirror', 'Exchange left and right in the whole take', () => void this.mirror(), {
        text: 'Mirror',
        id: 'mirror',
      }),
      button('loop', 'Make the end lead into the start', () => this.askLoop(), { text: 'Loop…', id: 'make-loop' }),
      button('close', 'Close the editor (C)', () => this.toggle(), { id: 'close-editor' }),
    )
    return h(
      'section',
      { class: 'editor', id: 'editor', hidden: true, aria: { label: 'Edit this take' } },
      tools,
      h('div', { class: 'editor-main' }, this.layers.element, this.curve.element),
      this.notes,
    )
  }

  // -- opening and loading ---------------------------------------------------------------------------------------

  toggle(): void {
    if (!this.open && !this.piece?.take) return
    this.open = !this.open
    this.element.hidden = !this.open
    if (this.open) this.host.player.pause()
    this.forgetPose()
    this.host.toggled(this.open)
    this.refresh()
  }

  /** Another piece is open, or the same one after an edit; only takes can be edited. */
  load(piece: Piece, samples: Samples | null): void {
    const same = piece.id === this.piece?.id
    this.piece = piece
    this.samples = samples
    this.trial = null
    this.forgetPose()
    if (this.open && !piece.take) this.toggle()
    if (!same) {
      this.key = null
      this.layer = this.track = 0
      this.variable = this.busiest()
    }
    this.layer = clamp(this.layer, 0, Math.max(this.known.length - 1, 0))
    this.refresh()
  }

  private get known(): Layer[] {
    return this.piece?.take?.layers ?? []
  }

  private figure(track: number): Figure | null {
    return this.piece === null ? null : this.piece.figures[this.piece.tracks[track].figure]
  }

  /** The joint that moves most, to begin with. */
  private busiest(): number {
    const figure = this.figure(0)
    const q = this.samples?.tracks[0].q
    if (figure === null || q === undefined) return 0
    const spans = figure.variables.map((v, k) => {
      if (v.kinematic || v.unit !== 'rad') return -1
      const column = q.column(k)
      return Math.max(...column) - Math.min(...column)
    })
    return Math.max(spans.indexOf(Math.max(...spans)), 0)
  }

  // -- what is shown ---------------------------------------------------------------------------------------------

  private refresh(): void {
    if (!this.open || this.piece === null) return
    this.fillJoints()
    this.layers.show(this.known, this.layer)
    this.writeNotes()
    this.draw()
  }

  private fillJoints(): void {
    const tracks = (this.piece?.tracks ?? []).map((track, k) => ({ ...track, k })).filter((track) => !track.ghost)
    const group = (name: string, track: number) => {
      const keyed = new Set(movedVariables(this.known, track))
      const options = (this.figure(track)?.variables ?? []).map((v, k) =>
        h('option', { value: `${track} ${k}` }, `${inWords(v.name)}${keyed.has(k) ? ' ◆' : ''}`),
      )
      return h('optgroup', { label: inWords(name) }, ...options)
    }
    this.joints.replaceChildren(...tracks.map(({ name, k }) => group(name, k)))
    this.joints.value = `${this.track} ${this.variable}`
  }

  /** What is not as in a recording of physics. */
  private writeNotes(): void {
    const { piece } = this
    const take = piece?.take
    if (!piece || !take) return
    const held = take.held.map(([track, k]) => inWords(this.figure(track)?.variables[k].name ?? ''))
    const out = held.length > 0 ? [`Held at a limit: ${[...new Set(held)].join('; ')}.`] : []
    if (take.kinematic && piece.figures.some((figure) => figure.ropes.length > 0)) {
      const error = piece.series.findIndex((series) => series.name === 'constraint error')
      const stretch = error < 0 ? 0 : Math.max(0, ...(this.samples?.series[error] ?? []))
      const longer = stretch > 1 ? `; they would have to be up to ${Math.round(stretch)} mm longer` : ''
      out.push(`Without physics: no tensions, and strings are lines from spindle to hook${longer}.`)
    }
    this.notes.textContent = out.join(' ')
  }

  /** The colours have changed. */
  redraw(): void {
    this.draw()
  }

  /** Degrees for a turn, metres for a slide. */
  private get scale(): { factor: number; unit: string } {
    const turns = this.figure(this.track)?.variables[this.variable]?.unit === 'rad'
    return turns ? { factor: 180 / Math.PI, unit: '°' } : { factor: 1, unit: ' m' }
  }

  private draw(): void {
    const { samples, track, variable } = this
    if (samples === null || !this.open) return
    const { factor, unit } = this.scale
    const { t } = samples
    const v = this.figure(track)?.variables[variable]
    const column = samples.tracks[track].q.column(variable)
    const now = offsets(this.known, track, variable, t)
    const then = this.trial === null ? now : offsets(this.trial, track, variable, t)
    const seen = Array.from(column, (x, i) => factor * (x + then[i] - now[i]))
    // At a limit the recording is not what is seen less the offset.
    const free = (x: number) => (v?.lower ?? -Infinity) < x - MOVED && (v?.upper ?? Infinity) > x + MOVED
    const recorded = Array.from(column, (x, i) => (now[i] === 0 || free(x) ? factor * (x - now[i]) : Number.NaN))
    const keys = this.keys(this.trial ?? this.known).map(([time]) => ({ t: time, value: seen[this.sampleAt(time)] }))
    const inside = keys.filter((key) => key.t >= t[0] - 1e-9 && key.t <= t[t.length - 1] + 1e-9)
    this.curve.show({ t, seen, recorded, keys: inside, unit }, this.key)
    this.point()
  }

  private keys(layers: Layer[]): TakeKey[] {
    return curveOf(layers[this.layer], this.track, this.variable)?.keys ?? []
  }

  /** The playhead, and the value there. */
  private point(): void {
    const { player, view } = this.host
    this.curve.point(player.time)
    const { factor, unit } = this.scale
    const value = factor * (view.shown(this.track)[this.variable] ?? 0)
    if (document.activeElement !== this.value) this.value.value = value.toFixed(unit === '°' ? 1 : 3)
    this.unit.textContent = unit
    this.setKey.classList.toggle('primary', this.drag.pose !== null)
    this.deleteKey.disabled = this.keyHere() === null
  }

  // -- time ------------------------------------------------------------------------------------------------------

  private sampleAt(time: number): number {
    const t = this.samples?.t ?? [0]
    const i = sampleBefore(t, time)
    return i + 1 < t.length && t[i + 1] - time < time - t[i] ? i + 1 : i
  }

  private sampleTime(time: number): number {
    return this.samples?.t[this.sampleAt(time)] ?? 0
  }

  /** Before each picture: what hands have dragged goes to the server. */
  tick(): void {
    const { hands, player } = this.host
    if (!this.open) return
    const allowed = player.playing ? new Set<string>() : BODIES
    if (hands.allowed !== allowed && hands.allowed.size !== allowed.size) hands.allowed = allowed
    hands.flush((message) => this.drag.hear(message))
  }

  /** The player has moved on: a pose that is not keyed is gone, as with any animation program. */
  timeChanged(): void {
    if (!this.open) return
    if (this.drag.pose !== null) this.forgetPose()
    this.point()
  }

  /** Whether a dragged limb is on its way to where the hand is. */
  get posing(): boolean {
    return this.drag.waits
  }

  // -- poses -----------------------------------------------------------------------------------------------------

  private posed(): void {
    const { pose } = this.drag
    if (pose === null) return
    this.host.view.pose(pose.track, pose.q)
    const change = pose.q.map((x, k) => Math.abs(x - pose.from[k]))
    const most = change.indexOf(Math.max(...change))
    if (this.track !== pose.track || change[this.variable] < MOVED) this.chooseJoint(pose.track, most)
    this.point()
  }

  private forgetPose(): void {
    this.drag.forget()
    this.trial = null
    for (const k of this.piece?.tracks.keys() ?? []) this.host.view.pose(k, null)
    if (!this.open) {
      this.host.hands.allowed = new Set()
      this.host.hands.drop()
    }
  }

  // -- choosing --------------------------------------------------------------------------------------------------

  private chooseJoint(track: number, variable: number): void {
    this.track = track
    this.variable = variable
    this.key = null
    this.joints.value = `${track} ${variable}`
    this.draw()
  }

  private choose(layer: number): void {
    this.layer = layer
    this.key = null
    this.refresh()
  }

  private select(key: ShownKey | null): void {
    this.key = key?.t ?? null
    if (key !== null) {
      this.host.player.pause()
      this.host.player.seek(key.t)
    }
    this.draw()
  }

  /** The key that is chosen, or else the one at the playhead. */
  private keyHere(): number | null {
    const times = this.keys(this.known).map(([t]) => t)
    if (this.key !== null && times.includes(this.key)) return this.key
    return times.find((t) => Math.abs(t - this.host.player.time) < 1e-6) ?? null
  }

  // -- keys ------------------------------------------------------------------------------------------------------

  private get named() {
    return {
      layer: this.layer,
      track: this.track,
      variable: this.figure(this.track)?.variables[this.variable].name ?? '',
    }
  }

  /** A key for every joint that was dragged; else for the chosen joint, where it is. */
  async set(): Promise<void> {
    if (!this.open) return
    const { pose } = this.drag
    const { layer, track, variable } = this.named
    if (pose === null) {
      const value = this.host.view.shown(track)[this.variable]
      await this.setKeys(layer, track, { [variable]: value })
      return
    }
    const names = this.figure(pose.track)?.variables.map((v) => v.name) ?? []
    const moved = names.flatMap((name, k) => (Math.abs(pose.q[k] - pose.from[k]) > MOVED ? [[name, pose.q[k]]] : []))
    if (moved.length > 0) await this.setKeys(layer, pose.track, Object.fromEntries(moved))
  }

  private async setValue(): Promise<void> {
    const value = Number(this.value.value)
    const { layer, track, variable } = this.named
    if (this.value.value !== '' && Number.isFinite(value)) {
      await this.setKeys(layer, track, { [variable]: value / this.scale.factor })
    }
  }

  private async setKeys(layer: number, track: number, values: Record<string, number>): Promise<void> {
    const t = this.sampleTime(this.host.player.time)
    this.host.player.pause()
    if (await this.host.edit({ edit: 'set keys', layer, track, t, values })) this.key = t
    this.draw()
  }

  private async zero(): Promise<void> {
    if (this.known.length === 0) await this.host.edit({ edit: 'add layer' })
    const t = this.sampleTime(this.host.player.time)
    await this.host.edit({ edit: 'zero key', ...this.named, t })
  }

  private async removeKey(t = this.keyHere()): Promise<void> {
    if (t !== null) await this.host.edit({ edit: 'delete key', ...this.named, t })
  }

  /** The offset that gives a value [rad or m] at a time, in the chosen layer. */
  private offset(t: number, value: number): number {
    const { track, variable } = this
    const layer = this.known[this.layer]
    const seen = this.samples?.tracks[track].q.row(this.sampleAt(t))[variable] ?? 0
    const own = offsets([layer], track, variable, [t])[0]
    return (value - (seen - own)) / (layer.weight || 1)
  }

  private dragKey(from: number, to: ShownKey): void {
    const layer = this.known[this.layer]
    const curve = curveOf(layer, this.track, this.variable)
    if (curve === undefined) return
    const t = this.sampleTime(to.t)
    const moved = withMovedKey(layer, curve, from, [t, this.offset(t, to.value / this.scale.factor)])
    this.host.player.seek(t)
    this.key = t
    this.preview(withLayer(this.known, this.layer, moved))
  }

  private async dropKey(from: number, to: ShownKey): Promise<void> {
    const t = this.sampleTime(to.t)
    const value = to.value / this.scale.factor
    const before = this.keys(this.known).find(([time]) => time === from)
    const still = before !== undefined && t === from && Math.abs(this.offset(t, value) - before[1]) < 1e-7
    if (still || this.moving) {
      this.preview(null)
      return
    }
    this.key = t
    this.moving = true
    const moved = await this.host.edit({ edit: 'move key', ...this.named, t: from, to: t, value })
    this.moving = false
    if (moved) this.host.player.seek(t)
    else this.preview(null)
  }

  // -- layers and the whole take ---------------------------------------------------------------------------------

  /** Curve and figure as they would be with other layers. */
  private preview(trial: Layer[] | null): void {
    this.trial = trial
    const { view, player } = this.host
    this.piece?.tracks.forEach((_, track) => {
      view.pose(track, null)
      if (trial === null) return
      const q = view.shown(track)
      for (const k of movedVariables([...trial, ...this.known], track)) {
        const at = [player.time]
        const v = this.figure(track)?.variables[k]
        const bent = q[k] + offsets(trial, track, k, at)[0] - offsets(this.known, track, k, at)[0]
        q[k] = clamp(bent, Math.min(v?.lower ?? -Infinity, q[k]), Math.max(v?.upper ?? Infinity, q[k]))
      }
      view.pose(track, q)
    })
    this.draw()
  }

  private async changeLayer(which: number, change: Partial<Layer>): Promise<void> {
    const { name, weight, muted } = { ...this.known[which], ...change }
    await this.host.edit({ edit: 'change layer', layer: which, name, weight, muted })
  }

  private async add(): Promise<void> {
    this.layer = this.known.length
    await this.host.edit({ edit: 'add layer' })
  }

  private async merge(layer: number): Promise<void> {
    const { name } = this.known[layer]
    if (await this.host.edit({ edit: 'merge layer', layer }))
      this.host.notices.show(`${name} is part of the recording now.`)
  }

  private async mirror(): Promise<void> {
    if (await this.host.edit({ edit: 'mirror' })) this.host.notices.show('Left and right are exchanged.')
  }

  private askLoop(): void {
    askLoop(this.host.player.duration, async (loop) => {
      const merged = this.known.length > 0 ? ' The layers are part of the recording now.' : ''
      if (!(await this.host.edit(loop))) return
      const way = loop.travel ? ', and the figure travels on' : ''
      this.host.notices.show(
        `The last ${loop.blend} s lead into the start: pose and speed are the same there${way}.${merged}`,
      )
    })
  }
}
