/** The socket: commands to a live figure, samples from it. */
import { readSampleHeader } from '../data/moment'
import {
  ACK,
  type Control,
  type PageMessage,
  type Progress,
  type RunState,
  type StageMessage,
  VERSION,
} from '../messages'
import { openSocket, request, type Socket } from '../transport'

export interface LinkEvents {
  /** A packed sample of the live figure. */
  sample(data: DataView, t: number): void
  control(control: Control): void
  state(state: RunState): void
  notice(level: string, text: string): void
  /** The list of entries has changed. */
  entries(): void
  /** A take was recorded. */
  taken(entry: string): void
  /** How far the work is that makes an entry. */
  progress(progress: Progress): void
  /** Connected; or not, and why if the server gave a reason. */
  connected(on: boolean, reason: string): void
}

const FIRST_WAIT = 250 // ms
const LONGEST_WAIT = 8000 // ms
const REFUSED = 4000 // codes from here on are the server's own: to try again would be refused again

export class Link {
  private socket: Socket | null = null
  private count = 0
  private visit = 0
  private joined: string | null = null
  private toAcknowledge = 0
  private wait = FIRST_WAIT
  private hidden = false

  constructor(private readonly events: LinkEvents) {
    this.connect()
    // A page that is left may be kept for the Back button: without its socket, or it would go on driving unseen.
    addEventListener('pagehide', () => this.hide())
    addEventListener('pageshow', () => this.show())
  }

  private hide(): void {
    this.hidden = true
    this.socket?.close()
  }

  private show(): void {
    if (!this.hidden) return
    this.hidden = false
    this.connect()
  }

  join(entry: string): void {
    this.joined = entry
    this.sendJoin(entry)
  }

  /** Samples that are still under way belong to an earlier visit, maybe to another figure: they are dropped on arrival. */
  private sendJoin(entry: string): void {
    this.visit = (this.visit + 1) % 65536
    this.send({ type: 'join', entry })
  }

  leave(): void {
    if (this.joined !== null) this.send({ type: 'leave' })
    this.joined = null
    this.toAcknowledge = 0
  }

  send(message: PageMessage): void {
    if (this.socket?.readyState !== WebSocket.OPEN) return
    this.socket.send(JSON.stringify({ n: ++this.count, ...message }))
  }

  /** Tells the server that the newest sample has been drawn: it sends no more than the page can draw. */
  acknowledge(): void {
    if (this.toAcknowledge === 0 || this.socket?.readyState !== WebSocket.OPEN) return
    const bytes = new DataView(new ArrayBuffer(5))
    bytes.setUint8(0, ACK)
    bytes.setUint32(1, this.toAcknowledge, true)
    this.socket.send(bytes.buffer)
    this.toAcknowledge = 0
  }

  private connect(): void {
    const socket = openSocket()
    this.socket = socket
    socket.onopen = () => {
      this.count = this.visit = 0
      this.send({ type: 'hello', version: VERSION })
      if (this.joined !== null) this.sendJoin(this.joined)
    }
    socket.onmessage = (event) => this.received(event.data)
    socket.onclose = (event) => {
      if (this.hidden || socket !== this.socket) return
      const refused = event.code >= REFUSED
      this.events.connected(false, refused ? event.reason : '')
      if (!refused) void this.reconnect()
    }
  }

  /** Tries again after a while, unless the server no longer knows this page. */
  private async reconnect(): Promise<void> {
    const known = await request('/api/entries').then(
      (response) => response.status !== 403,
      () => true, // no answer: it may come back
    )
    if (!known) {
      this.events.connected(false, 'the server was restarted. Open the address that it printed.')
      return
    }
    setTimeout(() => {
      if (!this.hidden) this.connect()
    }, this.wait)
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT)
  }

  private received(data: string | ArrayBuffer): void {
    if (data instanceof ArrayBuffer) {
      const view = new DataView(data)
      const { visit, number, t } = readSampleHeader(view)
      if (visit !== this.visit) return
      this.toAcknowledge = number
      this.events.sample(view, t)
      return
    }
    const message = JSON.parse(data) as StageMessage
    switch (message.type) {
      case 'welcome':
        this.wait = FIRST_WAIT
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
      case 'progress':
        this.events.progress(message)
        break
    }
  }
}
