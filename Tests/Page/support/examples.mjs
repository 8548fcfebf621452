// Files of docs/examples, as they stand there, beside the client of this tree.
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {pathToFileURL} from 'node:url'

const client = new URL('../../../Sources/RelayPage/relay-client.js', import.meta.url)

/** The source of an example, which imports the client of this tree. */
export const exampleSource = name =>
  readFileSync(new URL(`../../../docs/examples/${name}`, import.meta.url), 'utf8').replaceAll("'./relay-client.js'", `'${client}'`)

/** An example as a module. */
export async function example(name) {
  const folder = mkdtempSync(join(tmpdir(), 'relay-example-'))
  try {
    const file = join(folder, name.replace(/js$/, 'mjs'))
    writeFileSync(file, exampleSource(name))
    return await import(pathToFileURL(file))
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
}
