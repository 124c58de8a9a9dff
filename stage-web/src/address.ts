/** The open entry in the address of the page: a reload returns there, links can be shared, Back goes back. */

/** The title of an entry in plain characters. */
export function slug(title: string): string {
  const plain = title.normalize('NFKD').toLowerCase()
  return plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '') || 'entry'
}

/** The entry that the address names: by its title, or by its id where two have the same. */
export function named<E extends { id: string; title: string }>(entries: E[], hash: string): E | undefined {
  const wanted = hash.replace(/^#/, '')
  return entries.find(({ id }) => id === wanted) ?? entries.find(({ title }) => slug(title) === wanted)
}

/** What the address says of an entry: its title, or its id if an earlier entry has the same title. */
export function hashOf<E extends { id: string; title: string }>(entries: E[], id: string): string {
  const entry = entries.find((e) => e.id === id)
  if (entry === undefined) return ''
  const text = slug(entry.title)
  return `#${named(entries, text)?.id === id ? text : id}`
}
