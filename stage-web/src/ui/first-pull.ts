/** A first pull, step by step: a card over the stage for who has never pulled a string here. It is shown once. */
import type { PageMessage, Piece } from '../messages'
import { readStored, writeStored } from '../storage'
import { button, h, setText } from './dom'

const STORAGE = 'bunraku-first-pull'
const TOUCH = matchMedia('(pointer: coarse)')

interface Step {
  text: string
  /** The same for fingers. */
  touch: string
  /** Whether a figure can do it at all. */
  possible(piece: Piece): boolean
  done(message: PageMessage): boolean
}

const pulls = (piece: Piece) => piece.pulls?.includes('spindle') ?? false

const STEPS: Step[] = [
  {
    text: 'Drag one of the handles above the figure: its string pulls the limb.',
    touch: 'Drag one of the handles above the figure: its string pulls the limb.',
    possible: pulls,
    done: (message) => message.type === 'pull' && message.part === 'spindle',
  },
  {
    text: 'Turn the wheel over a string: it is wound in or out.',
    touch: 'Drag a handle straight up: its string is wound in.',
    possible: pulls,
    done: (message) => message.type === 'winch' || (TOUCH.matches && message.type === 'pull'),
  },
  {
    text: 'Hold W, A, S or D: all handles move together.',
    touch: 'Move a pad at the bottom: all handles move together.',
    possible: (piece) => (piece.sticks ?? []).length > 0,
    done: (message) => message.type === 'sticks' && message.axes.some((axis) => axis !== 0),
  },
  {
    text: 'Press R, perform, and press R again: your take opens.',
    touch: 'Tap Record, perform, and tap Stop: your take opens.',
    possible: () => true,
    done: (message) => message.type === 'record' && !message.on,
  },
]

const END = {
  text: 'That was it. Edit changes the take, Export saves it, X untangles a puppet, ? lists all keys.',
  touch: 'That was it. Edit changes the take, and Export saves it.',
}

export class FirstPull {
  readonly element: HTMLElement
  private readonly count = h('small')
  private readonly text = h('p', { aria: { live: 'polite' } })
  private readonly next = button(null, 'Go on to the next step', () => this.advance(), {
    text: 'Skip',
    id: 'first-next',
  })
  private steps: Step[] = []
  private at = 0

  constructor() {
    this.element = h(
      'aside',
      { class: 'first-pull', id: 'first-pull', hidden: true, aria: { label: 'First pull' } },
      h(
        'header',
        {},
        h('h2', {}, 'First pull'),
        this.count,
        button('close', 'Close, and do not show this again', () => this.end()),
      ),
      this.text,
      this.next,
    )
  }

  /** This page drives a live figure: who has never pulled one here is shown how. */
  begin(piece: Piece): void {
    if (!this.element.hidden || readStored(STORAGE) !== null || !pulls(piece)) return
    this.steps = STEPS.filter((step) => step.possible(piece))
    this.at = 0
    this.element.hidden = false
    this.show()
  }

  /** What hands, keys and buttons have sent. */
  hear(message: PageMessage): void {
    if (!this.element.hidden && this.steps[this.at]?.done(message)) this.advance()
  }

  /** Another piece is open: a recorded one only at the end, which speaks of the take. */
  leave(live: boolean): void {
    if (!live && this.at < this.steps.length) this.element.hidden = true
  }

  private advance(): void {
    this.at++
    if (this.at > this.steps.length) this.end()
    else this.show()
    if (this.at === this.steps.length) writeStored(STORAGE, 'done')
  }

  private end(): void {
    this.element.hidden = true
    writeStored(STORAGE, 'done')
  }

  private show(): void {
    const over = this.at === this.steps.length
    const { text, touch } = over ? END : this.steps[this.at]
    this.count.textContent = over ? '' : `${this.at + 1} of ${this.steps.length}`
    this.text.textContent = TOUCH.matches ? touch : text
    setText(this.next, over ? 'Done' : 'Skip')
  }
}
