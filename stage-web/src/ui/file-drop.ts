/** Files dropped on the page, or chosen: figures, motions, shows. */
import { h } from './dom'

/** Lets files be dropped anywhere on the page; returns a button that asks for some. */
export function acceptFiles(open: (files: File[]) => void): HTMLButtonElement {
  const veil = h(
    'div',
    { class: 'veil', hidden: true },
    h('p', {}, 'Drop files here to open them: figures, scenes, motions, orders'),
  )
  const input = h('input', { type: 'file', multiple: true, hidden: true, id: 'file' })
  document.body.append(veil, input)
  input.onchange = () => {
    open([...(input.files ?? [])])
    input.value = ''
  }
  const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false
  let depth = 0 // every element that the pointer enters and leaves counts: over the page while above zero
  addEventListener('dragenter', (event) => {
    if (carriesFiles(event) && ++depth > 0) veil.hidden = false
  })
  addEventListener('dragleave', (event) => {
    if (carriesFiles(event) && --depth <= 0) veil.hidden = true
  })
  addEventListener('dragover', (event) => carriesFiles(event) && event.preventDefault())
  addEventListener('drop', (event) => {
    event.preventDefault() // or the browser would leave the page for the file
    depth = 0
    veil.hidden = true
    open([...(event.dataTransfer?.files ?? [])])
  })
  const ask = () => input.click()
  return h('button', { type: 'button', class: 'drop-hint', onclick: ask }, 'Open a file, or drop one here')
}
