/** Files dropped on the page, or chosen: figures, motions, shows. */
import { h } from './dom'

/** All files of a drop, those in folders too. */
async function dropped(data: DataTransfer | null): Promise<File[]> {
  // Read at once: after the first await the items are gone.
  const entries = [...(data?.items ?? [])].map((item) => item.webkitGetAsEntry?.() ?? null)
  const plain = [...(data?.files ?? [])]
  if (!entries.some((entry) => entry?.isDirectory)) return plain
  const all = await Promise.all(entries.map((entry) => (entry === null ? [] : filesIn(entry))))
  return all.flat()
}

async function filesIn(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((done, failed) => (entry as FileSystemFileEntry).file(done, failed))
    return entry.name.startsWith('.') ? [] : [file]
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  const out: File[] = []
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed))
    if (some.length === 0) return out
    out.push(...(await Promise.all(some.map(filesIn))).flat())
  }
}

/** Lets files be dropped anywhere on the page; returns a button that asks for some. */
export function acceptFiles(open: (files: File[]) => void): HTMLButtonElement {
  const veil = h(
    'div',
    { class: 'veil', hidden: true },
    h('p', {}, 'Drop files or a folder here to open them: figures, scenes, motions, orders'),
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
    void dropped(event.dataTransfer).then(open)
  })
  const ask = () => input.click()
  return h('button', { type: 'button', class: 'drop-hint', onclick: ask }, 'Open a file, or drop one here')
}
