/** The help: every key, and what the mouse does. */
import { DRIVING_KEYS, type DrivingKey, GROUPS, SHORTCUTS } from '../keys'
import { dialog } from './dialog'
import { h } from './dom'

const MOUSE: [what: string, does: string][] = [
  ['drag', 'rotate the view; on a spindle, hook or limb of a live figure: pull it; a spindle upward winds its string'],
  ['right drag', 'move the view'],
  ['wheel', 'zoom; on a string of a live figure: wind it in or out'],
  ['click', 'on a body: the camera follows it; on a live one: pin it, or take the pin out'],
  ['drop files', 'open them; a folder with meshes too'],
]

const ARROWS: Record<string, string> = { ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓' }

export function showHelp(): void {
  if (document.getElementById('help')) return
  const shortcuts = GROUPS.map((group) => {
    const rows = SHORTCUTS.filter((s) => s.group === group)
    return section(
      group,
      rows.map((s): [Node, string] => [h('kbd', {}, s.label), s.does]),
    )
  })
  const driving = h(
    'section',
    {},
    h('h3', {}, 'Driving'),
    h('p', {}, ...keyCaps(DRIVING_KEYS)),
    h('p', {}, 'or a gamepad; the button with a gamepad on it shows what each stick does'),
  )
  dialog('Keys', 'help', h('div', { class: 'keys' }, ...shortcuts, driving, section('Mouse and touch', MOUSE)))
}

function section(title: string, rows: [what: Node | string, does: string][]): HTMLElement {
  const list = rows.flatMap(([what, does]) => [h('dt', {}, what), h('dd', {}, does)])
  return h('section', {}, h('h3', {}, title), h('dl', {}, ...list))
}

export function keyCaps(keys: DrivingKey[]): HTMLElement[] {
  return keys.map(({ key }) => h('kbd', {}, ARROWS[key] ?? key.toUpperCase()))
}
