// A message as apps get it.
import {contentOf} from './text.js'

/** A message as apps get it, from `deliver` or `historyItem`. */
export function messageOf({offset, time, customType, key, retain = false, payload, text}, more) {
  return {
    type: 'message', offset, wallMilliseconds: time, customType, key, isRetained: retain, isRemoval: retain && payload.length === 0,
    ...'payload' in more ? {} : {payload: contentOf(payload, text)}, ...more,
  }
}
