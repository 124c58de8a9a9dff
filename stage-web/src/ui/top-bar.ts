/** The bar at the top: what is open, who drives it, and buttons for the parts of the page. */
import type { Theme } from '../theme'
import { button, h, press, setIcon } from './dom'

export interface TopBarActions {
  toggleList(): void
  togglePlots(): void
  help(): void
}

export class TopBar {
  readonly element: HTMLElement
  private readonly title = h('strong')
  private readonly about = h('span')
  private readonly liveStatus = h('div', { class: 'livebar' })
  private readonly listButton: HTMLButtonElement
  private readonly plotsButton: HTMLButtonElement

  constructor(theme: Theme, actions: TopBarActions) {
    this.listButton = button('list', 'Show or hide entries', () => actions.toggleList(), { id: 'list-toggle' })
    this.plotsButton = button('plots', 'Show or hide plots (P)', () => actions.togglePlots(), { id: 'plots-toggle' })
    this.element = h(
      'header',
      { class: 'topbar' },
      this.listButton,
      h('h1', { class: 'brand' }, 'bunraku'),
      h('div', { class: 'now' }, this.title, this.about),
      this.liveStatus,
      this.plotsButton,
      themeButton(theme),
      button('help', 'Keys (?)', () => actions.help(), { id: 'help-button' }),
    )
  }

  showPiece(title: string, about: string): void {
    this.title.textContent = title
    this.about.textContent = about
  }

  addLiveStatus(elements: HTMLElement[]): void {
    this.liveStatus.append(...elements)
  }

  showPanels(panels: { list: boolean; plots: boolean }): void {
    press(this.listButton, panels.list)
    press(this.plotsButton, panels.plots)
  }
}

function themeButton(theme: Theme): HTMLButtonElement {
  const element = button('sun', 'Light or dark theme (M)', () => theme.toggle(), { id: 'theme' })
  const update = () => setIcon(element, theme.name === 'dark' ? 'sun' : 'moon')
  theme.onChange(update)
  update()
  return element
}
