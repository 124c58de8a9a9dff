/** Colours of the 3D view and of plots; those of the page itself are in style/base.css. */
import { Color } from 'three'
import { clamp } from './geometry/numbers'
import { readStored, writeStored } from './storage'

export interface Palette {
  background: string
  floor: string
  pool: string
  grid: string
  slack: string
  tension: [string, string, string]
  ghost: string
  warning: string
  good: string
  wire: string
  ink: string
  trail: string[]
  shadow: number
  key: number
  sky: number
  rim: number
}

export const LIGHT: Palette = {
  background: '#e9e3d8',
  floor: '#e6dfd2',
  pool: '#faf6ee',
  grid: '#bfb5a4',
  slack: '#8d8578',
  tension: ['#0f7f8c', '#d08700', '#bf1d12'],
  ghost: '#3f6fb5',
  warning: '#d11f3a',
  good: '#2c8a5b',
  wire: '#4b463f',
  ink: '#2a241d',
  trail: ['#b8321f', '#1f6f8b', '#7a4fa3', '#3d7d3a', '#c27a00', '#345'],
  shadow: 0.26,
  key: 2.7,
  sky: 2.6,
  rim: 1,
}

export const DARK: Palette = {
  background: '#121117',
  floor: '#1b1a22',
  pool: '#34303d',
  grid: '#575164',
  slack: '#7c7788',
  tension: ['#43c6cf', '#ffc145', '#ff5a45'],
  ghost: '#7fb0ff',
  warning: '#ff4d67',
  good: '#54d08f',
  wire: '#b9b2c4',
  ink: '#ece8e1',
  trail: ['#ff7a5c', '#58c4dd', '#b794f4', '#7bd389', '#ffc145', '#9ab'],
  shadow: 0.55,
  key: 3,
  sky: 1.9,
  rim: 2.2,
}

/** Categorical colours of plots, readable on both themes. */
export const SERIES = ['#d9572f', '#2a93b5', '#8e62c9', '#3f9a52', '#d39a18', '#c2417f', '#5b7089', '#7d8a1f']

const a = new Color()
const b = new Color()

/** Colour of a tension [N] on a scale that ends at `most` [N]. */
export function tensionColor(palette: Palette, tension: number, most: number, out: Color): Color {
  const x = clamp(tension / most, 0, 1)
  const [low, middle, high] = palette.tension
  if (x < 0.5) return out.copy(a.set(low)).lerp(b.set(middle), 2 * x)
  return out.copy(a.set(middle)).lerp(b.set(high), 2 * x - 1)
}

export type ThemeName = 'light' | 'dark'

const STORAGE = 'bunraku-theme'

/** Light or dark: what the visitor chose, else what the system prefers. */
export class Theme {
  name: ThemeName
  private readonly listeners: (() => void)[] = []

  constructor() {
    const system = matchMedia('(prefers-color-scheme: dark)')
    const preferred = () => (system.matches ? 'dark' : 'light')
    this.name = storedTheme() ?? preferred()
    system.addEventListener('change', () => this.set(storedTheme() ?? preferred()))
    document.documentElement.dataset.theme = this.name
  }

  get palette(): Palette {
    return this.name === 'dark' ? DARK : LIGHT
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener)
  }

  toggle(): void {
    const name = this.name === 'dark' ? 'light' : 'dark'
    writeStored(STORAGE, name)
    this.set(name)
  }

  private set(name: ThemeName): void {
    this.name = name
    document.documentElement.dataset.theme = name
    for (const listener of this.listeners) listener()
  }
}

function storedTheme(): ThemeName | null {
  const name = readStored(STORAGE)
  return name === 'light' || name === 'dark' ? name : null
}
