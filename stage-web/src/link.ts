/** The websocket: commands to a live figure, samples from it. */

export interface Control {
  you: string
  driver: string | null
  asking: string[]
  watching: number
}

export interface RunState {
  paused: boolean
  recording: boolean
  replaying: boolean
  rate: number
  real_time: number
}

export interface LinkEvents {
  sample(data: DataView, number: number, t: number): void
  control(control: Control): void
  state(state: RunState): void
  notice(level: string, text: string): void
  entries(): void
  taken(entry: string): void
  /** Connected, or not and why. */
  connected(on: boolean, reason: string): void
}

const VERSION = 1
const ACK = 1
export const HEADER = 16

export class Link {
  private socket: WebSocket | null = null
  private count = 0
  private joined: string | null = null
  private toAcknowledge = 0
  private wait = 250
  private timer = 0

  constructor(private readonly events: LinkEvents) {
    this.connect()
  }

  private connect(): void {
    const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`)
    socket.binaryType = 'arraybuffer'
    this.socket = socket
    socket.onopen = () => {
      this.count = 0
      this.send('hello', { version: VERSION })
      if (this.joined !== null) this.send('join', { entry: this.joined })
    }
    socket.onmessage = (event) => this.heard(event.data)
    socket.onclose = (event) => {
      if (this.socket !== socket) return
      // A refusal (4xxx) would be repeated; a lost connection may come back.
      const refused = event.code >= 4000
      this.events.connected(false, refused ? event.reason : '')
      if (!refused) void this.later()
    }
  }

  /** Tries again, unless the stage no longer knows this page. */
  private async later(): Promise<void> {
    const known = await fetch('/api/entries').then((r) => r.status !== 403, () => true)
    if (!known) {
      this.events.connected(false, 'it was started anew. Open the address that it printed.')
      return
    }
    this.timer = window.setTimeout(() => this.connect(), this.wait)
    this.wait = Math.min(2 * this.wait, 8000)
  }

  again(): void {
    clearTimeout(this.timer)
    this.connect()
  }

  private heard(data: string | ArrayBuffer): void {
    if (data instanceof ArrayBuffer) {
      const view = new DataView(data)
      this.toAcknowledge = view.getUint32(4, true)
      this.events.sample(view, this.toAcknowledge, view.getFloat64(8, true))
      return
    }
    const message = JSON.parse(data)
    switch (message.type) {
      case 'welcome':
        this.wait = 250
        this.events.connected(true, '')
        break
      case 'control':
        this.events.control(message)
        break
      case 'state':
        this.events.state(message)
        break
      case 'notice':
        this.events.notice(message.level, message.text)
        break
      case 'entries':
        this.events.entries()
        break
      case 'taken':
        this.events.taken(message.entry)
        break
    }
  }

  /** Tells the stage that its newest sample has been drawn. */
  acknowledge(): void {
    if (this.toAcknowledge === 0 || this.socket?.readyState !== WebSocket.OPEN) return
    const bytes = new DataView(new ArrayBuffer(5))
    bytes.setUint8(0, ACK)
    bytes.setUint32(1, this.toAcknowledge, true)
    this.socket.send(bytes.buffer)
    this.toAcknowledge = 0
  }

  send(type: string, fields: object = {}): void {
    if (this.socket?.readyState !== WebSocket.OPEN) return
    this.socket.send(JSON.stringify({ n: ++this.count, type, ...fields }))
  }

  join(entry: string): void {
    this.joined = entry
    this.send('join', { entry })
  }

  leave(): void {
    if (this.joined !== null) this.send('leave')
    this.joined = null
    this.toAcknowledge = 0
  }
}
