/** Elements in one line. */
import { type IconName, icon } from './icons'

type Child = Node | string | null
type Props<K extends keyof HTMLElementTagNameMap> = Partial<Omit<HTMLElementTagNameMap[K], 'style' | 'dataset'>> & {
  class?: string
  data?: Record<string, string>
  aria?: Record<string, string>
}

/** An element with its properties and children; null children are left out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props<K> = {} as Props<K>,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  const { class: name, data, aria, ...rest } = props
  Object.assign(element, rest)
  if (name) element.className = name
  for (const [key, value] of Object.entries(data ?? {})) element.dataset[key] = value
  for (const [key, value] of Object.entries(aria ?? {})) element.setAttribute(`aria-${key}`, value)
  element.append(...children.filter((child) => child !== null))
  return element
}

export interface ButtonOptions {
  text?: string
  class?: string
  id?: string
}

/** A button with an icon, a text or both. The label is its tooltip; screen readers say the text, or the label if there is none. */
export function button(
  iconName: IconName | null,
  label: string,
  act: () => void,
  options: ButtonOptions = {},
): HTMLButtonElement {
  const { text, id } = options
  const element = h(
    'button',
    {
      type: 'button',
      title: label,
      class: `button ${options.class ?? ''}`,
      onclick: act,
      aria: text === undefined ? { label } : {},
    },
    iconName === null ? null : icon(iconName),
    text === undefined ? null : h('span', {}, text),
  )
  if (id !== undefined) element.id = id
  return element
}

export function setIcon(element: HTMLElement, name: IconName): void {
  element.querySelector('svg')?.replaceWith(icon(name))
}

/** Changes the text of a button that has one. */
export function setText(element: HTMLElement, text: string): void {
  const span = element.querySelector('span')
  if (span !== null) span.textContent = text
}

/** Whether a button that switches something is on. */
export function press(element: HTMLElement, on: boolean): void {
  element.setAttribute('aria-pressed', String(on))
}
