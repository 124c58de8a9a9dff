/** Every key, in one table: shortcuts of the page, and keys that drive. None is both. */

export interface Shortcut {
  keys: string[]
  shown: string
  does: string
  group: 'Time' | 'View' | 'Live' | 'Page'
  act: string
}

export const SHORTCUTS: Shortcut[] = [
  { keys: [' '], shown: 'Space', does: 'play or pause', group: 'Time', act: 'play' },
  { keys: [','], shown: ',', does: 'one sample back', group: 'Time', act: 'back' },
  { keys: ['.'], shown: '.', does: 'one sample on', group: 'Time', act: 'on' },
  { keys: ['Home'], shown: 'Home', does: 'to the start', group: 'Time', act: 'start' },
  { keys: ['End'], shown: 'End', does: 'to the end', group: 'Time', act: 'end' },
  { keys: ['['], shown: '[', does: 'slower', group: 'Time', act: 'slower' },
  { keys: [']'], shown: ']', does: 'faster', group: 'Time', act: 'faster' },
  { keys: ['l', 'L'], shown: 'L', does: 'loop', group: 'Time', act: 'loop' },
  { keys: ['1'], shown: '1', does: 'from the audience', group: 'View', act: 'audience' },
  { keys: ['2'], shown: '2', does: 'front', group: 'View', act: 'front' },
  { keys: ['3'], shown: '3', does: 'side', group: 'View', act: 'side' },
  { keys: ['4'], shown: '4', does: 'top', group: 'View', act: 'top' },
  { keys: ['f', 'F'], shown: 'F', does: 'follow the figure', group: 'View', act: 'follow' },
  { keys: ['g', 'G'], shown: 'G', does: 'ghost of the reference', group: 'View', act: 'ghost' },
  { keys: ['t', 'T'], shown: 'T', does: 'trails', group: 'View', act: 'trails' },
  { keys: ['b', 'B'], shown: 'B', does: 'balance: centre of mass, support', group: 'View', act: 'balance' },
  { keys: ['j', 'J'], shown: 'J', does: 'joint-limit warnings', group: 'View', act: 'limits' },
  { keys: ['r', 'R'], shown: 'R', does: 'record, stop recording', group: 'Live', act: 'record' },
  { keys: ['Backspace'], shown: '⌫', does: 'back to the start', group: 'Live', act: 'reset' },
  { keys: ['z', 'Z'], shown: 'Z', does: 'undo a trim', group: 'Live', act: 'undo' },
  { keys: ['p', 'P'], shown: 'P', does: 'plots', group: 'Page', act: 'plots' },
  { keys: ['n', 'N'], shown: 'N', does: 'next entry', group: 'Page', act: 'next' },
  { keys: ['h', 'H'], shown: 'H', does: 'hide everything but the stage', group: 'Page', act: 'hide' },
  { keys: ['m', 'M'], shown: 'M', does: 'light or dark', group: 'Page', act: 'theme' },
  { keys: ['?'], shown: '?', does: 'this list', group: 'Page', act: 'help' },
]

/** Sticks by keyboard: [key, stick, direction]. */
export const DRIVING: [string, number, number][] = [
  ['a', 0, -1], ['d', 0, 1], ['w', 1, 1], ['s', 1, -1], ['ArrowLeft', 2, -1], ['ArrowRight', 2, 1], ['ArrowUp', 3, 1],
  ['ArrowDown', 3, -1], ['q', 4, -1], ['e', 4, 1], ['i', 5, 1], ['k', 5, -1], ['u', 6, -1], ['o', 6, 1],
]

const drives = new Set(DRIVING.flatMap(([key]) => [key, key.toUpperCase()]))
const clash = SHORTCUTS.flatMap((s) => s.keys).filter((key, k, all) => drives.has(key) || all.indexOf(key) !== k)
if (clash.length > 0) throw new Error(`keys with two meanings: ${clash.join(' ')}`)

/** True where a key belongs to a field that is being typed into. */
export function typing(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null
  return event.ctrlKey || event.metaKey || event.altKey || (target?.matches?.('input, select, textarea') ?? false)
}
