// Random digits, the secret that shows whose a user id is, and which of its devices a tab is.

/** Random digits; `crypto.getRandomValues` is there without a secure context, too. */
export function hexadecimal(digits) {
  return Array.from(crypto.getRandomValues(new Uint8Array(digits / 2)), byte => byte.toString(16).padStart(2, '0')).join('')
}

/** The client secret of an installation and user id, drawn at its first use. [SE2, AC3] */
export function keptSecret(storage, key) {
  let secret
  try {
    secret = storage?.getItem(key)
    if (!/^[0-9a-f]{32}$/i.test(secret ?? '')) storage?.setItem(key, secret = hexadecimal(32))
  } catch {}
  return secret ?? hexadecimal(32)
}

/** The secret of a user that another device has told. A storage that is full, or closed, keeps none. [AC17] */
export function keepSecret(storage, key, secret) {
  try {
    storage?.setItem(key, secret)
  } catch {}
}

/** Which device a tab is, over reloads; where there are no tabs each client object is one. [SE8] */
export function tabsDevice(key) {
  let device
  try {
    const {sessionStorage} = window
    device = sessionStorage.getItem(key)
    if (!/^[0-9a-f]{16}$/.test(device ?? '')) sessionStorage.setItem(key, device = hexadecimal(16))
  } catch {}
  return device ?? hexadecimal(16)
}
