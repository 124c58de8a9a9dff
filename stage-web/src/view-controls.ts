/** What the tools and keys of the view do: look from somewhere, follow a body, show layers. */
import { inWords } from './data/words'
import type { Piece } from './messages'
import { ViewTools } from './ui/view-tools'
import type { Actor } from './view/actor'
import type { Layers } from './view/cast'
import { trunk } from './view/limbs'
import type { Preset, Seat } from './view/seat'

/** The part of the view that the tools change. */
export interface ControlledView {
  readonly seat: Pick<Seat, 'preset' | 'look'>
  readonly layers: Layers
  readonly actors: Actor[]
  follow(actor: Actor | null, frame?: number): void
  refresh(): void
}

export class ViewControls {
  readonly tools: ViewTools
  /** Name of the frame that the camera follows. */
  private following: string | null = null
  /** Whether the balance is shown because of the piece, not because somebody asked for it. */
  private lent = false

  constructor(private readonly view: ControlledView) {
    this.tools = new ViewTools({
      look: (preset) => this.look(preset),
      toggleFollow: () => this.toggleFollow(),
      toggleLayer: (layer) => this.toggleLayer(layer),
    })
  }

  look(preset: Preset): void {
    this.follow(null, 0)
    this.view.seat.look(preset)
    this.update()
  }

  toggleLayer(layer: keyof Layers): void {
    this.view.layers[layer] = !this.view.layers[layer]
    if (layer === 'balance') this.lent = false
    this.view.refresh()
    this.update()
  }

  /** Follows the first figure by its trunk, or stops following. */
  toggleFollow(): void {
    const actor = this.view.actors.find((a) => !a.ghost)
    if (this.following !== null || actor === undefined) this.follow(null, 0)
    else this.follow(actor, trunk(actor.figure))
  }

  follow(actor: Actor | null, frame: number): void {
    this.view.follow(actor, frame)
    const name = actor?.figure.frames[frame]?.name
    this.following = name === undefined ? null : inWords(name)
    this.update()
  }

  /** A new piece is shown, and nothing of it is followed yet. A figure that is posed on its feet shows its balance. */
  load(piece: Piece): void {
    this.tools.load(piece)
    this.following = null
    const posed = piece.live && piece.series.some((series) => series.name.startsWith('centre of mass'))
    if (posed && !this.view.layers.balance) this.lent = this.view.layers.balance = true
    else if (!posed && this.lent) this.lent = this.view.layers.balance = false
    this.update()
  }

  update(): void {
    const { seat, layers } = this.view
    this.tools.update({ preset: seat.preset, following: this.following, layers })
  }
}
