/** The sign that an entry is being opened, with an explanation if that takes long. */
import { h } from './dom'

const LONG = 1500 // ms

export class Loading {
  readonly element = h(
    'p',
    { class: 'patience' },
    'Preparing… The first time, code is compiled for this machine, which takes up to a minute.',
  )
  private timer = 0

  begin(): void {
    document.body.classList.add('loading')
    clearTimeout(this.timer)
    this.timer = window.setTimeout(() => this.element.classList.add('shown'), LONG)
  }

  end(): void {
    clearTimeout(this.timer)
    document.body.classList.remove('loading')
    this.element.classList.remove('shown')
  }
}
