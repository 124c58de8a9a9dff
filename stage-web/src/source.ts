/** Where entries come from: the server that serves this page, or the page itself. */
import type { Entry, Piece } from './model'
import { readSamples, type Samples } from './samples'

export interface Opened {
  piece: Piece
  samples: Samples | null
  meshes: Map<string, ArrayBuffer>
}

export interface Source {
  readonly served: boolean
  list(): Promise<{ entries: Entry[]; exports: string[]; opens: boolean }>
  open(id: string): Promise<Opened>
}

function meshKeys(piece: Piece): string[] {
  const all = [...piece.figures.flatMap((f) => f.shapes), ...piece.scene.obstacles].map((s) => s.geometry)
  return [...new Set(all.flatMap((g) => (g.kind === 'mesh' ? [g.mesh] : [])))]
}

export class StageError extends Error {}

/** What the server says is wrong, in its own words. */
export async function checked(response: Response): Promise<Response> {
  if (response.ok) return response
  let text = `${response.status} ${response.statusText}`
  try {
    text = (await response.json()).error ?? text
  } catch {
    // not JSON: the status must do
  }
  throw new StageError(text)
}

export async function post(path: string, body: BodyInit | null = null): Promise<Response> {
  return checked(await fetch(path, { method: 'POST', body }))
}

export class Server implements Source {
  readonly served = true

  async list(): Promise<{ entries: Entry[]; exports: string[]; opens: boolean }> {
    return (await checked(await fetch('/api/entries'))).json()
  }

  async open(id: string): Promise<Opened> {
    const path = `/api/entries/${encodeURIComponent(id)}`
    const piece = (await (await checked(await fetch(path))).json()) as Piece
    const meshes = new Map<string, ArrayBuffer>()
    const fetches = meshKeys(piece).map(async (key) => {
      meshes.set(key, await (await checked(await fetch(`/api/meshes/${key}`))).arrayBuffer())
    })
    const samples = piece.live ? null : readSamples(piece, await (await checked(await fetch(`${path}/samples`))).arrayBuffer())
    await Promise.all(fetches)
    return { piece, samples, meshes }
  }
}

interface Inlined {
  entries: { entry: Entry; piece: Piece; samples: string }[]
  meshes: Record<string, string>
}

async function unpacked(text: string): Promise<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return new Response(stream).arrayBuffer()
}

export class Inline implements Source {
  readonly served = false

  constructor(private readonly data: Inlined) {}

  async list(): Promise<{ entries: Entry[]; exports: string[]; opens: boolean }> {
    return { entries: this.data.entries.map((e) => e.entry), exports: [], opens: false }
  }

  async open(id: string): Promise<Opened> {
    const found = this.data.entries.find((e) => e.entry.id === id)
    if (found === undefined) throw new StageError(`no entry ${id}`)
    const meshes = new Map<string, ArrayBuffer>()
    for (const key of meshKeys(found.piece)) meshes.set(key, await unpacked(this.data.meshes[key]))
    return { piece: found.piece, samples: readSamples(found.piece, await unpacked(found.samples)), meshes }
  }
}

export function source(): Source {
  const inline = document.getElementById('stage-data')
  return inline === null ? new Server() : new Inline(JSON.parse(inline.textContent!) as Inlined)
}
