/** The layers of a take: choose one, mute it, weigh it, merge or remove it. */
import type { Layer } from '../messages'
import { button, h, press } from '../ui/dom'

export interface LayerEvents {
  choose(which: number): void
  /** A weight while it is being dragged. */
  weigh(which: number, weight: number): void
  change(which: number, change: Partial<Layer>): void
  merge(which: number): void
  remove(which: number): void
  add(): void
}

export class LayerList {
  readonly element = h('div', { class: 'layer-list', role: 'group', aria: { label: 'Layers' } })

  constructor(private readonly events: LayerEvents) {}

  /** The highest layer first, as it lies on the others; the recording below all. */
  show(layers: Layer[], chosen: number): void {
    const rows = layers.map((layer, k) => this.row(layer, k, k === chosen)).reverse()
    const add = button('plus', 'Add a layer on top', () => this.events.add(), { id: 'add-layer', text: 'Layer' })
    const recording = h('div', { class: 'layer recording' }, h('span', {}, 'Recording'))
    const focused = this.focused()
    this.element.replaceChildren(add, ...rows, recording)
    if (focused !== null) this.element.querySelector<HTMLElement>(focused)?.focus()
  }

  /** Where the keyboard is, so that it is there again among the new rows. */
  private focused(): string | null {
    const active = document.activeElement
    if (active === null || !this.element.contains(active)) return null
    const layer = active.closest<HTMLElement>('[data-layer]')?.dataset.layer
    const kind = ['layer-name', 'mute', 'weight', 'merge', 'remove'].find((name) => active.classList.contains(name))
    return layer === undefined ? '#add-layer' : `[data-layer="${layer}"] .${kind}`
  }

  private row(layer: Layer, k: number, chosen: boolean): HTMLElement {
    const { events } = this
    const keys = layer.curves.reduce((sum, curve) => sum + curve.keys.length, 0)
    const name = h(
      'button',
      { type: 'button', class: 'layer-name', title: `Keys go into ${layer.name}`, onclick: () => events.choose(k) },
      h('b', {}, layer.name),
      h('small', {}, `${keys} ${keys === 1 ? 'key' : 'keys'}`),
    )
    press(name, chosen)
    const mute = button('eye', `Mute ${layer.name}`, () => events.change(k, { muted: !layer.muted }), { class: 'mute' })
    press(mute, layer.muted)
    const weight = h('input', {
      type: 'range',
      min: '0',
      max: '1',
      step: '0.05',
      value: String(layer.weight),
      title: `Weight of ${layer.name}: ${Math.round(100 * layer.weight)} %`,
      class: 'weight',
      aria: { label: `Weight of ${layer.name}` },
    })
    weight.oninput = () => events.weigh(k, Number(weight.value))
    weight.onchange = () => events.change(k, { weight: Number(weight.value) })
    return h(
      'div',
      { class: `layer ${layer.muted ? 'muted-layer' : ''}`, data: { layer: String(k) } },
      name,
      mute,
      weight,
      button('merge', `Merge ${layer.name} into the recording`, () => events.merge(k), { class: 'merge' }),
      button('bin', `Remove ${layer.name}`, () => events.remove(k), { class: 'remove' }),
    )
  }
}
