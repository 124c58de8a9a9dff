/** The outline of the music, behind the cues of a score. */
import type { Sound } from '../messages'

const SVG = 'http://www.w3.org/2000/svg'

/** A picture as wide as the sheet; none without music. */
export function outlineOf(sound: Sound | undefined): SVGSVGElement[] {
  if (sound === undefined || sound.loudness.length === 0) return []
  const { loudness } = sound
  const svg = document.createElementNS(SVG, 'svg')
  svg.classList.add('outline')
  svg.setAttribute('viewBox', `0 -100 ${loudness.length} 200`)
  svg.setAttribute('preserveAspectRatio', 'none')
  svg.setAttribute('aria-hidden', 'true')
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute('d', loudness.map((size, k) => `M${k + 0.5} ${-size}V${size}`).join(''))
  svg.append(path)
  return [svg]
}
