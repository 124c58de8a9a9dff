/** Names of frames, variables and strings in words: lhip_rz is "left hip, turn", left_knee is "left knee". */

const TURNS: Record<string, string> = { rx: 'bend', ry: 'sideways', rz: 'turn' }
const SIDES: Record<string, string> = { l: 'left', r: 'right', left: 'left', right: 'right' }
/** What a short name such as lknee may go on with after its side. */
const LIMBS = /^(hip|knee|ankle|foot|toe|shoulder|elbow|wrist|hand|arm|leg|eye|ear|femur|tibia|humerus|radius)/

function withSide(word: string): string {
  const side = SIDES[word[0]]
  return side !== undefined && LIMBS.test(word.slice(1)) ? `${side} ${word.slice(1)}` : word
}

/** A name in words; a turn or a direction at its end follows after a comma. */
export function inWords(name: string): string {
  const parts = name.split(/[._\s]+/).filter((part) => part !== '')
  const last = parts.at(-1) ?? ''
  const turn = parts.length > 1 ? TURNS[last] : undefined
  const words = (turn === undefined ? parts : parts.slice(0, -1)).map(withSide).join(' ')
  return turn === undefined ? words : `${words}, ${turn}`
}

/** A part of a body in words: its frame tells the side, its shape what it is: the hand that hangs on left_elbow is the left hand. */
export function bodyInWords(frame: string, shape: string): string {
  const joint = inWords(frame).replace(/, \w+$/, '')
  if (shape === '') return joint
  const side = /^(left|right) /.exec(joint)?.[0] ?? ''
  const what = inWords(shape)
  return what.startsWith(side) ? what : side + what
}
