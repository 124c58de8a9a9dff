/** The tools over the view: from where one looks, and what is drawn besides the figures. */
import { hasMass } from '../geometry/kinematics'
import type { Piece } from '../messages'
import type { Layers } from '../view/cast'
import type { Preset } from '../view/seat'
import { button, h, press, setText } from './dom'
import { icon } from './icons'
import { PHONE } from './panels'

export interface ViewToolActions {
  look(preset: Preset): void
  toggleFollow(): void
  toggleLayer(layer: keyof Layers): void
}

export interface ViewToolState {
  /** The view that is on; null once it has been turned by hand. */
  preset: Preset | null
  /** The frame that the camera follows. */
  following: string | null
  layers: Layers
}

const VIEWS: [preset: Preset, name: string][] = [
  ['audience', 'Audience'],
  ['front', 'Front'],
  ['side', 'Side'],
  ['top', 'Top'],
]
const LAYERS: [layer: keyof Layers, name: string, title: string][] = [
  ['ghost', 'Ghost', 'Reference motion as a ghost (G)'],
  ['trails', 'Trails', 'Trails of the limbs (T)'],
  ['balance', 'Balance', 'Centre of mass and support polygon (B)'],
  ['limits', 'Limits', 'Warn of joints at their limits (J)'],
]

export class ViewTools {
  readonly element: HTMLElement
  private readonly views: HTMLButtonElement[]
  private readonly followButton: HTMLButtonElement
  private readonly layers: HTMLButtonElement[]
  private shown = ''

  constructor(actions: ViewToolActions) {
    this.views = VIEWS.map(([preset, name], k) =>
      button(null, `${name} view (${k + 1})`, () => actions.look(preset), {
        text: name,
        class: 'tool',
        id: `view-${preset}`,
      }),
    )
    this.followButton = button(
      null,
      'The camera follows the figure (F); click a body to follow that body',
      () => actions.toggleFollow(),
      {
        text: 'Follow',
        class: 'tool',
        id: 'follow',
      },
    )
    this.layers = LAYERS.map(([layer, name, title]) =>
      button(null, title, () => actions.toggleLayer(layer), { text: name, class: 'tool', id: `layer-${layer}` }),
    )
    this.element = h(
      'div',
      { class: 'tools' },
      group('Views', icon('eye'), [...this.views, this.followButton]),
      group('Layers', icon('layers'), this.layers),
    )
    this.foldOnPhones()
  }

  private foldOnPhones(): void {
    const fold = () => {
      for (const details of this.element.querySelectorAll('details')) details.open = !PHONE.matches
    }
    PHONE.addEventListener('change', fold)
    fold()
  }

  /** Hides the layers that a piece has nothing for. */
  load(piece: Piece): void {
    const has: Layers = {
      ghost: piece.tracks.some((track) => track.ghost),
      trails: true,
      balance: piece.figures.some(hasMass),
      limits: true,
    }
    LAYERS.forEach(([layer], k) => {
      this.layers[k].hidden = !has[layer]
    })
  }

  /** Cheap enough for every picture: touches the page only where something is new. */
  update(state: ViewToolState): void {
    const now = JSON.stringify(state)
    if (now === this.shown) return
    this.shown = now
    const { preset, following, layers } = state
    VIEWS.forEach(([name], k) => {
      press(this.views[k], preset === name && following === null)
    })
    LAYERS.forEach(([layer], k) => {
      press(this.layers[k], layers[layer])
    })
    press(this.followButton, following !== null)
    setText(this.followButton, following ?? 'Follow')
  }
}

function group(title: string, sign: Node, buttons: HTMLElement[]): HTMLElement {
  return h('details', { class: 'group' }, h('summary', { title }, sign), h('div', {}, ...buttons))
}
