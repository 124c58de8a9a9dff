/** The sign that an entry is being opened: what is done, how far it is, and a button that cancels it. */
import type { Progress } from '../messages'
import { h } from './dom'

const LONG = 1000 // ms after which the stage is cleared and the sign explains itself

export class Loading {
  private readonly text = h('p', {}, '')
  private readonly bar = h('progress', { max: 1 })
  private readonly button = h('button', { type: 'button', onclick: () => this.cancelled() }, 'Cancel')
  readonly element = h('div', { class: 'patience', role: 'status' }, this.text, this.bar, this.button)
  private timer = 0
  private entry = ''

  /** `waits` is called when opening takes long. */
  constructor(
    private readonly cancel: (entry: string) => void,
    private readonly waits: (entry: string) => void,
  ) {}

  begin(entry: string): void {
    this.entry = entry
    this.text.textContent = 'Preparing…'
    this.bar.removeAttribute('value')
    this.element.classList.remove('working')
    document.body.classList.add('loading')
    clearTimeout(this.timer)
    this.timer = window.setTimeout(() => {
      this.element.classList.add('shown')
      this.waits(entry)
    }, LONG)
  }

  /** What the server says of the work that makes the entry. */
  tell({ entry, stage, done, text }: Progress): void {
    if (entry !== this.entry) return
    this.text.textContent = text === '' ? stage : `${stage}: ${text}`
    this.bar.value = done
    this.element.classList.add('working')
  }

  end(): void {
    this.entry = ''
    clearTimeout(this.timer)
    document.body.classList.remove('loading')
    this.element.classList.remove('shown', 'working')
  }

  private cancelled(): void {
    if (this.entry !== '') this.cancel(this.entry)
  }
}
