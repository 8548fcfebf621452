// Names that people can read aloud: for new boards, and for people without a name yet.
import {capital} from './names.js'

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

/** As `quiet-otter-417`: nearly a million of them. */
export const boardName = () => `${one(qualities)}-${one(animals)}-${100 + below(900)}`

/** As `Green Otter`. */
export const personName = () => `${capital(one(qualities))} ${capital(one(animals))}`
