/** Short notices over the page. */
import { StageError } from '../source'
import { button, h } from './dom'

const MOST = 2 // besides errors
const SECONDS: Record<string, number> = { info: 4.5, warning: 8 }

export interface Working {
  tell(done: number): void
  end(): void
}

export class Notices {
  readonly element = h('div', { class: 'notices', id: 'notices', aria: { live: 'polite' } })

  /** An error stays until it is closed; anything else goes by itself. */
  show(text: string, level = 'info'): void {
    const same = [...this.element.children].find((notice) => notice.querySelector('pre')?.textContent === text)
    same?.remove()
    const role = level === 'error' ? 'alert' : 'status'
    const notice = h('div', { class: `notice ${level}`, role }, h('pre', {}, text))
    notice.append(button('close', 'Dismiss', () => notice.remove()))
    this.element.append(notice)
    const passing = [...this.element.querySelectorAll('.notice:not(.error, .working)')]
    for (const old of passing.slice(0, -MOST)) old.remove()
    const errors = [...this.element.querySelectorAll('.notice.error')]
    for (const old of errors.slice(0, -MOST)) old.remove()
    if (level !== 'error') setTimeout(() => notice.remove(), 1000 * (SECONDS[level] ?? SECONDS.info))
  }

  /** Work that goes on: `tell` says how far it is (from 0 to 1), `end` that it is over. */
  begin(text: string): Working {
    const bar = h('progress', { max: 1, aria: { label: text } })
    const notice = h('div', { class: 'notice working', role: 'status' }, h('pre', {}, text), bar)
    this.element.append(notice)
    return {
      tell(done) {
        bar.value = done
      },
      end: () => notice.remove(),
    }
  }

  /** What went wrong with a request: in the server's words where it answered. */
  fail(problem: unknown): void {
    const text = problem instanceof StageError ? problem.message : `The stage does not respond. (${problem})`
    this.show(text, 'error')
  }
}
