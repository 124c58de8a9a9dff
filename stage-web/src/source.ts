/** Where entries come from: the server that serves this page, or the page itself. */
import { readSamples, type Samples } from './data/samples'
import type { EntryList, Piece, StandaloneData } from './messages'
import { request } from './transport'

/** An entry with everything that is needed to show it; a live one has no samples. */
export interface Opened {
  piece: Piece
  samples: Samples | null
  meshes: Map<string, ArrayBuffer>
}

export interface Source {
  /** Whether there is a server: live figures, takes, exports and files need one. */
  readonly served: boolean
  list(): Promise<EntryList>
  open(id: string): Promise<Opened>
  /** The WAV file of an entry that has sound. */
  sound(id: string): Promise<ArrayBuffer>
}

/** A request that the server refused, in its own words. */
export class StageError extends Error {}

export async function checked(response: Response): Promise<Response> {
  if (response.ok) return response
  let text = `${response.status} ${response.statusText}`
  try {
    text = (await response.json()).error ?? text
  } catch {
    // Not JSON: the status must do.
  }
  throw new StageError(text)
}

export async function post(path: string, body: BodyInit | null = null): Promise<Response> {
  return checked(await request(path, { method: 'POST', body }))
}

/** Entries of the server. */
class Server implements Source {
  readonly served = true

  async list(): Promise<EntryList> {
    return (await checked(await request('/api/entries'))).json()
  }

  async open(id: string): Promise<Opened> {
    const path = `/api/entries/${encodeURIComponent(id)}`
    const piece: Piece = await (await checked(await request(path))).json()
    const loadMesh = async (key: string) => [key, await bytes(`/api/meshes/${key}`)] as const
    const [samples, meshes] = await Promise.all([
      piece.live ? null : bytes(`${path}/samples`),
      Promise.all(meshKeys(piece).map(loadMesh)),
    ])
    return { piece, samples: samples && readSamples(piece, samples), meshes: new Map(meshes) }
  }

  sound(id: string): Promise<ArrayBuffer> {
    return bytes(`/api/entries/${encodeURIComponent(id)}/sound`)
  }
}

async function bytes(path: string): Promise<ArrayBuffer> {
  return (await checked(await request(path))).arrayBuffer()
}

/** Entries that an exported page carries in itself. */
class Standalone implements Source {
  readonly served = false

  constructor(private readonly data: StandaloneData) {}

  async list(): Promise<EntryList> {
    return { entries: this.data.entries.map((e) => e.entry), exports: [], opens: false }
  }

  async open(id: string): Promise<Opened> {
    const found = this.data.entries.find((e) => e.entry.id === id)
    if (found === undefined) throw new StageError(`There is no entry ${id}.`)
    const { piece } = found
    const loadMesh = async (key: string) => [key, await unzip(this.data.meshes[key])] as const
    const meshes = new Map(await Promise.all(meshKeys(piece).map(loadMesh)))
    return { piece, samples: readSamples(piece, await unzip(found.samples)), meshes }
  }

  sound(id: string): Promise<ArrayBuffer> {
    return unzip(this.data.entries.find((e) => e.entry.id === id)?.sound ?? '')
  }
}

/** Base64 of gzipped bytes. */
async function unzip(text: string): Promise<ArrayBuffer> {
  const zipped = Uint8Array.from(atob(text), (c) => c.charCodeAt(0))
  const stream = new Blob([zipped]).stream().pipeThrough(new DecompressionStream('gzip'))
  return new Response(stream).arrayBuffer()
}

function meshKeys(piece: Piece): string[] {
  const shapes = [...piece.figures.flatMap((figure) => figure.shapes), ...piece.scene.obstacles]
  const keys = shapes.flatMap(({ geometry }) => (geometry.kind === 'mesh' ? [geometry.mesh] : []))
  return [...new Set(keys)]
}

export function findSource(): Source {
  const data = document.getElementById('stage-data')?.textContent
  return data ? new Standalone(JSON.parse(data)) : new Server()
}
