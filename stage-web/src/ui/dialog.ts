/** A dialog over the page, closed by its button, by Escape, or by a click beside it. */
import { button, h } from './dom'

export function dialog(title: string, id: string, ...content: Node[]): HTMLDialogElement {
  const box = h('dialog', { id, class: 'dialog' })
  const close = () => box.close()
  box.append(h('header', {}, h('h2', {}, title), button('close', 'Close', close)), ...content)
  box.addEventListener('click', (event) => event.target === box && close())
  box.addEventListener('close', () => box.remove())
  document.body.append(box)
  box.showModal()
  return box
}
