// What a session may do.

const rolesRights = {
  reader: ['subscribe', 'presence'],
  editor: ['subscribe', 'presence', 'publish', 'stream', 'metadata', 'lock', 'direct'],
  moderator: ['subscribe', 'presence', 'publish', 'stream', 'metadata', 'lock', 'direct', 'clear'],
}

/** What a session may do: a role, which counts in every channel, and grants by channel pattern. [AC4] */
export class Access {
  constructor({role, grants = {}, untilMs}) {
    /** @type {'reader'|'editor'|'moderator'|undefined} */
    this.role = Object.hasOwn(rolesRights, role ?? '') ? role : undefined
    /** Names of rights by pattern: a channel's name, or the beginning of one and `*`. @type {Record<string, string[]>} */
    this.grants = grants
    /** When it all ended, counted from the answer that told it, in milliseconds; `undefined`: it has no end. */
    this.untilMs = untilMs
  }

  /** Rights in a channel: `subscribe`, `presence`, `publish`, `stream`, `metadata`, `lock`, `clear`, `direct`. @returns {Set<string>} */
  rights(channel) {
    const matches = pattern => pattern.endsWith('*') ? channel.startsWith(pattern.slice(0, -1)) : pattern === channel
    const matching = Object.keys(this.grants).filter(matches)
    return new Set([...this.role ? rolesRights[this.role] : [], ...matching.flatMap(pattern => this.grants[pattern])])
  }
}
