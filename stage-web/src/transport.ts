/** How the page reaches the stage: over the network, or, in a cell of a notebook, through the widget that frames it. */

/** The part of a WebSocket that a link uses. */
export interface Socket {
  readonly readyState: number
  onopen: (() => void) | null
  onmessage: ((event: { data: string | ArrayBuffer }) => void) | null
  onclose: ((event: { code: number; reason: string }) => void) | null
  send(data: string | ArrayBuffer): void
  close(): void
}

interface Transport {
  request(path: string, init?: RequestInit): Promise<Response>
  socket(): Socket
}

/** What goes to the kernel and comes from it: a head, which is JSON, and bytes. */
interface Message {
  head: { type: string; id: number; [key: string]: unknown }
  body: ArrayBuffer | null
}

const PULSE = 10_000 // ms: a socket of which the kernel hears nothing for some minutes is closed there

const network: Transport = {
  request: (path, init) => fetch(path, init),
  socket() {
    const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`)
    socket.binaryType = 'arraybuffer'
    return socket as Socket
  },
}

/** Requests and sockets as messages through a port. `comm_server.py` is the other end. */
class Framed implements Transport {
  private count = 0
  private readonly waiting = new Map<number, (message: Message) => void>()

  constructor(private readonly port: MessagePort) {
    port.onmessage = ({ data }: MessageEvent<Message>) => this.waiting.get(data.head.id)?.(data)
  }

  private post(head: Message['head'], body: ArrayBuffer | null = null): void {
    this.port.postMessage({ head, body } satisfies Message)
  }

  async request(path: string, init: RequestInit = {}): Promise<Response> {
    const id = ++this.count
    const body = init.body ? await new Response(init.body).arrayBuffer() : null
    const { head, body: answer } = await new Promise<Message>((resolve) => {
      this.waiting.set(id, resolve)
      this.post({ type: 'request', id, method: init.method ?? 'GET', path }, body)
    })
    this.waiting.delete(id)
    return new Response(answer, { status: head.status as number, headers: head.headers as HeadersInit })
  }

  socket(): Socket {
    const id = ++this.count
    const pulse = setInterval(() => this.post({ type: 'alive', id }), PULSE)
    const end = () => {
      clearInterval(pulse)
      this.waiting.delete(id)
      state = WebSocket.CLOSED
    }
    let state: number = WebSocket.CONNECTING
    const socket: Socket = {
      get readyState() {
        return state
      },
      onopen: null,
      onmessage: null,
      onclose: null,
      send: (data) => {
        if (typeof data === 'string') this.post({ type: 'text', id, text: data })
        else this.post({ type: 'bytes', id }, data)
      },
      close: () => {
        this.post({ type: 'close', id })
        end()
      },
    }
    this.waiting.set(id, ({ head, body }) => {
      if (head.type === 'open') {
        state = WebSocket.OPEN
        socket.onopen?.()
      } else if (head.type === 'close') {
        end()
        socket.onclose?.({ code: head.code as number, reason: head.reason as string })
      } else {
        socket.onmessage?.({ data: body ?? (head.text as string) })
      }
    })
    this.post({ type: 'open', id })
    return socket
  }
}

let transport = network

/** Waits for the port of the widget, if this page is framed by one: it asks, the widget answers. */
export async function findTransport(): Promise<void> {
  if (!isFramed()) return
  const port = await new Promise<MessagePort>((resolve) => {
    addEventListener('message', ({ data, ports }) => data === 'bunraku:port' && resolve(ports[0]))
    parent.postMessage('bunraku:ready', '*')
  })
  transport = new Framed(port)
}

export const isFramed = () => document.querySelector('meta[name="bunraku-frame"]') !== null

export const request = (path: string, init?: RequestInit) => transport.request(path, init)

export const openSocket = () => transport.socket()
