import { expect, test } from 'vitest'
import { bodyInWords, inWords } from '../src/data/words'

test.each([
  ['left_knee', 'left knee'],
  ['lhip_rz', 'left hip, turn'],
  ['relbow_rx', 'right elbow, bend'],
  ['torso', 'torso'],
  ['left_hip_pitch', 'left hip pitch'],
  ['rope', 'rope'],
  ['left.lknee_rx', 'left left knee, bend'],
  ['q3', 'q3'],
  ['', ''],
])('%s is %s', (name, words) => {
  expect(inWords(name)).toBe(words)
})

test('a hand is called a hand, whatever joint it hangs on', () => {
  expect(bodyInWords('left_elbow', 'hand')).toBe('left hand')
  expect(bodyInWords('relbow_rx', 'hand')).toBe('right hand')
  expect(bodyInWords('left_knee', 'left_shin')).toBe('left shin')
  expect(bodyInWords('torso', 'chest')).toBe('chest')
  expect(bodyInWords('lknee_rx', '')).toBe('left knee')
})
