// Names that people can read aloud: of boards, and of who has not said theirs yet.

const words = text => text.split(' ')
const qualities = words('amber ample azure brave bright brisk calm clear coral cosy crisp early fair fond gentle glad golden green happy indigo jolly keen kind lively lucky mellow merry mild mint neat noble olive patient plum proud quick quiet rosy royal ruby sage silver sunny swift tidy velvet violet warm wise witty')
const animals = words('badger beaver bison crane deer dolphin dove eagle falcon finch fox gecko hare hawk heron ibis jay kestrel koala lark lemur lion lynx magpie marten mole moose newt orca otter owl panda parrot pelican penguin pony puffin quail rabbit raven robin seal sparrow squirrel stork swan tiger toucan turtle walrus whale wren')
const places = words('bay bridge brook cove creek dale field forest garden glen grove harbor hill island lake meadow orchard park pond ridge river shore spring valley')

/** Dice without a pattern; also without a secure context. */
const one = list => list[crypto.getRandomValues(new Uint32Array(1))[0] % list.length]
const capital = word => word[0].toUpperCase() + word.slice(1)

/** As `quiet-otter-meadow`: some 60,000 of them. */
export const boardName = () => [one(qualities), one(animals), one(places)].join('-')

/** As `Green Otter`. */
export const personName = () => `${capital(one(qualities))} ${capital(one(animals))}`

/** What is written for a person where there is little room. */
export const initials = name => [...name.trim().split(/\s+/)].slice(0, 2).map(word => [...word][0] ?? '').join('').toUpperCase() || '?'

const tints = words('#C2410C #A16207 #4D7C0F #047857 #0E7490 #1D4ED8 #6D28D9 #A21CAF #BE123C #57534E')

/** The colour of a person's cursor and badge: the same on every screen. All are dark enough for white letters. */
export function tint(user) {
  let sum = 7
  for (const letter of user) sum = (sum * 31 + letter.codePointAt(0)) % 65_521
  return tints[sum % tints.length]
}

/** A board's name as people see it before it has a title. */
export const titleOf = board => board.split(/[-_]/).map(word => word && capital(word)).join(' ')
