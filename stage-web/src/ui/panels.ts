/** Which parts of the page are open: the list and the plots. A phone has room for one of them. */

export const PHONE = matchMedia('(max-width: 760px)')
const WIDE = matchMedia('(min-width: 1101px)')

export interface PanelState {
  list: boolean
  plots: boolean
}

export class Panels {
  onChange: (state: PanelState) => void = () => undefined
  private state: PanelState = { list: false, plots: false }

  /** As much as fits; a page with a single entry needs no list. */
  openWhatFits(manyEntries: boolean): void {
    this.set({ list: manyEntries && !PHONE.matches, plots: WIDE.matches })
  }

  showList(on: boolean): void {
    this.set({ list: on, plots: this.state.plots && !(on && PHONE.matches) })
  }

  toggleList(): void {
    this.showList(!this.state.list)
  }

  togglePlots(): void {
    const plots = !this.state.plots
    this.set({ plots, list: this.state.list && !(plots && PHONE.matches) })
  }

  /** On a phone the list covers the stage: it goes once an entry is chosen. */
  uncoverStage(): void {
    if (PHONE.matches) this.showList(false)
  }

  /** On a phone the editor leaves no room for another part beside the stage. */
  makeRoom(editing: boolean): void {
    if (editing && PHONE.matches) this.set({ list: false, plots: false })
  }

  /** Everything but the stage is hidden, or shown again. */
  toggleOnlyStage(): void {
    document.body.classList.toggle('bare')
  }

  private set(state: PanelState): void {
    this.state = state
    document.body.classList.toggle('with-list', state.list)
    document.body.classList.toggle('with-plots', state.plots)
    this.onChange(state)
  }
}
