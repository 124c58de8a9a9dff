/** What the browser keeps for the next visit. A page opened from disk may have no storage, and works all the same. */

export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

export function writeStored(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // Not kept.
  }
}
