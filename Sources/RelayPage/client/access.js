// What a session may do.

const reader = ['subscribe', 'presence']
const editor = [...reader, 'publish', 'stream', 'metadata', 'lock', 'direct']
const coeditor = [...editor, 'revise']
const rolesRights = {reader, editor, coeditor, moderator: [...coeditor, 'clear']}

/** What a session may do: a role, which counts in every channel, and grants by channel pattern. [AC4] */
export class Access {
  constructor({role, grants = {}, untilMs}) {
    /** @type {'reader'|'editor'|'coeditor'|'moderator'|undefined} */
    this.role = Object.hasOwn(rolesRights, role ?? '') ? role : undefined
    /** Names of rights by pattern: a channel's name, or the beginning of one and `*`. @type {Record<string, string[]>} */
    this.grants = grants
    /** When it all ended, counted from the answer that told it, in milliseconds; `undefined`: it has no end. */
    this.untilMs = untilMs
  }

  /** Rights in a channel: `subscribe`, `presence`, `publish`, `stream`, `metadata`, `lock`, `revise`, `clear`. @returns {Set<string>} */
  rights(channel) {
    const matches = pattern => pattern.endsWith('*') ? channel.startsWith(pattern.slice(0, -1)) : pattern === channel
    const matching = Object.keys(this.grants).filter(matches)
    return new Set([...this.role ? rolesRights[this.role] : [], ...matching.flatMap(pattern => this.grants[pattern])])
  }
}
