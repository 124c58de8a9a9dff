/** Sends files to the server, which opens them as new entries. */
import { MAX_UPLOAD_BYTES } from './messages'
import { post } from './source'

/** Megabytes that the files of one drop may have together; the rest is for the list of their names. */
export const MAX_MEGABYTES = MAX_UPLOAD_BYTES / 2 ** 20 - 1

export function tooLarge(files: File[]): boolean {
  return files.reduce((sum, file) => sum + file.size, 0) > MAX_MEGABYTES * 2 ** 20
}

/** Opens files that belong together; the ids of the entries that they make. */
export async function upload(files: File[]): Promise<string[]> {
  const response = await post('/api/open', packFiles(files))
  const { opened } = (await response.json()) as { opened: string[] }
  return opened
}

/** A u32, so many bytes of JSON [[name, size], …], and the files one after the other. */
export function packFiles(files: File[]): Blob {
  const head = new TextEncoder().encode(JSON.stringify(files.map((file) => [file.name, file.size])))
  const length = new DataView(new ArrayBuffer(4))
  length.setUint32(0, head.length, true)
  return new Blob([length.buffer, head, ...files])
}
