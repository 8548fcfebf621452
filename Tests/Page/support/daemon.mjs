// The real daemon, as tests run it: on 127.0.0.1, on a port of the system's choice, killed and started again.
import {execFile, spawn} from 'node:child_process'
import {existsSync, mkdtempSync, rmSync} from 'node:fs'
import {once} from 'node:events'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** `$BOARDRELAY`, else the release build of this tree. */
export const binary = process.env.BOARDRELAY ?? join(root, '.build/release/boardrelay')

/** Why the tests with the daemon cannot run; in CI a missing daemon is red, not skipped. */
export const skip = existsSync(binary) || process.env.CI ? false
    : `there is no ${binary}: swift build -c release --product boardrelay, or set BOARDRELAY`

/** Runs the command line to its end; what it prints. */
export const run = async (...words) => (await promisify(execFile)(binary, words)).stdout.trim()

export class Daemon {
  /** @param {{options?: string[], isKept?: boolean}} [setup] `isKept`: with a data folder, which a restart finds again */
  static async start({options = [], isKept = false} = {}) {
    const daemon = new Daemon()
    daemon.folder = mkdtempSync(join(tmpdir(), 'relay-page-'))
    daemon.control = join(daemon.folder, 'control.sock')
    const store = isKept ? ['--data-dir', join(daemon.folder, 'data')] : ['--in-memory']
    daemon.words = ['serve', '--auth', 'key', ...options, '--host', '127.0.0.1', '--port', '0', '--control', daemon.control, ...store]
    await daemon.launch()
    return daemon
  }

  async launch() {
    this.process = spawn(binary, this.words, {stdio: ['ignore', 'pipe', 'pipe']})
    this.exited = once(this.process, 'exit')
    this.log = []
    this.process.stderr.on('data', text => this.log.push(String(text)))
    const lines = createInterface({input: this.process.stdout})
    const [line] = await Promise.race([once(lines, 'line'),
        this.exited.then(([code]) => { throw new Error(`exit code ${code}: ${this.log.join('')}`) })])
    this.port = Number(/:(\d+)$/.exec(line)[1])
    // Its control socket is there when it has said where it serves.
    const keys = (await run('key', 'show', '--json', '--control', this.control)).split('\n').map(text => JSON.parse(text))
    this.keys = Object.fromEntries(keys.map(({kind, key}) => [kind, key]))
  }

  /** kill -9. */
  async kill() {
    this.process.kill('SIGKILL')
    await this.exited
  }

  async restart() {
    await this.kill()
    await this.launch()
  }

  async end() {
    if (this.process.exitCode === null && this.process.signalCode === null) await this.kill()
    rmSync(this.folder, {recursive: true, force: true})
  }
}
