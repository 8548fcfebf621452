// Bytes as base64: RFC 4648, section 4, padded, unused bits 0.

/** @returns {Uint8Array|undefined} `undefined`: the text is no such base64 */
export function bytesOf(text) {
  if (text.length % 4 || !/^[A-Za-z0-9+/]*(?:[AQgw]==|[AEIMQUYcgkosw048]=)?$/.test(text)) return undefined
  const letters = atob(text)
  const bytes = new Uint8Array(letters.length)
  for (let at = 0; at < bytes.length; at++) bytes[at] = letters.charCodeAt(at)
  return bytes
}
