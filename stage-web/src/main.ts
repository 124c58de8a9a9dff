import './style.css'
import { App } from './app'
import { source } from './source'

// The token has become a cookie; it has no business in the history.
if (location.search.includes('token=')) history.replaceState(null, '', location.pathname + location.hash)

// #quality=4 in the address: simple pictures from the start, for a machine without a graphics card.
const wanted = /quality=(\d)/.exec(location.hash)
const app = new App(source())
if (wanted) app.view.fixQuality(Number(wanted[1]))
// For scripts and tests: what is on, without looking at pixels.
Object.assign(window, { bunraku: app.remote })
