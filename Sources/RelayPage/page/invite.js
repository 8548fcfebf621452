// Dialogs that show others, and a person's own devices, the way to the board. They come when they are wanted.
import {deviceLink, spelled} from './devices.js'
import {home, isOwnRelay, linkTo} from './identity.js'
import {CodeBox} from './join-code.js'
import {qrCode, qrPath} from './qr.js'
import {ask, field, make, toast} from './ui.js'
import {say} from './words/index.js'

function codePicture(link) {
  const code = qrCode(link)
  if (!code) return ''
  const size = code.length + 8
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}"><path d="${qrPath(code)}"/></svg>`
  return make('img', {alt: say('invite.qr'), src: `data:image/svg+xml,${encodeURIComponent(picture)}`})
}

/** A link as a QR code, and as a text to copy; `show` puts another in its place. */
function linkBox(label) {
  const box = make('div', {id: 'qr'})
  const input = field({id: 'address', readOnly: true, ariaLabel: label})
  const copy = make('button', {id: 'copy', type: 'button', textContent: say('invite.copy'), onclick: () => {
    // Without a secure context there is no clipboard to write to, but what is selected can be copied.
    input.select()
    copy.textContent = say(document.execCommand('copy') ? 'invite.copied' : 'invite.press')
  }})
  const show = link => {
    if (link === input.value) return
    input.value = link
    box.replaceChildren(codePicture(link))
  }
  return {show, parts: [box, make('div', {className: 'field'}, input, copy)]}
}

const isLocal = /^(localhost|127\.|\[)/.test(location.hostname)

let isInviting = false

/** Shows others the way to this board, as guests. */
export async function invite(session) {
  // The relay is asked first: a host's own key must not stand there for a moment. A link that is dead does not keep the panel shut.
  if (isInviting) return
  isInviting = true
  await Promise.race([renewGuestKey(session), new Promise(resolve => setTimeout(resolve, 1_000))])
  const {board, credential} = session
  const link = linkBox(say('invite.link'))
  const show = () => link.show(linkTo(home(), board, session.credential))
  show()
  const text = isLocal ? 'invite.local' : credential?.token ? 'invite.token'
    : session.mayClear && credential?.key && !credential.guestKey ? 'invite.hosts' : session.mayDraw ? 'invite.draw' : 'invite.watch'
  // On a wall the code stands for long: a key that is drawn anew meanwhile takes its place.
  const timer = setInterval(() => renewGuestKey(session).then(show), 3_000)
  // Nobody can ask again behind a modal panel. After closing it, one can at once.
  isInviting = false
  const code = new CodeBox(session)
  const [picture, address] = link.parts
  const ways = make('div', {id: 'ways'}, picture, ...isLocal ? [] : [code.element])
  await ask('invite-dialog', say('invite.title'), say(text), [['invite-close', say('done')]], [ways, address])
  code.close()
  clearInterval(timer)
}

/** Shows another device of this person the way here. The link has the own key: it is for nobody else. */
export async function offerDevice({session, failed}) {
  if (session.state !== 'connected') return toast(say('notice.notConnected'))
  try {
    const {code, validMs} = await session.client.handOver()
    const link = linkBox(say('device.link'))
    link.show(deviceLink(home(), session.board, session.credential, code))
    const timer = setTimeout(() => document.querySelector('#device-dialog')?.close(), validMs)
    await ask('device-dialog', say('device.title'), say(isLocal ? 'invite.local' : 'device.text'), [['device-close', say('done')]],
        [make('p', {id: 'device-code', textContent: spelled(code)}), ...link.parts])
    clearTimeout(timer)
  } catch (error) {
    failed(error)
  }
}

async function renewGuestKey(session) {
  const isNew = await session.renewGuestKey()
  if (isNew) isOwnRelay(session.client.relayID, session.credential)
  return isNew
}
