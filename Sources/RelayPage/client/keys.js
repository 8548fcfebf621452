// How the client names channels, topics and owners within, and in which order it walks them.

export const channelKey = (kind, channel) => `${channel}\n${kind}`
export const topicKey = (channel, topic) => `${channel}\n${topic}`
export const partsOfKey = key => key.split('\n')
export const channelID = key => ({kind: partsOfKey(key)[1], channel: partsOfKey(key)[0]})
export const ownerKey = owner => owner.user === undefined ? channelKey(owner.kind, owner.channel) : `\n${owner.user}`

export const isSameEpoch = (left, right) => left?.start === right?.start && left?.incarnation === right?.incarnation
export const sorted = keys => [...keys].sort((left, right) => left < right ? -1 : left > right ? 1 : 0)

/** The kind of channel that a request enters, by the type of the request. */
export const kindEntered = {subscribe: 'message', join: 'stream'}

/** The channel that a request enters or leaves. */
export const stayKey = ({type, body: {channel}}) => {
  const kind = {...kindEntered, unsubscribe: 'message', leave: 'stream'}[type]
  return kind && channelKey(kind, channel)
}
