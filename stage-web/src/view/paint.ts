/** Colours of figures and obstacles: files say what a screen shows, light is computed with linear values. */
import { Color, SRGBColorSpace } from 'three'
import type { Vec3 } from '../messages'

export function paint([r, g, b]: Vec3): Color {
  return new Color().setRGB(r, g, b, SRGBColorSpace)
}
