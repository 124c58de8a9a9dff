/** Asks for another title. */
import { dialog } from './dialog'
import { h } from './dom'

export function askTitle(title: string, done: (title: string) => void): void {
  const field = h('input', { type: 'text', value: title, maxLength: 80, required: true, id: 'new-title' })
  const form = h(
    'form',
    { method: 'dialog', class: 'ask' },
    h('label', {}, 'Title ', field),
    h('button', { type: 'submit', class: 'button primary' }, 'Rename'),
  )
  form.addEventListener('submit', () => done(field.value))
  dialog('Rename this take', 'rename-take', form)
  field.select()
}
