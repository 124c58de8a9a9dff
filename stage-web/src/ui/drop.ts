/** Files dropped on the page: figures, motions, shows. What is wrong with one is said in the loader's words. */
import type { App } from '../app'
import { post } from '../source'
import { h } from './dom'

const LARGEST = 31 * 2 ** 20

export function acceptDrops(app: App): void {
  const veil = h('div', { class: 'veil', hidden: true }, h('p', {}, 'Drop figures, motions or shows'))
  const input = h('input', { type: 'file', multiple: true, hidden: true, id: 'file' })
  const ask = h('button', { type: 'button', class: 'drop-hint', onclick: () => input.click() }, 'Open a file, or drop one here')
  document.body.append(veil, input)
  app.list.element.append(ask)
  let depth = 0
  const carries = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false
  addEventListener('dragenter', (event) => {
    if (carries(event) && ++depth > 0) veil.hidden = false
  })
  addEventListener('dragleave', (event) => {
    if (carries(event) && --depth <= 0) veil.hidden = true
  })
  addEventListener('dragover', (event) => carries(event) && event.preventDefault())
  addEventListener('drop', (event) => {
    event.preventDefault()
    depth = 0
    veil.hidden = true
    void openFiles(app, [...(event.dataTransfer?.files ?? [])])
  })
  input.onchange = () => {
    void openFiles(app, [...(input.files ?? [])])
    input.value = ''
  }
}

/** A u32, so many bytes of JSON [[name, size], …], and the files one after the other. */
function packed(files: File[]): Blob {
  const head = new TextEncoder().encode(JSON.stringify(files.map((file) => [file.name, file.size])))
  const length = new DataView(new ArrayBuffer(4))
  length.setUint32(0, head.length, true)
  return new Blob([length.buffer, head, ...files])
}

async function openFiles(app: App, files: File[]): Promise<void> {
  if (files.length === 0) return
  if (files.reduce((sum, file) => sum + file.size, 0) > LARGEST) {
    app.notices.show('Together the files are larger than 32 MB.', 'error')
    return
  }
  try {
    const response = await post('/api/open', packed(files))
    const { opened } = (await response.json()) as { opened: string[] }
    await app.reload()
    if (opened.length > 0) await app.open(opened[0])
  } catch (problem) {
    app.fail(problem)
  }
}
