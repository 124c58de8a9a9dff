/** Short notices over the page. */
import { StageError } from '../source'
import { button, h } from './dom'

const MOST = 4
const SECONDS: Record<string, number> = { info: 4.5, warning: 8 }

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
    while (this.element.children.length > MOST) this.element.firstElementChild?.remove()
    if (level !== 'error') setTimeout(() => notice.remove(), 1000 * (SECONDS[level] ?? SECONDS.info))
  }

  /** What went wrong with a request: in the server's words where it answered. */
  fail(problem: unknown): void {
    const text = problem instanceof StageError ? problem.message : `The stage does not respond. (${problem})`
    this.show(text, 'error')
  }
}
