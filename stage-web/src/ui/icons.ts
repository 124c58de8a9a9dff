/** The icons of the page, each a path of 24 × 24. */

/** A path is filled; it is drawn with a stroke where it starts with ~, and is a circle (x, y, radius) where with @. */
const ICONS = {
  play: 'M8 5.5v13l10.5-6.5z',
  pause: 'M7.5 5.5h3v13h-3zM13.5 5.5h3v13h-3z',
  next: 'M6 6l7 6-7 6zM15 6h2.4v12H15z',
  previous: 'M18 6l-7 6 7 6zM6.6 6H9v12H6.6z',
  start: 'M19 6l-6.5 6 6.5 6zM12.5 6L6 12l6.5 6zM4 6h1.6v12H4z',
  loop: '~M17 3l3 3-3 3M4 11V9a3 3 0 0 1 3-3h13M7 21l-3-3 3-3M20 13v2a3 3 0 0 1-3 3H4',
  record: '@12 12 6',
  stop: 'M7 7h10v10H7z',
  reset: '~M4 5v5h5M4.6 10A8 8 0 1 1 4 14',
  sun: '~M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6L7 7M17 17l1.4 1.4M5.6 18.4L7 17M17 7l1.4-1.4M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z',
  moon: '~M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z',
  list: '~M4 6h16M4 12h16M4 18h10',
  plots: '~M4 4v16h16M7 15l4-5 3 3 5-7',
  help: '~M9.2 9a2.9 2.9 0 1 1 4.3 2.6c-1 .6-1.5 1.2-1.5 2.4M12 17.5v.2',
  close: '~M6 6l12 12M18 6L6 18',
  pad: '~M7 8h10a5 5 0 0 1 4.8 6.4l-.4 1.5a2.4 2.4 0 0 1-4.2.9L15.5 15h-7l-1.7 1.8a2.4 2.4 0 0 1-4.2-.9l-.4-1.5A5 5 0 0 1 7 8zM8 10.5v3M6.5 12h3M16 11v.2M17.5 12.8v.2',
  undo: '~M8 5L4 9l4 4M4 9h10a6 6 0 0 1 0 12h-3',
  redo: '~M16 5l4 4-4 4M20 9H10a6 6 0 0 0 0 12h3',
  cut: '~M6 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM6 21a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8.5 7.5L20 17M8.5 16.5L20 7',
  pen: '~M4 20l1-4.5L16.5 4l3.5 3.5L8.5 19zM14 6.5l3.5 3.5',
  bin: '~M5 7h14M9.5 7V4.5h5V7M7 7l1 13h8l1-13M10.5 10.5v6M13.5 10.5v6',
  eye: '~M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z',
  layers: '~M12 4l8.5 4.5L12 13 3.5 8.5zM4 12.5l8 4.3 8-4.3M4 16.3l8 4.3 8-4.3',
  curve: '~M3 19C9 19 8 6 13 6s4 7 8 7',
  diamond: '~M12 5l7 7-7 7-7-7z',
  zero: '~M4 12h16M12 8.5l3.5 3.5-3.5 3.5L8.5 12z',
  mirror: '~M12 4v16M9 8L4 16h5zM15 8l5 8h-5z',
  merge: '~M12 4v10M8 10.5l4 4 4-4M5 19h14',
  plus: '~M12 5v14M5 12h14',
  untangle: '~M4 18c5 0 3-12 8-12s3 12 8 12M4 6c2.500 2.200 3.300 4 4 6M20 6c-1.500 1.500-2.500 2.500-3.200 4',
  sound: '~M4 9.500h3.500L12 5.500v13L7.500 14.500H4zM15.500 9a4.200 4.200 0 0 1 0 6M18 6.500a7.800 7.800 0 0 1 0 11',
  silence: '~M4 9.500h3.500L12 5.500v13L7.500 14.500H4zM15.500 9.500l5 5M20.500 9.500l-5 5',
  hand: '~M8 12V6.5a1.5 1.5 0 0 1 3 0V11M11 10.5v-5a1.5 1.5 0 0 1 3 0V11M14 10.5V7a1.5 1.5 0 0 1 3 0v7c0 4-2.5 6.5-6 6.5-3 0-4.5-1.5-6-4.5l-1.5-3c-.5-1.3 1-2.3 2-1.2L8 14',
}

export type IconName = keyof typeof ICONS

const SVG = 'http://www.w3.org/2000/svg'

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  svg.classList.add('icon')
  const path = ICONS[name]
  svg.classList.toggle('stroked', path.startsWith('~'))
  svg.append(path.startsWith('@') ? circle(path.slice(1)) : curve(path.replace('~', '')))
  return svg
}

function circle(numbers: string): SVGElement {
  const [x, y, r] = numbers.split(' ')
  const element = document.createElementNS(SVG, 'circle')
  element.setAttribute('cx', x)
  element.setAttribute('cy', y)
  element.setAttribute('r', r)
  return element
}

function curve(path: string): SVGElement {
  const element = document.createElementNS(SVG, 'path')
  element.setAttribute('d', path)
  return element
}
