// The compiler of TypeScript that is installed: Debian's `node-typescript`, or another one of which `tsc` is in the path.
import {existsSync, realpathSync} from 'node:fs'
import {createRequire} from 'node:module'
import {delimiter, dirname, join} from 'node:path'

const found = process.env.PATH.split(delimiter).map(folder => join(folder, 'tsc')).find(existsSync)

/** Why what needs it cannot run; in CI a missing one is red, not skipped. */
export const skip = found || process.env.CI ? false : 'there is no tsc: apt-get install node-typescript'

/** @returns its interface for programs */
export function typescript() {
  if (!found) throw new Error('there is no tsc in the path')
  return createRequire(join(dirname(realpathSync(found)), 'tsc'))('../lib/typescript.js')
}

/** What the compiler says about files, strict: `file:line: text`. */
export function faults(ts, files, options = {}) {
  const program = ts.createProgram(files, {
    strict: true, noEmit: true, allowJs: true, checkJs: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.NodeJs, lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'], types: [],
    ...options,
  })
  return ts.getPreEmitDiagnostics(program).map(({file, start, messageText}) => {
    const text = ts.flattenDiagnosticMessageText(messageText, ' ')
    return file ? `${file.fileName.split('/').at(-1)}:${file.getLineAndCharacterOfPosition(start).line + 1}: ${text}` : text
  })
}
