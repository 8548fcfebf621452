// Files of docs/examples, as they stand there, beside the client of this tree.
import {readFileSync} from 'node:fs'

const client = new URL('../../../Sources/RelayPage/relay-client.js', import.meta.url)

/** The source of an example, which imports the client of this tree. */
export const exampleSource = name =>
  readFileSync(new URL(`../../../docs/examples/${name}`, import.meta.url), 'utf8').replaceAll("'./relay-client.js'", `'${client}'`)
