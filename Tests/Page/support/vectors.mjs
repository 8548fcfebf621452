import {readFileSync} from 'node:fs'

const folder = new URL('../../../docs/vectors/', import.meta.url)

export const hex = bytes => Buffer.from(bytes).toString('hex')
export const fromHex = digits => new Uint8Array(Buffer.from(digits, 'hex'))

/** The rows of a table, each its columns. */
export function rows(name) {
  return readFileSync(new URL(name, folder), 'utf8').split('\n').filter(line => line && !line.startsWith('#')).map(line => line.split('\t'))
}

/** The lines of a session: who, `>` (to the relay) or `<`, hex. */
export function vectorLines(name) {
  return readFileSync(new URL(name, folder), 'utf8').split('\n').filter(line => line && !line.startsWith('#'))
      .map(line => [line[0], line[1], line.split(' ')[1]])
}
