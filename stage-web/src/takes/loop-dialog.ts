/** Asks how a take becomes a loop. */
import type { Loop } from '../messages'
import { dialog } from '../ui/dialog'
import { h } from '../ui/dom'

export function askLoop(duration: number, done: (loop: Loop) => void): void {
  const longest = Math.floor(100 * duration) / 100
  const blend = h('input', {
    type: 'number',
    min: '0.05',
    max: String(longest),
    step: '0.05',
    required: true,
    value: String(Math.min(0.5, longest)),
    id: 'loop-blend',
  })
  const travel = h('input', { type: 'checkbox', id: 'loop-travel' })
  const times = h('input', {
    type: 'number',
    min: '1',
    max: '100',
    step: '1',
    required: true,
    value: '1',
    id: 'loop-times',
  })
  const form = h(
    'form',
    { method: 'dialog', class: 'ask loop' },
    h('p', {}, 'The end of the take is bent so that pose and speed there are those of its start.'),
    h('label', {}, 'Blend over the last ', blend, ' s'),
    h('label', {}, travel, ' The figure travels on along the floor, instead of coming back'),
    h('label', {}, 'Repeat ', times, ' times in a row'),
    h('button', { type: 'submit', class: 'button primary' }, 'Make a loop'),
  )
  form.addEventListener('submit', () =>
    done({ edit: 'loop', blend: Number(blend.value), travel: travel.checked, times: Number(times.value) }),
  )
  dialog('Loop this take', 'loop-take', form)
}
