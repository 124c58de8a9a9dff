/** Every key, in one table: shortcuts of the page, and keys that drive. None is both. */

export type ActionName =
  | 'play'
  | 'previous'
  | 'next'
  | 'start'
  | 'end'
  | 'slower'
  | 'faster'
  | 'loop'
  | 'audience'
  | 'front'
  | 'side'
  | 'top'
  | 'follow'
  | 'ghost'
  | 'trails'
  | 'balance'
  | 'limits'
  | 'record'
  | 'reset'
  | 'untangle'
  | 'undo'
  | 'editTake'
  | 'setKey'
  | 'plots'
  | 'openNext'
  | 'onlyStage'
  | 'theme'
  | 'help'

export const GROUPS = ['Time', 'View', 'Live', 'Takes', 'Page'] as const

export interface Shortcut {
  keys: string[]
  /** The key as the help shows it. */
  label: string
  /** What it does, as the help says it. */
  does: string
  group: (typeof GROUPS)[number]
  action: ActionName
}

export const SHORTCUTS: Shortcut[] = [
  { keys: [' '], label: 'Space', does: 'play or pause', group: 'Time', action: 'play' },
  { keys: [','], label: ',', does: 'previous sample', group: 'Time', action: 'previous' },
  { keys: ['.'], label: '.', does: 'next sample', group: 'Time', action: 'next' },
  { keys: ['Home'], label: 'Home', does: 'go to the start', group: 'Time', action: 'start' },
  { keys: ['End'], label: 'End', does: 'go to the end', group: 'Time', action: 'end' },
  { keys: ['['], label: '[', does: 'slower', group: 'Time', action: 'slower' },
  { keys: [']'], label: ']', does: 'faster', group: 'Time', action: 'faster' },
  { keys: ['l', 'L'], label: 'L', does: 'loop', group: 'Time', action: 'loop' },
  { keys: ['1'], label: '1', does: 'audience view', group: 'View', action: 'audience' },
  { keys: ['2'], label: '2', does: 'front view', group: 'View', action: 'front' },
  { keys: ['3'], label: '3', does: 'side view', group: 'View', action: 'side' },
  { keys: ['4'], label: '4', does: 'top view', group: 'View', action: 'top' },
  { keys: ['f', 'F'], label: 'F', does: 'the camera follows the figure', group: 'View', action: 'follow' },
  { keys: ['g', 'G'], label: 'G', does: 'reference motion as a ghost', group: 'View', action: 'ghost' },
  { keys: ['t', 'T'], label: 'T', does: 'trails of the limbs', group: 'View', action: 'trails' },
  { keys: ['b', 'B'], label: 'B', does: 'centre of mass, support polygon', group: 'View', action: 'balance' },
  { keys: ['j', 'J'], label: 'J', does: 'joint-limit warnings', group: 'View', action: 'limits' },
  { keys: ['r', 'R'], label: 'R', does: 'start or stop recording', group: 'Live', action: 'record' },
  { keys: ['Backspace'], label: '⌫', does: 'reset to the start', group: 'Live', action: 'reset' },
  {
    keys: ['x', 'X'],
    label: 'X',
    does: 'untangle: limbs and strings back in order',
    group: 'Live',
    action: 'untangle',
  },
  { keys: ['z', 'Z'], label: 'Z', does: 'undo the last edit of a take or show', group: 'Takes', action: 'undo' },
  {
    keys: ['c', 'C'],
    label: 'C',
    does: 'open or close the curve editor, or the score of a show',
    group: 'Takes',
    action: 'editTake',
  },
  { keys: ['v', 'V'], label: 'V', does: 'set a key at the playhead', group: 'Takes', action: 'setKey' },
  { keys: ['p', 'P'], label: 'P', does: 'show or hide plots', group: 'Page', action: 'plots' },
  { keys: ['n', 'N'], label: 'N', does: 'open the next entry', group: 'Page', action: 'openNext' },
  { keys: ['h', 'H'], label: 'H', does: 'hide lists, plots and buttons', group: 'Page', action: 'onlyStage' },
  { keys: ['m', 'M'], label: 'M', does: 'light or dark theme', group: 'Page', action: 'theme' },
  { keys: ['?'], label: '?', does: 'show this help', group: 'Page', action: 'help' },
]

/** A key that moves a stick, for those who have no gamepad. */
export interface DrivingKey {
  key: string
  stick: number
  direction: 1 | -1
}

export const DRIVING_KEYS: DrivingKey[] = [
  { key: 'a', stick: 0, direction: -1 },
  { key: 'd', stick: 0, direction: 1 },
  { key: 'w', stick: 1, direction: 1 },
  { key: 's', stick: 1, direction: -1 },
  { key: 'ArrowLeft', stick: 2, direction: -1 },
  { key: 'ArrowRight', stick: 2, direction: 1 },
  { key: 'ArrowUp', stick: 3, direction: 1 },
  { key: 'ArrowDown', stick: 3, direction: -1 },
  { key: 'q', stick: 4, direction: -1 },
  { key: 'e', stick: 4, direction: 1 },
  { key: 'i', stick: 5, direction: 1 },
  { key: 'k', stick: 5, direction: -1 },
  { key: 'u', stick: 6, direction: -1 },
  { key: 'o', stick: 6, direction: 1 },
]

/** True where a key belongs to a field that is being typed into, to a button that the keyboard has reached, or to the browser. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null
  if (event.key === ' ' && target?.matches?.(':is(button, summary, a, [role="button"]):focus-visible')) return true
  return event.ctrlKey || event.metaKey || event.altKey || (target?.matches?.('input, select, textarea') ?? false)
}
