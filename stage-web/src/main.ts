/** Starts the page. */
import './style/index.css'
import { App } from './app'
import { findSource } from './source'
import { findTransport } from './transport'

// The token has become a cookie; it has no business in the history.
if (location.search.includes('token=')) history.replaceState(null, '', location.pathname + location.hash)

await findTransport()
const app = new App(findSource())
// #quality=4 in the address: simple pictures from the start, for a machine without a graphics card.
const quality = /quality=(\d)/.exec(location.hash)
if (quality) app.view.fixQuality(Number(quality[1]))
// #pictures=off: an empty stage with all its controls, for tests where a processor would draw.
if (location.hash.includes('pictures=off')) app.view.pictures = false
Object.assign(window, { bunraku: app.scriptApi })
