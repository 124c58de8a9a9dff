/** The dialog for sticks: which axis of the gamepad does what, shown as it moves. */
import { DRIVING_KEYS } from '../keys'
import type { Sticks } from '../live/sticks'
import { dialog } from './dialog'
import { h } from './dom'
import { keyCaps } from './help'

const AXES = 8

export function showGamepad(sticks: Sticks, names: string[]): void {
  const meters = names.map(() => h('i'))
  const rows = names.map((name, k) => stickRow(sticks, name, k, meters[k]))
  const found = h('p', { class: 'muted' })
  const box = dialog('Gamepad and driving keys', 'gamepad', found, h('table', {}, ...rows), deadZone(sticks))
  const tick = () => {
    if (!box.open) return
    found.textContent =
      sticks.pad?.id ?? 'No gamepad found: connect one and press a button on it. The keys work without.'
    meters.forEach((meter, k) => {
      meter.style.left = `${50 + 50 * (sticks.values[k] ?? 0)}%`
    })
    requestAnimationFrame(tick)
  }
  tick()
}

function stickRow(sticks: Sticks, name: string, k: number, meter: HTMLElement): HTMLElement {
  const { mapping } = sticks
  const axis = h(
    'select',
    { aria: { label: `Axis for ${name}` } },
    h('option', { value: '-1' }, 'keys only'),
    ...Array.from({ length: AXES }, (_, a) => h('option', { value: String(a) }, `axis ${a + 1}`)),
  )
  axis.value = String(mapping.axis[k] ?? -1)
  axis.onchange = () => {
    mapping.axis[k] = Number(axis.value)
    sticks.store()
  }
  const invert = h('input', { type: 'checkbox', checked: mapping.invert[k] ?? false })
  invert.onchange = () => {
    mapping.invert[k] = invert.checked
    sticks.store()
  }
  const keys = keyCaps(DRIVING_KEYS.filter(({ stick }) => stick === k))
  return h(
    'tr',
    {},
    h('th', {}, name),
    h('td', { class: 'own-keys' }, ...keys),
    h('td', {}, axis),
    h('td', {}, h('label', {}, invert, ' inverted')),
    h('td', {}, h('div', { class: 'meter' }, meter)),
  )
}

function deadZone(sticks: Sticks): HTMLElement {
  const { mapping } = sticks
  const percent = () => `${Math.round(100 * mapping.deadZone)} %`
  const value = String(mapping.deadZone)
  const slider = h('input', { type: 'range', min: '0', max: '0.4', step: '0.01', value })
  const shown = h('output', {}, percent())
  slider.oninput = () => {
    mapping.deadZone = Number(slider.value)
    shown.textContent = percent()
    sticks.store()
  }
  return h('label', { class: 'zone' }, 'Dead zone ', slider, shown)
}
