/** What is written over the view: the tension scale, warnings, and a label at the pointer. */
import { inWords } from '../data/words'
import { hasMass } from '../geometry/kinematics'
import type { Piece } from '../messages'
import type { Actor } from '../view/actor'
import type { DrawnRope } from '../view/ropes'
import { h } from './dom'

const MOST_WARNINGS = 4

/** The colours of tensions, from slack to the end of the scale. */
export class TensionLegend {
  private readonly end = h('b')
  readonly element = h(
    'div',
    { class: 'tension', id: 'legend', hidden: true },
    h('span', {}, 'Tension'),
    h('span', { class: 'slack' }, 'slack'),
    h('span', {}, '0'),
    h('i'),
    this.end,
  )

  /** Shown only for pieces whose tensions are known. */
  load(piece: Piece): void {
    const pulled = piece.figures.some((figure) => figure.ropes.length > 0 && hasMass(figure))
    const known = piece.live || piece.blocks.some((block) => block.field === 'tension')
    this.element.hidden = !(pulled && known)
  }

  update(scaleEnd: number): void {
    const text = `${scaleEnd} N`
    if (this.end.textContent !== text) this.end.textContent = text
  }
}

/** Joints and strings at their limits. */
export class Warnings {
  readonly element = h('div', { class: 'warnings', id: 'warnings' })
  private shown = ''

  update(actors: Actor[], ropes: DrawnRope[]): void {
    const joints = actors.flatMap((actor) => actor.atLimits.map((k) => inWords(actor.figure.variables[k].name)))
    const strings = ropes.filter((rope) => rope.atLimit).map((rope) => `string ${inWords(rope.rope.name)}`)
    const all = [...joints, ...strings].map((name) => `${name} at its limit`)
    const lines =
      all.length > MOST_WARNINGS
        ? [...all.slice(0, MOST_WARNINGS - 1), `and ${all.length - MOST_WARNINGS + 1} more`]
        : all
    const text = lines.join('\n')
    if (text === this.shown) return
    this.shown = text
    this.element.replaceChildren(...lines.map((line) => h('span', {}, line)))
  }
}

/** A label that says what is under the pointer; said anew with each picture, for tensions change. */
export class PointerLabel {
  readonly element = h('div', { class: 'label', id: 'label', hidden: true })
  private say: () => string = () => ''
  private x = 0
  private y = 0

  point(say: () => string, x: number, y: number): void {
    Object.assign(this, { say, x, y })
    this.update()
  }

  update(): void {
    const text = this.say()
    this.element.hidden = text === ''
    if (text === '') return
    if (this.element.textContent !== text) this.element.textContent = text
    const room = (this.element.parentElement?.clientWidth ?? 0) - this.element.offsetWidth - 4
    const [x, y] = [Math.max(Math.min(this.x + 14, room), 4), Math.max(this.y - 34, 4)]
    this.element.style.transform = `translate(${x}px, ${y}px)`
  }
}

/** A string in words. */
export function describeRope(drawn: DrawnRope): string {
  const { rope, tension, taut, atLimit, gap, length } = drawn
  const slackness = taut ? 'taut' : `slack by ${Math.round(-1000 * gap)} mm`
  const state = rope.rigid ? 'wire' : atLimit ? 'at its limit' : slackness
  const force = tension !== null && taut ? `, ${tension.toFixed(2)} N` : ''
  return `${inWords(rope.name)}: ${state}${force}, ${length.toFixed(3)} m`
}
