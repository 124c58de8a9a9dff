/** The bar on top, the tools over the view, the legend of tensions, warnings, and the label at the pointer. */
import type { App } from '../app'
import { heavy, type Piece } from '../model'
import type { Preset } from '../view/camera'
import type { DrawnRope } from '../view/ropes'
import type { Layers } from '../view/view'
import { help } from './dialogs'
import { button, h, icon, press, setIcon } from './dom'

const VIEWS: [Preset, string][] = [['audience', 'Audience'], ['front', 'Front'], ['side', 'Side'], ['top', 'Top']]
const LAYERS: [keyof Layers, string, string][] = [
  ['ghost', 'Ghost', 'The reference beside the motion (G)'], ['trails', 'Trails', 'Where limbs have been (T)'],
  ['balance', 'Balance', 'Centre of mass and support polygon (B)'], ['limits', 'Limits', 'Joints at their limits (J)'],
]

export class Bars {
  readonly top: HTMLElement
  readonly tools: HTMLElement
  readonly legend = h('div', { class: 'tension', id: 'legend', hidden: true })
  readonly warnings = h('div', { class: 'warnings', id: 'warnings' })
  readonly label = h('div', { class: 'label', id: 'label', hidden: true })
  readonly listButton: HTMLButtonElement
  readonly plotsButton: HTMLButtonElement
  readonly liveBar = h('div', { class: 'livebar' })
  following: string | null = null
  private readonly title = h('strong')
  private readonly about = h('span')
  private readonly themeButton: HTMLButtonElement
  private readonly views: HTMLButtonElement[]
  private readonly followButton: HTMLButtonElement
  private readonly layers: HTMLButtonElement[]
  private readonly most = h('b')
  private warned = ''

  constructor(private readonly app: App) {
    this.listButton = button('list', 'Entries', () => app.showList(!document.body.classList.contains('with-list')), { id: 'list-toggle' })
    this.plotsButton = button('plots', 'Plots (P)', () => app.showPlots(!document.body.classList.contains('with-plots')), { id: 'plots-toggle' })
    this.themeButton = button('sun', 'Light or dark (M)', () => app.theme.toggle(), { id: 'theme' })
    const showTheme = () => setIcon(this.themeButton, app.theme.name === 'dark' ? 'sun' : 'moon')
    app.theme.onChange(showTheme)
    showTheme()
    this.top = h(
      'header', { class: 'topbar' }, this.listButton, h('span', { class: 'brand' }, 'bunraku'),
      h('div', { class: 'now' }, this.title, this.about), this.liveBar, this.plotsButton, this.themeButton,
      button('help', 'Keys (?)', help, { id: 'help-button' }),
    )
    this.views = VIEWS.map(([preset, name], k) =>
      button('', `${name} view (${k + 1})`, () => app.look(preset), { text: name, class: 'tool', id: `view-${preset}` }),
    )
    this.followButton = button('', 'Follow the figure (F); a click on a body follows that', () => app.follow(), { text: 'Follow', class: 'tool', id: 'follow' })
    this.layers = LAYERS.map(([layer, name, title]) =>
      button('', title, () => app.layer(layer), { text: name, class: 'tool', id: `layer-${layer}` }),
    )
    this.tools = h(
      'div', { class: 'tools' },
      h('details', { class: 'group' }, h('summary', { title: 'Views' }, icon('eye')), h('div', {}, ...this.views, this.followButton)),
      h('details', { class: 'group' }, h('summary', { title: 'Layers' }, icon('layers')), h('div', {}, ...this.layers)),
    )
    this.legend.append(h('span', {}, 'Tension'), h('span', { class: 'slack' }, 'slack'), h('span', {}, '0'), h('i'), this.most)
    const phone = matchMedia('(max-width: 760px)')
    const unfold = () => this.tools.querySelectorAll('details').forEach((d) => (d.open = !phone.matches))
    phone.addEventListener('change', unfold)
    unfold()
  }

  load(piece: Piece): void {
    this.title.textContent = piece.title
    this.about.textContent = piece.about
    this.following = null
    const has = {
      ghost: piece.tracks.some((t) => t.ghost), trails: true, limits: true,
      balance: piece.figures.some(heavy),
    }
    LAYERS.forEach(([layer], k) => (this.layers[k].hidden = !has[layer]))
    const tense = piece.figures.some((f) => f.ropes.length > 0 && heavy(f)) && (piece.live || piece.blocks.some((b) => b.field === 'tension'))
    this.legend.hidden = !tense
    this.updateLayers()
  }

  updateLayers(): void {
    const { view } = this.app
    VIEWS.forEach(([preset], k) => press(this.views[k], view.seat.preset === preset && this.following === null))
    LAYERS.forEach(([layer], k) => press(this.layers[k], view.layers[layer]))
    press(this.followButton, this.following !== null)
    this.followButton.lastChild!.textContent = this.following ?? 'Follow'
  }

  /** After each picture: cheap, and touches the page only where something is new. */
  update(): void {
    const { view } = this.app
    const most = `${view.ropes?.most ?? 0} N`
    if (this.most.textContent !== most) this.most.textContent = most
    if ((view.seat.preset === null) === this.views.some((b) => b.getAttribute('aria-pressed') === 'true')) this.updateLayers()
    const lines: string[] = []
    if (view.layers.limits) {
      for (const actor of view.actors) {
        for (const k of actor.atLimits) lines.push(`${actor.figure.variables[k].name} at its limit`)
      }
    }
    for (const rope of view.ropes?.drawn ?? []) if (rope.atLimit) lines.push(`string ${rope.rope.name} cannot go farther`)
    const text = lines.length > 4 ? [...lines.slice(0, 3), `and ${lines.length - 3} more`].join('\n') : lines.join('\n')
    if (text === this.warned) return
    this.warned = text
    this.warnings.replaceChildren(...text.split('\n').filter(Boolean).map((line) => h('span', {}, line)))
  }

  /** What is under the pointer. */
  point(text: string, x: number, y: number): void {
    this.label.hidden = text === ''
    if (text === '') return
    if (this.label.textContent !== text) this.label.textContent = text
    const room = this.app.view.canvas.clientWidth - this.label.offsetWidth - 4
    this.label.style.transform = `translate(${Math.max(Math.min(x + 14, room), 4)}px, ${Math.max(y - 34, 4)}px)`
  }
}

/** A string in words. */
export function describeRope(drawn: DrawnRope): string {
  const state = drawn.atLimit ? 'at its limit' : drawn.taut ? 'taut' : `slack by ${Math.round(-1000 * drawn.gap)} mm`
  const tension = drawn.tension !== null && drawn.taut ? `, ${drawn.tension.toFixed(2)} N` : ''
  return `${drawn.rope.name}: ${drawn.rope.rigid ? 'wire' : state}${tension}, ${drawn.length.toFixed(3)} m`
}
