/** A limb of a paused take that is dragged: the server bends the figure, one request at a time; of late ones only the newest counts. */
import type { PageMessage, PoseAnswer, PoseWish, PullCommand } from '../messages'
import { post } from '../source'

/** A pose that is shown but not keyed yet. */
export interface Pose {
  track: number
  /** Before it was dragged, and now. */
  from: number[]
  q: number[]
}

export interface PoseHost {
  /** The configuration that is shown. */
  shown(track: number): number[]
  /** The address of the take. */
  address(): string
  posed(pose: Pose): void
  fail(problem: unknown): void
}

export class PoseDrag {
  pose: Pose | null = null
  private asking = false
  private next: PullCommand | null = null
  /** Answers to older drags are ignored. */
  private round = 0

  constructor(private readonly host: PoseHost) {}

  /** Whether an answer is on its way. */
  get waits(): boolean {
    return this.asking || this.next !== null
  }

  /** A message of the hands. */
  hear(message: PageMessage): void {
    if (message.type === 'pull' && message.part === 'body') void this.pull(message)
  }

  /** Forgets the pose: the playhead has moved on, or it became keys. */
  forget(): void {
    this.pose = null
    this.next = null
    this.round++
  }

  private async pull(message: PullCommand): Promise<void> {
    if (this.asking) {
      this.next = message
      return
    }
    this.asking = true
    const { round } = this
    try {
      const answer = await this.ask(message)
      if (round === this.round) this.take(message.figure, answer)
    } catch (problem) {
      this.next = null
      this.host.fail(problem)
    } finally {
      this.asking = false
    }
    const { next } = this
    this.next = null
    if (next !== null) await this.pull(next)
  }

  private async ask({ figure, name, at, to }: PullCommand): Promise<PoseAnswer> {
    const q = this.pose?.track === figure ? this.pose.q : this.host.shown(figure)
    if (this.pose?.track !== figure) this.pose = { track: figure, from: q, q }
    const wish: PoseWish = { track: figure, q, frame: name, at: at ?? [0, 0, 0], to }
    return (await post(`${this.host.address()}/pose`, JSON.stringify(wish))).json()
  }

  private take(track: number, { q }: PoseAnswer): void {
    if (this.pose === null) return
    this.pose = { track, from: this.pose.from, q }
    this.host.posed(this.pose)
  }
}
