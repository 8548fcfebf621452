// The users in a message channel, with their states. docs/javascript.md links to this file.

/**
 * Calls `show(members)` after each change; `members` has the states of each user by id. Call it before `client.subscribe`, so that it
 * sees the snapshot.
 *
 * @returns {Map<string, Record<string, string>>}
 */
export function followMembers(client, channel, show) {
  const members = new Map()
  const come = ({user, states}) => members.set(user, {...states})
  const change = ({user, set, removed}) => {
    const states = {...members.get(user), ...set}
    for (const name of removed) delete states[name]
    members.set(user, states)
  }
  client.on('presence', async event => {
    if (event.channel.kind !== 'message' || event.channel.channel !== channel) return
    if (event.kind === 'snapshot') members.clear()
    if (event.kind === 'joined') come(event.member)
    if (event.kind === 'left' || event.kind === 'timedOut') members.delete(event.user)
    if (event.kind === 'stateChanged') change(event)
    if (event.kind === 'interval') {
      // In this order: a user in both has left and come back.
      for (const user of [...event.left, ...event.timedOut]) members.delete(user)
      for (const member of [...event.joined, ...event.changed]) come(member)
    }
    if (event.kind === 'snapshot') {
      event.members.forEach(come)
      // A snapshot has at most 100 members; pages bring the rest.
      let after = event.members.length < event.total ? event.members.at(-1).user : undefined
      while (after !== undefined) {
        const page = await client.presence({message: channel}).users({after})
        page.members.forEach(come)
        after = page.next
      }
    }
    show(members)
  })
  return members
}
