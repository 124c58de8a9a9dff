// A view of a live figure in a cell: the page of the stage in a frame. Its messages go to the kernel, and answers come back.

const unpacked = (data) => new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream('gzip'))).text()

const copied = (view) => view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength)

export default {
  render({ model, el }) {
    const view = Math.random().toString(36).slice(2)
    const frame = document.createElement('iframe')
    let port = null

    const send = (head, body) => model.send({ ...head, view }, undefined, body ? [body] : [])

    const fromKernel = async (head, buffers) => {
      if (head.view !== view) return
      if (head.type === 'page') frame.srcdoc = await unpacked(buffers[0])
      else port?.postMessage({ head, body: buffers.length > 0 ? copied(buffers[0]) : null })
    }

    // The page asks for a port when it is loaded: again when the notebook has moved its frame, which loads it anew.
    const fromPage = ({ source, data }) => {
      if (source !== frame.contentWindow || data !== 'bunraku:ready') return
      send({ type: 'leave' })
      port?.close()
      const channel = new MessageChannel()
      port = channel.port1
      port.onmessage = (event) => send(event.data.head, event.data.body)
      source.postMessage('bunraku:port', '*', [channel.port2])
    }

    frame.title = model.get('title')
    frame.style.cssText = `display:block;width:100%;height:${model.get('height')}px;border:0`
    el.append(frame)
    model.on('msg:custom', fromKernel)
    addEventListener('message', fromPage)
    send({ type: 'page' })

    return () => {
      removeEventListener('message', fromPage)
      model.off('msg:custom', fromKernel)
      send({ type: 'leave' })
      port?.close()
    }
  },
}
