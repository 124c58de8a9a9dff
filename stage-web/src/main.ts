import './style.css'
import { App } from './app'
import { source } from './source'

// The token has become a cookie; it has no business in the history.
if (location.search.includes('token=')) history.replaceState(null, '', location.pathname)

const app = new App(source())
// For scripts and tests: what is on, without looking at pixels.
Object.assign(window, { bunraku: app.remote })
