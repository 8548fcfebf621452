// Random digits, and the secret that shows whose a user id is.

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
