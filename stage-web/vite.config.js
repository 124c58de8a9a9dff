// The page is built into the package, under names that do not change, so that a stale build can be told from a fresh one.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const root = dirname(fileURLToPath(import.meta.url))
const SOURCES = ['index.html', 'package.json', 'package-lock.json', 'tsconfig.json', 'vite.config.js', 'src']

function filesIn(path) {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((e) => filesIn(join(path, e.name)))
  } catch {
    return [path]
  }
}

/** Hash of every source: `tests/stage` computes the same without Node. */
function sourcesHash() {
  const hash = createHash('sha256')
  const all = SOURCES.flatMap((name) => filesIn(join(root, name)))
  const named = all.map((file) => [relative(root, file).split(sep).join('/'), file])
  for (const [name, file] of named.sort((a, b) => (a[0] < b[0] ? -1 : 1))) {
    hash.update(`${name}\n${createHash('sha256').update(readFileSync(file)).digest('hex')}\n`)
  }
  return hash.digest('hex')
}

const licence = (pkg, file) => `${pkg}\n\n${readFileSync(join(root, 'node_modules', pkg, file), 'utf8').trim()}\n`

const extras = {
  name: 'extras',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'sources.sha256', source: `${sourcesHash()}\n` })
    const texts = [licence('three', 'LICENSE'), licence('@fontsource-variable/inter', 'LICENSE')]
    this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: texts.join(`\n${'-'.repeat(80)}\n\n`) })
  },
}

export default defineConfig({
  root,
  base: './',
  plugins: [extras],
  build: {
    outDir: process.env.STAGE_OUT || '../src/bunraku/stage/web',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    rollupOptions: {
      output: {
        entryFileNames: 'stage.js',
        assetFileNames: (asset) => {
          const name = asset.names[0] ?? ''
          if (name.endsWith('.woff2')) return 'inter.woff2'
          return name.endsWith('.css') ? 'stage.css' : '[name][extname]'
        },
      },
    },
  },
})
