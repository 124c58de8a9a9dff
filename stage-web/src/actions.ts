/** What each shortcut does. */
import { type ActionName, isTyping, SHORTCUTS } from './keys'
import type { LiveDesk } from './live/live-desk'
import type { Player } from './player'
import type { ScoreDesk } from './score/score-desk'
import type { TakeEditor } from './takes/take-editor'
import type { Theme } from './theme'
import { showHelp } from './ui/help'
import type { Panels } from './ui/panels'
import type { TakeDesk } from './ui/take-desk'
import type { ViewControls } from './view-controls'

/** What actions act on. Takes and live figures exist only where a server is. */
export interface ActionTargets {
  player: Pick<Player, 'toggle' | 'step' | 'seek' | 'start' | 'stop' | 'changeSpeed' | 'toggleLoop'>
  view: Pick<ViewControls, 'look' | 'toggleFollow' | 'toggleLayer'>
  panels: Pick<Panels, 'togglePlots' | 'toggleOnlyStage'>
  theme: Pick<Theme, 'toggle'>
  entries: { openNext(): void }
  live: Pick<LiveDesk, 'togglePause' | 'step' | 'changeSpeed' | 'toggleRecording' | 'reset' | 'untangle'> | null
  takes: Pick<TakeDesk, 'edit'> | null
  editor: Pick<TakeEditor, 'toggle' | 'set'> | null
  score: Pick<ScoreDesk, 'toggle' | 'undo' | 'editable'> | null
  isLive(): boolean
}

export type Actions = Record<ActionName, () => void>

export function createActions(on: ActionTargets): Actions {
  const { player, view, panels, live } = on
  /** One key, two clocks: that of the live figure, or that of the player. */
  const either = (ofLive: () => void, ofPlayer: () => void) => () => (on.isLive() ? ofLive() : ofPlayer())
  const nothing = () => undefined
  return {
    play: either(
      () => live?.togglePause(),
      () => player.toggle(),
    ),
    previous: either(nothing, () => player.step(-1)),
    next: either(
      () => live?.step(),
      () => player.step(1),
    ),
    start: () => player.seek(player.start),
    end: () => player.seek(player.stop),
    slower: either(
      () => live?.changeSpeed(-1),
      () => player.changeSpeed(-1),
    ),
    faster: either(
      () => live?.changeSpeed(1),
      () => player.changeSpeed(1),
    ),
    loop: () => player.toggleLoop(),
    audience: () => view.look('audience'),
    front: () => view.look('front'),
    side: () => view.look('side'),
    top: () => view.look('top'),
    follow: () => view.toggleFollow(),
    ghost: () => view.toggleLayer('ghost'),
    trails: () => view.toggleLayer('trails'),
    balance: () => view.toggleLayer('balance'),
    limits: () => view.toggleLayer('limits'),
    record: () => live?.toggleRecording(),
    reset: () => live?.reset(),
    untangle: () => live?.untangle(),
    undo: () => (on.score?.editable ? on.score.undo() : void on.takes?.edit({ edit: 'undo' })),
    editTake: () => (on.score?.editable ? on.score.toggle() : on.editor?.toggle()),
    setKey: () => void on.editor?.set(),
    plots: () => panels.togglePlots(),
    openNext: () => on.entries.openNext(),
    onlyStage: () => panels.toggleOnlyStage(),
    theme: () => on.theme.toggle(),
    help: showHelp,
  }
}

/** Lets keys act, except while somebody types or a dialog is open. */
export function listenForShortcuts(actions: Actions): void {
  // A button that was clicked with a mouse gives the keys back: else Space would press it again after the next other key.
  addEventListener('click', (event) => {
    if (event.detail > 0) (event.target as HTMLElement).closest?.('button')?.blur()
  })
  addEventListener('keydown', (event) => {
    if (isTyping(event) || document.querySelector('dialog[open]')) return
    const shortcut = SHORTCUTS.find((s) => s.keys.includes(event.key))
    if (shortcut === undefined) return
    event.preventDefault()
    actions[shortcut.action]()
  })
}
