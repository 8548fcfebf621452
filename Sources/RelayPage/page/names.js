// Names as people see them, of boards and of people.
import {say} from './words/index.js'

/** A board's name as people see it before it has a title; that of the first one in their language. */
export const titleOf = board => board === 'board' ? say('board')
  : board.split(/[-_]/).map(word => word.charAt().toUpperCase() + word.slice(1)).join(' ')

/** What is written for a person where there is little room. */
export const initials = name => name.split(/\s+/).slice(0, 2).map(word => [...word][0] ?? '').join('').toUpperCase()

/** The colour of a person's cursor and badge: the same on every screen. All are dark enough for white letters. */
export function tint(user) {
  const sum = [...user].reduce((sum, letter) => (sum * 31 + letter.codePointAt()) % 65_521, 7)
  return '#' + ['C2410C', '92600A', '4D7C0F', '047857', '0E7490', '1D4ED8', '6D28D9', 'A21CAF', 'BE123C', '57534E'][sum % 10]
}
