import { expect, it } from 'vitest'
import { hashOf, named, slug } from '../src/address'

const entries = [
  { id: 'e0', title: 'A marionette dances' },
  { id: 'e1', title: 'Take 1' },
  { id: 'n2', title: 'Take 1' },
  { id: 'e3', title: '傀儡' },
]

it('writes titles in plain characters', () => {
  expect(slug('Two robots, one slab!')).toBe('two-robots-one-slab')
  expect(slug('Élan – ½ speed')).toBe('e-lan-1-2-speed')
  expect(slug('傀儡')).toBe('entry')
})

it('leads back to every entry', () => {
  for (const { id } of entries) expect(named(entries, hashOf(entries, id))?.id).toBe(id)
})

it('finds nothing under a name that no entry has', () => {
  expect(named(entries, '#polka')).toBeUndefined()
  expect(named(entries, '')).toBeUndefined()
  expect(hashOf(entries, 'e9')).toBe('')
})
