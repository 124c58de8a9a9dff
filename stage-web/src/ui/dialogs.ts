/** Help, gamepad, errors, and short notices. */
import { DRIVING, SHORTCUTS } from '../keys'
import type { Sticks } from '../sticks'
import { button, h } from './dom'

export function dialog(title: string, id: string, ...content: Node[]): HTMLDialogElement {
  const box = h('dialog', { id, class: 'dialog' })
  box.append(h('header', {}, h('h2', {}, title), button('close', 'Close', () => box.close())), ...content)
  // A click beside the box closes it.
  box.addEventListener('click', (event) => event.target === box && box.close())
  box.addEventListener('close', () => box.remove())
  document.body.append(box)
  box.showModal()
  return box
}

const ARROWS: Record<string, string> = { ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓' }

/** The keys that drive: all, or those of one stick. */
function driving(stick?: number): HTMLElement[] {
  const own = DRIVING.filter(([, k]) => stick === undefined || k === stick)
  return own.map(([key]) => h('kbd', {}, ARROWS[key] ?? key.toUpperCase()))
}

export function help(): void {
  if (document.getElementById('help')) return
  const groups = ['Time', 'View', 'Live', 'Page'] as const
  const sections = groups.map((group) =>
    h(
      'section', {}, h('h3', {}, group),
      h('dl', {}, ...SHORTCUTS.filter((s) => s.group === group).flatMap((s) => [h('dt', {}, h('kbd', {}, s.shown)), h('dd', {}, s.does)])),
    ),
  )
  const mouse = h(
    'section', {}, h('h3', {}, 'Mouse and touch'),
    h(
      'dl', {},
      h('dt', {}, 'drag'), h('dd', {}, 'turn the view; on a knob or a limb of a live figure: pull it'),
      h('dt', {}, 'right drag'), h('dd', {}, 'move the view'),
      h('dt', {}, 'wheel'), h('dd', {}, 'nearer, farther; on a live string: wind it'),
      h('dt', {}, 'click'), h('dd', {}, 'follow a body'),
      h('dt', {}, 'drop a file'), h('dd', {}, 'open it'),
    ),
  )
  const drive = h('section', {}, h('h3', {}, 'Driving'), h('p', {}, ...driving()), h('p', {}, 'or a gamepad; its button below the stage says what does what'))
  dialog('Keys', 'help', h('div', { class: 'keys' }, ...sections, drive, mouse))
}

/** Shows which stick does what, as it moves. */
export function gamepad(sticks: Sticks, names: string[]): void {
  const meters = names.map(() => h('i'))
  const rows = names.map((name, k) => {
    const axis = h(
      'select', { aria: { label: `Axis for ${name}` } }, h('option', { value: '-1' }, 'keys only'),
      ...Array.from({ length: 8 }, (_, a) => h('option', { value: String(a) }, `axis ${a + 1}`)),
    )
    axis.value = String(sticks.mapping.axis[k] ?? -1)
    const invert = h('input', { type: 'checkbox', checked: sticks.mapping.invert[k] ?? false })
    axis.onchange = () => {
      sticks.mapping.axis[k] = Number(axis.value)
      sticks.keep()
    }
    invert.onchange = () => {
      sticks.mapping.invert[k] = invert.checked
      sticks.keep()
    }
    return h('tr', {}, h('th', {}, name), h('td', { class: 'own-keys' }, ...driving(k)), h('td', {}, axis), h('td', {}, h('label', {}, invert, ' inverted')), h('td', {}, h('div', { class: 'meter' }, meters[k])))
  })
  const zone = h('input', { type: 'range', min: '0', max: '0.4', step: '0.01', value: String(sticks.mapping.deadZone) })
  const shown = h('output', {}, `${Math.round(100 * sticks.mapping.deadZone)} %`)
  zone.oninput = () => {
    sticks.mapping.deadZone = Number(zone.value)
    shown.textContent = `${Math.round(100 * sticks.mapping.deadZone)} %`
    sticks.keep()
  }
  const found = h('p', { class: 'muted' })
  const box = dialog(
    'Sticks', 'gamepad', found, h('table', {}, ...rows), h('label', { class: 'zone' }, 'Dead zone ', zone, shown),
  )
  const tick = () => {
    if (!box.open) return
    found.textContent = sticks.pad ? sticks.pad.id : 'No gamepad yet: press a button on it. The keys work without.'
    meters.forEach((meter, k) => (meter.style.left = `${50 + 50 * (sticks.values[k] ?? 0)}%`))
    requestAnimationFrame(tick)
  }
  tick()
}

export class Notices {
  readonly element = h('div', { class: 'notices', id: 'notices', aria: { live: 'polite' } })

  /** An error stays until it is closed; anything else goes by itself. */
  show(text: string, level: string = 'info'): void {
    const same = [...this.element.children].find((n) => n.querySelector('pre')?.textContent === text)
    same?.remove()
    const note = h('div', { class: `notice ${level}`, role: level === 'error' ? 'alert' : 'status' }, h('pre', {}, text))
    note.append(button('close', 'Dismiss', () => note.remove()))
    this.element.append(note)
    while (this.element.children.length > 4) this.element.firstElementChild!.remove()
    if (level !== 'error') setTimeout(() => note.remove(), level === 'warning' ? 8000 : 4500)
  }
}
