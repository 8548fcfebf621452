// Names that people can read aloud: of boards, and of people who have not given theirs yet.

const qualities = (
  'amber brisk calm clear coral early fair gentle golden green happy indigo jolly keen kind lively merry mild ' +
  'neat olive proud quick quiet rosy ruby silver sunny swift warm wise'
).split(' ')
const animals = (
  'badger crane deer dove eagle falcon finch fox gecko hare hawk heron ibis jay koala lark lynx newt orca otter ' +
  'owl panda parrot pony puffin raven robin seal sparrow swan tiger whale'
).split(' ')

/** Dice without a pattern; also without a secure context. */
const below = count => crypto.getRandomValues(new Uint32Array(1))[0] % count
const one = list => list[below(list.length)]
const capital = word => word.charAt().toUpperCase() + word.slice(1)

/** As `quiet-otter-417`: nearly a million of them. */
export const boardName = () => `${one(qualities)}-${one(animals)}-${100 + below(900)}`

/** As `Green Otter`. */
export const personName = () => `${capital(one(qualities))} ${capital(one(animals))}`

/** A board's name as people see it before it has a title. */
export const titleOf = board => board.split(/[-_]/).map(capital).join(' ')

/** What is written for a person where there is little room. */
export const initials = name => name.split(/\s+/).slice(0, 2).map(word => [...word][0] ?? '').join('').toUpperCase()

/** The colour of a person's cursor and badge: the same on every screen. All are dark enough for white letters. */
export function tint(user) {
  const sum = [...user].reduce((sum, letter) => (sum * 31 + letter.codePointAt()) % 65_521, 7)
  return '#' + ['C2410C', '92600A', '4D7C0F', '047857', '0E7490', '1D4ED8', '6D28D9', 'A21CAF', 'BE123C', '57534E'][sum % 10]
}
